"""What the child processes of the embedded store's tests do."""

import asyncio
from multiprocessing.connection import Connection
from pathlib import Path

from stores.graph.kglite_store import KgliteStore
from tests.stores.graph.contract import EDGES, NODES, SCHEMA


def load_and_hold(path: Path, answers: Connection) -> None:
    """Load the small graph, say so, and hold the file until the parent sends something, or for ever."""

    async def work() -> None:
        store = await KgliteStore.open(path, schema=SCHEMA)
        await store.load(NODES, EDGES, digest="d1")
        answers.send("loaded")
        answers.recv()
        await store.close()

    asyncio.run(work())
