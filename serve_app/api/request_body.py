"""A request's body, taken in as a whole before anything is done for the request."""

import asyncio

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope

from contracts.errors import RequestTimeoutError, TooLargeError
from serve_app.api.limits import ApiLimits

_MAX_LENGTH_DIGITS = 18


async def whole_body(scope: Scope, receive: Receive, limits: ApiLimits) -> bytes:
    """The body, once all of it is here. It is counted while it arrives, so that a false length doesn't help.

    Raises ``TooLargeError``, ``RequestTimeoutError``, and ``ClientDisconnect`` when the caller has gone.
    """
    declared = Headers(scope=scope).get("content-length", "0")
    too_large = TooLargeError(f"The body may have at most {limits.max_body_bytes:,} bytes.")
    if len(declared) > _MAX_LENGTH_DIGITS or (declared.isdecimal() and int(declared) > limits.max_body_bytes):
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_within_s):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                body += message.get("body", b"")
                if len(body) > limits.max_body_bytes:
                    raise too_large
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError as error:
        raise RequestTimeoutError(f"The whole body must arrive within {limits.body_within_s:g} s.") from error


def with_body(body: bytes, receive: Receive) -> Receive:
    """Gives the body in one piece, then whatever else ``receive`` tells: that the caller has gone."""
    is_given = False

    async def receive_next() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_next
