"""The turn's nodes: small async functions ``(TurnState) -> update``.

What can fail has its fallback here: planning and composing are plain Python that this process can do
itself when their deployments can't, a task that fails becomes a result that says so, and only a message
that nobody could read ends the turn in a problem.
"""

import asyncio
import functools
import logging
import time
import uuid
from typing import Protocol

from langgraph.runtime import Runtime

from agents.fit import IMAGE
from agents.memory import remember as remember_turn
from agents.planner import plan as plan_here
from agents.summarizer import compose as compose_here
from contracts.clock import BusinessClock, Deadline
from contracts.errors import FrontlineError
from contracts.records import Handover, HandoverStatus
from contracts.turns import Clause, Intent, NotHandled, NotHandledReason, Plan, Reply, RouteDecision, ToolResult
from governance.coverage import uncovered
from serve_app.workflow.events import plan_event, route_event, sentence_event, task_event
from serve_app.workflow.state import TurnContext, TurnState
from serve_app.workflow.tasks import run_tasks, with_choices

_log = logging.getLogger(__name__)

#: Kept back from the tasks, so that there is time to say what they brought.
_PHRASING_RESERVE_MS = 1_500


class Node(Protocol):
    """An async function from the turn's state to an update of it, by its name."""

    __name__: str

    async def __call__(self, state: TurnState, *, runtime: Runtime[TurnContext]) -> TurnState: ...


def timed(node: Node) -> Node:
    """Record how long the node took, in ms, under its name."""
    name = node.__name__

    @functools.wraps(node)
    async def measured(state: TurnState, *, runtime: Runtime[TurnContext]) -> TurnState:
        started = time.perf_counter()
        update = await node(state, runtime=runtime)
        return {**update, "timings_ms": {name: round((time.perf_counter() - started) * 1000, 2)}}

    return measured


@timed
async def route(state: TurnState, *, runtime: Runtime[TurnContext]) -> TurnState:
    """Read the message: its clauses and where the turn goes. The one node without a fallback."""
    turn = runtime.context
    decision = await turn.parts.read(turn.call, turn.deadline, state["message"], turn.session.dialogue)
    if state["images"]:
        decision = _with_pictures(decision)
    await turn.emit(route_event(decision))
    return {"decision": decision}


@timed
async def plan(state: TurnState, *, runtime: Runtime[TurnContext]) -> TurnState:
    """Decide the tasks. Without the planner's deployment, in this process."""
    turn = runtime.context
    known = turn.session.entities
    try:
        made = await turn.parts.plan(turn.call, turn.deadline, state["decision"], known)
    except FrontlineError as error:
        _log.warning("planning in the ingress: %s", error.detail)
        made = plan_here(state["decision"], principal=turn.call.principal, pack=turn.pack, known=known)
    await turn.emit(plan_event(made))
    return {"plan": made}


@timed
async def knowledge(state: TurnState, *, runtime: Runtime[TurnContext]) -> TurnState:
    """Run the plan's tasks in waves, and look up what a question back offers; each ends in a result."""
    turn = runtime.context

    async def report(result: ToolResult) -> None:
        await turn.emit(task_event(result))

    return {"results": await run_tasks(with_choices(state["plan"]), turn, _before_phrasing(turn.deadline), report)}


@timed
async def human(state: TurnState, *, runtime: Runtime[TurnContext]) -> TurnState:
    """Hand over to a person: commit the row, read it back, and only then is there a handover to name.

    A session that has been handed over already is not handed over again: that handover is the one to name.
    """
    turn = runtime.context
    if open_already := await _open_handover(turn):
        return {"handover": open_already}
    desk = turn.session.desk or next(desk.name for desk in turn.pack.domain.desks if desk.default)
    wanted = Handover(
        handover_id=f"H-{uuid.uuid4().hex[:10].upper()}",
        turn_id=turn.call.turn_id,
        session_id=turn.call.session_id,
        owner=turn.call.principal.owner,
        customer_id=turn.call.principal.customer_id,
        desk=desk,
        reason="asked_for_a_person",
        message=state["decision"].earlier_message or state["message"],
        summary="\n".join(f"{exchange.message} -> {exchange.reply}" for exchange in turn.session.history[-3:]),
        status=HandoverStatus.DELIVERED,
        requested_at=turn.clock.now(),
    )
    try:
        async with asyncio.timeout(turn.deadline.remaining_ms() / 1000):
            kept = await turn.records.add_handover(wanted)
            return {"handover": await turn.records.get_handover(kept.handover_id)}
    except (FrontlineError, TimeoutError):
        _log.exception("the handover of turn %s could not be committed", turn.call.turn_id)
        return {"handover": None}


