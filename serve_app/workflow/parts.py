"""What a turn asks of others. Answered by deployments in production, in one process in tests and baselines."""

from collections.abc import Mapping
from typing import Protocol

from contracts.base import Row, Value
from contracts.clock import Deadline
from contracts.context import CallContext
from contracts.documents import EntityRef, Passage
from contracts.records import Handover
from contracts.sessions import Dialogue
from contracts.turns import Entity, Plan, Reply, RouteDecision, ToolResult


class Parts(Protocol):
    """Each method raises errors of our family alone, ``OutOfTimeError`` when ``deadline`` passes."""

    async def read(self, ctx: CallContext, deadline: Deadline, message: str, dialogue: Dialogue) -> RouteDecision: ...

    async def plan(
        self, ctx: CallContext, deadline: Deadline, decision: RouteDecision, known: tuple[Entity, ...]
    ) -> Plan: ...

    async def query(
        self, ctx: CallContext, deadline: Deadline, text: str, arguments: Mapping[str, Value]
    ) -> tuple[Row, ...]: ...

    async def search(
        self, ctx: CallContext, deadline: Deadline, question: str, entities: tuple[EntityRef, ...]
    ) -> tuple[Passage, ...]: ...

    async def compose(
        self,
        ctx: CallContext,
        deadline: Deadline,
        decision: RouteDecision,
        plan: Plan,
        results: Mapping[str, ToolResult],
        handover: Handover | None,
    ) -> Reply: ...
