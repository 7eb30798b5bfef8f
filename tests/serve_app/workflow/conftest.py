"""The workflow over the real stores, and over the sample shop's parts in this process."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Budgets
from contracts.clock import Deadline, SystemClock
from contracts.context import CallContext
from contracts.errors import OutOfTimeError
from contracts.principal import Principal, PrincipalKind
from contracts.records import RecordsStore
from contracts.sessions import Lease
from contracts.turns import Reply, TurnEvent
from deployments.installation import Installation
from serve_app.api.service import Emit, PartReadiness, TurnOutcome, TurnRequest
from serve_app.parts.local import LocalParts
from serve_app.workflow.service import WorkflowTurnService
from stores.records.sql_store import SqlRecordsStore
from stores.sessions.checkpoints import FencedSqliteSaver
from stores.sessions.sqlite_store import SqliteSessionStore

#: Something that happens before one of the parts is asked; it is given what the part is given.
Hook = Callable[..., Awaitable[None]]


class TamperedParts:
    """The real parts; a test may let something happen before one of them is asked."""

    def __init__(self, parts: LocalParts) -> None:
        self._parts = parts
        self.before: dict[str, Hook] = {}
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._parts, name)

        async def called(ctx: CallContext, deadline: Deadline, *args: Any) -> Any:
            self.calls[name] += 1
            if name in self.before:
                await self.before[name](deadline, *args)
            return await method(ctx, deadline, *args)

        return called


def fails_with(error: Exception) -> Hook:
    async def fail(*_: Any) -> None:
        raise error

    return fail


async def runs_out_of_time(deadline: Deadline, *_: Any) -> None:
    """What a call over the network does when its callee is slow."""
    await asyncio.sleep(deadline.remaining_ms() / 1000)
    raise OutOfTimeError("The shelf did not answer within 500 ms.")


class Gate:
    """Lets nobody through until it is opened, and tells when somebody has come."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, *_: Any) -> None:
        self.reached.set()
        await self.opened.wait()


class MortalSessions(SqliteSessionStore):
    """The real store, as a process has it that may die or hang: nothing that it still owes its leases happens."""

    is_gone = False

    async def release_lease(self, lease: Lease) -> None:
        if not self.is_gone:
            await super().release_lease(lease)

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> None:
        if not self.is_gone:
            await super().renew_lease(lease, ttl_ms)


@dataclass
class Replica:
    """One process's service, over the files that all share."""

    service: WorkflowTurnService
    parts: TamperedParts
    sessions: MortalSessions
    saver: FencedSqliteSaver
    records: RecordsStore

    async def die(self, turn: "asyncio.Task[TurnOutcome]") -> None:
        """Stop as a killed process does: in the middle, without releasing anything."""
        self.sessions.is_gone = True
        turn.cancel()
        await asyncio.wait([turn])

    async def ask(
        self,
        message: str,
        principal: Principal,
        *,
        session_id: str | None = None,
        key: str | None = None,
        emit: Emit | None = None,
        **fields: Any,
    ) -> TurnOutcome:
        request = TurnRequest(message=message, session_id=session_id, idempotency_key=key, request_id="r1", **fields)
        return await self.service.take_turn(request, principal, emit)


StartReplica = Callable[..., Awaitable[Replica]]


def customer(customer_id: str) -> Principal:
    return Principal(kind=PrincipalKind.CUSTOMER, subject=customer_id, customer_id=customer_id)


def reply_of(outcome: TurnOutcome) -> Reply:
    assert outcome.http_status == 200, outcome.body
    return Reply.model_validate(outcome.body["reply"])


class Listener:
    """Keeps the events of a turn."""

    def __init__(self) -> None:
        self.events: list[TurnEvent] = []

    async def __call__(self, event: TurnEvent) -> None:
        self.events.append(event)

    @property
    def names(self) -> list[str]:
        return [event.event.value for event in self.events]


@pytest.fixture
async def start_replica(
    tmp_path: Path, installation: Installation, local_parts: LocalParts
) -> AsyncIterator[StartReplica]:
    """Starts one more replica over this test's files; what differs from the usual is given by keyword."""
    opened: list[Any] = []
    pack = installation.pack()

    async def start(*, records: RecordsStore | None = None, **budgets: int) -> Replica:
        sessions = await MortalSessions.open(tmp_path / "sessions.sqlite")
        saver = await FencedSqliteSaver.open(tmp_path / "checkpoints.sqlite", sessions=sessions)
        if records is None:
            records = await SqlRecordsStore.open(f"sqlite+aiosqlite:///{tmp_path / 'records.sqlite'}")
        opened.extend((saver, sessions, records))
        parts = TamperedParts(local_parts)
        service = WorkflowTurnService(
            sessions=sessions,
            saver=saver,
            records=records,
            parts=parts,
            pack=pack,
            budgets=Budgets(**budgets),
            clock=SystemClock(),
            readiness=_ready,
        )
        return Replica(service, parts, sessions, saver, records)

    yield start
    for store in opened:
        await store.close()


@pytest.fixture
async def replica(start_replica: StartReplica) -> Replica:
    return await start_replica()


@pytest.fixture
def maya() -> Principal:
    """Two orders: 10566 delivered, and 11568 (one washing machine, €648.99) under way to her old address."""
    return customer("C0001")


@pytest.fixture
def farah() -> Principal:
    """One order, 11251, delivered on 23 May 2026 for €807.98."""
    return customer("C0002")


async def _ready() -> Mapping[str, PartReadiness]:
    return {"everything": {"ready": True, "detail": ""}}
