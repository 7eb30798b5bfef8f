"""A turn as server-sent events, over a real server socket where the transport would hide the timing."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from httpx_sse import aconnect_sse

from contracts.errors import BusyError, OutOfTimeError
from serve_app.api.app import create_api
from serve_app.api.event_stream import RunningTurn, events, first_item
from serve_app.api.service import TurnRequest
from serve_app.api.tokens import guest

Bearer = Callable[[str], dict[str, str]]
Event = tuple[str, dict]


async def stream(http: httpx.AsyncClient, message: str, headers: dict[str, str]) -> list[Event]:
    async with aconnect_sse(http, "POST", "/v1/turns", json={"message": message}, headers={**headers}) as source:
        assert source.response.status_code == 200
        assert source.response.headers["content-type"].startswith("text/event-stream")
        return [(event.event, json.loads(event.data)) async for event in source.aiter_sse()]


@asynccontextmanager
async def served(api: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """The application on a real socket."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(api, log_level="critical", lifespan="off"))
        running = asyncio.create_task(server.serve(sockets=[listener]))
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}") as client:
            yield client
        server.should_exit = True
        await running


async def test_events_come_in_order_and_end_with_one_reply(http: httpx.AsyncClient, bearer: Bearer) -> None:
    received = await stream(http, "One\nTwo", bearer("C1"))
    assert [name for name, _ in received] == ["route", "sentence", "sentence", "reply"]
    assert [data["text"] for name, data in received if name == "sentence"] == ["One", "Two"]
    assert received[-1][1]["reply"]["text"] == "One\nTwo"


async def test_a_streamed_turn_repeated_as_json_is_the_same_turn(http: httpx.AsyncClient, bearer: Bearer) -> None:
    headers = bearer("C1") | {"Idempotency-Key": "k-1"}
    streamed = await stream(http, "Hello", headers)
    plain = await http.post("/v1/turns", json={"message": "Hello"}, headers=headers)
    assert streamed[-1][1] == plain.json()
    assert await stream(http, "Hello", headers) == [streamed[-1]]


async def test_a_guests_token_comes_with_the_reply(http: httpx.AsyncClient) -> None:
    reply = (await stream(http, "Hello", {}))[-1][1]
    headers = {"Authorization": f"Bearer {reply['guest_token']}"}
    assert (await http.get(f"/v1/turns/{reply['turn_id']}", headers=headers)).status_code == 200


async def test_an_error_before_the_first_event_is_a_plain_problem(http: httpx.AsyncClient, service) -> None:
    service.before = BusyError("All are busy.")
    response = await http.post("/v1/turns", json={"message": "Hello"}, headers={"Accept": "text/event-stream"})
    assert response.status_code == 503
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["retry-after"].isdecimal()


@pytest.mark.parametrize(
    ("failure", "code", "detail"),
    [(OutOfTimeError("It took too long."), "out-of-time", "It took too long."), (KeyError("secret"), "internal", None)],
)
async def test_an_error_after_the_start_is_an_error_event(
    http: httpx.AsyncClient, service, failure: Exception, code: str, detail: str | None
) -> None:
    service.midway = failure
    received = await stream(http, "Hello", {"X-Request-ID": "r-1"})
    assert [name for name, _ in received] == ["route", "sentence", "error"]
    problem = received[-1][1]
    assert problem["type"] == f"/problems/{code}"
    assert problem["instance"] == "r-1"
    assert "secret" not in json.dumps(problem)
    assert detail is None or problem["detail"] == detail


async def test_json_wins_where_both_are_accepted(http: httpx.AsyncClient) -> None:
    headers = {"Accept": "application/json, text/event-stream"}
    response = await http.post("/v1/turns", json={"message": "Hello"}, headers=headers)
    assert response.headers["content-type"] == "application/json"


async def test_a_sentence_arrives_while_the_turn_still_runs(api: FastAPI, service) -> None:
    service.paused = asyncio.Event()
    async with (
        served(api) as client,
        aconnect_sse(client, "POST", "/v1/turns", json={"message": "One\nTwo"}) as source,
    ):
        names = []
        async for event in source.aiter_sse():
            names.append(event.event)
            if event.event == "sentence" and not service.paused.is_set():
                assert names == ["route", "sentence"]
                service.paused.set()
    assert names == ["route", "sentence", "sentence", "reply"]


async def test_a_caller_who_leaves_cancels_the_turn(api: FastAPI, service) -> None:
    service.paused = asyncio.Event()
    async with served(api) as client:
        async with aconnect_sse(client, "POST", "/v1/turns", json={"message": "Hello"}) as source:
            async for event in source.aiter_sse():
                if event.event == "sentence":
                    break
        await asyncio.wait_for(service.cancelled.wait(), 10)


async def test_silence_is_filled_with_comments(service) -> None:
    service.paused = asyncio.Event()
    turn = RunningTurn(service, TurnRequest(message="Hello"), guest("g"))
    received = []
    async for chunk in events(turn, await first_item(turn), lambda end: pytest.fail(str(end)), keep_alive_s=0.01):
        received.append(chunk)
        if chunk.startswith(b":"):
            break
    assert received[-1] == b": ping\n\n"
    await turn.cancel()


async def test_a_turn_that_is_cancelled_from_inside_still_ends_the_stream(http: httpx.AsyncClient, service) -> None:
    service.midway = asyncio.CancelledError()
    received = await stream(http, "Hello", {})
    assert received[-1][0] == "error"
    assert received[-1][1]["type"] == "/problems/unavailable"


async def test_an_application_without_its_service_says_so(settings) -> None:
    transport = httpx.ASGITransport(create_api(lambda: None, settings))
    async with httpx.AsyncClient(transport=transport, base_url="http://frontline") as client:
        response = await client.post("/v1/turns", json={"message": "Hello"})
        assert (response.status_code, response.json()["type"]) == (503, "/problems/unavailable")
        assert (await client.get("/v1/ready")).status_code == 503
        assert (await client.get("/v1/health")).json() == {"status": "ok"}
