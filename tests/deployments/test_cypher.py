"""The executor's replica: what it runs, and that a server which is gone neither fells nor blocks it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from configs.packs.compiled import PACK
from configs.packs.loader import load_pack
from configs.settings import Settings
from contracts.context import CallContext
from contracts.errors import ConflictError, DeniedError, OutOfTimeError, StoreError
from contracts.principal import Principal, PrincipalKind
from deployments.cypher import CypherReplica
from deployments.graph_store import prepare_server
from deployments.installation import Installation
from deployments.serving import is_repeatable
from tests.neo4j_server import Neo4jServer, neo4j_server

__all__ = ["neo4j_server"]

WORKSHOP = Path(__file__).parents[1] / "packs" / "workshop"
OWN = "MATCH (r:Rider {rider_id: $customer_id})-[:BROUGHT]->(j:Repair) RETURN j.job_number AS job ORDER BY job"
COLLECT = (
    "MATCH (r:Rider {rider_id: $customer_id})-[:BROUGHT]->(j:Repair {job_number: $job}) WHERE j.status = 'ready'"
    " SET j.status = 'collected' RETURN j.job_number AS job"
)


def context(customer_id: str | None, budget_ms: int = 10_000) -> CallContext:
    principal = (
        Principal(kind=PrincipalKind.GUEST, subject="visitor")
        if customer_id is None
        else Principal(kind=PrincipalKind.CUSTOMER, subject=customer_id, customer_id=customer_id)
    )
    return CallContext(request_id="r", turn_id="t", session_id="s", principal=principal, budget_ms=budget_ms)


def installed(settings: Settings) -> Installation:
    (settings.home / PACK).write_text(load_pack(WORKSHOP).model_dump_json(), encoding="utf-8")
    return Installation(settings=settings, compiled=settings.home)


class Replica(CypherReplica):
    """Ends by :meth:`close`: Serve awaits a replica's end, the garbage collector here would not."""

    def __del__(self) -> None:  # type: ignore[override]
        return

    async def close(self) -> None:
        await super().__del__()


async def started(installation: Installation) -> Replica:
    """A replica, as Serve makes one."""
    replica = Replica.__new__(Replica)
    await replica.__init__(installation)  # type: ignore[misc]
    return replica


@pytest.fixture(autouse=True)
def no_log_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replica's process writes log files; this one has other tests to run."""
    monkeypatch.setattr("deployments.cypher.log_as", lambda *_: None)


@pytest.fixture(params=["embedded", "server"])
async def replica(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Replica]:
    """A replica on a graph with the workshop's data."""
    settings = Settings(home=tmp_path)
    if request.param == "server":
        settings = on_server(request.getfixturevalue("neo4j_server"), tmp_path)
        await prepare_server(settings, load_pack(WORKSHOP), lambda _: None)
    running = await started(installed(settings))
    yield running
    await running.close()


def on_server(server: Neo4jServer, home: Path) -> Settings:
    server.empty()
    return Settings(home=home, neo4j_uri=server.uri, neo4j_user=server.user, neo4j_password=SecretStr(server.password))


async def test_rows_are_those_of_the_caller(replica: Replica) -> None:
    assert await replica.read(context("R-1"), OWN, {}) == ({"job": 101}, {"job": 103})
    assert await replica.read(context("R-2"), OWN, {}) == ({"job": 102},)


async def test_what_is_not_proven_for_the_caller_does_not_run(replica: Replica) -> None:
    with pytest.raises(DeniedError):
        await replica.read(context("R-1"), "MATCH (j:Repair) RETURN j.job_number AS job", {})
    with pytest.raises(DeniedError):
        await replica.read(context("R-1"), COLLECT, {"job": 101})
    with pytest.raises(DeniedError):
        await replica.read(context(None), OWN, {})
    with pytest.raises(DeniedError):
        await replica.write(context(None), COLLECT, {"job": 101}, "key")


async def test_a_write_happens_once_under_its_key(replica: Replica) -> None:
    assert await replica.written(context("R-1"), "key") is None
    first = await replica.write(context("R-1"), COLLECT, {"job": 101}, "key")
    again = await replica.write(context("R-1"), COLLECT, {"job": 101}, "key")
    assert (first.rows, first.replayed) == (({"job": 101},), False)
    assert (again.rows, again.replayed) == (({"job": 101},), True)
    assert await replica.written(context("R-1"), "key") == again
    with pytest.raises(ConflictError):
        await replica.write(context("R-2"), COLLECT, {"job": 101}, "key")


async def test_a_write_of_anothers_row_changes_nothing(replica: Replica) -> None:
    outcome = await replica.write(context("R-2"), COLLECT, {"job": 101}, "key")
    assert (outcome.rows, outcome.changes) == ((), 0)
    assert (await replica.write(context("R-1"), COLLECT, {"job": 101}, "other key")).changes == 1


def test_everything_may_be_sent_a_second_time() -> None:
    assert all(is_repeatable(CypherReplica, method) for method in ("read", "write", "written", "graph_ready"))


async def test_work_whose_time_is_over_is_not_begun(replica: Replica) -> None:
    with pytest.raises(OutOfTimeError):
        await replica.write(context("R-1", budget_ms=0), COLLECT, {"job": 101}, "key")
    assert await replica.written(context("R-1"), "key") is None


async def test_a_server_that_stops_and_returns_is_found_again_by_the_same_replica(
    neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    if not neo4j_server.is_ours:
        pytest.skip("the server is not ours to stop")
    settings = on_server(neo4j_server, tmp_path)
    await prepare_server(settings, load_pack(WORKSHOP), lambda _: None)
    replica = await started(installed(settings))
    assert await replica.graph_ready(context(None))
    await asyncio.to_thread(neo4j_server.stop)
    try:
        await replica.check_health()  # would get the replica killed if it raised
        assert not await replica.graph_ready(context(None))
        with pytest.raises(StoreError):
            await replica.read(context("R-1"), OWN, {})
        late = await started(installed(settings))  # one that is started while the server is gone
        await late.check_health()
        with pytest.raises(StoreError):
            await late.read(context("R-1"), OWN, {})
    finally:
        await asyncio.to_thread(neo4j_server.start)
    for running in (replica, late):
        async with asyncio.timeout(60):
            while not await running.graph_ready(context(None)):  # noqa: ASYNC110  # nothing tells of it
                await asyncio.sleep(0.1)
        assert await running.read(context("R-1"), OWN, {}) == ({"job": 101}, {"job": 103})
        await running.close()


async def test_the_log_tells_what_a_server_holds_and_no_password(
    neo4j_server: Neo4jServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings = on_server(neo4j_server, tmp_path)
    neo4j_server.rows("CREATE (:Rider {rider_id: 'R-9'})")
    with caplog.at_level(logging.INFO):
        installation = installed(settings)
        replica = await started(installation)
        await replica.close()
    assert "did not load" in caplog.text
    for text in (caplog.text, repr(installation), str(installation), installation.model_dump_json()):
        assert neo4j_server.password not in text
