"""What holds for every request: an id, a bounded body, a problem document for whatever goes wrong."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from contracts.errors import BusyError, FrontlineError, TooLargeError
from serve_app.api.limits import ApiLimits
from serve_app.api.problems import log_error, problem_body, problem_response
from serve_app.api.request_id import REQUEST_ID_HEADER, assign_request_id

_MAX_LENGTH_DIGITS = 18


class Envelope:
    """ASGI middleware around the whole application.

    The web framework's own body limit answers in plain text; this one answers with a problem.
    A body is counted while it arrives, so that a missing or false length doesn't help. Requests that
    may begin a turn are counted until their last byte has left; one too many is turned away at once.
    """

    def __init__(self, app: ASGIApp, limits: ApiLimits) -> None:
        self._app = app
        self._max_body_bytes = limits.max_body_bytes
        self._max_running = limits.max_running_turns
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        counted = scope["method"] == "POST"
        self._running += counted
        try:
            await self._bounded(scope, receive, send, is_full=counted and self._running > self._max_running)
        finally:
            self._running -= counted

    async def _bounded(self, scope: Scope, receive: Receive, send: Send, is_full: bool) -> None:
        instance = assign_request_id(scope)
        started = False
        received_bytes = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID_HEADER] = instance
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Cache-Control"] = "no-store"
            await send(message)

        async def receive_bounded() -> Message:
            nonlocal received_bytes
            message = await receive()
            received_bytes += len(message.get("body", b""))
            if received_bytes > self._max_body_bytes:
                # The one type that the framework hands on untouched while it reads a body.
                raise HTTPException(413)
            return message

        try:
            if is_full:
                raise BusyError("More messages than fit are being answered just now; send it again shortly.")
            declared = Headers(scope=scope).get("content-length", "0")
            if len(declared) > _MAX_LENGTH_DIGITS or (declared.isdecimal() and int(declared) > self._max_body_bytes):
                raise TooLargeError(f"The body may have at most {self._max_body_bytes:,} bytes.")
            await self._app(scope, receive_bounded, send_with_headers)
        except Exception as error:
            log_error(error, instance)
            if started:
                raise
            known = error if isinstance(error, FrontlineError) else FrontlineError(str(error))
            await problem_response(problem_body(known, instance))(scope, receive, send_with_headers)
