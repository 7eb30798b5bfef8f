"""Which graph an installation has, and that a server's data is nobody's to overwrite."""

import socket
from pathlib import Path

import pytest
from pydantic import SecretStr

from configs.packs.loader import load_pack
from configs.packs.types import Pack
from configs.settings import Settings
from contracts.errors import PackError, UnavailableError
from deployments.graph_store import open_embedded, open_graph, open_server, prepare_server
from stores.graph.kglite_store import KgliteStore
from stores.graph.neo4j_store import Neo4jStore
from tests.neo4j_server import Neo4jServer, neo4j_server

__all__ = ["neo4j_server"]

WORKSHOP = Path(__file__).parents[1] / "packs" / "workshop"


@pytest.fixture(scope="module")
def pack() -> Pack:
    return load_pack(WORKSHOP)


@pytest.fixture
def on_server(neo4j_server: Neo4jServer, tmp_path: Path) -> Settings:
    """Settings with an empty server."""
    neo4j_server.empty()
    return Settings(
        home=tmp_path,
        neo4j_uri=neo4j_server.uri,
        neo4j_user=neo4j_server.user,
        neo4j_password=SecretStr(neo4j_server.password),
    )


async def test_the_embedded_graph_is_loaded_when_it_is_opened(tmp_path: Path, pack: Pack) -> None:
    store = await open_graph(Settings(home=tmp_path), pack)
    assert isinstance(store, KgliteStore)
    assert await store.loaded_digest() == pack.digest
    await store.close()


async def test_a_pack_that_was_edited_since_is_not_loaded_and_the_graph_is_let_go(tmp_path: Path, pack: Pack) -> None:
    edited = pack.model_copy(update={"digest": "0" * 64})
    with pytest.raises(PackError):
        await open_graph(Settings(home=tmp_path), edited)
    await (await open_embedded(Settings(home=tmp_path), edited)).close()


async def test_a_server_is_opened_as_it_is(on_server: Settings, pack: Pack) -> None:
    store = await open_graph(on_server, pack)
    assert isinstance(store, Neo4jStore)
    assert await store.is_empty()
    await store.close()


async def test_a_start_loads_a_server_that_is_empty_and_later_ones_leave_it(
    on_server: Settings, pack: Pack, neo4j_server: Neo4jServer
) -> None:
    said: list[str] = []
    await prepare_server(on_server, pack, said.append)
    assert any("7 nodes are loaded" in line for line in said)
    neo4j_server.rows("MATCH (r:Repair {job_number: 101}) SET r.status = 'collected'")
    said.clear()
    await prepare_server(on_server, pack, said.append)
    assert "holds the data of the pack" in said[-1]
    changed = neo4j_server.rows("MATCH (r:Repair {job_number: 101}) RETURN r.status AS status")
    assert changed == [{"status": "collected"}], "what was changed since is kept"


@pytest.mark.parametrize("loaded_by_us", [True, False])
async def test_a_start_tells_of_other_data_and_leaves_it(
    on_server: Settings, pack: Pack, neo4j_server: Neo4jServer, loaded_by_us: bool
) -> None:
    if loaded_by_us:
        store = await open_server(on_server, pack.schema_)
        await store.load([], [], digest="another")
        await store.close()
    neo4j_server.rows("CREATE (:Rider {rider_id: 'R-9'})")
    said: list[str] = []
    await prepare_server(on_server, pack, said.append)
    assert "stays as it is" in said[-1]
    assert ("another" in said[-1]) == loaded_by_us
    assert "--replace" in said[-1]
    assert neo4j_server.rows("MATCH (r:Rider) RETURN r.rider_id AS id") == [{"id": "R-9"}]


@pytest.mark.parametrize("wrong", ["address", "password"])
async def test_a_start_without_its_server_says_what_to_do(
    neo4j_server: Neo4jServer, tmp_path: Path, pack: Pack, wrong: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        nobody = f"bolt://127.0.0.1:{listener.getsockname()[1]}"
    settings = Settings(
        home=tmp_path,
        neo4j_uri=nobody if wrong == "address" else neo4j_server.uri,
        neo4j_password=SecretStr("not-to-be-seen"),
    )
    with pytest.raises(UnavailableError) as raised:
        await prepare_server(settings, pack, lambda _: None, wait_s=0.1)
    assert str(settings.neo4j_uri) in raised.value.detail
    assert wrong in raised.value.detail
    assert "not-to-be-seen" not in raised.value.detail
