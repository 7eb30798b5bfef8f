"""The database engine of a URL, with what SQLite needs to be shared by several processes."""

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import event, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from contracts.errors import StoreError

#: How long a SQLite connection waits for another's write, in ms.
BUSY_TIMEOUT_MS = 5_000
#: Tries to switch a new SQLite file to its write-ahead log, 20 ms apart: there it doesn't wait by itself.
WAL_TRIES = 100


def database_engine(url: str) -> AsyncEngine:
    """An engine for ``url``, which names its asynchronous driver (``sqlite+aiosqlite:///folder/records.db``).

    A SQLite file is created, for this user alone, with a write-ahead log. Raises ``StoreError`` when the URL,
    its driver or its folder can't be used.
    """
    try:
        parsed = make_url(url)
        is_sqlite = parsed.get_backend_name() == "sqlite"
        if is_sqlite:
            if parsed.database in (None, "", ":memory:"):
                raise StoreError("records need a file: an SQLite database in memory is gone with its connection")
            path = Path(str(parsed.database))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
        # A server may have dropped an idle connection: ask before use. SQLite has none to drop.
        engine = create_async_engine(parsed, pool_pre_ping=not is_sqlite)
    except StoreError:
        raise
    except Exception as error:  # SQLAlchemy's own errors, and ImportError for a driver that isn't installed
        raise StoreError(f"the records database can't be opened: {error}") from error
    if is_sqlite:
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    try:
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        for attempt in range(1, WAL_TRIES + 1):
            try:
                cursor.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError:
                if attempt == WAL_TRIES:
                    raise
                time.sleep(0.02)
        # Kept whole through a power cut: a handover that was named to a customer must be there afterwards.
        cursor.execute("PRAGMA synchronous = FULL")
    finally:
        cursor.close()
