"""Runs proven queries and writes. The embedded graph lives in this replica's process and in no other; of a
graph server there may be several of these replicas.
"""

import asyncio
import contextlib
import gc
import logging
from collections.abc import Mapping

from ray import serve

from authoring.proven import require_proven
from configs.logs import log_as
from contracts.base import Argument, Row
from contracts.context import CallContext
from contracts.errors import DeniedError, StoreError
from contracts.graph import GraphStore, ReadLimits, Violations, WriteLimits, WriteOutcome
from deployments.graph_store import open_graph, open_server, what_is_there
from deployments.installation import Installation
from deployments.serving import served
from governance.prover import prove, prove_write

_log = logging.getLogger(__name__)


class CypherReplica:
    """Holds the graph store; proves again what comes over the network before it runs.

    A graph server that is down does not make this replica unwell: a new one could not reach it either, and
    would only be there later. Calls then fail at once, and the callers' breakers space them out.
    """

    async def __init__(self, installation: Installation) -> None:  # type: ignore[misc]  # Serve awaits it
        log_as("cypher", installation.settings)
        self._settings = installation.settings
        self._pack = installation.pack()
        self._opening: asyncio.Task[GraphStore] | None = None
        if self._settings.neo4j_uri is None:
            await self._graph()
        else:
            with contextlib.suppress(StoreError):
                await self._graph()
        self._warm_up()

    @served(repeatable=True)
    async def read(self, ctx: CallContext, text: str, arguments: Mapping[str, Argument]) -> tuple[Row, ...]:
        """Rows of the query for ``ctx.principal``. Raises ``DeniedError`` when the text is not proven for it."""
        proven = prove(text, self._pack.schema_, ctx.principal)
        if isinstance(proven, Violations):
            raise DeniedError(str(proven))
        store = await self._graph()
        return await store.read(proven, arguments, ReadLimits(timeout_ms=ctx.budget_ms))

    # Sent twice it is carried out once: the key is stored with the effect.
    @served(repeatable=True)
    async def write(
        self, ctx: CallContext, text: str, arguments: Mapping[str, Argument], idempotency_key: str
    ) -> WriteOutcome:
        """Carry out the write for ``ctx.principal``, once under its key.

        Raises ``DeniedError`` when the text is not proven for the principal, ``ConflictError`` when the key was
        used for something else. After ``OutOfTimeError``, ``StoreError`` or ``UnavailableError`` nobody knows
        whether it happened: :meth:`written` tells.
        """
        proven = prove_write(text, self._pack.schema_, ctx.principal)
        if isinstance(proven, Violations):
            raise DeniedError(str(proven))
        store = await self._graph()
        return await store.write(proven, arguments, idempotency_key, WriteLimits(timeout_ms=ctx.budget_ms))

    @served(repeatable=True)
    async def written(self, ctx: CallContext, idempotency_key: str) -> WriteOutcome | None:
        """What was stored under the key, ``None`` when nothing was: then nothing has happened."""
        store = await self._graph()
        return await store.written(idempotency_key)

    @served(repeatable=True)
    async def graph_ready(self, ctx: CallContext) -> bool:
        """Whether the graph answers a trivial read now."""
        try:
            store = await self._graph()
        except StoreError:
            return False
        return await store.ready()

    async def check_health(self) -> None:
        """Called by Serve: an embedded graph that does not answer gets this replica replaced."""
        if self._settings.neo4j_uri is None and not await (await self._graph()).ready():
            raise StoreError("The graph does not answer.")

    def _warm_up(self) -> None:
        """Prove the pack's own queries once, and keep what is there by now out of the garbage collector's rounds.

        The parser's tables are large and built as texts are read; looking through them all took 130 ms at times.
        """
        require_proven(self._pack)
        gc.collect()
        gc.freeze()

    async def _graph(self) -> GraphStore:
        """The store. One that could not be opened is tried again by the next call; those that wait share a try."""
        if self._opening is None or (self._opening.done() and self._failed(self._opening)):
            self._opening = asyncio.create_task(self._open())
        return await asyncio.shield(self._opening)

    @staticmethod
    def _failed(opening: asyncio.Task[GraphStore]) -> bool:
        return opening.cancelled() or opening.exception() is not None

    async def _open(self) -> GraphStore:
        if self._settings.neo4j_uri is None:
            return await open_graph(self._settings, self._pack)
        store = await open_server(self._settings, self._pack.schema_)
        try:
            loaded = await store.loaded_digest()
        except BaseException:
            await store.close()
            raise
        told = _log.info if loaded == self._pack.digest else _log.warning
        told("graph server %s: %s", self._settings.neo4j_uri, what_is_there(loaded, self._pack))
        return store

    async def __del__(self) -> None:
        opening = getattr(self, "_opening", None)
        if opening is not None and opening.done() and not self._failed(opening):
            await opening.result().close()


Cypher = serve.deployment()(CypherReplica)
