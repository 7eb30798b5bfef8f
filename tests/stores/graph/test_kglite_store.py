"""The embedded graph keeps the contract, loads whole or not at all, and belongs to one process at a time."""

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Iterator
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from contracts.base import Cell, Value
from contracts.errors import BadRequestError, OverLimitError, StoreError
from contracts.graph import GraphNodes, LabelSchema, PropertySchema, PropertyType, ReadLimits
from stores.graph.kglite_store import KgliteStore
from tests.stores.graph import workers
from tests.stores.graph.contract import (
    ALL_LOANS,
    EDGES,
    NODES,
    OWN_LOANS,
    READER_1,
    SCHEMA,
    GraphLoadContract,
    GraphStoreContract,
    GraphWriteContract,
    read,
    write,
)

processes = multiprocessing.get_context("spawn")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph" / "business.kgl"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[KgliteStore]:
    store = await KgliteStore.open(path, schema=SCHEMA)
    await store.load(NODES, EDGES, digest="d1")
    yield store
    await store.close()


class TestKgliteStore(GraphStoreContract, GraphWriteContract, GraphLoadContract):
    pass


async def count(store: KgliteStore, pattern: str) -> Cell:
    return (await read(store, f"MATCH {pattern} RETURN count(*) AS n"))[0]["n"]


async def test_work_beyond_its_bound_is_refused(store: KgliteStore) -> None:
    text = "UNWIND range(1, 100000) AS a RETURN count(a) AS n"
    with pytest.raises(OverLimitError):
        await read(store, text, limits=ReadLimits(max_work_units=1_000))
    assert await read(store, text, limits=ReadLimits(max_work_units=10_000_000)) == ({"n": 100_000},)


async def test_a_new_graph_was_never_loaded(path: Path) -> None:
    store = await KgliteStore.open(path, schema=SCHEMA)
    assert await store.loaded_digest() is None
    await store.close()


async def test_a_second_start_finds_what_was_loaded(path: Path, store: KgliteStore) -> None:
    await store.close()
    again = await KgliteStore.open(path, schema=SCHEMA)
    assert await again.loaded_digest() == "d1"
    assert len(await read(again, OWN_LOANS, principal=READER_1)) == 2
    await again.close()


async def test_missing_values_of_a_unique_property_are_no_duplicates(path: Path) -> None:
    label = SCHEMA.labels["Room"].properties | {"code": PropertySchema(type=PropertyType.STRING, unique=True)}
    schema = SCHEMA.model_copy(update={"labels": SCHEMA.labels | {"Room": LabelSchema(properties=label)}})
    store = await KgliteStore.open(path, schema=schema)
    rows: list[dict[str, Value]] = [
        {"room_name": "a", "code": None},
        {"room_name": "b"},
        {"room_name": "c", "code": "c"},
    ]
    await store.load([GraphNodes(label="Room", key="room_name", rows=rows)], [])
    assert await count(store, "(:Room)") == 3
    await store.close()


async def test_a_name_that_could_change_a_querys_text_is_refused(path: Path) -> None:
    for name in ("A`) DETACH DELETE (n", "_FrontlineLoad", ""):
        schema = SCHEMA.model_copy(update={"labels": {name: SCHEMA.labels["Room"]}})
        with pytest.raises(BadRequestError):
            await KgliteStore.open(path, schema=schema)


async def test_readers_see_the_old_graph_until_the_load_is_whole(store: KgliteStore) -> None:
    rows: list[dict[str, Value]] = [{"loan_id": number} for number in range(5_000)]
    load = asyncio.create_task(store.load([GraphNodes(label="Loan", key="loan_id", rows=rows)], []))
    seen = []
    while not load.done():
        seen.append(await count(store, "(:Loan)"))
    await load
    assert set(seen) <= {3, 5_000}
    assert await count(store, "(:Loan)") == 5_000


