"""Whatever is sent to ``POST /v1/turns``, a reply or a problem document comes back, and never a 500."""

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from configs.settings import Settings
from serve_app.api.app import create_api
from stores.sessions.sqlite_store import SqliteSessionStore
from tests.serve_app.api.conftest import EchoService, HandClock

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)
messages = st.text(max_size=60) | st.text(alphabet="\0\x07\u200b\ufeff\u202e \n<|im_end|>", max_size=20)
data = st.binary(min_size=1, max_size=5).map(lambda picture: base64.b64encode(picture).decode())
broken_image = st.fixed_dictionaries({"media_type": st.just("image/png"), "data": st.text(max_size=5)})
image = st.fixed_dictionaries({"media_type": st.just("image/png"), "data": data})
right = st.fixed_dictionaries(
    {"message": messages},
    optional={
        "locale": st.sampled_from(["en", "pt-BR"]),
        "explain": st.booleans(),
        "images": st.lists(image, max_size=2),
    },
)
nearly_right = st.fixed_dictionaries(
    {"message": messages | anything},
    optional={
        "session_id": st.text(max_size=70) | anything,
        "locale": st.text(max_size=6) | anything,
        "explain": anything,
        "images": st.lists(image | broken_image, max_size=6) | anything,
        "unknown": anything,
    },
)
bodies = st.one_of(
    right.map(lambda body: json.dumps(body).encode()),
    right.map(lambda body: json.dumps(body, ensure_ascii=False).encode("utf-16", "surrogatepass")),
    nearly_right.map(lambda body: json.dumps(body).encode()),
    st.binary(max_size=60),
)
latin = st.text(alphabet=st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=40)
right_headers = st.fixed_dictionaries(
    {"Content-Type": st.just("application/json")},
    optional={
        "Accept": st.sampled_from(["text/event-stream", "*/*"]),
        "Idempotency-Key": st.text(alphabet="abc", min_size=16, max_size=20),
        "X-Request-ID": latin,
    },
)
any_headers = st.fixed_dictionaries(
    {"Content-Type": st.just("application/json") | latin},
    optional={
        "Accept": latin,
        "Authorization": latin.map("Bearer {}".format) | latin,
        "Idempotency-Key": latin,
        "Content-Encoding": st.sampled_from(["gzip", "identity"]),
    },
)
headers = right_headers | any_headers


Send = Callable[[bytes, dict[str, str]], httpx.Response]


@pytest.fixture(scope="module")
def send() -> Iterator[Send]:
    """Sends one request to one application, which lives as long as all examples."""
    with TemporaryDirectory() as folder, asyncio.Runner() as runner:
        store = runner.run(SqliteSessionStore.open(Path(folder) / "sessions.sqlite"))
        service = EchoService(store, HandClock())
        transport = httpx.ASGITransport(create_api(lambda: service, Settings(home=Path(folder))))
        client = httpx.AsyncClient(transport=transport, base_url="http://frontline")

        def send_one(body: bytes, sent: dict[str, str]) -> httpx.Response:
            encoded = [(name, value.encode("latin-1")) for name, value in sent.items()]
            return runner.run(client.post("/v1/turns", content=body, headers=encoded))

        yield send_one
        runner.run(client.aclose())
        runner.run(store.close())


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=bodies, sent=headers)
def test_anything_sent_is_answered_by_a_reply_or_a_problem(send: Send, body: bytes, sent: dict[str, str]) -> None:
    response = send(body, sent)
    event(str(response.status_code))
    if response.status_code != 200:
        assert 400 <= response.status_code < 500, response.text
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["status"] == response.status_code
    elif response.headers["content-type"].startswith("text/event-stream"):
        assert "event: reply" in response.text
    else:
        assert response.json()["reply"]["text"]
