"""The id of a request: the caller's ``X-Request-ID`` where it is a plain name, else a new one."""

import re
import uuid

from starlette.datastructures import Headers
from starlette.types import Scope

REQUEST_ID_HEADER = "X-Request-ID"

_SCOPE_KEY = "frontline.request_id"
_RAW_NAME = REQUEST_ID_HEADER.lower().encode()
_PLAIN = re.compile(r"[A-Za-z0-9._-]{1,64}")


def assign_request_id(scope: Scope) -> str:
    """Give the request its id, and put it in the place of whatever the caller sent: who looks further in sees it too.

    Done again to the same request it changes nothing.
    """
    offered = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
    given = offered if _PLAIN.fullmatch(offered) else uuid.uuid4().hex
    others = [(name, value) for name, value in scope["headers"] if name.lower() != _RAW_NAME]
    scope["headers"] = [*others, (_RAW_NAME, given.encode())]
    scope[_SCOPE_KEY] = given
    return given


def request_id(scope: Scope) -> str:
    """The id that the request was given."""
    return str(scope[_SCOPE_KEY])
