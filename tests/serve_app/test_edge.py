"""The envelope around Serve's own request handling, with Serve's middleware and no cluster."""

import re

import httpx
import pytest
from ray.serve._private import http_util
from ray.serve.config import HTTPOptions
from starlette.types import ASGIApp, Receive, Scope, Send

from configs.settings import Settings
from serve_app.api.app import create_api
from serve_app.cluster import RAY_ENVIRONMENT


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path) -> ASGIApp:
    """The application as Serve wraps it in the environment that we give it."""
    name = "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"
    monkeypatch.setattr(http_util, name, RAY_ENVIRONMENT[name])
    options = http_util.configure_http_middlewares(HTTPOptions())
    return http_util._apply_middlewares(create_api(lambda: None, Settings(home=tmp_path)), options.middlewares)


@pytest.mark.parametrize("sent", [[], [b"web-7"], [b"not plain"], [b"\xff\xfe"], [b"one", b"two"]])
async def test_every_answer_has_exactly_one_request_id(served: ASGIApp, sent: list[bytes]) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://frontline") as client:
        response = await client.get("/nowhere", headers=[(b"X-Request-ID", value) for value in sent])
    (given,) = response.headers.get_list("x-request-id")
    assert given == response.json()["instance"]
    if sent in ([b"web-7"], [b"one", b"two"]):
        assert given == sent[0].decode()
    else:
        assert re.fullmatch(r"[0-9a-f]{32}", given)


async def test_serve_is_not_asked_before_the_whole_body_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(await receive())

    name = "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"
    monkeypatch.setattr(http_util, name, RAY_ENVIRONMENT[name])
    options = http_util.configure_http_middlewares(HTTPOptions())
    app = http_util._apply_middlewares(serve, options.middlewares)
    parts = [
        {"type": "http.request", "body": b"one", "more_body": True},
        {"type": "http.request", "body": b"two", "more_body": False},
    ]

    async def receive() -> dict:
        assert asked == []
        return parts.pop(0)

    async def send(message: dict) -> None:
        pytest.fail(f"nothing was to be sent, but {message}")

    await app({"type": "http", "method": "POST", "path": "/", "headers": []}, receive, send)
    assert asked == [{"type": "http.request", "body": b"onetwo", "more_body": False}]
