import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from ray.serve import Deployment
from ray.serve._private.build_app import build_app

from configs.settings import ROOT, Budgets, Profile, Settings, load_profile, read_settings
from contracts.errors import BadRequestError
from deployments.installation import Installation
from serve_app import app

PROFILES = sorted(path.stem for path in (ROOT / "configs" / "profiles").glob("*.yaml"))


@pytest.fixture(autouse=True)
def no_variables_of_whoever_runs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("FRONTLINE_"):
            monkeypatch.delenv(name)


def test_without_any_variable_the_sample_shop_is_served_on_loopback() -> None:
    settings = Settings()
    assert (settings.host, settings.port, settings.profile) == ("127.0.0.1", 8000, "cpu")
    assert settings.pack == ROOT / "domains" / "shop"
    assert settings.budgets == Budgets()


def test_variables_of_the_environment_win_over_the_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FRONTLINE_HOME", str(tmp_path))
    monkeypatch.setenv("FRONTLINE_PORT", "8123")
    monkeypatch.setenv("FRONTLINE_BUDGETS__TURN_MS", "9000")
    settings = Settings()
    assert (settings.home, settings.port, settings.budgets.turn_ms) == (tmp_path, 8123, 9_000)
    assert settings.budgets.tool_ms == Budgets().tool_ms
    assert settings.sessions_path.is_relative_to(tmp_path)


def test_what_is_given_in_code_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTLINE_PORT", "8123")
    assert Settings(port=9_000).port == 9_000


@pytest.mark.parametrize(("name", "value"), [("PORT", "0"), ("PORT", "70000"), ("BUDGETS__TURN_MS", "1")])
def test_a_value_that_can_not_be_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"FRONTLINE_{name}", value)
    with pytest.raises(ValidationError):
        Settings()


def test_without_an_address_the_graph_is_embedded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().neo4j_uri is None
    monkeypatch.setenv("FRONTLINE_NEO4J_URI", "")
    assert Settings().neo4j_uri is None


def test_a_graph_server_is_named_by_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTLINE_NEO4J_URI", "neo4j+s://graph.example.com")
    monkeypatch.setenv("FRONTLINE_NEO4J_PASSWORD", "not-to-be-seen")
    monkeypatch.setenv("FRONTLINE_NEO4J_DATABASE", "shop")
    settings = Settings()
    assert (settings.neo4j_uri, settings.neo4j_user) == ("neo4j+s://graph.example.com", "neo4j")
    assert settings.neo4j_database == "shop"
    assert settings.neo4j_password.get_secret_value() == "not-to-be-seen"


def test_the_password_reaches_a_replica_and_is_never_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FRONTLINE_NEO4J_URI", "bolt://localhost:7687")
    monkeypatch.setenv("FRONTLINE_NEO4J_PASSWORD", "not-to-be-seen")
    installation = Installation(settings=Settings(), compiled=tmp_path)
    for shown in (repr(installation), str(installation), installation.model_dump_json(), f"{installation.settings}"):
        assert "not-to-be-seen" not in shown
    travelled = pickle.loads(pickle.dumps(installation))
    assert travelled.settings.neo4j_password.get_secret_value() == "not-to-be-seen"


@pytest.mark.parametrize(
    ("uri", "password"),
    [
        ("http://localhost:7474", "not-to-be-seen"),
        ("localhost:7687", "not-to-be-seen"),
        ("bolt://", "not-to-be-seen"),
        ("bolt://neo4j:not-to-be-seen@localhost:7687", "not-to-be-seen"),
        ("bolt://localhost:7687", ""),
    ],
)
def test_a_graph_server_that_can_not_be_is_refused_without_its_secrets(
    monkeypatch: pytest.MonkeyPatch, uri: str, password: str
) -> None:
    monkeypatch.setenv("FRONTLINE_NEO4J_URI", uri)
    monkeypatch.setenv("FRONTLINE_NEO4J_PASSWORD", password)
    with pytest.raises(BadRequestError, match="FRONTLINE_NEO4J_") as raised:
        read_settings()
    assert "not-to-be-seen" not in raised.value.detail
    assert "not-to-be-seen" not in str(raised.value.__cause__)


def test_every_variable_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRONTLINE_PORT", "many")
    monkeypatch.setenv("FRONTLINE_BUDGETS__TURN_MS", "1")
    with pytest.raises(BadRequestError, match=r"FRONTLINE_PORT.*FRONTLINE_BUDGETS__TURN_MS|BUDGETS.*PORT"):
        read_settings()