@timed
async def summarize(state: TurnState, *, runtime: Runtime[TurnContext]) -> TurnState:
    """Compose the reply. Without the summarizer's deployment, in this process."""
    turn = runtime.context
    results, handover = state.get("results", {}), state.get("handover")
    try:
        reply = await turn.parts.compose(turn.call, turn.deadline, state["decision"], state["plan"], results, handover)
    except FrontlineError as error:
        _log.warning("composing in the ingress: %s", error.detail)
        reply = _composed_here(state, state["plan"], turn)
    return {"reply": reply}


@timed
async def check(state: TurnState, *, runtime: Runtime[TurnContext]) -> TurnState:
    """Let out only a reply that covers every clause; then deliver it sentence by sentence."""
    turn = runtime.context
    reply = state["reply"]
    if left_out := uncovered(state["decision"], reply):
        _log.error("the reply of turn %s left out %d clauses", turn.call.turn_id, len(left_out))
        named = tuple(
            NotHandled(clause_id=clause.clause_id, text=clause.text, reason=NotHandledReason.UNSUPPORTED)
            for clause in left_out
        )
        plan = state["plan"]
        reply = _composed_here(state, plan.model_copy(update={"not_handled": (*plan.not_handled, *named)}), turn)
    for sentence in reply.sentences:
        await turn.emit(sentence_event(sentence))
    return {"reply": reply}


@timed
async def remember(state: TurnState, *, runtime: Runtime[TurnContext]) -> TurnState:
    """The session as it will be once this turn's answer is committed."""
    turn = runtime.context
    return {
        "next_session": remember_turn(
            turn.session,
            turn_id=turn.call.turn_id,
            message=state["message"],
            decision=state["decision"],
            plan=state["plan"],
            results=state.get("results", {}),
            reply=state["reply"],
            now=turn.clock.now(),
            pack=turn.pack,
        )
    }


async def _open_handover(turn: TurnContext) -> Handover | None:
    """The session's handover as the records have it; ``None`` where there is none, or none that can be read."""
    if turn.session.handover_id is None:
        return None
    try:
        async with asyncio.timeout(turn.deadline.remaining_ms() / 1000):
            return await turn.records.get_handover(turn.session.handover_id)
    except (FrontlineError, TimeoutError):
        _log.exception("the handover %s of this session could not be read", turn.session.handover_id)
        return None


def _composed_here(state: TurnState, plan: Plan, turn: TurnContext) -> Reply:
    return compose_here(
        state["decision"],
        plan,
        state.get("results", {}),
        pack=turn.pack,
        principal=turn.call.principal,
        today=BusinessClock(turn.pack.domain.today).today(),
        handover=state.get("handover"),
        turn_id=turn.call.turn_id,
    )


def _with_pictures(decision: RouteDecision) -> RouteDecision:
    """The pictures that came along as one more request, so that the reply has to say what became of them.

    Where the message speaks of them anyway, that is said once.
    """
    if any(clause.intents and clause.intents[0].name == IMAGE for clause in decision.clauses):
        return decision
    picture = Clause(clause_id="pictures", text="", masked="", intents=(Intent(name=IMAGE, probability=1.0),))
    said = (c for c in decision.clauses if not c.intents or c.intents[0].name != NotHandledReason.NOTHING_ASKED)
    return decision.model_copy(update={"clauses": (*said, picture)})


def _before_phrasing(deadline: Deadline) -> Deadline:
    return Deadline(max(0, deadline.remaining_ms() - _PHRASING_RESERVE_MS))
