import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.domain import domain_app

WORKSHOP = Path(__file__).parents[1] / "packs" / "workshop"


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FRONTLINE_HOME", str(tmp_path / "home"))
    return Path(shutil.copytree(WORKSHOP, tmp_path / "workshop"))


def test_checking_a_sound_pack_succeeds(workshop: Path) -> None:
    result = CliRunner().invoke(domain_app, ["check", str(workshop)])
    assert (result.exit_code, result.stdout) == (0, "")


def test_checking_a_broken_pack_prints_file_line_and_message_and_fails(workshop: Path) -> None:
    riders = workshop / "data" / "riders.csv"
    riders.write_text(riders.read_text(encoding="utf-8") + "R-2,Again\n", encoding="utf-8")
    result = CliRunner().invoke(domain_app, ["check", str(workshop)])
    assert result.exit_code == 1
    assert result.stdout == "data/riders.csv:4: rider_id: 'R-2' stands on line 3 already and must be unique\n"


def test_the_pack_of_the_settings_is_the_default(workshop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (workshop / "routes.yaml").unlink()
    monkeypatch.setenv("FRONTLINE_PACK", str(workshop))
    result = CliRunner().invoke(domain_app, ["check"])
    assert result.stdout == "routes.yaml:1: the file is missing; a pack needs it\n"


def test_compiling_says_where_the_result_lies(workshop: Path) -> None:
    result = CliRunner().invoke(domain_app, ["compile", str(workshop)])
    assert result.exit_code == 0
    (folder,) = (workshop.parent / "home" / "packs").iterdir()
    assert result.stdout == f"workshop 1.0 is compiled in {folder}.\n"
    assert (folder / "manifest.json").exists()


def test_compiling_a_pack_that_cannot_be_read_says_why(workshop: Path) -> None:
    (workshop / "routes.yaml").unlink()
    result = CliRunner().invoke(domain_app, ["compile", str(workshop)])
    assert result.exit_code == 1
    assert "routes.yaml:1: the file is missing" in result.stderr


def test_the_questions_of_a_strangers_pack_are_answered_as_it_expects(workshop: Path) -> None:
    result = CliRunner().invoke(domain_app, ["check", str(workshop), "--tests"])
    assert (result.exit_code, result.stdout) == (0, "")


def test_an_expectation_that_is_not_met_is_printed_with_its_line(workshop: Path) -> None:
    tests = workshop / "tests.yaml"
    tests.write_text(tests.read_text(encoding="utf-8").replace("status: ready", "status: waiting"), encoding="utf-8")
    result = CliRunner().invoke(domain_app, ["check", str(workshop), "--tests"])
    assert result.exit_code == 1
    assert result.stdout == ("tests.yaml:6: 'is job 101 ready?': row 1, status: is 'ready', expected 'waiting'\n")
