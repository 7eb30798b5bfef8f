"""The same turn two ways: composed in one process, and over HTTP on Serve."""

import asyncio
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from configs.keys import signing_key
from configs.settings import Settings
from contracts.clock import SystemClock
from contracts.principal import Principal, PrincipalKind
from serve_app.api.service import PartReadiness, TurnRequest
from serve_app.api.tokens import mint
from serve_app.parts.local import LocalParts
from serve_app.setup import install
from serve_app.workflow.service import WorkflowTurnService
from stores.records.sql_store import SqlRecordsStore
from stores.sessions.checkpoints import FencedSqliteSaver
from stores.sessions.sqlite_store import SqliteSessionStore

#: Turns of each side that are not counted: caches fill, connections open.
_WARM_UP = 10


@dataclass(frozen=True)
class Paired:
    """Durations of turns asked in pairs, in ms; ``ratio`` is the median of served over baseline by pair."""

    baseline_ms: list[float]
    served_ms: list[float]

    @property
    def ratio(self) -> float:
        return statistics.median(
            served / baseline for served, baseline in zip(self.served_ms, self.baseline_ms, strict=True)
        )


class InProcess:
    """The turn's service over ``LocalParts``: the same workflow, stores and checkpoints, without Ray and HTTP."""

    def __init__(self, service: WorkflowTurnService, closing: tuple[LocalParts, SqlRecordsStore, FencedSqliteSaver]):
        self._service = service
        self._closing = closing

    @classmethod
    async def open(cls, compiled_by: Settings, settings: Settings) -> "InProcess":
        """With stores of its own below ``settings.home``; the compiled pack is that of ``compiled_by``."""
        settings.state.mkdir(parents=True, exist_ok=True)
        installation = (await asyncio.to_thread(install, compiled_by)).model_copy(update={"settings": settings})
        sessions = await SqliteSessionStore.open(settings.sessions_path)
        saver = await FencedSqliteSaver.open(settings.checkpoints_path, sessions=sessions)
        records = await SqlRecordsStore.open(settings.records_url)
        parts = await LocalParts.open(installation)
        service = WorkflowTurnService(
            sessions=sessions,
            saver=saver,
            records=records,
            parts=parts,
            pack=installation.pack(),
            budgets=settings.budgets,
            clock=SystemClock(),
            readiness=_ready,
        )
        return cls(service, (parts, records, saver))

    async def turn_ms(self, message: str, customer_id: str) -> float:
        """How long one turn took. Raises ``RuntimeError`` when it was not answered."""
        principal = Principal(kind=PrincipalKind.CUSTOMER, subject=customer_id, customer_id=customer_id)
        started = time.perf_counter()
        outcome = await self._service.take_turn(TurnRequest(message=message), principal, None)
        elapsed_ms = (time.perf_counter() - started) * 1000
        if outcome.http_status != 200:
            raise RuntimeError(f"the turn failed: {outcome.body}")
        return elapsed_ms

    async def close(self) -> None:
        for store in self._closing:
            await store.close()
        await self._service.sessions.close()


class OverHttp:
    """The running service, asked over one kept-alive connection."""

    def __init__(self, url: str, settings: Settings) -> None:
        self._client = httpx.Client(base_url=url, timeout=30)
        self._key = signing_key(settings.home)

    def turn_ms(self, message: str, customer_id: str) -> float:
        """How long one turn took, from the first byte sent to the last received."""
        principal = Principal(kind=PrincipalKind.CUSTOMER, subject=customer_id, customer_id=customer_id)
        token = mint(principal, self._key, 600, SystemClock())
        started = time.perf_counter()
        response = self._client.post(
            "/v1/turns", json={"message": message}, headers={"Authorization": f"Bearer {token}"}
        )
        elapsed_ms = (time.perf_counter() - started) * 1000
        response.raise_for_status()
        return elapsed_ms

    def close(self) -> None:
        self._client.close()


async def paired_turns(baseline: InProcess, served: OverHttp, message: str, customer_id: str, pairs: int) -> Paired:
    """``pairs`` turns of each side, in turn, after a warm-up."""
    measured = Paired([], [])
    for number in range(-_WARM_UP, pairs):
        baseline_ms = await baseline.turn_ms(message, customer_id)
        served_ms = served.turn_ms(message, customer_id)
        if number >= 0:
            measured.baseline_ms.append(baseline_ms)
            measured.served_ms.append(served_ms)
    return measured


async def _ready() -> Mapping[str, PartReadiness]:
    return {}
