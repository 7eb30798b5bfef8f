"""The SQLite session store keeps the contract, in one process and shared by several."""

import asyncio
import multiprocessing
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import StoreError
from contracts.sessions import TurnStatus
from stores.sessions.sqlite_store import SqliteSessionStore
from tests.stores.sessions import workers
from tests.stores.sessions.contract import OWNER, LetPass, SessionStoreContract, finish, lease_of, session, turn

processes = multiprocessing.get_context("spawn")


class MovableClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)

    def now(self) -> datetime:
        return self.at

    def today(self) -> date:
        return self.at.date()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "sessions.db"


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def let_pass(clock: MovableClock) -> LetPass:
    async def move(milliseconds: int) -> None:
        clock.at += timedelta(milliseconds=milliseconds)

    return move


@pytest.fixture
async def store(path: Path, clock: MovableClock) -> AsyncIterator[SqliteSessionStore]:
    store = await SqliteSessionStore.open(path, clock=clock)
    yield store
    await store.close()


class TestSqliteSessionStore(SessionStoreContract):
    pass


async def test_what_was_kept_is_there_after_reopening(path: Path) -> None:
    store = await SqliteSessionStore.open(path)
    await store.create_session(session())
    await store.receive_turn(turn())
    answered = await finish(store, await lease_of(store))
    await store.close()
    again = await SqliteSessionStore.open(path)
    assert await again.get_turn("t1", OWNER) == answered
    await again.close()


async def test_a_file_of_a_newer_release_is_refused(path: Path) -> None:
    await (await SqliteSessionStore.open(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="schema version 99"):
        await SqliteSessionStore.open(path)


async def test_a_state_of_a_newer_release_is_refused(path: Path, store: SqliteSessionStore) -> None:
    await store.create_session(session().model_copy(update={"version": 99}))
    with pytest.raises(StoreError, match="version 99"):
        await store.get_session("s1", OWNER)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"version":1,"colour":"red"}'])
async def test_a_kept_state_that_is_none_is_a_store_error(path: Path, store: SqliteSessionStore, text: str) -> None:
    await store.create_session(session())
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE sessions SET state = ?", (text,))
    connection.close()
    with pytest.raises(StoreError):
        await store.get_session("s1", OWNER)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are no sessions" * 100)
    with pytest.raises(StoreError):
        await SqliteSessionStore.open(tmp_path / "notes.txt")


async def test_only_this_user_may_read_the_file(path: Path, store: SqliteSessionStore) -> None:
    await store.create_session(session())
    assert {file.stat().st_mode & 0o077 for file in path.parent.iterdir()} == {0}


async def test_a_closed_store_refuses(store: SqliteSessionStore) -> None:
    await store.close()
    with pytest.raises(StoreError):
        await store.get_session("s1", OWNER)


async def test_a_cancelled_call_leaves_no_transaction_open(path: Path, store: SqliteSessionStore) -> None:
    for number in range(50):
        call = asyncio.create_task(store.create_session(session(f"s{number}")))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    other = await SqliteSessionStore.open(path)
    await other.create_session(session("from outside"))
    await other.close()


async def test_many_calls_at_once_are_all_done(store: SqliteSessionStore) -> None:
    await store.create_session(session())
    await asyncio.gather(*(store.receive_turn(turn(f"t{number}")) for number in range(100)))
    assert len(await store.list_turns("s1", OWNER, limit=1_000)) == 100


async def test_one_of_many_contenders_gets_the_lease(store: SqliteSessionStore) -> None:
    leases = await asyncio.gather(*(store.acquire_lease("s1", f"holder {number}", 10_000) for number in range(30)))
    assert sum(lease is not None for lease in leases) == 1


def run_in_processes(work: Callable[..., None], *arguments: Any, number: int = 3) -> list[Any]:
    """Start ``work`` in ``number`` processes, let them go at the same moment, and return what each sends."""
    ours: list[Connection] = []
    children = []
    for _ in range(number):
        here, there = processes.Pipe()
        child = processes.Process(target=work, args=(*arguments, there), daemon=True)
        child.start()
        there.close()  # so that a child which dies ends the waiting below
        ours.append(here)
        children.append(child)
    for here in ours:
        assert here.poll(60)
        assert here.recv() == "open"
    for here in ours:
        here.send("go")
    results = []
    for here, child in zip(ours, children, strict=True):
        assert here.poll(60)
        results.append(here.recv())
        child.join(60)
        assert child.exitcode == 0
    return results


async def test_several_processes_agree_which_turn_a_key_stands_for(path: Path) -> None:
    store = await SqliteSessionStore.open(path)
    await store.create_session(session())
    kept = await asyncio.to_thread(run_in_processes, workers.receive_under_keys, path, 40)
    assert kept[0] == kept[1] == kept[2]
    assert len(set(kept[0])) == 40
    assert len(await store.list_turns("s1", OWNER, limit=1_000)) == 40
    await store.close()


async def test_the_lease_keeps_several_processes_apart(path: Path, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    tokens = await asyncio.to_thread(run_in_processes, workers.count_under_lease, path, counter, 30)
    assert counter.read_text() == "90"
    assert sorted(token for own in tokens for token in own) == list(range(1, 91))
    assert all(own == sorted(own) for own in tokens)


async def test_several_processes_may_create_the_file_at_once(path: Path, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0")
    await asyncio.to_thread(run_in_processes, workers.count_under_lease, path, counter, 1, number=4)
    assert counter.read_text() == "4"


async def test_nothing_acknowledged_is_lost_by_kill_9_and_the_session_goes_on(path: Path, clock: MovableClock) -> None:
    store = await SqliteSessionStore.open(path, clock=clock)
    await store.create_session(session())
    here, there = processes.Pipe()
    child = processes.Process(target=workers.answer_turns_for_ever, args=(path, there), daemon=True)
    child.start()
    there.close()
    acknowledged = []
    while len(acknowledged) < 60:
        assert here.poll(60)
        acknowledged.append(here.recv())
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join(60)
    while here.poll():
        try:
            acknowledged.append(here.recv())
        except EOFError:
            break

    turns = await store.list_turns("s1", OWNER, limit=10_000)
    answered = [kept.turn_id for kept in turns if kept.status is TurnStatus.ANSWERED]
    assert answered[: len(acknowledged)] == acknowledged
    assert len(turns) - len(answered) <= 1  # the one under way
    # The state was committed with the last answer, neither before nor after it.
    assert (await store.get_session("s1", OWNER)).history[-1].turn_id == answered[-1]

    # Our clock stands before the child took its lease of 10 s, then goes past the end of it.
    assert await store.acquire_lease("s1", "successor", 10_000) is None
    clock.at = datetime.now(UTC) + timedelta(milliseconds=10_001)
    lease = await lease_of(store, "successor")
    for left in await store.unfinished_turns("s1"):
        assert (await finish(store, lease, left.turn_id)).status is TurnStatus.ANSWERED
    await store.close()
