"""``frontline token``: mint a caller's token with the local key."""

from typing import Annotated

import typer

from cli.options import fail
from configs.keys import signing_key
from configs.settings import read_settings
from contracts.clock import SystemClock
from contracts.errors import FrontlineError
from contracts.principal import Principal, PrincipalKind
from serve_app.api.tokens import mint


def print_token(
    customer: Annotated[str | None, typer.Option(help="The customer whose data the bearer reaches.")] = None,
    kind: Annotated[PrincipalKind, typer.Option(help="What kind of caller the bearer is.")] = PrincipalKind.CUSTOMER,
    subject: Annotated[str | None, typer.Option(help="The caller's own name; the customer's, if not given.")] = None,
    desk: Annotated[str | None, typer.Option(help="The desk that serves the caller.")] = None,
    scope: Annotated[list[str] | None, typer.Option(help="A scope; repeat the option for more.")] = None,
    ttl: Annotated[int, typer.Option(min=1, max=366 * 24 * 3600, help="How long it lasts, in seconds.")] = 8 * 3600,
) -> None:
    """Print a token signed with this installation's key (made now, if there is none yet)."""
    name = subject or customer
    if name is None:
        fail("Name the caller: --customer for a customer, --subject for anyone else.")
    try:
        principal = Principal(kind=kind, subject=name, customer_id=customer, desk=desk, scopes=frozenset(scope or ()))
    except ValueError:
        needs = "needs a --customer" if customer is None else "goes without --customer: use --subject"
        fail(f"A caller of kind {kind.value} {needs}.")
    try:
        typer.echo(mint(principal, signing_key(read_settings().home), ttl, SystemClock()))
    except FrontlineError as error:
        fail(error.detail)
