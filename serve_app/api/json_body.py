"""JSON bodies, read strictly: what two readers could understand differently is refused.

The framework's reader takes UTF-16 as well, the last of two equal keys, ``NaN``, and halves of surrogate
pairs, which can't be written down anywhere afterwards.
"""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from contracts.errors import BadRequestError
from serve_app.api.media import require_plain_json
from serve_app.api.unicode import is_unicode


class JsonRoute(APIRoute):
    """An operation whose body, where it has one, is read strictly before the framework reads it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        takes_body = self.body_field is not None

        async def handle_checked(request: Request) -> Response:
            body = await request.body() if takes_body else b""
            if body:
                require_plain_json(request)
                check_json(body)
            return await handle(request)

        return handle_checked


def check_json(body: bytes) -> None:
    """Raises ``BadRequestError``, saying what is wrong, for anything but one JSON value in UTF-8."""
    try:
        value = json.loads(body.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_refuse_constant)
        if not is_unicode(value):
            raise BadRequestError("The body holds half a surrogate pair: write each character as a whole.")
    except UnicodeDecodeError as error:
        raise BadRequestError("The body is not in UTF-8.") from error
    except json.JSONDecodeError as error:
        raise BadRequestError(f"The body is not JSON: {error.msg} at character {error.pos + 1}.") from error
    except (ValueError, RecursionError) as error:
        raise BadRequestError("The body holds a number or a depth that is not taken.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise BadRequestError("The body has an object with two equal keys.")
    return found


def _refuse_constant(name: str) -> None:
    raise BadRequestError(f"The body is not JSON: {name} is no JSON number.")
