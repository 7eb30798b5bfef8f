"""Which graph this installation has, and how the pack's data gets there. Nothing here needs Ray.

The embedded graph is loaded by whoever opens it: it is one file a pack's content, and nobody else's. A graph
server may be a company's own, so data goes there only where it holds none, and only by the process that
starts the service or by ``frontline graph load``.
"""

from collections.abc import Callable
from pathlib import Path

from authoring.graph_rows import graph_rows
from configs.packs.digest import pack_digest
from configs.packs.types import Pack
from configs.settings import Settings
from contracts.errors import PackError, StoreError, UnavailableError
from contracts.graph import GraphSchema, GraphStore
from stores.graph.kglite_store import KgliteStore
from stores.graph.neo4j_store import Neo4jStore

#: How long the embedded graph's new holder waits for its predecessor to let go of the lock, in s.
LOCK_WAIT_S = 30.0
#: How long the service's start waits for a graph server that does not answer: a restart of one takes 5 to 10 s.
SERVER_WAIT_S = 20.0

Say = Callable[[str], None]
#: The engines' stores: what is loaded is one of them, what is asked is a ``GraphStore``.
Store = KgliteStore | Neo4jStore


async def open_graph(settings: Settings, pack: Pack) -> GraphStore:
    """The graph of these settings: the server's, as it is, or the embedded one, loaded where that is needed.

    Raises ``StoreError`` when it can't be had now, and ``PackError`` when the pack's data is no longer what was
    compiled.
    """
    if settings.neo4j_uri is not None:
        return await open_server(settings, pack.schema_)
    store = await open_embedded(settings, pack, wait_s=LOCK_WAIT_S)
    try:
        if await store.loaded_digest() != pack.digest:
            await load_pack_data(store, pack)
    except BaseException:
        await store.close()
        raise
    return store


async def open_embedded(settings: Settings, pack: Pack, *, wait_s: float = 0.0) -> KgliteStore:
    """The embedded graph of the pack's content, loaded or not. Raises ``StoreError`` when another process has it."""
    path = settings.graph_path(pack.domain.name, pack.digest)
    return await KgliteStore.open(path, schema=pack.schema_, wait_s=wait_s)


async def open_server(settings: Settings, schema: GraphSchema, *, wait_s: float = 0.0) -> Neo4jStore:
    """The graph server of the settings, as it is. Raises ``StoreError`` when it does not answer within ``wait_s``."""
    if settings.neo4j_uri is None:
        raise StoreError("FRONTLINE_NEO4J_URI names no graph server")
    return await Neo4jStore.open(
        settings.neo4j_uri,
        user=settings.neo4j_user,
        password=settings.neo4j_password.get_secret_value(),
        database=settings.neo4j_database,
        schema=schema,
        pool_size=settings.neo4j_pool_size,
        wait_s=wait_s,
    )


async def holds_data(store: Store) -> bool:
    """Whether there is anything that a load would replace. The embedded graph holds what was loaded, or nothing."""
    if isinstance(store, Neo4jStore):
        return not await store.is_empty()
    return await store.loaded_digest() is not None


async def load_pack_data(store: Store, pack: Pack) -> int:
    """Make the graph exactly the pack's data, whatever is in it now; returns the number of nodes.

    Raises ``PackError`` when the data is no longer what the pack's digest says, or is not valid.
    """
    if pack_digest(Path(pack.folder)) != pack.digest:
        raise PackError("The pack's files have changed since it was compiled; start the service anew.")
    nodes, edges = graph_rows(pack)
    await store.load(nodes, edges, digest=pack.digest)
    return sum(len(item.rows) for item in nodes)


async def prepare_server(settings: Settings, pack: Pack, say: Say, *, wait_s: float = SERVER_WAIT_S) -> None:
    """Before the service starts: the server answers, and holds the pack's data where it was empty.

    What it holds already stays as it is and is told of. Raises ``UnavailableError`` when it does not answer
    within ``wait_s``.
    """
    say(f"Looking at the graph in {settings.neo4j_uri} …")
    try:
        store = await open_server(settings, pack.schema_, wait_s=wait_s)
    except StoreError as error:
        raise UnavailableError(
            f"The graph server {settings.neo4j_uri} can't be used, tried for {wait_s:g} s: {error.detail}; without"
            " FRONTLINE_NEO4J_URI the service runs on its embedded graph."
        ) from error
    try:
        if not await holds_data(store):
            say(f"It is empty; loading the data of the pack {pack.domain.name} …")
            say(f"{await load_pack_data(store, pack):,} nodes are loaded.")
        else:
            say(what_is_there(await store.loaded_digest(), pack))
    finally:
        await store.close()


def what_is_there(loaded: str | None, pack: Pack) -> str:
    """One sentence about a graph that holds something, by the digest of its last load."""
    if loaded == pack.digest:
        return f"It holds the data of the pack {pack.domain.name}."
    whose = "data that Frontline did not load" if loaded is None else f"the data of another content ({loaded[:12]})"
    return (
        f"It holds {whose}, not that of the pack {pack.domain.name} ({pack.digest[:12]}): it stays as it is, and the"
        " pack's queries run on it. `frontline graph load --replace` would put the pack's data in its place."
    )
