"""``frontline token``."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from configs.keys import key_path, signing_key
from contracts.clock import SystemClock
from contracts.principal import Principal, PrincipalKind
from serve_app.api.tokens import verify


def test_the_first_token_makes_the_key_that_signs_it(cli: CliRunner, home: Path) -> None:
    assert not key_path(home).exists()
    result = cli.invoke(app, ["token", "--customer", "C0001"])
    assert result.exit_code == 0
    principal = verify(result.stdout.strip(), signing_key(home), SystemClock())
    assert principal == Principal(kind=PrincipalKind.CUSTOMER, subject="C0001", customer_id="C0001")


def test_staff_have_a_subject_a_desk_and_scopes(cli: CliRunner, home: Path) -> None:
    options = ["--kind", "agent", "--subject", "A7", "--desk", "new", "--scope", "read", "--scope", "write"]
    result = cli.invoke(app, ["token", *options])
    principal = verify(result.stdout.strip(), signing_key(home), SystemClock())
    assert (principal.owner, principal.customer_id, principal.desk) == ("agent:A7", None, "new")
    assert principal.scopes == {"read", "write"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "--customer"),
        (["--kind", "agent", "--customer", "C0001"], "--subject"),
        (["--subject", "x"], "--customer"),
        (["--kind", "emperor", "--subject", "x"], "emperor"),
        (["--customer", "C0001", "--ttl", "0"], "ttl"),
    ],
)
def test_a_caller_who_makes_no_sense_is_refused(cli: CliRunner, options: list[str], says: str) -> None:
    result = cli.invoke(app, ["token", *options])
    assert result.exit_code != 0
    assert says in result.stderr
    assert result.stdout == ""


def test_a_key_that_can_not_be_used_is_said(cli: CliRunner, home: Path) -> None:
    signing_key(home)
    key_path(home).chmod(0o644)
    result = cli.invoke(app, ["token", "--customer", "C0001"])
    assert result.exit_code == 1
    assert "chmod 600" in result.stderr
