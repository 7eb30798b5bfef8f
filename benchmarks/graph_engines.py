"""``python -m benchmarks.graph_engines``: both graph engines with a large business, side by side.

Makes a larger sample business with the pack's own script, loads it into the embedded graph and, where
FRONTLINE_NEO4J_URI names an empty one (or --replace is given), into that graph server, each from a process of its
own. Prints the time and the peak memory of the loads, and p50 and p95 of each predefined query, one at a time, for
callers and arguments drawn from the data; both engines get the same ones, and their rows are compared.
"""

import argparse
import asyncio
import hashlib
import multiprocessing
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table

from configs.process import make_room_for_engines

make_room_for_engines()

import psutil  # noqa: E402  # only with room for the engines

from authoring.graph_rows import graph_rows  # noqa: E402
from benchmarks.drawn_calls import Call, Drawing  # noqa: E402
from benchmarks.percentiles import percentile  # noqa: E402
from configs.packs.loader import load_pack  # noqa: E402
from configs.packs.types import Pack  # noqa: E402
from configs.settings import Settings, read_settings  # noqa: E402
from contracts.errors import FrontlineError  # noqa: E402
from contracts.graph import ReadLimits, Violations  # noqa: E402
from deployments.graph_store import Store, holds_data, open_embedded, open_server  # noqa: E402
from governance.prover import prove  # noqa: E402

EMBEDDED, SERVER = "embedded", "Neo4j"
_LIMITS = ReadLimits(timeout_ms=30_000, max_rows=5_000, max_work_units=500_000_000)
#: Runs of each query that are not counted: the engine plans it, connections open.
_WARM_UP = 5
#: How long to wait for the server's answer, in s.
_SERVER_WAIT_S = 10.0


@dataclass(frozen=True)
class Measured:
    """One engine's figures. ``times_ms`` and ``rows`` (a digest of each result) are in the order of the calls.

    ``client_mb`` and ``server_mb``: resident memory before the load, with all rows read, and its peak until after;
    ``None`` where there is no process of that kind on this machine.
    """

    reading_s: float
    load_s: float
    client_mb: tuple[float | None, float | None]
    server_mb: tuple[float | None, float | None]
    times_ms: list[float]
    rows: list[str]
    row_counts: list[int]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graph_engines", description=__doc__)
    parser.add_argument("--customers", type=int, default=10_000)
    parser.add_argument("--orders", type=int, default=100_000, help="as the pack's script takes it")
    parser.add_argument("--runs", type=int, default=40, help="of each query")
    parser.add_argument("--replace", action="store_true", help="remove what the graph server holds")
    given = parser.parse_args()
    try:
        settings = read_settings()
        with TemporaryDirectory(prefix="frontline-bench-") as home:
            folder = _larger_pack(settings.pack, Path(home) / "pack", given.customers, given.orders)
            settings = settings.model_copy(update={"home": Path(home), "pack": folder})
            calls = _calls(load_pack(folder), given.runs)
            measured = {EMBEDDED: _measured(EMBEDDED, settings, calls, given.replace)}
            if settings.neo4j_uri is None:
                print("Without FRONTLINE_NEO4J_URI only the embedded graph is measured.", file=sys.stderr)
            else:
                measured[SERVER] = _measured(SERVER, settings, calls, given.replace)
    except FrontlineError as error:
        print(error.detail, file=sys.stderr)
        return 1
    console = Console(width=150)
    _print_loads(console, measured)
    return _print_queries(console, calls, measured)


def _larger_pack(source: Path, folder: Path, customers: int, orders: int) -> Path:
    """The pack with more data, written by the script that wrote its own."""
    shutil.copytree(source, folder)
    sizes = ("--customers", str(customers), "--orders", str(orders))
    subprocess.run([sys.executable, str(source / "generate.py"), str(folder / "data"), *sizes], check=True)
    return folder


def _measured(engine: str, settings: Settings, calls: list[Call], replace: bool) -> Measured:
    """The engine's figures, from a fresh process: its peak of memory is then the engine's."""
    print(f"Measuring {engine} …", file=sys.stderr)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_measure_here, engine, settings, calls, replace).result()


def _measure_here(engine: str, settings: Settings, calls: list[Call], replace: bool) -> Measured:
    return asyncio.run(_measure(engine, settings, calls, replace))


