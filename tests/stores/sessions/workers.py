"""What the child processes of the session store's tests do. Each has its own connection to the same file."""

import asyncio
import uuid
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

from contracts.sessions import Exchange
from stores.sessions.sqlite_store import SqliteSessionStore
from tests.stores.sessions.contract import OWNER, finish, lease_of, turn


def receive_under_keys(path: Path, keys: int, answers: Connection) -> None:
    """Journal one turn a key under an id of this process's own, and send which turn was kept for each."""

    async def work() -> None:
        store = await SqliteSessionStore.open(path)
        answers.send("open")
        answers.recv()
        kept = [(await store.receive_turn(turn(uuid.uuid4().hex, key=f"k{key}"))).turn_id for key in range(keys)]
        await store.close()
        answers.send(kept)

    asyncio.run(work())


def count_under_lease(path: Path, counter: Path, rounds: int, answers: Connection) -> None:
    """Add one to a number in a file, read and written apart, each time under the session's lease; send the tokens."""

    async def work() -> None:
        store = await SqliteSessionStore.open(path)
        answers.send("open")
        answers.recv()
        holder, tokens = uuid.uuid4().hex, []
        while len(tokens) < rounds:
            lease = await store.acquire_lease("s1", holder, 60_000)
            if lease is None:
                await asyncio.sleep(0.001)
                continue
            count = _read(counter)
            await asyncio.sleep(0.001)
            _write(counter, count + 1)
            tokens.append(lease.token)
            await store.release_lease(lease)
        await store.close()
        answers.send(tokens)

    asyncio.run(work())


def _read(counter: Path) -> int:
    return int(counter.read_text())


def _write(counter: Path, count: int) -> None:
    counter.write_text(str(count))


def answer_turns_for_ever(path: Path, answers: Connection) -> None:
    """Answer turn after turn, each adding to the session's history, and send each one's id once it is committed."""

    async def work() -> None:
        store = await SqliteSessionStore.open(path)
        lease = await lease_of(store, "to be killed")
        number = 0
        while True:
            turn_id = f"t{number}"
            await store.receive_turn(turn(turn_id, key=turn_id))
            await store.start_turn(turn_id, lease)
            state = await store.get_session("s1", OWNER)
            exchange = Exchange(turn_id=turn_id, at=datetime.now(UTC), message="m" * 2_000, reply="r" * 2_000)
            await finish(store, lease, turn_id, state.model_copy(update={"history": (*state.history[-20:], exchange)}))
            answers.send(turn_id)
            number += 1

    asyncio.run(work())
