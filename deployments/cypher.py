"""Runs proven queries. The embedded graph lives in this replica's process and in no other."""

import logging
from collections.abc import Mapping
from pathlib import Path

from ray import serve

from authoring.graph_rows import graph_rows
from configs.logs import log_as
from configs.packs.digest import pack_digest
from configs.packs.types import Pack
from contracts.base import Row, Value
from contracts.context import CallContext
from contracts.errors import DeniedError, PackError, StoreError
from contracts.graph import ReadLimits, Violations
from deployments.installation import Installation
from deployments.serving import served
from governance.prover import prove
from stores.graph.kglite_store import KgliteStore

_log = logging.getLogger(__name__)

#: How long a new replica waits for its predecessor to let go of the graph's lock.
_LOCK_WAIT_S = 30.0


class CypherReplica:
    """Holds the graph store; proves again what comes over the network before it runs."""

    async def __init__(self, installation: Installation) -> None:  # type: ignore[misc]  # Serve awaits it
        log_as("cypher", installation.settings)
        pack = installation.pack()
        self._schema = pack.schema_
        self._store = await open_graph(installation, pack)

    @served(repeatable=True)
    async def read(self, ctx: CallContext, text: str, arguments: Mapping[str, Value]) -> tuple[Row, ...]:
        """Rows of the query for ``ctx.principal``. Raises ``DeniedError`` when the text is not proven for it."""
        proven = prove(text, self._schema, ctx.principal)
        if isinstance(proven, Violations):
            raise DeniedError(str(proven))
        return await self._store.read(proven, arguments, ReadLimits(timeout_ms=ctx.budget_ms))

    async def check_health(self) -> None:
        """Called by Serve: a store that does not answer gets this replica replaced."""
        if not await self._store.ready():
            raise StoreError("The graph does not answer.")

    async def __del__(self) -> None:
        store = getattr(self, "_store", None)
        if store is not None:
            await store.close()


async def open_graph(installation: Installation, pack: Pack) -> KgliteStore:
    """The pack's graph, loaded from its data where that has not happened yet.

    Raises ``PackError`` when that data is no longer what was compiled.
    """
    path = installation.settings.graph_path(pack.domain.name, pack.digest)
    store = await KgliteStore.open(path, schema=pack.schema_, wait_s=_LOCK_WAIT_S)
    if await store.loaded_digest() != pack.digest:
        if pack_digest(Path(pack.folder)) != pack.digest:
            await store.close()
            raise PackError("The pack's files have changed since it was compiled; start the service anew.")
        _log.info("loading the data of the pack %s into the graph", pack.domain.name)
        nodes, edges = graph_rows(pack)
        await store.load(nodes, edges, digest=pack.digest)
    return store


Cypher = serve.deployment()(CypherReplica)
