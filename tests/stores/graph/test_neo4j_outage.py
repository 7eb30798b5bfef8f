"""A server that hangs, dies and comes back: calls end, say so, and work again without anybody's help."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from contracts.errors import OutOfTimeError, StoreError
from contracts.graph import ReadLimits, WriteLimits
from stores.graph.neo4j_store import Neo4jStore
from tests.neo4j_server import Neo4jServer, neo4j_server
from tests.stores.graph.contract import ALL_LOANS, CLOSE_LOAN, EDGES, NODES, SCHEMA, read, write

__all__ = ["neo4j_server"]

#: Long after every limit below: what isn't over by then hangs.
HANGS_S = 20.0


async def opened(server: Neo4jServer, wait_s: float = 0.0) -> Neo4jStore:
    return await Neo4jStore.open(server.uri, user=server.user, password=server.password, schema=SCHEMA, wait_s=wait_s)


@pytest.fixture
async def store(neo4j_server: Neo4jServer) -> AsyncIterator[Neo4jStore]:
    if not neo4j_server.is_ours:
        pytest.skip("a server that the environment names is not ours to stop")
    await asyncio.to_thread(neo4j_server.empty)
    store = await opened(neo4j_server)
    await store.load(NODES, EDGES)
    yield store
    await store.close()
    await asyncio.to_thread(neo4j_server.empty)


async def until_ready(store: Neo4jStore) -> None:
    """Wait until the store has found its server again and warmed it."""
    async with asyncio.timeout(3 * HANGS_S):
        while not await store.ready():  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.1)


async def test_a_server_that_hangs_makes_calls_end_and_goes_on_when_it_does(
    store: Neo4jStore, neo4j_server: Neo4jServer
) -> None:
    short = ReadLimits(timeout_ms=300)
    await asyncio.gather(*(read(store, ALL_LOANS) for _ in range(8)))  # fills the pool
    neo4j_server.hang()
    try:
        async with asyncio.timeout(HANGS_S):
            for _ in range(3):
                answers = await asyncio.gather(
                    *(read(store, ALL_LOANS, limits=short) for _ in range(8)), return_exceptions=True
                )
                assert {type(answer) for answer in answers} == {OutOfTimeError}
            with pytest.raises(OutOfTimeError):
                await write(store, CLOSE_LOAN, {"loan": 1}, key="k", limits=WriteLimits(timeout_ms=300))
            assert not await store.ready()
    finally:
        neo4j_server.go_on()
    async with asyncio.timeout(HANGS_S):
        assert len(await read(store, ALL_LOANS)) == 3
        assert (await write(store, CLOSE_LOAN, {"loan": 1}, key="k")).changes == 2


async def test_a_store_closes_though_the_server_hangs(store: Neo4jStore, neo4j_server: Neo4jServer) -> None:
    neo4j_server.hang()
    try:
        async with asyncio.timeout(HANGS_S):
            await store.close()
    finally:
        neo4j_server.go_on()


async def test_a_server_that_died_is_told_of_and_used_again_when_it_is_back(
    store: Neo4jStore, neo4j_server: Neo4jServer
) -> None:
    await asyncio.gather(*(read(store, ALL_LOANS) for _ in range(8)))
    await asyncio.to_thread(neo4j_server.kill)
    for _ in range(3):
        with pytest.raises(StoreError, match="can't be reached"):
            await read(store, ALL_LOANS)
    assert not await store.ready()
    opening = asyncio.create_task(opened(neo4j_server, wait_s=120))
    await asyncio.sleep(0.5)
    assert not opening.done()
    await asyncio.to_thread(neo4j_server.start)
    await until_ready(store)
    assert len(await read(store, ALL_LOANS)) == 3
    other = await opening
    assert len(await read(other, ALL_LOANS)) == 3
    await other.close()
