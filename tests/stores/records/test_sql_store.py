"""The SQL records store keeps the contract on SQLite; its schema fits the other databases too.

``FRONTLINE_TEST_RECORDS_URL`` names a scratch database (its handovers are deleted) to run the same tests on, for
example ``mysql+asyncmy://…`` or ``postgresql+asyncpg://…``.
"""

import asyncio
import multiprocessing
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, delete, text
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.schema import CreateTable

from contracts.errors import StoreError
from stores.records.engine import database_engine
from stores.records.sql_store import SqlRecordsStore
from stores.records.tables import handovers, metadata
from tests.stores.records import workers
from tests.stores.records.contract import RecordsStoreContract, handover

processes = multiprocessing.get_context("spawn")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records" / "records.db"


@pytest.fixture
def url(path: Path) -> str:
    return os.environ.get("FRONTLINE_TEST_RECORDS_URL") or f"sqlite+aiosqlite:///{path}"


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlRecordsStore]:
    store = await SqlRecordsStore.open(url)
    if "FRONTLINE_TEST_RECORDS_URL" in os.environ:
        engine = database_engine(url)
        async with engine.begin() as connection:
            await connection.execute(delete(handovers))
        await engine.dispose()
    yield store
    await store.close()


@pytest.fixture
async def other(url: str, store: SqlRecordsStore) -> AsyncIterator[SqlRecordsStore]:
    other = await SqlRecordsStore.open(url)
    yield other
    await other.close()


class TestSqlRecordsStore(RecordsStoreContract):
    pass


def differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), metadata))


async def test_the_migrations_lead_to_the_tables_as_they_are_declared(url: str, store: SqlRecordsStore) -> None:
    engine = database_engine(url)
    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()


async def test_records_are_there_after_reopening(url: str, store: SqlRecordsStore) -> None:
    await store.add_handover(handover())
    await store.close()
    again = await SqlRecordsStore.open(url)
    assert await again.get_handover("h1") == handover()
    await again.close()


async def test_a_schema_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'records.db'}"
    await (await SqlRecordsStore.open(url)).close()
    engine = database_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await engine.dispose()
    with pytest.raises(StoreError, match="newer release"):
        await SqlRecordsStore.open(url)


async def test_several_processes_may_create_the_records_at_once_and_hand_over_for_one_turn(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'records.db'}"
    pipes, children = [], []
    for number in range(3):
        here, there = processes.Pipe()
        child = processes.Process(target=workers.open_and_hand_over, args=(url, number, there), daemon=True)
        child.start()
        there.close()  # so that a child which dies ends the waiting below
        pipes.append(here)
        children.append(child)
    for expected in ("ready", None):
        for pipe in pipes:
            assert await asyncio.to_thread(pipe.poll, 60)
            if expected:
                assert pipe.recv() == expected
        if expected:
            for pipe in pipes:
                pipe.send("go")
    kept = {pipe.recv() for pipe in pipes}
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    store = await SqlRecordsStore.open(url)
    assert [waiting.handover_id for waiting in await store.list_handovers()] == [*kept]
    await store.close()


async def test_several_stores_of_one_process_may_open_new_records_at_once(tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path / 'records.db'}"
    stores = await asyncio.gather(*(SqlRecordsStore.open(url) for _ in range(4)))
    await stores[0].add_handover(handover())
    assert await stores[3].get_handover("h1") == handover()
    for store in stores:
        await store.close()


async def test_only_this_user_may_read_a_file_of_records(tmp_path: Path) -> None:
    store = await SqlRecordsStore.open(f"sqlite+aiosqlite:///{tmp_path / 'records' / 'records.db'}")
    await store.add_handover(handover())
    assert {file.stat().st_mode & 0o077 for file in (tmp_path / "records").iterdir()} == {0}
    await store.close()


@pytest.mark.parametrize(
    "url",
    [
        "sqlite+aiosqlite://",
        "sqlite+aiosqlite:///:memory:",
        "no url",
        "nothing+known://host/records",
        "sqlite+aiosqlite:////proc/records.db",
    ],
)
async def test_a_database_that_can_not_be_used_is_refused(url: str) -> None:
    with pytest.raises(StoreError):
        await SqlRecordsStore.open(url)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are no records" * 100)
    with pytest.raises(StoreError):
        await SqlRecordsStore.open(f"sqlite+aiosqlite:///{tmp_path / 'notes.txt'}")


def test_mysql_keeps_microseconds_and_compares_ids_byte_by_byte() -> None:
    statement = str(CreateTable(handovers).compile(dialect=mysql.dialect()))
    assert "DATETIME(6)" in statement
    assert "utf8mb4_bin" in statement


def test_postgresql_takes_the_table_as_it_is() -> None:
    statement = str(CreateTable(handovers).compile(dialect=postgresql.dialect()))
    assert "requested_at TIMESTAMP WITHOUT TIME ZONE NOT NULL" in statement
