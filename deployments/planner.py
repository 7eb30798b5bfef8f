"""Turns what was read into a validated plan."""

from ray import serve

from agents.planner import plan
from configs.logs import log_as
from contracts.context import CallContext
from contracts.turns import Entity, Plan, RouteDecision
from deployments.installation import Installation
from deployments.serving import served


class PlannerReplica:
    def __init__(self, installation: Installation) -> None:
        log_as("planner", installation.settings)
        self._pack = installation.pack()

    @served(repeatable=True)
    async def plan(self, ctx: CallContext, decision: RouteDecision, known: tuple[Entity, ...]) -> Plan:
        """The plan for this principal; ``known`` are the entities that the session spoke of, latest first."""
        return plan(decision, principal=ctx.principal, pack=self._pack, known=known)


Planner = serve.deployment()(PlannerReplica)
