"""A change under its key happens once, whoever is killed in the middle of it."""

import asyncio
import multiprocessing
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import OutOfTimeError, StoreError
from contracts.graph import GraphStore
from stores.graph.kglite_store import KgliteStore
from stores.graph.neo4j_store import Neo4jStore
from tests.neo4j_server import Neo4jServer, neo4j_server
from tests.stores.graph.contract import EDGES, NODES, SCHEMA, read
from tests.stores.graph.workers import count_on_kglite, count_on_neo4j, count_one

__all__ = ["neo4j_server"]

# Children are forked from a process that has the engines loaded and has run nothing, so that each starts at once.
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.stores.graph.workers"])

KGLITE_KILLS = 25
CLIENT_KILLS = 12
SERVER_KILLS = 2


def killed_again_and_again(count: Callable[..., None], where: Any, kills: int) -> int:
    """Let a child count, kill it at a random moment, let the next go on three keys earlier; the last key told of."""
    moments = random.Random(4)
    told = -1
    for _ in range(kills):
        here, there = processes.Pipe(duplex=False)
        child = processes.Process(target=count, args=(where, max(told - 2, 0), there), daemon=True)
        child.start()
        there.close()
        enough = told + moments.randint(1, 20)
        while told < enough:
            assert here.poll(60)
            number, fee = here.recv()
            # The child before may have made a change that it could not tell of any more: then this is a replay.
            assert fee == number + 1
            told = max(told, number)
        time.sleep(moments.random() * 0.02)
        child.kill()
        child.join(60)
        while here.poll():  # what it had still told
            try:
                told = max(told, here.recv()[0])
            except EOFError:
                break
    return told


async def require_each_once(store: GraphStore, last: int) -> None:
    """All keys up to ``last`` have counted once, and tell so again; what the graph holds is their number."""
    for number in range(last + 1):
        outcome = await count_one(store, number)
        assert outcome.replayed
        assert outcome.rows == ({"fee": float(number + 1), "queue": number + 2},)
    number = last + 1  # the one change that may have been made without a word
    while (outcome := await store.written(f"count {number}")) is not None:
        assert outcome.rows == ({"fee": float(number + 1), "queue": number + 2},)
        number += 1
    text = "MATCH (:Reader)-[h:HAS]->(l:Loan) WHERE l.loan_id = 1 RETURN l.fee AS fee, h.queue AS queue"
    assert await read(store, text) == ({"fee": float(number), "queue": number + 1},)


async def test_a_killed_process_has_made_each_change_once_in_the_embedded_graph(tmp_path: Path) -> None:
    path = tmp_path / "business.kgl"
    store = await KgliteStore.open(path, schema=SCHEMA)
    await store.load(NODES, EDGES)
    await store.close()
    last = await asyncio.to_thread(killed_again_and_again, count_on_kglite, path, KGLITE_KILLS)
    again = await KgliteStore.open(path, schema=SCHEMA, wait_s=60)
    await require_each_once(again, last)
    await again.close()


async def opened(server: Neo4jServer, wait_s: float = 0.0) -> Neo4jStore:
    return await Neo4jStore.open(
        server.uri,
        user=server.user,
        password=server.password,
        database=server.database,
        schema=SCHEMA,
        wait_s=wait_s,
    )


async def test_a_killed_client_has_made_each_change_once_on_the_server(neo4j_server: Neo4jServer) -> None:
    await asyncio.to_thread(neo4j_server.empty)
    store = await opened(neo4j_server)
    await store.load(NODES, EDGES)
    last = await asyncio.to_thread(killed_again_and_again, count_on_neo4j, neo4j_server, CLIENT_KILLS)
    await require_each_once(store, last)
    await store.close()
    await asyncio.to_thread(neo4j_server.empty)


async def test_a_killed_server_has_made_each_change_once_when_it_is_back(neo4j_server: Neo4jServer) -> None:
    if not neo4j_server.is_ours:
        pytest.skip("a server that the environment names is not ours to kill")
    await asyncio.to_thread(neo4j_server.empty)
    store = await opened(neo4j_server)
    await store.load(NODES, EDGES)
    moments = random.Random(4)
    numbers = iter(range(1_000_000))
    told: asyncio.Queue[Any] = asyncio.Queue()
    is_over = asyncio.Event()

    async def client() -> None:
        while not is_over.is_set():
            number = next(numbers)
            while True:  # as a caller does who got no answer: the same again under the same key
                try:
                    outcome = await count_one(store, number)
                    break
                except (StoreError, OutOfTimeError):
                    await asyncio.sleep(0.1)
            told.put_nowait(outcome.rows[0]["fee"])

    clients = [asyncio.create_task(client()) for _ in range(6)]
    fees = []
    for _ in range(SERVER_KILLS):
        fees += [await told.get() for _ in range(moments.randint(20, 60))]
        await asyncio.to_thread(neo4j_server.kill)
        await asyncio.to_thread(neo4j_server.start)
    is_over.set()
    await asyncio.gather(*clients)
    fees += [told.get_nowait() for _ in range(told.qsize())]
    assert sorted(fees) == [float(count) for count in range(1, len(fees) + 1)]
    text = "MATCH (:Reader)-[h:HAS]->(l:Loan) WHERE l.loan_id = 1 RETURN l.fee AS fee, h.queue AS queue"
    assert await read(store, text) == ({"fee": float(len(fees)), "queue": len(fees) + 1},)
    await store.close()
    await asyncio.to_thread(neo4j_server.empty)
