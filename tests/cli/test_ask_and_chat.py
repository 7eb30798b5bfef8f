"""``frontline ask`` and ``frontline chat``, from the terminal to the service and back."""

import json

import pytest
from typer.testing import CliRunner

from cli.main import app
from contracts.errors import OutOfTimeError
from contracts.principal import PrincipalKind
from tests.serve_app.api.conftest import EchoService


def test_ask_prints_the_reply(cli: CliRunner, url: str, service: EchoService) -> None:
    result = cli.invoke(app, ["ask", "Hello [bold]there[/bold]", "--customer", "C0001", "--url", url])
    assert result.exit_code == 0, result.output
    assert result.stdout == "Hello [bold]there[/bold]\n"
    assert service.requests[0][1].owner == "customer:C0001"


def test_ask_without_a_customer_asks_as_a_guest(cli: CliRunner, url: str, service: EchoService) -> None:
    assert cli.invoke(app, ["ask", "Hello", "--url", url]).exit_code == 0
    assert service.requests[0][1].kind is PrincipalKind.GUEST


def test_ask_prints_json_that_can_be_piped(cli: CliRunner, url: str) -> None:
    result = cli.invoke(app, ["ask", "Olá", "--json", "--explain", "--url", url])
    answer = json.loads(result.stdout)
    assert answer["reply"]["text"] == "Olá"
    assert answer["explanation"]["timings_ms"] == {"route": 1.5}
    assert "guest_token" not in answer


def test_ask_explains(cli: CliRunner, url: str) -> None:
    shown = cli.invoke(app, ["ask", "Hello", "--explain", "--url", url]).stdout
    assert "Route general, confidence 1.00" in shown
    assert "1.5" in shown


def test_ask_says_what_is_wrong_with_a_message(cli: CliRunner, url: str) -> None:
    result = cli.invoke(app, ["ask", "  ", "--url", url])
    assert result.exit_code == 1
    assert "message is empty" in result.stderr


def test_ask_with_a_bad_token_is_refused_and_not_a_guest(cli: CliRunner, url: str, service: EchoService) -> None:
    result = cli.invoke(app, ["ask", "Hello", "--token", "a.b.c", "--url", url])
    assert result.exit_code == 1
    assert "token" in result.stderr
    assert service.requests == []


@pytest.mark.parametrize("command", [["ask", "Hello"], ["chat"]])
def test_a_service_that_is_not_up_is_said_with_what_to_do(cli: CliRunner, free_url: str, command: list[str]) -> None:
    result = cli.invoke(app, [*command, "--url", free_url], input="Hello\n/quit\n")
    assert f"Nothing answers at {free_url}" in result.output
    assert "frontline serve" in result.output


@pytest.mark.parametrize("command", [["ask", "Hello"], ["chat"], ["doctor"]])
@pytest.mark.parametrize("address", ["localhost:8000", "http://", "http://[", "ftp://a"])
def test_an_address_that_is_none_is_said(cli: CliRunner, command: list[str], address: str) -> None:
    result = cli.invoke(app, [*command, "--url", address], input="Hello\n")
    assert result.exit_code == 2
    assert "no address" in result.stderr


def test_a_chat_is_one_conversation_until_a_new_one_is_begun(cli: CliRunner, url: str, service: EchoService) -> None:
    result = cli.invoke(app, ["chat", "--url", url], input="One\nTwo\n\n/new\nThree\n/quit\nFour\n")
    assert result.exit_code == 0, result.output
    first, second, third = (request for request, _ in service.requests)
    assert [first.message, second.message, third.message] == ["One", "Two", "Three"]
    assert first.session_id is None
    assert second.session_id is not None
    assert third.session_id is None
    assert len({principal.subject for _, principal in service.requests}) == 1
    for sentence in ("One", "Two", "Three"):
        assert result.stdout.count(sentence) == 1


def test_a_chat_goes_on_after_a_problem(cli: CliRunner, url: str, service: EchoService) -> None:
    result = cli.invoke(app, ["chat", "--url", url], input=f"{'x' * 4001}\nHello\n")
    assert "at most 4,000" in result.stdout
    assert [request.message for request, _ in service.requests] == ["Hello"]


def test_a_chat_explains_when_told_to(cli: CliRunner, url: str) -> None:
    result = cli.invoke(app, ["chat", "--url", url], input="One\n/explain\nTwo\n/what\n/quit\n")
    assert result.stdout.count("Route general") == 1
    assert result.stdout.count("/new begins another") == 2


def test_a_sentence_is_not_told_twice_when_the_stream_begins_anew(
    cli: CliRunner, url: str, service: EchoService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.client.REPEAT_AFTER_S", (0.0,))
    service.midway = OutOfTimeError("It took too long.")
    take_turn = service.take_turn

    async def only_once(*arguments):
        try:
            return await take_turn(*arguments)
        finally:
            service.midway = None

    monkeypatch.setattr(service, "take_turn", only_once)
    result = cli.invoke(app, ["chat", "--customer", "C0001", "--url", url], input="One\n/quit\n")
    assert len(service.requests) == 2
    assert service.requests[0][0].idempotency_key == service.requests[1][0].idempotency_key
    assert result.stdout.count("One") == 1
