"""What a turn carries from node to node, and what its nodes may use."""

import operator
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from configs.packs.types import Pack, PredefinedQuery
from contracts.clock import Clock, Deadline
from contracts.context import CallContext
from contracts.records import Handover, RecordsStore
from contracts.sessions import SessionState
from contracts.turns import Plan, Reply, RouteDecision, ToolResult, TurnEvent
from serve_app.workflow.parts import Parts

#: Raised when this state's shape changes, so that a replica never resumes a turn that it can't read.
TURN_STATE_VERSION = 1

Emit = Callable[[TurnEvent], Awaitable[None]]


class TurnState(TypedDict, total=False):
    """Checkpointed after each node; starts fresh with each turn. ``timings_ms`` is by node."""

    version: int
    message: str
    images: int
    decision: RouteDecision
    plan: Plan
    results: Annotated[dict[str, ToolResult], operator.or_]
    handover: Handover | None
    reply: Reply
    next_session: SessionState
    timings_ms: Annotated[dict[str, float], operator.or_]


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What the nodes of one run of a turn use; not checkpointed, made anew when a turn is resumed.

    ``queries`` are the pack's predefined queries by name.
    """

    call: CallContext
    deadline: Deadline
    session: SessionState
    pack: Pack
    queries: Mapping[str, PredefinedQuery]
    parts: Parts
    records: RecordsStore
    clock: Clock
    emit: Emit = field(repr=False)
