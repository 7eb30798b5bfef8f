"""``frontline graph``: load, schema and query on the embedded graph and on a server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from tests.neo4j_server import Neo4jServer, neo4j_server

__all__ = ["neo4j_server"]

WORKSHOP = Path(__file__).parents[1] / "packs" / "workshop"
OWN = (
    "MATCH (r:Rider {rider_id: $customer_id})-[:BROUGHT]->(j:Repair) WHERE j.status = $status"
    " RETURN j.job_number AS job, j.brought_on AS brought_on ORDER BY job"
)


@pytest.fixture(params=["embedded", "server"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The graph of the settings, with nothing in it."""
    monkeypatch.setenv("FRONTLINE_PACK", str(WORKSHOP))
    if request.param == "server":
        server: Neo4jServer = request.getfixturevalue("neo4j_server")
        server.empty()
        monkeypatch.setenv("FRONTLINE_NEO4J_URI", server.uri)
        monkeypatch.setenv("FRONTLINE_NEO4J_USER", server.user)
        monkeypatch.setenv("FRONTLINE_NEO4J_PASSWORD", server.password)
        yield "server"
        server.empty()
    else:
        yield "embedded"


@pytest.mark.usefixtures("engine")
def test_the_packs_data_is_loaded_once(cli: CliRunner) -> None:
    first, second, anew = (cli.invoke(app, ["graph", "load", *more]) for more in ([], [], ["--replace"]))
    assert [result.exit_code for result in (first, second, anew)] == [0, 0, 0]
    assert "7 nodes are loaded" in first.stdout
    assert "already" in second.stdout
    assert "7 nodes are loaded" in anew.stdout


@pytest.mark.usefixtures("engine")
def test_a_query_answers_for_its_caller_alone(cli: CliRunner) -> None:
    cli.invoke(app, ["graph", "load"])
    asked = ["graph", "query", OWN, "--param", "status=ready", "--json"]
    own = cli.invoke(app, [*asked, "--customer", "R-1"])
    assert json.loads(own.stdout) == [{"job": 101, "brought_on": "2026-04-28"}]
    assert json.loads(cli.invoke(app, [*asked, "--customer", "R-2"]).stdout) == []
    refused = cli.invoke(app, asked)
    assert refused.exit_code == 1
    assert "refused" in refused.stderr


@pytest.mark.usefixtures("engine")
def test_rows_are_shown_as_a_table(cli: CliRunner) -> None:
    cli.invoke(app, ["graph", "load"])
    result = cli.invoke(app, ["graph", "query", "MATCH (p:Part) RETURN p.name AS name, p.stock AS stock ORDER BY name"])
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in result.stdout.splitlines() if "│" in line]
    assert cells == [["Brake pads", "8"], ["Nine-speed chain", "0"]]
    nothing = cli.invoke(app, ["graph", "query", "MATCH (p:Part) WHERE p.stock > 99 RETURN p.name AS name"])
    assert (nothing.exit_code, nothing.stdout) == (0, "No rows.\n")


@pytest.mark.usefixtures("engine")
def test_the_schema_is_shown_with_the_number_of_nodes(cli: CliRunner) -> None:
    cli.invoke(app, ["graph", "load"])
    shown = cli.invoke(app, ["graph", "schema"]).stdout
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if "│" in line]
    counts = {line[0]: (line[1], line[2]) for line in lines if line[0] and line[1].isdigit()}
    assert counts["Rider"] == ("2", "the customer (rider_id)")
    assert counts["Repair"] == ("3", "the customer's, by Rider")
    assert counts["Part"] == ("2", "everyone's")


@pytest.mark.usefixtures("engine")
def test_an_empty_graph_says_how_to_load_it(cli: CliRunner) -> None:
    result = cli.invoke(app, ["graph", "query", "MATCH (p:Part) RETURN p.name AS name"])
    assert result.exit_code == 1
    assert "frontline graph load" in result.stderr.replace("\n", " ")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("arguments", [["--as", "customer"], ["--as", "guest", "--customer", "R-1"]])
