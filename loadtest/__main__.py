"""``make load``: put a profile's load on the service and hold it against the targets.

Starts the service where none answers, and stops what it started. Exits with 1 when a target is missed or
when the generator itself was the bottleneck (its figures would then not be the service's), with 2 when
there is nothing to measure.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import yaml
from rich.console import Console
from rich.table import Table

from configs.settings import Settings
from loadtest.verdict import Targets, missed_targets

_HERE = Path(__file__).parent
_START_WITHIN_S = 300
_RUNNING = re.compile(r"(\d+) running")


def main() -> int:
    arguments = _arguments()
    settings = Settings()
    targets = Targets.model_validate(yaml.safe_load((_HERE / "targets.yaml").read_text())[arguments.profile])
    url = arguments.url or f"http://127.0.0.1:{settings.port}"
    with _service(url):
        _warm_up(url)
        if arguments.wave:
            return _ride_wave(url, arguments.seed)
        report, processor_share = _run_locust(url, targets, arguments.seed)
    if report is None:
        print("The load generator wrote no report; its own output above says why.", file=sys.stderr)
        return 2
    _print(report, processor_share)
    missed = missed_targets(report, processor_share, targets)
    for line in missed:
        print(f"MISSED: {line}")
    if not missed:
        print("All targets met.")
    return 1 if missed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m loadtest", description=__doc__)
    parser.add_argument("--profile", default=os.environ.get("PROFILE", "cpu"), help="a profile of targets.yaml")
    parser.add_argument("--url", help="the service (default: this machine's; started where none answers)")
    parser.add_argument("--wave", action="store_true", help="2, 32, 2 users instead: replicas must rise and fall")
    parser.add_argument("--seed", type=int, default=1, help="which questions are drawn")
    return parser.parse_args()


@contextlib.contextmanager
def _service(url: str) -> Iterator[None]:
    """A ready service: the one that runs, or one of our own until the end of the block."""
    if _ready(url):
        yield
        return
    print("No service answers; starting one ...", file=sys.stderr)
    process = subprocess.Popen([sys.executable, "-m", "cli.main", "serve"])
    try:
        deadline = time.monotonic() + _START_WITHIN_S
        while not _ready(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("The service did not become ready.")
            time.sleep(0.5)
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=120)


def _ready(url: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{url}/v1/ready", timeout=5).status_code == 200
    return False


def _warm_up(url: str) -> None:
    """A few turns that do not count: the first call between two replicas opens its connection."""
    for _ in range(20):
        httpx.post(f"{url}/v1/turns", json={"message": "hello"}, timeout=25)


def _run_locust(url: str, targets: Targets, seed: int) -> tuple[dict[str, Any] | None, float]:
    """Locust's report, and the share (0..1) of one processor that the generator used while it ran."""
    options = ["--users", str(targets.users), "--spawn-rate", str(targets.users), "--run-time", f"{targets.max_run_s}s"]
    variables = {"LOADTEST_TURNS": str(targets.turns), "LOADTEST_THINK_S": str(targets.think_time_s)}
    started, used_s = time.monotonic(), 0.0

    def measure(process: psutil.Popen) -> None:
        nonlocal used_s
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            used_s = times.user + times.system

    report = _locust("locustfile.py", url, seed, options, variables, measure)
    return report, used_s / (time.monotonic() - started)


def _ride_wave(url: str, seed: int) -> int:
    """Load that rises and falls, with the replicas counted meanwhile; 1 when a turn failed or none came or went."""
    seen: list[int] = []

    def count(_: psutil.Popen) -> None:
        replicas = running_replicas(url)
        if replicas is not None and (not seen or seen[-1] != replicas):
            seen.append(replicas)
            print(f"{time.strftime('%H:%M:%S')} {replicas} replicas", flush=True)

    report = _locust("wave.py", url, seed, [], {"LOADTEST_THINK_S": "0.2"}, count)
    if report is None:
        return 2
    print(f"{report['turns']} turns, {report['failed']} failed, {report['wrong']} wrong")
    for fault in report["faults"]:
        print(fault)
    rose = max(seen) > seen[0]
    fell = seen[-1] < max(seen)
    print(f"replicas rose: {rose}; fell again: {fell}")
    return 0 if rose and fell and not report["failed"] and not report["wrong"] else 1


def running_replicas(url: str) -> int | None:
    """Replicas that run now, of all deployments; ``None`` when the service does not say."""
    with contextlib.suppress(httpx.HTTPError):
        parts = httpx.get(f"{url}/v1/ready", timeout=10).json()["parts"]
        return sum(int(number) for part in parts.values() for number in _RUNNING.findall(part["detail"]))
    return None


def _locust(
    file: str,
    url: str,
    seed: int,
    options: list[str],
    variables: dict[str, str],
    meanwhile: Callable[[psutil.Popen], None],
) -> dict[str, Any] | None:
    """Run Locust on one of our files until it ends, calling ``meanwhile`` twice a second; its report, if any."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            *(sys.executable, "-m", "locust", "-f", str(_HERE / file), "--host", url, "--headless"),
            *("--only-summary", "--exit-code-on-error", "0", *options),
        ]
        environment = {**os.environ, "LOADTEST_SEED": str(seed), "LOADTEST_REPORT": str(report), **variables}
        output = Path(folder) / "locust.log"
        with output.open("w") as log:
            process = psutil.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
            while process.poll() is None:
                meanwhile(process)
                time.sleep(0.5)
        if not report.exists():
            print(output.read_text(), file=sys.stderr)
            return None
        content: dict[str, Any] = json.loads(report.read_text())
        return content


def _print(report: dict[str, Any], processor_share: float) -> None:
    table = Table("turns", "turns/s", "mean ms", "p50 ms", "p95 ms", "p99 ms", "wrong", "failed")
    table.add_row(
        str(report["turns"]),
        f"{report['turns_per_s']:.1f}",
        *(f"{report[name]:.0f}" for name in ("mean_ms", "p50_ms", "p95_ms", "p99_ms")),
        str(report["wrong"]),
        str(report["failed"]),
    )
    kinds = Table("kind of question", "turns", "p50 ms", "p95 ms")
    for name, figures in sorted(report["kinds"].items()):
        kinds.add_row(name, str(figures["turns"]), f"{figures['p50_ms']:.0f}", f"{figures['p95_ms']:.0f}")
    console = Console()
    console.print(kinds)
    console.print(table)
    print(f"generator: {processor_share:.0%} of one processor, timers late by {report['lag_p95_ms']:.0f} ms (p95)")
    for fault in report["faults"]:
        print(fault)


if __name__ == "__main__":
    sys.exit(main())