@pytest.mark.parametrize("deleted", [(1, 2), (3,), (2, 3), (1, 2, 3)])
async def test_a_graph_opened_anew_takes_new_nodes_whatever_was_deleted(
    path: Path, store: KgliteStore, deleted: tuple[int, ...]
) -> None:
    for number in range(20):
        await write(store, f"CREATE (l:Loan {{loan_id: {10 + number}}}) RETURN l.loan_id AS loan", key=str(number))
    loans = [*deleted, *range(10 + deleted[0], 30, 2)]
    await write(store, "MATCH (l:Loan) WHERE l.loan_id IN $loans DETACH DELETE l", {"loans": loans}, key="delete")
    for start in range(3):
        await store.close()
        store = await KgliteStore.open(path, schema=SCHEMA)
        for number in range(30):
            loan = 100 * (start + 1) + number
            text = f"CREATE (l:Loan {{loan_id: {loan}}}) RETURN l.loan_id AS loan"
            assert (await write(store, text, key=f"again {loan}")).rows == ({"loan": loan},)
    assert await count(store, "(:Loan)") == 3 + 20 - len(loans) + 90
    await store.close()


@pytest.fixture
def holder(path: Path) -> Iterator[tuple[SpawnProcess, Connection]]:
    """Another process that has loaded the graph and holds it."""
    here, there = processes.Pipe()
    child = processes.Process(target=workers.load_and_hold, args=(path, there), daemon=True)
    child.start()
    there.close()  # so that a child which dies ends the waiting below
    assert here.poll(60)
    assert here.recv() == "loaded"
    yield child, here
    child.kill()
    child.join(60)


async def test_a_second_process_is_refused_and_told_who_holds_the_graph(
    path: Path, holder: tuple[SpawnProcess, Connection]
) -> None:
    with pytest.raises(StoreError, match=f"held by another process .*{holder[0].pid}"):
        await KgliteStore.open(path, schema=SCHEMA)


async def test_a_successor_waits_until_its_predecessor_has_let_go(
    path: Path, holder: tuple[SpawnProcess, Connection]
) -> None:
    opening = asyncio.create_task(KgliteStore.open(path, schema=SCHEMA, wait_s=60))
    await asyncio.sleep(0.3)
    assert not opening.done()
    holder[1].send("let go")
    store = await opening
    assert await store.loaded_digest() == "d1"
    await store.close()


async def test_the_successor_of_a_killed_process_finds_all_that_was_acknowledged(
    path: Path, holder: tuple[SpawnProcess, Connection]
) -> None:
    assert holder[0].pid is not None
    os.kill(holder[0].pid, signal.SIGKILL)
    store = await KgliteStore.open(path, schema=SCHEMA, wait_s=60)
    assert await store.loaded_digest() == "d1"
    assert len(await read(store, ALL_LOANS)) == 3
    await store.close()


async def log_of_five_commits(path: Path) -> Path:
    """A graph whose five commits stand in its log alone: its process ended without a checkpoint."""
    import kglite

    path.parent.mkdir(parents=True, exist_ok=True)
    session = kglite.open_session(str(path), durable="full")
    for number in range(5):
        session.execute("CREATE (:Room {room_name: $name})", params={"name": f"room {number}"})
    del session
    return path.with_name(f"{path.name}-wal")


async def test_a_damaged_log_is_an_alarm_now_and_at_the_next_start(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = await log_of_five_commits(path)
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 0xFF
    log.write_bytes(content)
    for _ in range(2):
        caplog.clear()
        with pytest.raises(StoreError, match="damaged"):
            await KgliteStore.open(path, schema=SCHEMA)
        assert [record.levelno for record in caplog.records if "damaged" in record.message] == [logging.ERROR]
    for aside in path.parent.glob("*.quarantine-*"):
        aside.rename(path.parent / "looked-at")
    store = await KgliteStore.open(path, schema=SCHEMA)
    assert await count(store, "(:Room)") == 2
    await store.close()


async def test_a_commit_that_a_crash_cut_off_does_not_keep_the_graph_from_opening(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = await log_of_five_commits(path)
    log.write_bytes(log.read_bytes()[:-7])
    store = await KgliteStore.open(path, schema=SCHEMA)
    assert await count(store, "(:Room)") == 4
    assert any(record.levelno == logging.WARNING for record in caplog.records)
    await store.close()


async def test_a_file_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("this is no graph" * 100)
    with pytest.raises(StoreError):
        await KgliteStore.open(tmp_path / "notes.txt", schema=SCHEMA)
