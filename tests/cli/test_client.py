"""The client: what it repeats, what it doesn't, and what it says."""

import json

import httpx
import pytest

from cli.client import REPEAT_AFTER_S, ClientError, FrontlineClient, ProblemError, ServiceUnreachableError

REPLY = {"turn_id": "t1", "session_id": "s1", "reply": {"text": "Hi.", "sentences": [{"text": "Hi."}]}}


def sse(*events: tuple[str, dict]) -> httpx.Response:
    text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
    return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, text=text)


def problem(status: int, *, repeatable: bool) -> httpx.Response:
    body = {"type": "/problems/x", "title": "T", "status": status, "detail": "D", "repeatable": repeatable}
    return httpx.Response(status, json=body, headers={"Content-Type": "application/problem+json"})


class Server:
    """Answers with each of its answers in turn, and keeps the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.waits_s: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, token: str | None = None) -> FrontlineClient:
        transport = httpx.MockTransport(self)
        return FrontlineClient("http://frontline", token, transport=transport, sleep=self.waits_s.append)


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("closed"),
        problem(503, repeatable=True),
        httpx.Response(503, text="<html>no server is available</html>"),
        sse(("sentence", {"text": "Hi."})),
        sse(("error", {"title": "T", "detail": "D", "repeatable": True})),
    ],
)
def test_what_may_be_repeated_is_repeated_under_the_same_key(failure: httpx.Response | Exception) -> None:
    server = Server(failure, sse(("reply", REPLY)))
    with server.client() as client:
        assert client.ask("Hello") == REPLY
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert len(keys) == 2
    assert keys[0] == keys[1]
    assert len(keys[0]) >= 16
    assert server.waits_s == [REPEAT_AFTER_S[0]]


@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (httpx.ConnectError("refused"), "Nothing answers"),
        (httpx.ReadTimeout("late"), "in time"),
        (problem(400, repeatable=False), "T: D"),
        (httpx.Response(404, text="<html>"), "HTTP 404"),
        (httpx.Response(200, text="hello"), "not Frontline"),
    ],
)
def test_what_would_not_get_better_is_said_at_once(failure: httpx.Response | Exception, says: str) -> None:
    server = Server(failure)
    with server.client() as client, pytest.raises((ServiceUnreachableError, ProblemError), match=says):
        client.ask("Hello")
    assert server.waits_s == []


def test_repeats_come_to_an_end() -> None:
    server = Server(*[problem(503, repeatable=True)] * 9)
    with server.client() as client, pytest.raises(ProblemError):
        client.ask("Hello")
    assert len(server.requests) == len(REPEAT_AFTER_S) + 1


def test_a_guest_goes_on_with_the_token_of_the_first_answer() -> None:
    server = Server(sse(("reply", REPLY | {"guest_token": "g1"})), sse(("reply", REPLY)), sse(("reply", REPLY)))
    with server.client() as client:
        assert client.ask("Hello") == REPLY
        client.ask("Go on", session_id="s1")
        client.ask("And on", session_id="s1")
    given = [request.headers.get("authorization") for request in server.requests]
    assert given == [None, "Bearer g1", "Bearer g1"]


def test_readiness_is_read_from_both_answers() -> None:
    parts = {"router": {"ready": False, "detail": "starting"}}
    server = Server(
        httpx.Response(200, json={"ready": True, "parts": {}}),
        httpx.Response(503, json={"title": "T", "ready": False, "parts": parts}),
        problem(503, repeatable=True),
        httpx.Response(503, text="<html>no server is available</html>"),
        httpx.Response(200, text="hello"),
        httpx.Response(200, json=["hello"]),
    )
    with server.client() as client:
        assert client.readiness()["ready"] is True
        assert client.readiness()["parts"] == parts
        for _ in range(2):
            with pytest.raises(ProblemError):
                client.readiness()
        for _ in range(2):
            with pytest.raises(ServiceUnreachableError, match="not Frontline"):
                client.readiness()


def test_a_message_that_is_not_text_is_not_sent() -> None:
    server = Server()
    with server.client() as client, pytest.raises(ClientError, match="UTF-8"):
        client.ask("Ol\udce1")
    assert server.requests == []
