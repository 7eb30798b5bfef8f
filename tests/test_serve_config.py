"""``serve_config.yaml``: what `serve deploy` reads."""

import json
from pathlib import Path

import pytest
import yaml
from ray._common.utils import import_attr
from ray.serve import Application
from ray.serve._private.build_app import BuiltApplication, build_app
from ray.serve.schema import ServeDeploySchema

from configs.process import TUNABLE, VARIABLE
from configs.settings import Settings, load_profile

FILE = Path(__file__).parents[1] / "serve_config.yaml"


@pytest.fixture(scope="module")
def config() -> ServeDeploySchema:
    return ServeDeploySchema.model_validate(yaml.safe_load(FILE.read_text()))


@pytest.fixture(scope="module")
def built(config: ServeDeploySchema, tmp_path_factory: pytest.TempPathFactory) -> BuiltApplication:
    """The application that the file names, imported as Serve does, over a small pack in a home of its own."""
    (application,) = config.applications
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FRONTLINE_HOME", str(tmp_path_factory.mktemp("home")))
        environment.setenv("FRONTLINE_PACK", str(Path(__file__).parent / "packs" / "workshop"))
        named = import_attr(application.import_path)
    assert isinstance(named, Application)
    return build_app(named, name=application.name, default_runtime_env={})


def test_it_names_the_application_with_every_deployment_of_the_profile(built: BuiltApplication) -> None:
    assert {deployment.name for deployment in built.deployments} == load_profile("cpu").deployments.keys()
    assert built.ingress_deployment_name == "ingress"


def test_it_leaves_the_numbers_of_the_deployments_to_the_profile(
    config: ServeDeploySchema, built: BuiltApplication
) -> None:
    assert config.applications[0].deployments == []
    numbers = load_profile("cpu").deployments
    for deployment in built.deployments:
        expected = numbers[deployment.name]
        assert deployment.max_ongoing_requests == expected.max_ongoing_requests
        assert deployment.max_queued_requests == expected.max_queued_requests
        scaling = deployment._deployment_config.autoscaling_config
        assert (scaling.max_replicas if scaling else 1) == expected.max_replicas


def test_it_answers_where_frontline_serve_does(config: ServeDeploySchema) -> None:
    settings = Settings.model_construct()
    assert (config.http_options.host, config.http_options.port) == (settings.host, settings.port)


def test_a_turn_ends_by_itself_before_serve_cuts_the_request_off(config: ServeDeploySchema) -> None:
    assert config.http_options.request_timeout_s == Settings.model_construct().budgets.turn_ms / 1000 + 5


def test_the_building_process_has_room_for_all_engines(config: ServeDeploySchema) -> None:
    variables = config.applications[0].runtime_env["env_vars"]
    assert variables[VARIABLE] == TUNABLE
    assert all(isinstance(value, str) for value in json.loads(json.dumps(variables)).values())
