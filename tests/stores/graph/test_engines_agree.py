"""Both engines answer the language that queries are printed in alike: the same rows, of the same types.

Each line of ``engine_cases.jsonl`` is one construct: ``name``, ``cypher``, the ``rows`` worked out by hand (in the
columns' order; dates and moments as ``{"date": …}`` and ``{"datetime": …}``), and where it needs them ``parameters``
and ``ordered`` (default: the order of the rows doesn't matter). ``engine_sample.cypher`` is the graph they ask.
"""

import json
import warnings
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import kglite
import neo4j
import neo4j.time
import pytest

from tests.neo4j_server import Neo4jServer, neo4j_server

__all__ = ["neo4j_server"]

FOLDER = Path(__file__).parent
SAMPLE = (FOLDER / "engine_sample.cypher").read_text()
CASES = [json.loads(line) for line in (FOLDER / "engine_cases.jsonl").read_text().splitlines()]

#: A text and its parameters to the rows' values.
Ask = Callable[[str, dict[str, Any]], list[list[Any]]]


@pytest.fixture(scope="module")
def ask_kglite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    kglite.set_query_warning_policy("silent")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = kglite.open_session(str(tmp_path_factory.mktemp("engines") / "sample.kgl"), durable="full")
    session.execute(SAMPLE)

    def ask(text: str, parameters: dict[str, Any]) -> list[list[Any]]:
        rows = session.cypher(text, params=parameters, timeout_ms=5_000, max_work_units=5_000_000).to_list()
        return [list(row.values()) for row in rows]

    yield ask
    session.close()


@pytest.fixture(scope="module")
def ask_neo4j(neo4j_server: Neo4jServer) -> Iterator[Ask]:
    neo4j_server.empty()
    with neo4j.GraphDatabase.driver(
        neo4j_server.uri, auth=(neo4j_server.user, neo4j_server.password), notifications_min_severity="OFF"
    ) as driver:
        driver.execute_query(SAMPLE)
        with driver.session(default_access_mode="READ") as session:

            def ask(text: str, parameters: dict[str, Any]) -> list[list[Any]]:
                return [record.values() for record in session.run(text, parameters)]

            yield ask
        neo4j_server.empty()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_kglite_answers_with_the_rows_worked_out(case: dict[str, Any], ask_kglite: Ask) -> None:
    _check(case, ask_kglite)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_neo4j_answers_with_the_rows_worked_out(case: dict[str, Any], ask_neo4j: Ask) -> None:
    _check(case, ask_neo4j)


def test_every_case_has_a_name_of_its_own() -> None:
    names = [case["name"] for case in CASES]
    assert sorted(names) == sorted(set(names))


def _check(case: dict[str, Any], ask: Ask) -> None:
    answered = [_plain(row) for row in ask(case["cypher"], _decoded(case.get("parameters", {})))]
    expected = case["rows"]
    if not case.get("ordered", False):
        answered, expected = sorted(answered, key=_text), sorted(expected, key=_text)
    # As text, because to Python 1 == 1.0 == True.
    assert [_text(row) for row in answered] == [_text(row) for row in expected]


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """A value of either engine as the cases write it."""
    match value:
        case neo4j.time.DateTime() | neo4j.time.Date():
            return _plain(value.to_native())
        case datetime():
            return {"datetime": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
        case float():
            return round(value, 9)  # both round the last bit of a sum as they come to it
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case _:
            return value


def _decoded(value: Any) -> Any:
    match value:
        case {"date": str(text)}:
            return date.fromisoformat(text)
        case {"datetime": str(text)}:
            return datetime.fromisoformat(text)
        case dict():
            return {key: _decoded(item) for key, item in value.items()}
        case list():
            return [_decoded(item) for item in value]
        case _:
            return value
