"""A client of the public API: one connection, one caller, errors that a person can act on.

A message is sent under an idempotency key. When the connection breaks, or a part of the service is
just restarting, the same request is sent again, and the turn's one answer comes back.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

import httpx
from httpx_sse import SSEError, connect_sse

DEFAULT_URL = "http://127.0.0.1:8000"
URL_VARIABLE = "FRONTLINE_URL"

#: Above the longest turn, so that the service's own answer comes first.
READ_TIMEOUT_S = 30.0
#: Waits before each repeat: together longer than a replica takes to come back.
REPEAT_AFTER_S = (0.5, 2.0, 5.0)

#: One event of a turn: its name and its data.
Event = tuple[str, dict[str, Any]]


class ClientError(Exception):
    """What went wrong, as one sentence for the person at the terminal."""


class ServiceUnreachableError(ClientError):
    """Nothing answers at the address, or the connection broke: only then a repeat is worth it."""

    def __init__(self, message: str, *, repeatable: bool = False) -> None:
        super().__init__(message)
        self.repeatable = repeatable


class ProblemError(ClientError):
    """The service answered with a problem document."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(f"{problem.get('title', 'Problem')}: {problem.get('detail', '')}")
        self.problem = problem
        self.repeatable = bool(problem.get("repeatable"))


class FrontlineClient:
    """The public API for one caller. A guest keeps the guest token of the first answer.

    Raises ``ServiceUnreachableError`` or ``ProblemError`` from every call. ``sleep`` takes seconds.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._sleep = sleep
        self._http = httpx.Client(base_url=self.url, timeout=READ_TIMEOUT_S, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._http.close()

    def ask(self, message: str, *, session_id: str | None = None, explain: bool = False) -> dict[str, Any]:
        """The finished answer to one message: its body, with ``reply``, ``turn_id`` and ``session_id``."""
        answer = dict[str, Any]()
        for name, data in self.events(message, session_id=session_id, explain=explain):
            if name == "reply":
                answer = data
        return answer

    def events(self, message: str, *, session_id: str | None = None, explain: bool = False) -> Iterator[Event]:
        """The events of a turn as they come; the last is ``reply``.

        ``again`` says that the connection broke and the stream begins anew, as far as the turn still runs.
        """
        try:
            message.encode()
        except UnicodeEncodeError as error:
            raise ClientError("The message can't be sent: it is not text in UTF-8.") from error
        body = {"message": message, "session_id": session_id, "explain": explain}
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        for wait_s in REPEAT_AFTER_S:
            try:
                yield from self._stream(body, headers)
                return
            except (ServiceUnreachableError, ProblemError) as error:
                if not error.repeatable:
                    raise
            self._sleep(wait_s)
            yield "again", {}
        yield from self._stream(body, headers)

    def readiness(self) -> dict[str, Any]:
        """``ready`` and ``parts``, whether all of them are ready or not."""
        try:
            response = self._http.get("/v1/ready")
        except httpx.HTTPError as error:
            raise _unreachable(self.url, error) from error
        body = _json_object(response)
        if "parts" in body:
            return body
        if "title" in body or response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            raise ProblemError(_problem(response))
        raise _not_frontline(self.url)

    def _stream(self, body: dict[str, Any], headers: dict[str, str]) -> Iterator[Event]:
        try:
            with connect_sse(
                self._http, "POST", "/v1/turns", json=body, headers={**headers, **self._authorization()}
            ) as source:
                if source.response.status_code != httpx.codes.OK:
                    source.response.read()
                    raise ProblemError(_problem(source.response))
                for event in source.iter_sse():
                    data: dict[str, Any] = json.loads(event.data)
                    if event.event == "error":
                        raise ProblemError(data)
                    self._token = data.pop("guest_token", None) or self._token
                    yield event.event, data
                    if event.event == "reply":
                        return
        except (SSEError, ValueError) as error:
            raise _not_frontline(self.url) from error
        except httpx.HTTPError as error:
            raise _unreachable(self.url, error) from error
        raise ServiceUnreachableError(f"The connection to {self.url} ended before the reply.", repeatable=True)

    def _authorization(self) -> dict[str, str]:
        return {} if self._token is None else {"Authorization": f"Bearer {self._token}"}


def _unreachable(url: str, error: httpx.HTTPError) -> ServiceUnreachableError:
    if isinstance(error, httpx.ConnectError):
        return ServiceUnreachableError(f"Nothing answers at {url}: start it with `frontline serve`.")
    if isinstance(error, httpx.TimeoutException):
        return ServiceUnreachableError(f"{url} did not answer in time: `frontline doctor` shows how it is.")
    return ServiceUnreachableError(f"The connection to {url} broke: {error}.", repeatable=True)


def _not_frontline(url: str) -> ServiceUnreachableError:
    return ServiceUnreachableError(f"What answers at {url} is not Frontline.")


def _problem(response: httpx.Response) -> dict[str, Any]:
    """The problem document of a response; of what isn't one (a proxy's own page), the status alone."""
    body = _json_object(response)
    if "title" in body:
        return body
    return {
        "title": f"HTTP {response.status_code}",
        "detail": "The answer is not one of Frontline's.",
        "status": response.status_code,
        "repeatable": response.status_code == httpx.codes.SERVICE_UNAVAILABLE,
    }


def _json_object(response: httpx.Response) -> dict[str, Any]:
    """The body as a JSON object; empty when it is none."""
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
