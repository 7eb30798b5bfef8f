"""Every predefined query of both packs is answered alike by the embedded graph and by a Neo4j server."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from authoring.graph_rows import graph_rows
from benchmarks.drawn_calls import Call, Drawing
from configs.packs.loader import load_pack
from configs.packs.types import Pack
from configs.settings import ROOT
from contracts.base import Row
from contracts.graph import ProvenQuery, ReadLimits
from deployments.graph_store import Store
from governance.prover import prove
from stores.graph.kglite_store import KgliteStore
from stores.graph.neo4j_store import Neo4jStore
from tests.neo4j_server import Neo4jServer, neo4j_server

__all__ = ["neo4j_server"]

PACKS = {"shop": ROOT / "domains" / "shop", "workshop": ROOT / "tests" / "packs" / "workshop"}
#: Callers and arguments drawn for each query.
DRAWN = 12
#: A server that has just started on a busy machine is slow.
LIMITS = ReadLimits(timeout_ms=30_000)


@dataclass(frozen=True)
class Answers:
    """A call, and the rows that each engine answered it with."""

    call: Call
    embedded: tuple[Row, ...]
    on_server: tuple[Row, ...]


@pytest.fixture(scope="module", params=list(PACKS))
def answers(
    request: pytest.FixtureRequest,
    neo4j_server: Neo4jServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Answers]:
    pack = load_pack(PACKS[request.param])
    drawing = Drawing(pack)
    calls = [drawing.call(query) for query in pack.queries.queries for _ in range(DRAWN)]
    neo4j_server.empty()
    try:
        return asyncio.run(_answers(pack, calls, neo4j_server, tmp_path_factory.mktemp(request.param)))
    finally:
        neo4j_server.empty()


def test_both_engines_answer_every_predefined_query_alike(answers: list[Answers]) -> None:
    unlike = [item for item in answers if _content(item.embedded) != _content(item.on_server)]
    assert not unlike, f"{len(unlike)} of {len(answers)}: " + "\n\n".join(
        f"{item.call}\nembedded {_content(item.embedded)}\nserver   {_content(item.on_server)}" for item in unlike[:5]
    )


def test_the_drawn_calls_find_something(answers: list[Answers]) -> None:
    queries = {item.call.query for item in answers}
    assert len(answers) == DRAWN * len(queries)
    found = {item.call.query for item in answers if item.on_server}
    assert len(found) >= 0.9 * len(queries), f"nothing was found by {sorted(queries - found)}"


async def _answers(pack: Pack, calls: list[Call], server: Neo4jServer, folder: Path) -> list[Answers]:
    nodes, edges = graph_rows(pack)
    embedded = await KgliteStore.open(folder / "graph", schema=pack.schema_)
    try:
        await embedded.load(nodes, edges)
        first = [await _rows(embedded, pack, call) for call in calls]
    finally:
        await embedded.close()
    on_server = await Neo4jStore.open(
        server.uri,
        user=server.user,
        password=server.password,
        database=server.database,
        schema=pack.schema_,
        wait_s=30.0,
    )
    try:
        await on_server.load(nodes, edges)
        second = [await _rows(on_server, pack, call) for call in calls]
    finally:
        await on_server.close()
    return [Answers(*item) for item in zip(calls, first, second, strict=True)]


async def _rows(store: Store, pack: Pack, call: Call) -> tuple[Row, ...]:
    text = next(query.cypher for query in pack.queries.queries if query.name == call.query)
    proven = prove(text, pack.schema_, call.principal)
    assert isinstance(proven, ProvenQuery), f"{call.query}: {proven}"
    return await store.read(proven, call.arguments, LIMITS)


def _content(rows: tuple[Row, ...]) -> list[str]:
    """Rows in their order, with the values' types; an engine may give the columns in an order of its own."""
    return [repr(sorted(row.items(), key=lambda item: item[0])) for row in rows]
