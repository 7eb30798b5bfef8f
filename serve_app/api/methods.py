"""Which methods an address takes. ``HEAD`` is taken wherever ``GET`` is."""

from fastapi import FastAPI
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")
_READ = ("GET", "HEAD")


def allowed_methods(app: FastAPI, scope: Scope) -> list[str]:
    """All methods of the address that ``scope`` names, sorted.

    The framework alone names those of the first of the operations there.
    """
    found = set[str]()
    for route in app.routes:
        for method in _METHODS:
            # A scope of its own: matching leaves marks.
            probe = {"type": "http", "method": method, "path": scope["path"], "root_path": "", "headers": []}
            if route.matches(probe)[0] is Match.FULL:
                # A mounted folder would match whatever the method is.
                found |= {method} if not isinstance(route, Mount) else set(_READ)
    if "GET" in found:
        found.add("HEAD")
    return sorted(found)


class HeadAsGet:
    """ASGI middleware: answers ``HEAD`` as ``GET`` would be answered, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, send_head)
