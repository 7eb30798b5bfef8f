"""One message, one turn, once: admission, the session's lease, the workflow, the commit.

A turn's journal row says received, running, answered, failed or voided. Whoever repeats a request under
its key finds the row: an answered turn is answered again from it, one that another replica is running is
waited for, and one whose replica died goes on at the node it had reached.
"""

import asyncio
import hashlib
import logging
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from langchain_core.runnables import RunnableConfig

from configs.packs.types import Pack
from configs.settings import Budgets
from contracts.clock import Clock, Deadline
from contracts.context import CallContext
from contracts.errors import (
    ConflictError,
    FrontlineError,
    LeaseLostError,
    OutOfTimeError,
    TurnVoidedError,
)
from contracts.principal import Principal
from contracts.records import RecordsStore
from contracts.sessions import Lease, SessionState, SessionStore, TurnRecord, TurnStatus
from contracts.turns import TurnEvent
from serve_app.api.problems import problem_body
from serve_app.api.service import Emit, Explanation, PartReadiness, TaskTiming, TurnAnswer, TurnOutcome, TurnRequest
from serve_app.workflow.graph import build_graph
from serve_app.workflow.parts import Parts
from serve_app.workflow.state import TURN_STATE_VERSION, TurnContext, TurnState
from stores.sessions.checkpoints import FencedSqliteSaver

_log = logging.getLogger(__name__)

#: How often a turn that waits for its session's lease looks again, growing to the second number.
_LEASE_POLL_S = (0.01, 0.1)

_OVER = (TurnStatus.ANSWERED, TurnStatus.VOIDED)


class WorkflowTurnService:
    """Runs turns in this process; the session store puts those of one session in a row across all processes."""

    def __init__(
        self,
        *,
        sessions: SessionStore,
        saver: FencedSqliteSaver,
        records: RecordsStore,
        parts: Parts,
        pack: Pack,
        budgets: Budgets,
        clock: Clock,
        readiness: Callable[[], Awaitable[Mapping[str, PartReadiness]]],
    ) -> None:
        self.sessions = sessions
        self.clock = clock
        self._saver = saver
        self._records = records
        self._parts = parts
        self._pack = pack
        self._queries = {query.name: query for query in pack.queries.queries}
        self._budgets = budgets
        self._readiness = readiness
        self._graph = build_graph(saver)

    async def readiness(self) -> Mapping[str, PartReadiness]:
        return await self._readiness()

    async def take_turn(self, request: TurnRequest, principal: Principal, emit: Emit | None) -> TurnOutcome:
        """The outcome of the message, within the turn's budget. Raises any ``FrontlineError``."""
        deadline = Deadline(self._budgets.turn_ms)
        turn = await self._receive(request, principal)
        if turn.status in _OVER:
            return _outcome(turn)
        async with self._lease(turn, deadline) as lease:
            turn = await self.sessions.start_turn(turn.turn_id, lease)
            if turn.status in _OVER:
                return _outcome(turn)
            await self._void_interrupted(turn, lease)
            return await self._run(turn, request, principal, lease, deadline, emit or _silent)

    async def _receive(self, request: TurnRequest, principal: Principal) -> TurnRecord:
        """Journal the turn, with its session where it begins one."""
        now = self.clock.now()
        session_id = request.session_id or _new_session_id(principal, request.idempotency_key)
        if request.session_id is None:
            with suppress(ConflictError):
                await self.sessions.create_session(
                    SessionState(
                        session_id=session_id,
                        owner=principal.owner,
                        created_at=now,
                        updated_at=now,
                        locale=self._locale(request.locale),
                        desk=principal.desk,
                    )
                )
        return await self.sessions.receive_turn(
            TurnRecord(
                turn_id=uuid.uuid4().hex,
                session_id=session_id,
                owner=principal.owner,
                idempotency_key=request.idempotency_key,
                fingerprint=request.fingerprint,
                message=request.message,
                status=TurnStatus.RECEIVED,
                received_at=now,
            )
        )

    def _locale(self, wanted: str | None) -> str:
        languages = self._pack.domain.languages
        return wanted if wanted in languages else languages[0]

    @asynccontextmanager
    async def _lease(self, turn: TurnRecord, deadline: Deadline) -> AsyncIterator[Lease]:
        """The session's lease, renewed while held. Waiting for it spends the turn's own budget."""
        holder = uuid.uuid4().hex
        wait_s, longest_s = _LEASE_POLL_S
        while (lease := await self.sessions.acquire_lease(turn.session_id, holder, self._budgets.lease_ttl_ms)) is None:
            if deadline.passed:
                raise OutOfTimeError("An earlier message of this session is still being answered.")
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, longest_s)
        renewing = asyncio.create_task(self._renew(lease))
        try:
            yield lease
        finally:
            renewing.cancel()
            # Also when the caller has gone: the next turn should not have to wait for the lease to run out.
            with suppress(FrontlineError):
                await asyncio.shield(self.sessions.release_lease(lease))

    async def _renew(self, lease: Lease) -> None:
        while True:
            await asyncio.sleep(self._budgets.lease_ttl_ms / 3000)
            try:
                await self.sessions.renew_lease(lease, self._budgets.lease_ttl_ms)
            except LeaseLostError:
                return
            except FrontlineError as error:
                _log.warning("a lease could not be renewed: %s", error.detail)

    async def _void_interrupted(self, turn: TurnRecord, lease: Lease) -> None:
        """Void what another replica left running: a newer message has overtaken it."""
        for left in await self.sessions.unfinished_turns(turn.session_id):
            if left.turn_id == turn.turn_id:
                continue
            problem = TurnVoidedError("The turn was interrupted, and a newer message came before it was repeated.")
            await self.sessions.finish_turn(
                lease,
                left.turn_id,
                status=TurnStatus.VOIDED,
                http_status=problem.status,
                result=problem_body(problem, left.turn_id),
                at=self.clock.now(),
                state=None,
            )
            await self._prune(left)

    async def _run(
        self,
        turn: TurnRecord,
        request: TurnRequest,
        principal: Principal,
        lease: Lease,
        deadline: Deadline,
        emit: Emit,
    ) -> TurnOutcome:
        session = await self.sessions.get_session(turn.session_id, turn.owner)
        try:
            async with asyncio.timeout(deadline.remaining_ms() / 1000):
                state = await self._workflow(turn, request, principal, session, lease, deadline, emit)
        except LeaseLostError:
            raise
        except Exception as error:
            problem = _problem_of(error)
            body = problem_body(problem, request.request_id)
            failed = await self._finish(turn, lease, TurnStatus.FAILED, problem.status, body)
            if turn.idempotency_key is None:
                # Nobody can repeat it, so nothing will ever go on from its checkpoints.
                await self._prune(turn)
            return _outcome(failed)
        answer = TurnAnswer(
            turn_id=turn.turn_id,
            session_id=turn.session_id,
            reply=state["reply"],
            explanation=_explanation(state) if request.explain else None,
        )
        finished = await self._finish(
            turn, lease, TurnStatus.ANSWERED, 200, answer.model_dump(mode="json"), state["next_session"]
        )
        await self._prune(turn)
        return _outcome(finished)

    async def _workflow(
        self,
        turn: TurnRecord,
        request: TurnRequest,
        principal: Principal,
        session: SessionState,
        lease: Lease,
        deadline: Deadline,
        emit: Emit,
    ) -> TurnState:
        config: RunnableConfig = {"configurable": {"thread_id": turn.turn_id, "lease": lease}}
        context = TurnContext(
            call=CallContext(
                request_id=request.request_id,
                turn_id=turn.turn_id,
                session_id=turn.session_id,
                principal=principal,
                budget_ms=deadline.remaining_ms(),
                locale=session.locale,
            ),
            deadline=deadline,
            session=session,
            pack=self._pack,
            queries=self._queries,
            parts=self._parts,
            records=self._records,
            clock=self.clock,
            emit=emit,
        )
        # None lets an interrupted run go on at the node it had reached.
        begun = (await self._graph.aget_state(config)).values
        start: TurnState | None = (
            None
            if begun.get("version") == TURN_STATE_VERSION
            else {"version": TURN_STATE_VERSION, "message": request.message, "images": request.images}
        )
        result: Any = await self._graph.ainvoke(start, config, context=context, durability="sync")
        state: TurnState = result
        return state

    async def _prune(self, turn: TurnRecord) -> None:
        """Let go of a finished turn's checkpoints. What is committed is told, whether or not that works."""
        try:
            await self._saver.prune(turn.turn_id)
        except FrontlineError as error:
            _log.warning("the checkpoints of turn %s are left over: %s", turn.turn_id, error.detail)

    async def _finish(
        self,
        turn: TurnRecord,
        lease: Lease,
        status: TurnStatus,
        http_status: int,
        result: dict[str, Any],
        state: SessionState | None = None,
    ) -> TurnRecord:
        return await self.sessions.finish_turn(
            lease,
            turn.turn_id,
            status=status,
            http_status=http_status,
            result=result,
            at=self.clock.now(),
            state=state,
        )


