"""Composes the reply from what the tasks brought."""

from collections.abc import Mapping

from ray import serve

from agents.summarizer import compose
from configs.logs import log_as
from contracts.clock import BusinessClock
from contracts.context import CallContext
from contracts.records import Handover
from contracts.turns import Plan, Reply, RouteDecision, ToolResult
from deployments.installation import Installation
from deployments.serving import served


class SummarizerReplica:
    def __init__(self, installation: Installation) -> None:
        log_as("summarizer", installation.settings)
        self._pack = installation.pack()
        self._clock = BusinessClock(self._pack.domain.today)

    @served(repeatable=True)
    async def compose(
        self,
        ctx: CallContext,
        decision: RouteDecision,
        plan: Plan,
        results: Mapping[str, ToolResult],
        handover: Handover | None,
    ) -> Reply:
        """One reply that covers every clause, with its sources."""
        return compose(
            decision,
            plan,
            results,
            pack=self._pack,
            principal=ctx.principal,
            today=self._clock.today(),
            handover=handover,
            turn_id=ctx.turn_id,
        )


Summarizer = serve.deployment()(SummarizerReplica)
