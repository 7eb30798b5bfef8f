"""Bring the records database to the newest schema when it is opened, once, whoever opens it at the same time."""

import asyncio
import threading
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

from contracts.errors import StoreError
from stores.records.engine import database_engine

MIGRATIONS = Path(__file__).parent / "migrations"

#: The database's own lock that one upgrading process holds: a number for PostgreSQL, a name for MySQL.
LOCK_NUMBER = 7_205_310_446
LOCK_NAME = "frontline_records_upgrade"
LOCK_WAIT_S = 60

#: Alembic keeps the running environment in globals of its module: one upgrade at a time in this process.
_one_at_a_time = threading.Lock()


async def upgrade_to_newest(url: str) -> None:
    """Run the missing migrations, in a thread. Raises ``StoreError`` when a newer release wrote the schema."""
    await asyncio.to_thread(_upgrade, url)


def _upgrade(url: str) -> None:
    with _one_at_a_time:
        asyncio.run(_upgrade_on_own_loop(url))


async def _upgrade_on_own_loop(url: str) -> None:
    engine = database_engine(url)
    try:
        async with engine.connect() as connection:
            await connection.run_sync(_run_missing_migrations)
            await connection.commit()
    except StoreError:
        raise
    except Exception as error:  # Alembic's, SQLAlchemy's and the driver's errors have no common base
        raise StoreError(
            f"the records database can't be brought to this release's schema: {error};"
            " it may be unreachable, or written by a newer release"
        ) from error
    finally:
        await engine.dispose()


def _run_missing_migrations(connection: Connection) -> None:
    _take_lock(connection)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _take_lock(connection: Connection) -> None:
    """Wait for the right to upgrade.

    SQLite and PostgreSQL let go of it when the transaction ends, MySQL when the connection is closed.
    """
    match connection.dialect.name:
        case "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        case "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK_NUMBER})
        case "mysql" | "mariadb":
            got = connection.scalar(text("SELECT GET_LOCK(:name, :wait_s)"), {"name": LOCK_NAME, "wait_s": LOCK_WAIT_S})
            if got != 1:
                raise StoreError("another process has been upgrading the records database for too long")
        case other:
            raise StoreError(f"records can't be kept in {other}: SQLite, PostgreSQL, MySQL and MariaDB are supported")
