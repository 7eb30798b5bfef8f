"""The turn's parts as deployments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ray.serve.handle import DeploymentHandle

from configs.settings import Budgets
from contracts.base import Row, Value
from contracts.clock import Deadline
from contracts.context import CallContext
from contracts.documents import EntityRef, Passage
from contracts.records import Handover
from contracts.sessions import Dialogue
from contracts.turns import Entity, Plan, Reply, RouteDecision, ToolResult
from deployments.calls import Backend
from deployments.cypher import CypherReplica
from deployments.planner import PlannerReplica
from deployments.router import RouterReplica
from deployments.search import SearchReplica
from deployments.summarizer import SummarizerReplica

Handle = DeploymentHandle[Any]


@dataclass(frozen=True, slots=True)
class Handles:
    """The deployments that an ingress replica calls."""

    router: Handle
    planner: Handle
    cypher: Handle
    search: Handle
    summarizer: Handle


class RemoteParts:
    """:class:`serve_app.workflow.parts.Parts` over ``deployments.calls``, with a breaker for each backend."""

    def __init__(self, handles: Handles, budgets: Budgets) -> None:
        self._router = Backend("router", handles.router, RouterReplica, cap_ms=budgets.understand_ms)
        self._planner = Backend("planner", handles.planner, PlannerReplica, cap_ms=budgets.phrase_ms)
        self._cypher = Backend("cypher executor", handles.cypher, CypherReplica, cap_ms=budgets.tool_ms)
        self._search = Backend("document search", handles.search, SearchReplica, cap_ms=budgets.tool_ms)
        self._summarizer = Backend("summarizer", handles.summarizer, SummarizerReplica, cap_ms=budgets.phrase_ms)

    async def read(self, ctx: CallContext, deadline: Deadline, message: str, dialogue: Dialogue) -> RouteDecision:
        decision: RouteDecision = await self._router.call("read", ctx, deadline, message, dialogue)
        return decision

    async def plan(
        self, ctx: CallContext, deadline: Deadline, decision: RouteDecision, known: tuple[Entity, ...]
    ) -> Plan:
        plan: Plan = await self._planner.call("plan", ctx, deadline, decision, known)
        return plan

    async def query(
        self, ctx: CallContext, deadline: Deadline, text: str, arguments: Mapping[str, Value]
    ) -> tuple[Row, ...]:
        rows: tuple[Row, ...] = await self._cypher.call("read", ctx, deadline, text, dict(arguments))
        return rows

    async def search(
        self, ctx: CallContext, deadline: Deadline, question: str, entities: tuple[EntityRef, ...]
    ) -> tuple[Passage, ...]:
        passages: tuple[Passage, ...] = await self._search.call("search", ctx, deadline, question, entities)
        return passages

    async def compose(
        self,
        ctx: CallContext,
        deadline: Deadline,
        decision: RouteDecision,
        plan: Plan,
        results: Mapping[str, ToolResult],
        handover: Handover | None,
    ) -> Reply:
        reply: Reply = await self._summarizer.call("compose", ctx, deadline, decision, plan, dict(results), handover)
        return reply
