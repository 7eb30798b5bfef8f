"""The real API over a small turn service in this process, with the real session store on SQLite."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from configs.keys import signing_key
from configs.settings import Settings
from contracts.clock import Clock
from contracts.errors import ConflictError
from contracts.principal import Principal, PrincipalKind
from contracts.sessions import SessionState, TurnRecord, TurnStatus
from contracts.turns import EventName, Plan, Reply, RouteName, Sentence, TurnEvent
from serve_app.api.app import create_api
from serve_app.api.service import Emit, Explanation, PartReadiness, TurnAnswer, TurnOutcome, TurnRequest
from serve_app.api.tokens import mint
from stores.sessions.sqlite_store import SqliteSessionStore

NOON = datetime(2030, 5, 17, 12, 0, tzinfo=UTC)


class HandClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.moment = NOON

    def now(self) -> datetime:
        return self.moment

    def today(self) -> date:
        return self.moment.date()

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


class EchoService:
    """Answers each message with its own words, one sentence a line, and journals the turn as the workflow does.

    ``before`` is raised before anything happens, ``midway`` after the first sentence; with ``paused``
    set, the turn waits there for it, and releases ``at_pause``.
    """

    def __init__(self, sessions: SqliteSessionStore, clock: Clock) -> None:
        self.sessions = sessions
        self.clock = clock
        self.before: Exception | None = None
        self.midway: Exception | None = None
        self.paused: asyncio.Event | None = None
        self.at_pause = asyncio.Semaphore(0)
        self.cancelled = asyncio.Event()
        self.requests: list[tuple[TurnRequest, Principal]] = []
        self.parts: Mapping[str, PartReadiness] = {"router": {"ready": True, "detail": "1 running"}}

    async def readiness(self) -> Mapping[str, PartReadiness]:
        return self.parts

    async def take_turn(self, request: TurnRequest, principal: Principal, emit: Emit | None) -> TurnOutcome:
        self.requests.append((request, principal))
        if self.before is not None:
            raise self.before
        session_id = request.session_id or await self._begin_session(request, principal)
        turn_id = hashlib.sha256(f"{session_id}/{request.idempotency_key}/{len(self.requests)}".encode()).hexdigest()
        turn = await self.sessions.receive_turn(
            TurnRecord(
                turn_id=turn_id[:32],
                session_id=session_id,
                owner=principal.owner,
                idempotency_key=request.idempotency_key,
                fingerprint=request.fingerprint,
                message=request.message,
                status=TurnStatus.RECEIVED,
                received_at=self.clock.now(),
            )
        )
        if turn.status is TurnStatus.RECEIVED:
            turn = await self._answer(turn, request, principal, emit)
        assert turn.http_status is not None
        assert turn.result is not None
        return TurnOutcome(
            turn_id=turn.turn_id, session_id=turn.session_id, http_status=turn.http_status, body=turn.result
        )

    async def _begin_session(self, request: TurnRequest, principal: Principal) -> str:
        unique = request.idempotency_key or str(len(self.requests))
        session_id = hashlib.sha256(f"{principal.owner}/{unique}".encode()).hexdigest()[:32]
        now = self.clock.now()
        with suppress(ConflictError):
            await self.sessions.create_session(
                SessionState(session_id=session_id, owner=principal.owner, created_at=now, updated_at=now)
            )
        return session_id

    async def _answer(
        self, turn: TurnRecord, request: TurnRequest, principal: Principal, emit: Emit | None
    ) -> TurnRecord:
        sentences = tuple(Sentence(text=line) for line in request.message.splitlines())
        if emit is not None:
            await emit(TurnEvent(event=EventName.ROUTE, data={"route": "general"}))
            await emit(TurnEvent(event=EventName.SENTENCE, data=sentences[0].model_dump(mode="json")))
        if self.paused is not None:
            self.at_pause.release()
            try:
                await self.paused.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        if self.midway is not None:
            raise self.midway
        if emit is not None:
            for sentence in sentences[1:]:
                await emit(TurnEvent(event=EventName.SENTENCE, data=sentence.model_dump(mode="json")))
            # The end of a turn is the API's to tell: this one must not reach the caller.
            await emit(TurnEvent(event=EventName.REPLY, data={"told": "twice"}))
        explanation = Explanation(
            route=RouteName.GENERAL,
            confidence=1.0,
            clauses=(request.message,),
            plan=Plan(general={"c1": "echo"}),
            tasks=(),
            timings_ms={"route": 1.5},
        )
        answer = TurnAnswer(
            turn_id=turn.turn_id,
            session_id=turn.session_id,
            reply=Reply(text=request.message, language="en", sentences=sentences),
            explanation=explanation if request.explain else None,
        )
        lease = await self.sessions.acquire_lease(turn.session_id, turn.turn_id, 5_000)
        assert lease is not None
        finished = await self.sessions.finish_turn(
            lease,
            turn.turn_id,
            status=TurnStatus.ANSWERED,
            http_status=200,
            result=answer.model_dump(mode="json", exclude_none=True),
            at=self.clock.now(),
            state=None,
        )
        await self.sessions.release_lease(lease)
        return finished


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.delenv("FRONTLINE_SIGNING_KEY", raising=False)
    return Settings(home=tmp_path)


@pytest.fixture
async def service(tmp_path: Path, clock: HandClock) -> AsyncIterator[EchoService]:
    store = await SqliteSessionStore.open(tmp_path / "sessions.sqlite")
    yield EchoService(store, clock)
    await store.close()


@pytest.fixture
def api(service: EchoService, settings: Settings) -> FastAPI:
    return create_api(lambda: service, settings)


@pytest.fixture
async def http(api: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A caller without a token. Whatever the application lets out is raised here."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://frontline") as client:
        yield client


Headers = dict[str, str]


@pytest.fixture
def bearer(settings: Settings, clock: HandClock) -> Callable[[str], Headers]:
    """The headers with which a customer calls."""

    def headers(customer: str) -> Headers:
        principal = Principal(kind=PrincipalKind.CUSTOMER, subject=customer, customer_id=customer)
        return {"Authorization": f"Bearer {mint(principal, signing_key(settings.home), 3600, clock)}"}

    return headers