async def _measure(engine: str, settings: Settings, calls: list[Call], replace: bool) -> Measured:
    pack = load_pack(settings.pack)
    server = None if engine == EMBEDDED or settings.neo4j_uri is None else _local_process(settings.neo4j_uri)
    async with _opened(engine, settings, pack) as store:
        if not replace and await holds_data(store):
            raise FrontlineError(f"{engine} holds data already; --replace removes it.")
        started = time.perf_counter()
        nodes, edges = graph_rows(pack)
        read = time.perf_counter()
        client_before_mb, server_before_mb = _memory_mb("self", "VmRSS"), _memory_mb(server, "VmRSS")
        await store.load(nodes, edges, digest=pack.digest)
        loaded = time.perf_counter()
        client_peak_mb, server_peak_mb = _memory_mb("self", "VmHWM"), _memory_mb(server, "VmHWM")
        del nodes, edges
        times_ms, rows, row_counts = await _run(store, pack, calls)
    return Measured(
        reading_s=read - started,
        load_s=loaded - read,
        client_mb=(client_before_mb, client_peak_mb),
        server_mb=(server_before_mb, server_peak_mb),
        times_ms=times_ms,
        rows=rows,
        row_counts=row_counts,
    )


@asynccontextmanager
async def _opened(engine: str, settings: Settings, pack: Pack) -> AsyncIterator[Store]:
    if engine == EMBEDDED:
        store: Store = await open_embedded(settings, pack)
    else:
        store = await open_server(settings, pack.schema_, wait_s=_SERVER_WAIT_S)
    try:
        yield store
    finally:
        await store.close()


async def _run(store: Store, pack: Pack, calls: list[Call]) -> tuple[list[float], list[str], list[int]]:
    """Time in ms, a digest of the rows and their number, for each call."""
    texts = {query.name: query.cypher for query in pack.queries.queries}
    times_ms, digests, counts = [], [], []
    warmed: Counter[str] = Counter()
    for call in calls:
        proven = prove(texts[call.query], pack.schema_, call.principal)
        if isinstance(proven, Violations):
            raise FrontlineError(f"{call.query}: {proven}")
        while warmed[call.query] < _WARM_UP:
            warmed[call.query] += 1
            await store.read(proven, call.arguments, _LIMITS)
        started = time.perf_counter()
        rows = await store.read(proven, call.arguments, _LIMITS)
        times_ms.append((time.perf_counter() - started) * 1000)
        # An engine may give the columns in an order of its own.
        content = [sorted((name, repr(value)) for name, value in row.items()) for row in rows]
        digests.append(hashlib.sha256(repr(content).encode()).hexdigest())
        counts.append(len(rows))
    return times_ms, digests, counts


def _calls(pack: Pack, runs: int) -> list[Call]:
    drawing = Drawing(pack)
    return [drawing.call(query) for query in pack.queries.queries for _ in range(runs)]


def _local_process(uri: str) -> int | None:
    """The process that listens on the server's port on this machine."""
    address = urlsplit(uri)
    if address.hostname not in ("localhost", "127.0.0.1", "::1"):
        return None
    listening = (found for found in psutil.net_connections("tcp") if found.status == psutil.CONN_LISTEN)
    return next((found.pid for found in listening if found.laddr and found.laddr.port == (address.port or 7687)), None)


def _memory_mb(process: int | str | None, figure: str) -> float | None:
    """``VmRSS`` (resident now) or ``VmHWM`` (its peak) of a process, as Linux tells them."""
    if process is None:
        return None
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{figure}:"):
            return int(line.split()[1]) / 1000
    return None


def _print_loads(console: Console, measured: Mapping[str, Measured]) -> None:
    table = Table(
        "engine",
        "CSV read, s",
        "load, s",
        "this process, MB before / peak",
        "server, MB before / peak",
        title="Loading",
    )
    for engine, figures in measured.items():
        table.add_row(
            engine,
            f"{figures.reading_s:.1f}",
            f"{figures.load_s:.1f}",
            *(
                " / ".join("-" if value is None else f"{value:,.0f}" for value in pair)
                for pair in (figures.client_mb, figures.server_mb)
            ),
        )
    console.print(table)


def _print_queries(console: Console, calls: list[Call], measured: Mapping[str, Measured]) -> int:
    """The table of all queries; 1 when the engines' rows differ anywhere."""
    headings = [f"{engine}, {name} ms" for engine in measured for name in ("p50", "p95")]
    table = Table("query", "runs", "rows (mean)", *headings, "equal rows", title="Predefined queries, one at a time")
    positions: dict[str, list[int]] = defaultdict(list)
    for position, call in enumerate(calls):
        positions[call.query].append(position)
    differing = 0
    for name, at in (*positions.items(), ("all", list(range(len(calls))))):
        cells = []
        for figures in measured.values():
            times_ms = [figures.times_ms[position] for position in at]
            cells += [f"{percentile(times_ms, share):.2f}" for share in (0.5, 0.95)]
        unequal = sum(len({figures.rows[position] for figures in measured.values()}) > 1 for position in at)
        differing = unequal
        first = next(iter(measured.values()))
        mean_rows = statistics.mean(first.row_counts[position] for position in at)
        equal = "all" if not unequal else f"{unequal} differ"
        table.add_row(name, str(len(at)), f"{mean_rows:.1f}", *cells, equal if len(measured) > 1 else "-")
    console.print(table)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
