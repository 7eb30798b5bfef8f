"""What holds for every request: an id, a bounded body, a problem document for whatever goes wrong."""

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.errors import BusyError, FrontlineError
from serve_app.api.limits import ApiLimits
from serve_app.api.problems import log_error, problem_body, problem_response
from serve_app.api.request_body import whole_body, with_body
from serve_app.api.request_id import REQUEST_ID_HEADER, assign_request_id


class Envelope:
    """ASGI middleware around the whole application.

    The web framework's own body limit answers in plain text; this one answers with a problem.
    Requests that may begin a turn are counted from when their whole body is here until their last byte
    has left; one too many is turned away at once. What is only half sent takes nobody's place.
    With ``counts_turns`` false nothing is counted: for a second one further out.
    """

    def __init__(self, app: ASGIApp, limits: ApiLimits, *, counts_turns: bool = True) -> None:
        self._app = app
        self._limits = limits
        self._counts_turns = counts_turns
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        instance = assign_request_id(scope)
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID_HEADER] = instance
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Cache-Control"] = "no-store"
            await send(message)

        try:
            body = await whole_body(scope, receive, self._limits)
            await self._counted(scope, with_body(body, receive), send_with_headers)
        except ClientDisconnect:
            return
        except Exception as error:
            log_error(error, instance)
            if started:
                raise
            known = error if isinstance(error, FrontlineError) else FrontlineError(str(error))
            await problem_response(problem_body(known, instance))(scope, receive, send_with_headers)

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._counts_turns or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        if self._running >= self._limits.max_running_turns:
            raise BusyError("More messages than fit are being answered just now; send it again shortly.")
        self._running += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running -= 1
