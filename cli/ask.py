"""``frontline ask``: one question, one answer."""

import json
from typing import Annotated

import typer
from rich.console import Console

from cli.client import ClientError, FrontlineClient
from cli.explanation import show_explanation, show_reply
from cli.options import DEFAULT_URL, Customer, Explain, Token, Url, fail, token_for


def ask(
    message: Annotated[str, typer.Argument(help="What you want to know; several things at once are fine.")],
    customer: Customer = None,
    token: Token = None,
    explain: Explain = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as the API gave it.")] = False,
    url: Url = DEFAULT_URL,
) -> None:
    """Ask one question and print the answer with its sources."""
    try:
        with FrontlineClient(url, token_for(customer, token)) as client:
            answer = client.ask(message, explain=explain)
    except ClientError as error:
        fail(str(error))
    if as_json:
        typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    show_reply(console, answer)
    if explain:
        show_explanation(console, answer)
