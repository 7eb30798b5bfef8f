"""A turn as server-sent events: what happens, as it happens, and at the end one ``reply`` or ``error``."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from contracts.errors import UnavailableError
from contracts.principal import Principal
from contracts.turns import EventName, TurnEvent
from serve_app.api.service import TurnOutcome, TurnRequest, TurnService

_ON_THE_WAY = frozenset({EventName.ROUTE, EventName.PLAN, EventName.TASK, EventName.SENTENCE})

#: What a turn brings, in order: events, then its outcome or the error that ended it.
TurnItem = TurnEvent | TurnOutcome | Exception

#: Makes the event that ends the stream.
LastEvent = Callable[[TurnOutcome | Exception], TurnEvent]


class RunningTurn:
    """A turn that runs while its events are read. Leaving early cancels it."""

    def __init__(self, service: TurnService, request: TurnRequest, principal: Principal) -> None:
        self._items: asyncio.Queue[TurnItem] = asyncio.Queue()
        self._task = asyncio.create_task(self._run(service, request, principal))

    async def next_item(self) -> TurnItem:
        """The next event, or the end."""
        return await self._items.get()

    async def cancel(self) -> None:
        """Stop the turn, if it still runs."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _emit(self, event: TurnEvent) -> None:
        if event.event in _ON_THE_WAY:
            self._items.put_nowait(event)

    async def _run(self, service: TurnService, request: TurnRequest, principal: Principal) -> None:
        try:
            self._items.put_nowait(await service.take_turn(request, principal, self._emit))
        except asyncio.CancelledError:
            self._items.put_nowait(UnavailableError("The turn was interrupted."))
            raise
        except Exception as error:  # told to the caller by the reader of the items
            self._items.put_nowait(error)


async def first_item(turn: RunningTurn) -> TurnEvent | TurnOutcome:
    """Wait until the turn has something to tell. An error before that is raised: nothing was sent yet."""
    try:
        first = await turn.next_item()
    except asyncio.CancelledError:
        await turn.cancel()
        raise
    if isinstance(first, Exception):
        raise first
    return first


async def events(
    turn: RunningTurn, first: TurnEvent | TurnOutcome, last_event: LastEvent, keep_alive_s: float
) -> AsyncIterator[bytes]:
    """The stream's bytes, with a comment whenever nothing happened for ``keep_alive_s`` seconds."""
    item: TurnItem = first
    try:
        while isinstance(item, TurnEvent):
            yield _encoded(item.event, item.data)
            while True:
                try:
                    item = await asyncio.wait_for(turn.next_item(), keep_alive_s)
                    break
                except TimeoutError:
                    yield KEEPALIVE_COMMENT
        last = last_event(item)
        yield _encoded(last.event, last.data)
    finally:
        await turn.cancel()


def _encoded(event: EventName, data: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=json.dumps(data, ensure_ascii=False), event=event.value)
