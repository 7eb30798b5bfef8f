"""The id of a request: the caller's ``X-Request-ID`` where it is a plain name, else a new one."""

import re
import uuid

from starlette.datastructures import Headers
from starlette.types import Scope

REQUEST_ID_HEADER = "X-Request-ID"

_SCOPE_KEY = "frontline.request_id"
_PLAIN = re.compile(r"[A-Za-z0-9._-]{1,64}")


def assign_request_id(scope: Scope) -> str:
    """Give the request its id."""
    offered = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
    scope[_SCOPE_KEY] = offered if _PLAIN.fullmatch(offered) else uuid.uuid4().hex
    return request_id(scope)


def request_id(scope: Scope) -> str:
    """The id that the request was given."""
    return str(scope[_SCOPE_KEY])