async def _silent(_: TurnEvent) -> None:
    return None


def _new_session_id(principal: Principal, idempotency_key: str | None) -> str:
    """Random; but the same for a repeated request that begins a session, so that it finds the one it began."""
    if idempotency_key is None:
        return uuid.uuid4().hex
    return hashlib.sha256(f"{principal.owner}\n{idempotency_key}".encode()).hexdigest()[:32]


def _problem_of(error: Exception) -> FrontlineError:
    """What the caller is told of an error that ended a turn."""
    if isinstance(error, FrontlineError):
        return error
    if isinstance(error, TimeoutError):
        return OutOfTimeError("The time for this turn ran out.")
    _log.error("a turn failed", exc_info=error)
    return FrontlineError("The turn could not be answered.")


def _outcome(turn: TurnRecord) -> TurnOutcome:
    if turn.http_status is None or turn.result is None:
        raise RuntimeError(f"the turn {turn.turn_id} is {turn.status} without a result")
    return TurnOutcome(turn_id=turn.turn_id, session_id=turn.session_id, http_status=turn.http_status, body=turn.result)


def _explanation(state: TurnState) -> Explanation:
    decision = state["decision"]
    return Explanation(
        route=decision.route,
        confidence=decision.confidence,
        clauses=tuple(clause.text for clause in decision.clauses),
        plan=state["plan"],
        tasks=tuple(
            TaskTiming(
                task_id=result.task_id,
                tool=result.tool,
                status=result.status,
                reason=result.reason,
                latency_ms=result.latency_ms,
            )
            for result in state.get("results", {}).values()
        ),
        timings_ms=state.get("timings_ms", {}),
    )
