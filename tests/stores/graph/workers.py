"""What the child processes of the graph stores' tests do."""

import asyncio
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from pathlib import Path

from contracts.graph import GraphStore, WriteOutcome
from stores.graph.kglite_store import KgliteStore
from stores.graph.neo4j_store import Neo4jStore
from tests.neo4j_server import Neo4jServer
from tests.stores.graph.contract import EDGES, NODES, SCHEMA, write

#: Each key counts one in two places: of a node and of a relationship.
COUNT_ONE = (
    "MATCH (r:Reader {reader_id: $customer_id})-[h:HAS]->(l:Loan) WHERE l.loan_id = 1 "
    "SET l.fee = l.fee + 1, h.queue = h.queue + 1 RETURN l.fee AS fee, h.queue AS queue"
)
LOCK_COUNT = (
    "MATCH (r:Reader {reader_id: $customer_id})-[h:HAS]->(l:Loan) WHERE l.loan_id = 1 SET l._lock = true REMOVE l._lock"
)


async def count_one(store: GraphStore, number: int) -> WriteOutcome:
    """Count one under the number's key."""
    return await write(store, COUNT_ONE, key=f"count {number}", lock=LOCK_COUNT)


def load_and_hold(path: Path, answers: Connection) -> None:
    """Load the small graph, say so, and hold the file until the parent sends something, or for ever."""

    async def work() -> None:
        store = await KgliteStore.open(path, schema=SCHEMA)
        await store.load(NODES, EDGES, digest="d1")
        answers.send("loaded")
        answers.recv()
        await store.close()

    asyncio.run(work())


def count_on_kglite(path: Path, first: int, answers: Connection) -> None:
    """Count under one key after another from ``first`` on, and tell the parent of each, until killed."""
    asyncio.run(_count(lambda: KgliteStore.open(path, schema=SCHEMA, wait_s=60), first, answers))


def count_on_neo4j(server: Neo4jServer, first: int, answers: Connection) -> None:
    """As :func:`count_on_kglite`, on a server."""

    async def opened() -> Neo4jStore:
        return await Neo4jStore.open(
            server.uri, user=server.user, password=server.password, database=server.database, schema=SCHEMA
        )

    asyncio.run(_count(opened, first, answers))


async def _count(opened: Callable[[], Awaitable[GraphStore]], first: int, answers: Connection) -> None:
    store = await opened()
    number = first
    while True:
        outcome = await count_one(store, number)
        answers.send((number, outcome.rows[0]["fee"]))
        number += 1
