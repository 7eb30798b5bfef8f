"""Calls to a Neo4j server that end in time, whatever the server does, and are repeated where that helps.

Each call is bounded twice: the server ends the transaction when its time is over, and if it doesn't say so soon
after, because it hangs or is gone, the connection is dropped here. Repeated is what the server calls transient
and what a lost connection cut off, within the call's own time; so each piece of work must be safe to repeat.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import neo4j
from neo4j.api import AsyncBookmarkManager

from contracts.errors import OutOfTimeError
from stores.graph.neo4j_errors import DRIVER_ERRORS, is_lost_connection, is_transient, translated

#: How much longer than the server we wait for its own word on a call that is out of time, in s.
GRACE_S = 0.25
#: How often one call may find its connection gone. After a restart of the server the first try meets a dead
#: connection of the pool and the second opens a new one; more tries mean a server that is down, which the
#: caller should hear at once.
MAX_LOST_CONNECTIONS = 3
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 0.5

_Result = TypeVar("_Result")

#: What is done in one session; the number is how many seconds are left for it.
Work = Callable[[neo4j.AsyncSession, float], Awaitable[_Result]]


class Neo4jCalls:
    """Sessions of one database. ``bookmarks`` make each see what the ones before have written, on a cluster too."""

    def __init__(self, driver: neo4j.AsyncDriver, database: str | None, bookmarks: AsyncBookmarkManager | None) -> None:
        self._driver = driver
        self._database = database
        self._bookmarks = bookmarks

    async def reading(self, work: Work[_Result], timeout_s: float, *, fetch_size: int = 1_000) -> _Result:
        """Do ``work`` in a session that may only read. Raises our errors, never the driver's."""
        return await self._call(work, neo4j.READ_ACCESS, timeout_s, fetch_size, "query")

    async def writing(self, work: Work[_Result], timeout_s: float, what: str = "change") -> _Result:
        """Do ``work`` in a session that may write. Raises our errors, never the driver's."""
        return await self._call(work, neo4j.WRITE_ACCESS, timeout_s, 1_000, what)

    async def _call(self, work: Work[_Result], access: str, timeout_s: float, fetch_size: int, what: str) -> _Result:
        give_up_at_s = time.monotonic() + timeout_s
        lost, pause_s = 0, _FIRST_PAUSE_S
        try:
            async with asyncio.timeout(timeout_s + GRACE_S):
                while True:
                    try:
                        async with self._session(access, fetch_size) as session:
                            return await work(session, max(give_up_at_s - time.monotonic(), 0.001))
                    except DRIVER_ERRORS as error:
                        lost += is_lost_connection(error)
                        helps = is_transient(error) or is_lost_connection(error)
                        is_late = time.monotonic() + pause_s >= give_up_at_s
                        if not helps or is_late or lost >= MAX_LOST_CONNECTIONS:
                            raise translated(error, what) from error
                    await asyncio.sleep(pause_s)
                    pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        except TimeoutError as error:
            raise OutOfTimeError(f"the {what} took longer than {timeout_s * 1000:.0f} ms") from error

    def _session(self, access: str, fetch_size: int) -> neo4j.AsyncSession:
        more: dict[str, Any] = {} if self._bookmarks is None else {"bookmark_manager": self._bookmarks}
        return self._driver.session(database=self._database, default_access_mode=access, fetch_size=fetch_size, **more)
