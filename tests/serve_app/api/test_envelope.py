"""What is running is counted, what is only half sent is not; with requests given by hand, byte by byte."""

import asyncio
import json
from collections.abc import Callable

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message, Receive, Scope, Send

from configs.settings import Budgets, Settings
from serve_app.api.app import create_api
from serve_app.api.envelope import Envelope
from serve_app.api.limits import ApiLimits

LIMITS = ApiLimits(max_message_characters=100, max_body_bytes=1_000, max_running_turns=2)
BODY = b'{"message": "Hello"}'


class Caller:
    """One request: its body is sent when the test says so."""

    def __init__(self, app: Callable[[Scope, Receive, Send], object], **scope: object) -> None:
        self._to_app: asyncio.Queue[Message] = asyncio.Queue()
        self.received: list[Message] = []
        headers = [(b"content-type", b"application/json")]
        self.scope: Scope = {"type": "http", "method": "POST", "path": "/v1/turns", "raw_path": b"/v1/turns"}
        self.scope |= {"query_string": b"", "root_path": "", "headers": headers, **scope}
        self.done = asyncio.ensure_future(app(self.scope, self._to_app.get, self._send))

    async def _send(self, message: Message) -> None:
        self.received.append(message)

    def send_body(self, body: bytes, *, is_whole: bool) -> None:
        self._to_app.put_nowait({"type": "http.request", "body": body, "more_body": not is_whole})

    def leave(self) -> None:
        self._to_app.put_nowait({"type": "http.disconnect"})

    async def answer(self) -> tuple[int, dict[bytes, bytes], dict]:
        await asyncio.wait_for(self.done, 10)
        start, *rest = self.received
        return start["status"], dict(start["headers"]), json.loads(b"".join(part["body"] for part in rest))


async def settled() -> None:
    """Let everything run that can."""
    for _ in range(50):
        await asyncio.sleep(0)


@pytest.fixture
def small_api(service, settings: Settings) -> FastAPI:
    """The application with room for two turns."""
    budgets = Budgets(max_running_turns=2)
    return create_api(lambda: service, settings.model_copy(update={"budgets": budgets}))


async def test_half_sent_requests_take_nobodys_place(small_api: FastAPI, service) -> None:
    half = [Caller(small_api) for _ in range(200)]
    for caller in half:
        caller.send_body(BODY[:1], is_whole=False)
    await settled()
    whole = Caller(small_api)
    whole.send_body(BODY, is_whole=True)
    assert (await whole.answer())[0] == 200
    half[0].send_body(BODY[1:], is_whole=True)
    assert (await half[0].answer())[0] == 200
    for caller in half[1:]:
        caller.leave()
        await asyncio.wait_for(caller.done, 10)
        assert caller.received == []
    assert len(service.requests) == 2


@pytest.mark.parametrize("accept", [b"application/json", b"text/event-stream"])
async def test_one_turn_too_many_is_busy_until_an_answers_last_byte(small_api: FastAPI, service, accept: bytes) -> None:
    service.paused = asyncio.Event()
    headers = [(b"content-type", b"application/json"), (b"accept", accept)]
    running = [Caller(small_api, headers=headers) for _ in range(2)]
    for caller in running:
        caller.send_body(BODY, is_whole=True)
    for _ in running:
        await service.at_pause.acquire()
    refused = Caller(small_api)
    refused.send_body(BODY, is_whole=True)
    status, told, problem = await refused.answer()
    assert (status, problem["type"], problem["repeatable"]) == (503, "/problems/busy", True)
    assert told[b"content-type"] == b"application/problem+json"
    assert told[b"retry-after"].isdigit()

    service.paused.set()
    await asyncio.wait_for(asyncio.gather(*(caller.done for caller in running)), 10)
    again = Caller(small_api)
    again.send_body(BODY, is_whole=True)
    assert (await again.answer())[0] == 200


async def test_what_is_read_is_never_too_many(small_api: FastAPI, service) -> None:
    service.paused = asyncio.Event()
    running = [Caller(small_api) for _ in range(2)]
    for caller in running:
        caller.send_body(BODY, is_whole=True)
    for _ in running:
        await service.at_pause.acquire()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(small_api), base_url="http://frontline") as client:
        assert (await client.get("/v1/health")).status_code == 200
    service.paused.set()
    await asyncio.wait_for(asyncio.gather(*(caller.done for caller in running)), 10)


async def test_a_body_that_does_not_come_is_a_problem_and_ends_the_connection() -> None:
    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        pytest.fail("the application was called without a body")

    envelope = Envelope(never, LIMITS.model_copy(update={"body_within_s": 0.01}))
    for method in ("POST", "GET"):
        caller = Caller(envelope, method=method)
        caller.send_body(BODY[:1], is_whole=False)
        status, headers, problem = await caller.answer()
        assert (status, problem["type"], problem["repeatable"]) == (408, "/problems/request-timeout", True)
        assert headers[b"content-type"] == b"application/problem+json"
        assert headers[b"connection"] == b"close"


async def test_a_body_that_drips_has_no_more_time_than_one_that_waits() -> None:
    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        pytest.fail("the application was called without a body")

    async def drip() -> Message:
        await asyncio.sleep(0.001)
        return {"type": "http.request", "body": b"", "more_body": True}

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    envelope = Envelope(never, LIMITS.model_copy(update={"body_within_s": 0.05}))
    await asyncio.wait_for(envelope(scope, drip, send), 10)
    assert sent[0]["status"] == 408


async def test_the_application_gets_the_whole_body_and_then_hears_that_the_caller_left() -> None:
    heard: list[Message] = []

    async def listener(scope: Scope, receive: Receive, send: Send) -> None:
        heard.extend([await receive(), await receive()])

    caller = Caller(Envelope(listener, LIMITS))
    caller.send_body(b"one", is_whole=False)
    caller.send_body(b"two", is_whole=True)
    caller.leave()
    await asyncio.wait_for(caller.done, 10)
    assert heard == [{"type": "http.request", "body": b"onetwo", "more_body": False}, {"type": "http.disconnect"}]
