"""``frontline doctor``: each check tells well from unwell, and what to do."""

import importlib.metadata
import shutil
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli import checks
from cli.checks import Level
from cli.main import app
from configs.packs.loader import load_pack
from configs.settings import Settings
from tests.neo4j_server import Neo4jServer, neo4j_server
from tests.serve_app.api.conftest import EchoService

__all__ = ["neo4j_server"]


def test_only_the_python_that_all_is_locked_for_will_do() -> None:
    assert checks.python_version((3, 11)).level is Level.OK
    for other in ((3, 10), (3, 12)):
        assert checks.python_version(other).level is Level.FAIL


def test_missing_and_unfitting_packages_are_named() -> None:
    pydantic = importlib.metadata.version("pydantic")
    needs = [f"pydantic=={pydantic}", 'nowhere-to-be-found>=1; extra == "gpu"']
    assert checks.packages(lambda _: needs).level is Level.OK
    check = checks.packages(lambda _: [*needs, "nowhere-to-be-found>=1", "typer>=1000"])
    assert check.level is Level.FAIL
    assert "nowhere-to-be-found is missing" in check.detail
    assert "typer" in check.detail
    assert "pydantic" not in check.detail


def test_a_machine_without_frontline_itself_is_told_so() -> None:
    def not_installed(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    assert checks.packages(not_installed).level is Level.FAIL


@pytest.mark.parametrize(
    ("installed", "level"),
    [
        ({}, Level.FAIL),
        ({"faiss-cpu": "1"}, Level.OK),
        ({"faiss-gpu-cu12": "1"}, Level.OK),
        ({"faiss-cpu": "1", "faiss-gpu-cu12": "1"}, Level.FAIL),
    ],
)
def test_there_must_be_exactly_one_build_of_faiss(installed: dict[str, str], level: Level) -> None:
    assert checks.faiss_builds(installed.get).level is level


def test_little_memory_is_a_warning() -> None:
    assert checks.memory(3 * 1024**3).level is Level.OK
    check = checks.memory(3 * 1024**3 - 1)
    assert check.level is Level.WARN
    assert "3.0 GB" in check.what_to_do


def test_the_key_is_looked_at_and_not_made(home: Path) -> None:
    assert checks.key(Settings()).level is Level.WARN
    assert list(home.iterdir()) == []


def test_a_key_that_others_can_read_fails(home: Path, cli: CliRunner) -> None:
    cli.invoke(app, ["token", "--customer", "C0001"])
    assert checks.key(Settings()).level is Level.OK
    (home / "signing.key").chmod(0o644)
    check = checks.key(Settings())
    assert check.level is Level.FAIL
    assert "chmod" in check.what_to_do


def test_a_pack_is_compiled_or_not_or_not_even_valid(home: Path) -> None:
    settings = Settings()
    assert checks.pack(settings).level is Level.WARN
    pack = load_pack(settings.pack)
    settings.compiled(pack.domain.name, pack.digest).mkdir(parents=True)
    assert checks.pack(settings).level is Level.OK
    changed = home / "changed"
    shutil.copytree(settings.pack, changed)
    domain = changed / "domain.yaml"
    domain.write_text(domain.read_text() + "# changed\n")
    assert checks.pack(Settings(pack=changed)).level is Level.WARN
    domain.write_text("name: [")
    check = checks.pack(Settings(pack=changed))
    assert check.level is Level.FAIL
    assert "domain.yaml:" in check.detail


def test_a_graph_server_is_checked_where_one_is_configured(
    home: Path, free_url: str, neo4j_server: Neo4jServer, cli: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop = Path(__file__).parents[1] / "packs" / "workshop"
    neo4j_server.empty()

    def settings(uri: str) -> Settings:
        return Settings(
            home=home,
            pack=workshop,
            neo4j_uri=uri,
            neo4j_password=neo4j_server.password,  # type: ignore[arg-type]
        )

    nobody = checks.graph_server(settings(free_url.replace("http", "bolt")))
    assert nobody.level is Level.FAIL
    assert "FRONTLINE_NEO4J_URI" in nobody.what_to_do
    empty = checks.graph_server(settings(neo4j_server.uri))
    assert (empty.level, "empty" in empty.detail) == (Level.WARN, True)
    monkeypatch.setenv("FRONTLINE_NEO4J_URI", neo4j_server.uri)
    monkeypatch.setenv("FRONTLINE_NEO4J_PASSWORD", neo4j_server.password)
    cli.invoke(app, ["graph", "load", "--pack", str(workshop)])
    assert checks.graph_server(settings(neo4j_server.uri)).level is Level.OK
    shown = cli.invoke(app, ["doctor", "--url", free_url]).stdout
    assert "graph server" in shown
    assert neo4j_server.password not in shown
    neo4j_server.empty()


def test_settings_that_are_wrong_are_told_of_first(
    free_url: str, cli: CliRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRONTLINE_PORT", "many")
    result = cli.invoke(app, ["doctor", "--url", free_url])
    assert result.exit_code == 1
    assert "FRONTLINE_PORT" in result.stdout


def test_a_service_that_is_not_up_is_told_from_a_foreign_program_on_its_port(free_url: str) -> None:
    (free,) = checks.service(free_url)
    assert free.level is Level.WARN
    assert "frontline serve" in free.what_to_do
    with socket.create_server(("127.0.0.1", 0)) as foreign:
        taken = checks.port(f"http://127.0.0.1:{foreign.getsockname()[1]}", "It is silent.")
    assert taken.level is Level.FAIL
    assert "another program" in taken.detail


def test_each_deployment_is_shown_and_one_that_is_down_fails(cli: CliRunner, url: str, service: EchoService) -> None:
    assert all(check.level is Level.OK for check in checks.service(url))
    service.parts = {
        "router": {"ready": True, "detail": "healthy, 1 running"},
        "search": {"ready": False, "detail": "unhealthy"},
    }
    result = cli.invoke(app, ["doctor", "--url", url])
    assert result.exit_code == 1
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "ok router healthy, 1 running" in lines
    assert "fail search unhealthy" in lines
