"""Options that several commands take, and how a caller's token is come by."""

from typing import Annotated, NoReturn

import typer
from pydantic import AnyHttpUrl, TypeAdapter, ValidationError
from rich.console import Console

from cli.client import DEFAULT_URL, URL_VARIABLE
from configs.keys import signing_key
from configs.settings import read_settings
from contracts.clock import SystemClock
from contracts.errors import FrontlineError
from contracts.principal import Principal, PrincipalKind
from serve_app.api.tokens import mint

#: How long a token lasts that a command mints for itself.
COMMAND_TOKEN_TTL_S = 3600


def _checked_url(url: str) -> str:
    """The address as given. Raises ``BadParameter`` when it is none of a web service."""
    try:
        TypeAdapter(AnyHttpUrl).validate_python(url)
    except ValidationError as error:
        raise typer.BadParameter(f"{url!r} is no address: write it as {DEFAULT_URL}.") from error
    return url


Url = Annotated[str, typer.Option(envvar=URL_VARIABLE, callback=_checked_url, help="Where the service answers.")]
Customer = Annotated[
    str | None, typer.Option(help="Ask as this customer, with a token of the local key. Without it: as a guest.")
]
Token = Annotated[str | None, typer.Option(envvar="FRONTLINE_TOKEN", help="Ask with this token.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show route, plan, sources and timings.")]

__all__ = ["DEFAULT_URL", "Customer", "Explain", "Token", "Url", "fail", "token_for"]


def token_for(customer: str | None, token: str | None) -> str | None:
    """The token to call with: the given one, one minted for the customer, or none for a guest."""
    if token is not None or customer is None:
        return token
    principal = Principal(kind=PrincipalKind.CUSTOMER, subject=customer, customer_id=customer)
    try:
        return mint(principal, signing_key(read_settings().home), COMMAND_TOKEN_TTL_S, SystemClock())
    except FrontlineError as error:
        fail(error.detail)


def fail(message: str) -> NoReturn:
    """Say what is wrong on the error stream and end with exit code 1."""
    Console(stderr=True, highlight=False).print(message, style="red", markup=False)
    raise typer.Exit(1)
