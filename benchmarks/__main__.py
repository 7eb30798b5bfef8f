"""``make bench``: what orchestration on Ray Serve costs, as ratios against the same work in one process.

Prints three tables: the turn on Serve against the same turn composed in one process (stores, checkpoints
and all; only the hops and HTTP differ), one hop between two deployments, and memory by deployment. The
two sides of a turn are asked in pairs, one after the other, so that what else the machine does hits both.
"""

import argparse
import asyncio
import statistics
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from configs.process import make_room_for_engines

make_room_for_engines()

from benchmarks.hops import hop_costs_ms  # noqa: E402  # only with room for the engines
from benchmarks.memory import memory_by_part  # noqa: E402
from benchmarks.turns import InProcess, OverHttp, paired_turns  # noqa: E402
from configs.settings import Settings  # noqa: E402
from serve_app.cluster import running_application  # noqa: E402

MESSAGES = (
    ("small talk", "hello"),
    ("one query", "where is order 11568"),
    ("query and documents", "what does the warranty of order 11568 cover"),
    ("three parts", "where is order 11568, what does its warranty cover, and send it to my new address"),
)
CUSTOMER = "C0001"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--pairs", type=int, default=60, help="paired turns for each message")
    pairs = parser.parse_args().pairs
    console = Console()
    with TemporaryDirectory(prefix="frontline-bench-") as home:
        # The baseline has stores of its own, and shares the compiled pack.
        settings = Settings()
        baseline_settings = settings.model_copy(update={"home": Path(home)})
        with running_application(settings, _say), asyncio.Runner() as runner:
            baseline = runner.run(InProcess.open(settings, baseline_settings))
            served = OverHttp(f"http://127.0.0.1:{settings.port}", settings)
            try:
                _print_turns(console, runner, baseline, served, pairs)
                _print_hops(console, hop_costs_ms())
                _print_memory(console)
            finally:
                served.close()
                runner.run(baseline.close())
    return 0


def _print_turns(console: Console, runner: asyncio.Runner, baseline: InProcess, served: OverHttp, pairs: int) -> None:
    table = Table("turn", "in one process, p50 ms", "on Serve, p50 ms", "ratio (median of pairs)", title="Turns")
    for name, message in MESSAGES:
        measured = runner.run(paired_turns(baseline, served, message, CUSTOMER, pairs))
        table.add_row(
            name,
            f"{statistics.median(measured.baseline_ms):.1f}",
            f"{statistics.median(measured.served_ms):.1f}",
            f"{measured.ratio:.2f}",
        )
    console.print(table)


def _print_hops(console: Console, costs_ms: dict[str, list[float]]) -> None:
    table = Table("call", "p50 ms", "p95 ms", title="One hop between two deployments")
    for name, values in costs_ms.items():
        ordered = sorted(values)
        table.add_row(name, f"{statistics.median(ordered):.2f}", f"{ordered[int(0.95 * (len(ordered) - 1))]:.2f}")
    console.print(table)


def _print_memory(console: Console) -> None:
    table = Table("part", "processes", "MB (PSS)", "MB (RSS)", title="Memory, shared pages counted once in PSS")
    parts = memory_by_part()
    for part in parts:
        table.add_row(part.name, str(part.processes), f"{part.pss_mb:.0f}", f"{part.rss_mb:.0f}")
    table.add_row(
        "all",
        str(sum(part.processes for part in parts)),
        f"{sum(part.pss_mb for part in parts):.0f}",
        f"{sum(part.rss_mb for part in parts):.0f}",
    )
    console.print(table)


def _say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
