"""Finding a lost server again, and warming it, before a caller waits for it.

A server that has just started takes seconds of processor time for its first query. Callers' own tries would be
given up half-way and begun anew, while they keep the machine busy. So while a server is lost they are told so at
once, and one task here tries, and then asks again what was asked last, until it is answered quickly.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

from contracts.errors import FrontlineError

#: Between two tries to reach the server, in s.
_PAUSE_S = 0.25
#: An answer within this, on a busy machine, says that the server is warm; it is asked this often at most.
_WARM_S = 0.5
_MAX_WARMING = 3


class Revival:
    """``ask`` repeats something that was asked before, with all the time it takes; raises while the server is lost."""

    def __init__(self, ask: Callable[[], Awaitable[object]]) -> None:
        self._ask = ask
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    def begin(self) -> None:
        """Look for the server from now on, unless that is being done."""
        if not self.is_running:
            self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            try:
                for _ in range(_MAX_WARMING):
                    started_at_s = time.monotonic()
                    await self._ask()
                    if time.monotonic() - started_at_s < _WARM_S:
                        break
                return
            except FrontlineError:
                await asyncio.sleep(_PAUSE_S)
