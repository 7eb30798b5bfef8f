"""One SQLite file shared by several processes: a connection on its own thread, transactions with retries.

A transaction is one plain function that runs whole on the connection's thread. A caller that is cancelled
meanwhile stops waiting, but can't leave a transaction half done; and the event loop never waits for a disk.

Write-ahead log with ``synchronous=NORMAL``: what is committed outlives the death of the process at any moment
(the log is in the operating system's hands); only a power cut may take the last commits, never the file's order.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

from contracts.errors import FrontlineError, StoreError

Result = TypeVar("Result")

#: How long SQLite itself waits for another process's write lock, in ms, before we try anew.
BUSY_TIMEOUT_MS = 1_000
#: Tries to begin a transaction: writes here take about a millisecond, so 5 s of refusal is a fault.
BEGIN_TRIES = 5
#: Tries to switch a new file to the write-ahead log, 20 ms apart.
WAL_TRIES = 100


class SqliteFile:
    """The file's one connection in this process."""

    def __init__(self, path: Path, connection: sqlite3.Connection, thread: ThreadPoolExecutor) -> None:
        self._path = path
        self._connection = connection
        self._thread = thread
        self._closed = False

    @classmethod
    async def open(cls, path: Path, *, versions: tuple[str, ...]) -> Self:
        """Open or create the file and bring it to the newest schema version.

        ``versions[n]`` is the script that leads from schema version n to n + 1; the version is the file's
        ``user_version``. Raises ``StoreError`` when the file is newer than that, or no database.
        """
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"sqlite-{path.name}")
        try:
            connection = await asyncio.get_running_loop().run_in_executor(thread, _connect, path, versions)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(path, connection, thread)

    async def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run ``work``, which only selects, in one consistent view of the file."""
        return await self._run(work, "BEGIN")

    async def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run ``work`` as one transaction: committed when it returns, undone when it raises."""
        return await self._run(work, "BEGIN IMMEDIATE")

    async def close(self) -> None:
        """Close after the work under way; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
        self._thread.shutdown(wait=False)

    async def _run(self, work: Callable[[sqlite3.Connection], Result], begin: str) -> Result:
        if self._closed:
            raise StoreError(f"{self._path.name} is closed")
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, _transaction, self._connection, self._path.name, begin, work
        )


def _transaction(
    connection: sqlite3.Connection,
    name: str,
    begin: str,
    work: Callable[[sqlite3.Connection], Result],
) -> Result:
    try:
        _begin(connection, begin)
        try:
            result = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return result
    except FrontlineError:
        raise
    except sqlite3.Error as error:
        raise StoreError("the sessions could not be read or written") from error


def _begin(connection: sqlite3.Connection, begin: str) -> None:
    """Begin, and try again while another process holds the lock: nothing has been done yet, so that is safe."""
    for attempt in range(1, BEGIN_TRIES + 1):
        try:
            connection.execute(begin)
            return
        except sqlite3.OperationalError as error:
            if attempt == BEGIN_TRIES or not _is_lock(error):
                raise
            time.sleep(0.005 * attempt)


def _is_lock(error: sqlite3.OperationalError) -> bool:
    return (error.sqlite_errorcode & 0xFF) in (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
    )


def _connect(path: Path, versions: tuple[str, ...]) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)  # customers' words: for this user alone; SQLite gives its side files the same mode
        connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_TIMEOUT_MS / 1000)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{path.name} can't be opened: {error}") from error
    try:
        connection.row_factory = sqlite3.Row
        _use_write_ahead_log(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        _transaction(
            connection,
            path.name,
            "BEGIN IMMEDIATE",
            lambda opened: _upgrade(opened, path.name, versions),
        )
    except sqlite3.Error as error:
        connection.close()
        raise StoreError(f"{path.name} can't be opened: {error}") from error
    except BaseException:
        connection.close()
        raise
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch the journal mode. SQLite doesn't wait for a lock here when several processes open a new file."""
    for attempt in range(1, WAL_TRIES + 1):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if attempt == WAL_TRIES or not _is_lock(error):
                raise
            time.sleep(0.02)


def _upgrade(connection: sqlite3.Connection, name: str, versions: tuple[str, ...]) -> None:
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > len(versions):
        raise StoreError(
            f"{name} has schema version {found}, this release reads up to {len(versions)}: "
            "start the newer release, or name another file"
        )
    for script in versions[found:]:
        for statement in script.split(";"):  # executescript would commit, and the upgrade is one transaction
            if statement.strip():
                connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(versions)}")
