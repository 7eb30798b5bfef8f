"""Replicas that die or hang: every turn ends, in time, in a reply or a problem."""

import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from loadtest.questions import QuestionMix, complaints
from loadtest.shop_data import load_shop
from tests.cluster.conftest import Service

DATA = Path(__file__).parents[2] / "domains" / "shop" / "data"
#: A turn's budget, and what the way there and back may take on a busy machine.
TURN_S = 20 + 2


def test_a_turn_whose_ingress_was_killed_is_answered_once_when_it_is_repeated(service: Service) -> None:
    (summarizer,) = service.replicas("summarizer")
    summarizer.suspend()  # The turn gets as far as its tasks' results, and waits there.
    key = {"Idempotency-Key": "killed-in-mid-turn"}
    with ThreadPoolExecutor(1) as pool:
        interrupted = pool.submit(_ask_or_lose, service, key)
        time.sleep(1.5)
        for replica in service.replicas("ingress"):
            replica.kill()
        assert interrupted.result(timeout=TURN_S) is None, "the turn should have been interrupted"
    summarizer.resume()
    service.wait_until_ready()

    answers = [service.ask("where is order 11568", "C0001", **key) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert "has been shipped" in answers[0].json()["reply"]["text"]
    assert answers[0].json() == answers[1].json()
    session = httpx.get(
        f"{service.url}/v1/sessions/{answers[0].json()['session_id']}", headers=service.headers("C0001"), timeout=10
    ).json()
    assert [turn["status"] for turn in session["turns"]] == ["answered"]


@pytest.mark.parametrize("deployment", ["embedder", "router", "planner", "cypher", "search", "summarizer"])
def test_killing_a_replica_under_load_ends_every_turn_in_a_reply_or_a_problem(
    service: Service, deployment: str
) -> None:
    mix = QuestionMix(load_shop(DATA), seed=len(deployment))
    questions = [mix.draw() for _ in range(150)]

    with ThreadPoolExecutor(12) as pool:
        asked: list[Future[tuple[httpx.Response, float]]] = [
            pool.submit(_timed, service, question.message, question.customer_id) for question in questions
        ]
        time.sleep(1)
        for replica in service.replicas(deployment):
            replica.kill()
        ended = [future.result() for future in asked]

    assert max(seconds for _, seconds in ended) < TURN_S
    for response, _ in ended:
        assert response.status_code in (200, 503, 504), response.text
        if response.status_code != 200:
            assert response.headers["content-type"] == "application/problem+json", response.text
    service.wait_until_ready()
    for question in questions[:10]:
        reply = service.ask(question.message, question.customer_id).json()["reply"]["text"]
        assert complaints(question, reply) == []


def test_a_graph_that_hangs_is_told_of_honestly_and_in_time(service: Service) -> None:
    (executor,) = service.replicas("cypher")
    executor.suspend()
    try:
        response, seconds = _timed(
            service, "where is order 11568, and how long is the washing machine warranty?", "C0001"
        )
    finally:
        executor.resume()

    assert seconds < TURN_S
    text = response.json()["reply"]["text"]
    assert "where is order 11568" in text, "the question that could not be answered is named"
    assert "has been shipped" not in text
    assert "36 months" in text, "what did not need the graph is answered"


def test_more_requests_than_fit_are_turned_away_with_a_problem(service: Service) -> None:
    limits = httpx.Limits(max_connections=400)
    with httpx.Client(limits=limits, timeout=40) as client, ThreadPoolExecutor(400) as pool:
        responses = list(
            pool.map(lambda _: client.post(f"{service.url}/v1/turns", json={"message": "hello"}), range(400))
        )

    assert {response.status_code for response in responses} <= {200, 503, 504}
    assert all(
        response.headers["content-type"] == "application/problem+json"
        for response in responses
        if response.status_code != 200
    )


def _timed(service: Service, message: str, customer_id: str | None) -> tuple[httpx.Response, float]:
    started = time.monotonic()
    response = service.ask(message, customer_id)
    return response, time.monotonic() - started


def _ask_or_lose(service: Service, key: dict[str, str]) -> httpx.Response | None:
    """The answer, or ``None`` when the connection or the server behind it was lost."""
    try:
        response = service.ask("where is order 11568", "C0001", **key)
    except httpx.HTTPError:
        return None
    return response if response.status_code == 200 else None
