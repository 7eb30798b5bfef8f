"""Vectors of questions, as the embedder's callers ask for them: what is known costs no hop."""

from typing import Any

from ray.serve.handle import DeploymentHandle

from configs.settings import Settings
from contracts.clock import Deadline
from contracts.context import CallContext
from deployments.calls import Backend
from deployments.embedder import EmbedderReplica
from models.embedding.vector_cache import VectorCache


class QuestionVectors:
    """The embedder's deployment behind a cache in this process. ``cap_ms`` bounds one call of it."""

    def __init__(self, embedder: DeploymentHandle[Any], settings: Settings, *, cap_ms: int) -> None:
        self._embedder = Backend("embedder", embedder, EmbedderReplica, cap_ms=cap_ms)
        self._cache = VectorCache(settings.embedding_cache_entries)

    async def of(self, ctx: CallContext, deadline: Deadline, texts: list[str]) -> list[bytes]:
        """One float32 little-endian vector per text, in order; raises as :meth:`deployments.calls.Backend.call`."""
        vectors = self._cache.found(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            embedded = await self._embedder.call("embed", ctx, deadline, missing)
            fresh = dict(zip(missing, embedded, strict=True))
            self._cache.keep(fresh)
            vectors |= fresh
        return [vectors[text] for text in texts]
