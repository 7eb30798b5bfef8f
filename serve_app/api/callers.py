"""Who calls: decided from the ``Authorization`` header alone. A bad token is an error, never a guest."""

import uuid
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer

from contracts.errors import UnauthenticatedError
from contracts.principal import Principal
from serve_app.api.parts import Parts, Service
from serve_app.api.tokens import GUEST_TOKEN_TTL_S, guest, mint, verify

#: Only for the API's description: the header is read below, so that no other scheme passes as "no token".
_described = HTTPBearer(
    auto_error=False,
    scheme_name="token",
    description="A signed token of a customer, a member of staff, or a guest who was here before.",
)


async def caller_or_none(
    request: Request, parts: Parts, service: Service, _: Annotated[object, Security(_described)]
) -> Principal | None:
    """The caller, or ``None`` when there is no ``Authorization`` header.

    Raises ``UnauthenticatedError`` for a header that is not one valid bearer token.
    """
    headers = request.headers.getlist("Authorization")
    if not headers:
        return None
    scheme, _space, token = headers[0].partition(" ")
    if len(headers) > 1 or scheme.lower() != "bearer" or not token.strip():
        raise UnauthenticatedError("The Authorization header must be one `Bearer <token>`.")
    return verify(token.strip(), parts.key, service.clock)


PossibleCaller = Annotated[Principal | None, Depends(caller_or_none)]


async def known_caller(caller: PossibleCaller) -> Principal:
    """The caller. Raises ``UnauthenticatedError`` when there is no token."""
    if caller is None:
        raise UnauthenticatedError("This needs a token: a customer's, or the guest_token of an earlier answer.")
    return caller


KnownCaller = Annotated[Principal, Depends(known_caller)]


def new_guest_subject() -> str:
    """A subject that nobody else has."""
    return uuid.uuid4().hex


def guest_with_token(subject: str, parts: Parts, service: Service) -> tuple[Principal, str]:
    """A guest who came without a token, and the token with which they come back."""
    principal = guest(subject)
    return principal, mint(principal, parts.key, GUEST_TOKEN_TTL_S, service.clock)