def test_two_contents_of_a_pack_have_folders_of_their_own(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    assert settings.compiled("shop", "a" * 64) != settings.compiled("shop", "b" * 64)
    assert settings.graph_path("shop", "a" * 64) != settings.graph_path("shop", "b" * 64)


def test_an_unknown_profile_is_told_with_those_that_there_are() -> None:
    with pytest.raises(BadRequestError, match=r"mainframe.*cpu"):
        load_profile("mainframe")


@pytest.fixture(params=PROFILES)
def profile(request: pytest.FixtureRequest) -> Profile:
    return load_profile(request.param)


def test_a_profile_has_numbers_for_every_deployment_and_for_no_other(
    profile: Profile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    named: list[str] = []
    scaled = app.scaled

    def noting(deployment: Deployment, name: str, numbers: Any) -> Deployment:
        named.append(name)
        return scaled(deployment, name, numbers)

    monkeypatch.setattr(app, "scaled", noting)
    settings = Settings(home=tmp_path).model_copy(update={"profile": profile.name})
    app.build(Installation(settings=settings, compiled=tmp_path))
    assert sorted(named) == sorted(profile.deployments)


@pytest.mark.parametrize("graph_server", [False, True])
def test_a_replica_that_goes_away_has_time_to_finish_a_turn(profile: Profile, graph_server: bool) -> None:
    for name, numbers in profile.numbers(graph_server=graph_server).items():
        assert numbers.graceful_shutdown_timeout_s * 1000 > Budgets().turn_ms, name


def test_the_public_side_outlives_the_loss_of_a_replica(profile: Profile) -> None:
    assert profile.deployments["ingress"].min_replicas >= 2


def test_the_embedded_graph_has_one_replica(profile: Profile) -> None:
    cypher = profile.deployments["cypher"]
    assert (cypher.min_replicas, cypher.max_replicas) == (1, 1)


def test_a_graph_server_is_asked_by_several_replicas(profile: Profile, tmp_path: Path) -> None:
    assert profile.with_graph_server.keys() <= profile.deployments.keys()
    settings = Settings(home=tmp_path, neo4j_uri="bolt://localhost", neo4j_password="password")  # type: ignore[arg-type]
    installation = Installation(settings=settings.model_copy(update={"profile": profile.name}), compiled=tmp_path)
    deployed = {
        deployment.name: deployment
        for deployment in build_app(app.build(installation), name="test", default_runtime_env={}).deployments
    }
    scaling = deployed["cypher"]._deployment_config.autoscaling_config
    assert scaling is not None
    assert scaling.max_replicas == profile.with_graph_server["cypher"].max_replicas > 1


def test_each_replica_of_the_graphs_executor_has_connections_for_all_that_it_lets_in(profile: Profile) -> None:
    assert profile.with_graph_server["cypher"].max_ongoing_requests < Settings().neo4j_pool_size


@pytest.mark.parametrize("graph_server", [False, True])
def test_each_deployments_numbers_fit_one_another(profile: Profile, graph_server: bool) -> None:
    for name, numbers in profile.numbers(graph_server=graph_server).items():
        assert 1 <= numbers.min_replicas <= numbers.max_replicas, name
        assert 0 < numbers.target_ongoing_requests <= numbers.max_ongoing_requests, name
        assert numbers.max_queued_requests > 0, name
        assert numbers.upscale_delay_s < numbers.downscale_delay_s, name


@pytest.mark.parametrize("graph_server", [False, True])
def test_all_replicas_at_their_most_fit_into_the_cluster(profile: Profile, graph_server: bool) -> None:
    most = profile.numbers(graph_server=graph_server).values()
    wanted = sum(numbers.max_replicas * numbers.num_cpus for numbers in most)
    assert wanted <= profile.scheduling_cpus


def test_the_caps_of_a_turn_lie_within_it() -> None:
    budgets = Budgets()
    assert max(budgets.tool_ms, budgets.understand_ms, budgets.phrase_ms) < budgets.turn_ms
    assert budgets.lease_ttl_ms < budgets.turn_ms


def test_a_full_service_says_so_itself_before_serve_turns_requests_away_in_plain_text(profile: Profile) -> None:
    assert profile.deployments["ingress"].max_ongoing_requests > Budgets().max_running_turns
