"""``make load``: put a profile's load on the service and hold it against the targets.

Starts the service where none answers, and stops what it started. Exits with 1 when a target is missed or
when the generator itself was the bottleneck (its figures would then not be the service's), with 2 when
there is nothing to measure.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
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


def main() -> int:
    arguments = _arguments()
    settings = Settings()
    targets = Targets.model_validate(yaml.safe_load((_HERE / "targets.yaml").read_text())[arguments.profile])
    url = arguments.url or f"http://127.0.0.1:{settings.port}"
    with _service(url):
        _warm_up(url)
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
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            *(sys.executable, "-m", "locust", "-f", str(_HERE / "locustfile.py"), "--host", url),
            *("--headless", "--users", str(targets.users), "--spawn-rate", str(targets.users)),
            *("--run-time", f"{targets.max_run_s}s", "--only-summary", "--exit-code-on-error", "0"),
        ]
        environment = {
            **os.environ,
            "LOADTEST_TURNS": str(targets.turns),
            "LOADTEST_THINK_S": str(targets.think_time_s),
            "LOADTEST_SEED": str(seed),
            "LOADTEST_REPORT": str(report),
        }
        process = psutil.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        started, used_s = time.monotonic(), 0.0
        while process.poll() is None:
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                used_s = times.user + times.system
            time.sleep(0.5)
        took_s = time.monotonic() - started
        if not report.exists():
            print(process.stderr.read(), file=sys.stderr)
            return None, 0.0
        return json.loads(report.read_text()), used_s / took_s


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