def test_a_caller_who_is_none_is_bad_usage(cli: CliRunner, arguments: list[str]) -> None:
    assert cli.invoke(app, ["graph", "query", OWN, *arguments]).exit_code == 2


@pytest.mark.usefixtures("engine")
def test_a_parameter_that_is_missing_or_mistyped_is_named(cli: CliRunner) -> None:
    cli.invoke(app, ["graph", "load"])
    by_number = (
        "MATCH (r:Rider {rider_id: $customer_id})-[:BROUGHT]->(j:Repair {job_number: $job}) RETURN j.status AS s"
    )
    for more in ([], ["--param", "job=many"]):
        result = cli.invoke(app, ["graph", "query", by_number, "--customer", "R-1", *more])
        assert result.exit_code == 1
        assert "job" in result.stderr


def test_a_server_with_a_companys_own_data_is_left_alone_without_replace(
    cli: CliRunner, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    neo4j_server.empty()
    neo4j_server.rows("CREATE (:Rider {rider_id: 'R-9', full_name: 'Their own'}), (:Invoice {number: 1})")
    monkeypatch.setenv("FRONTLINE_PACK", str(WORKSHOP))
    monkeypatch.setenv("FRONTLINE_NEO4J_URI", neo4j_server.uri)
    monkeypatch.setenv("FRONTLINE_NEO4J_PASSWORD", neo4j_server.password)

    refused = cli.invoke(app, ["graph", "load"])
    assert refused.exit_code == 1
    assert "--replace" in refused.stderr
    assert [row["id"] for row in neo4j_server.rows("MATCH (r:Rider) RETURN r.rider_id AS id")] == ["R-9"]

    assert cli.invoke(app, ["graph", "load", "--replace"]).exit_code == 0
    riders = neo4j_server.rows("MATCH (r:Rider) RETURN r.rider_id AS id ORDER BY id")
    assert [row["id"] for row in riders] == ["R-1", "R-2"]
    assert neo4j_server.rows("MATCH (i:Invoice) RETURN count(i) AS n") == [{"n": 1}], "no label of the pack's schema"
    neo4j_server.empty()


def test_a_server_that_is_not_there_is_told_of_without_its_password(
    cli: CliRunner, free_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRONTLINE_PACK", str(WORKSHOP))
    monkeypatch.setenv("FRONTLINE_NEO4J_URI", free_url.replace("http", "bolt"))
    monkeypatch.setenv("FRONTLINE_NEO4J_PASSWORD", "not-to-be-seen")
    monkeypatch.setattr("cli.graph._SERVER_WAIT_S", 0.0)
    result = cli.invoke(app, ["graph", "query", "MATCH (p:Part) RETURN p.name AS name"])
    assert result.exit_code == 1
    assert "can't be" in result.stderr.replace("\n", " ")
    assert "not-to-be-seen" not in result.output


def test_an_embedded_graph_that_another_process_holds_is_told_of(
    cli: CliRunner, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRONTLINE_PACK", str(WORKSHOP))
    cli.invoke(app, ["graph", "load"])
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD], stdout=subprocess.PIPE, stdin=subprocess.PIPE, env=os.environ.copy(), text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        for command in (["load"], ["query", "MATCH (p:Part) RETURN p.name AS name"]):
            result = cli.invoke(app, ["graph", *command])
            assert result.exit_code == 1
            assert str(holder.pid) in result.stderr
            assert "stop it first" in result.stderr.replace("\n", " ")
        shown = cli.invoke(app, ["graph", "schema"])
        assert shown.exit_code == 0
        assert "Rider" in shown.stdout
    finally:
        holder.communicate("\n", timeout=30)


_HOLD = """
import asyncio
from configs.packs.loader import load_pack
from configs.settings import Settings
from deployments.graph_store import open_embedded

async def hold():
    settings = Settings()
    store = await open_embedded(settings, load_pack(settings.pack))
    print("held", flush=True)
    await asyncio.to_thread(input)
    await store.close()

asyncio.run(hold())
"""
