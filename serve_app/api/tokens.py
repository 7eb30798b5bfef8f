"""Callers' tokens: JSON Web Tokens, signed with the installation's key by HMAC-SHA256."""

import hashlib
import hmac
from datetime import UTC, datetime
from typing import Any

import jwt
from pydantic import ValidationError

from contracts.clock import Clock
from contracts.errors import BadRequestError, UnauthenticatedError
from contracts.principal import Principal, PrincipalKind
from serve_app.api.unicode import is_unicode

ALGORITHM = "HS256"
ISSUER = "frontline"
AUDIENCE = "frontline"
#: How far another host's clock may run ahead of ours.
CLOCK_SKEW_S = 60
GUEST_TOKEN_TTL_S = 24 * 3600

#: What names the caller; where it is there, it isn't empty.
_NAMES = ("sub", "customer_id")
_REQUIRED = ["iss", "aud", "sub", "kind", "iat", "exp"]


def mint(principal: Principal, key: bytes, ttl_s: int, clock: Clock) -> str:
    """A token with which its bearer is ``principal`` for ``ttl_s`` seconds from now.

    Raises ``BadRequestError`` for a principal whose token :func:`verify` would refuse.
    """
    now = int(clock.now().timestamp())
    claims: dict[str, Any] = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": principal.subject,
        "kind": principal.kind.value,
        "iat": now,
        "exp": now + ttl_s,
        "scopes": sorted(principal.scopes),
    }
    if principal.customer_id is not None:
        claims["customer_id"] = principal.customer_id
    if principal.desk is not None:
        claims["desk"] = principal.desk
    if not is_unicode(claims) or any(name in claims and not claims[name].strip() for name in _NAMES):
        raise BadRequestError("A caller's names are text and not empty.")
    return jwt.encode(claims, key, algorithm=ALGORITHM)


def verify(token: str, key: bytes, clock: Clock) -> Principal:
    """The principal whom a token names. Raises ``UnauthenticatedError``, saying what is wrong with it."""
    try:
        claims = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            audience=AUDIENCE,
            issuer=ISSUER,
            # The times are held against the clock that was passed in, below.
            options={"require": _REQUIRED, "verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise UnauthenticatedError("The token is not one of ours, or it was changed.") from error
    _check_times(claims, clock.now())
    if not is_unicode(claims):
        raise UnauthenticatedError("The token's claims are not text.")
    if any(isinstance(claims.get(name), str) and not claims[name].strip() for name in _NAMES):
        raise UnauthenticatedError("The token names its caller by an empty text.")
    try:
        return Principal.model_validate(
            {
                "kind": claims["kind"],
                "subject": claims["sub"],
                "customer_id": claims.get("customer_id"),
                "desk": claims.get("desk"),
                "scopes": claims.get("scopes", []),
            }
        )
    except ValidationError as error:
        raise UnauthenticatedError("The token's claims don't name a caller.") from error


def guest(subject: str) -> Principal:
    """A guest: reaches what is public and its own sessions."""
    return Principal(kind=PrincipalKind.GUEST, subject=subject)


def guest_subject(idempotency_key: str, key: bytes) -> str:
    """The subject of a guest who came without a token: the same for the same idempotency key.

    Keyed, so that a subject tells nothing of the idempotency key. The prefix keeps it apart from
    anything that is signed as a token with the same key.
    """
    return hmac.new(key, b"guest:" + idempotency_key.encode(), hashlib.sha256).hexdigest()[:32]


def _check_times(claims: dict[str, Any], now: datetime) -> None:
    issued, expires = _moment(claims["iat"]), _moment(claims["exp"])
    begins = _moment(claims["nbf"]) if "nbf" in claims else issued
    if expires <= now:
        raise UnauthenticatedError("The token has expired.")
    if (max(issued, begins) - now).total_seconds() > CLOCK_SKEW_S:
        raise UnauthenticatedError("The token is dated in the future.")


def _moment(seconds: object) -> datetime:
    """A moment as tokens tell it: a number of seconds since 1970."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise UnauthenticatedError("The token's times can't be read.")
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UnauthenticatedError("The token's times can't be read.") from error
