"""The service on a graph server: set by the environment alone, and honest while the server is gone."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from loadtest.questions import Question, QuestionMix, complaints
from loadtest.shop_data import load_shop
from tests.cluster.conftest import Service, running_service
from tests.neo4j_server import Neo4jServer, neo4j_server

__all__ = ["neo4j_server"]

DATA = Path(__file__).parents[2] / "domains" / "shop" / "data"
#: A turn's budget, and what the way there and back may take on a busy machine.
TURN_S = 20 + 2
USERS = 8
#: How long the server stays away; how long we wait for its return to show, on however busy a machine; and how many
#: turns in a row must be answered rightly to say that it has.
GONE_S = 12
PATIENCE_S = 120
RECOVERED_TURNS = 60
#: How a reply names what it could not look up.
HONEST = ("could not look up", "took too long", "could not look further")


@dataclass(frozen=True)
class Turn:
    """One turn of the load, with the moments on the monotonic clock at which it was sent and ended."""

    question: Question
    sent: float
    ended: float
    response: httpx.Response


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, packs: Path, neo4j_server: Neo4jServer) -> Iterator[Service]:
    neo4j_server.empty()
    variables = {
        "FRONTLINE_NEO4J_URI": neo4j_server.uri,
        "FRONTLINE_NEO4J_USER": neo4j_server.user,
        "FRONTLINE_NEO4J_PASSWORD": neo4j_server.password,
    }
    with running_service(tmp_path_factory.mktemp("home"), packs, **variables) as running:
        yield running
    neo4j_server.empty()


def test_turns_are_answered_from_the_server(service: Service, neo4j_server: Neo4jServer) -> None:
    mix = QuestionMix(load_shop(DATA), seed=11)
    questions = [mix.draw() for _ in range(60)]
    with ThreadPoolExecutor(USERS) as pool:
        replies = list(pool.map(lambda question: service.ask(question.message, question.customer_id), questions))
    assert [response.status_code for response in replies] == [200] * len(questions)
    faults = [complaints(q, r.json()["reply"]["text"]) for q, r in zip(questions, replies, strict=True)]
    assert [fault for fault in faults if fault] == []
    assert not list((service.home / "state").glob("graph/*")), "the embedded graph is not used"
    assert neo4j_server.password not in "".join(log.read_text() for log in (service.home / "logs").glob("*.log"))


def test_readiness_tells_of_the_server(service: Service) -> None:
    parts = httpx.get(f"{service.url}/v1/ready", timeout=10).json()["parts"]
    assert parts["graph"]["ready"]


def test_a_server_that_stops_under_load_is_told_of_and_found_again(service: Service, neo4j_server: Neo4jServer) -> None:
    if not neo4j_server.is_ours:
        pytest.skip("the server is not ours to stop")
    executors = {replica.pid for replica in service.replicas("cypher")}
    turns: list[Turn] = []
    stopping = threading.Event()

    def ask_until_told(seed: int) -> None:
        mix = QuestionMix(load_shop(DATA), seed=seed)
        while not stopping.is_set():
            question = mix.draw()
            sent = time.monotonic()
            response = service.ask(question.message, question.customer_id)
            turns.append(Turn(question, sent, time.monotonic(), response))

    with ThreadPoolExecutor(USERS) as pool:
        users = [pool.submit(ask_until_told, seed) for seed in range(USERS)]
        try:
            time.sleep(4)
            stops_at = time.monotonic()
            neo4j_server.stop()
            try:
                gone_at = time.monotonic()
                ready = httpx.get(f"{service.url}/v1/ready", timeout=10)
                time.sleep(GONE_S)
                starts_at = time.monotonic()
            finally:
                neo4j_server.start()
            back_at = time.monotonic()
            recovered = False
            while not recovered and time.monotonic() < back_at + PATIENCE_S:
                time.sleep(0.5)
                latest = [turn for turn in list(turns) if turn.sent > back_at][-RECOVERED_TURNS:]
                recovered = len(latest) == RECOVERED_TURNS and not any(_faults(turn) for turn in latest)
        finally:
            stopping.set()
        for user in users:
            user.result()

    assert max(turn.ended - turn.sent for turn in turns) < TURN_S, "every turn ends in time"
    for turn in turns:
        assert turn.response.status_code in (200, 503, 504), turn.response.text
        if turn.response.status_code != 200:
            assert turn.response.headers["content-type"] == "application/problem+json", turn.response.text
    wrong = [turn for turn in turns if _faults(turn)]
    untold = [(turn.question.message, _text(turn)) for turn in wrong if not _is_honest(turn)]
    assert untold == [], "what is not answered rightly is named as not looked up"
    early = [(turn.question.message, _text(turn)) for turn in wrong if turn.ended < stops_at]
    assert early == [], "nothing is amiss before the server stops"
    gone = [turn for turn in turns if gone_at < turn.sent and turn.ended < starts_at]
    assert any(turn in wrong for turn in gone), "the server was missed"
    assert any(turn not in wrong for turn in gone), "what needs no graph is answered"
    assert recovered, "all is answered from the graph again after its return, by itself"

    assert ready.status_code == 503
    assert not ready.json()["parts"]["graph"]["ready"]
    assert ready.json()["parts"]["cypher"]["ready"], "the executor itself is well"
    assert executors <= {replica.pid for replica in service.replicas("cypher")}, "and was not restarted"
    assert httpx.get(f"{service.url}/v1/ready", timeout=10).status_code == 200


def _text(turn: Turn) -> str:
    return str(turn.response.json()["reply"]["text"]) if turn.response.status_code == 200 else turn.response.text


def _faults(turn: Turn) -> list[str]:
    return complaints(turn.question, _text(turn)) if turn.response.status_code == 200 else ["a problem"]


def _is_honest(turn: Turn) -> bool:
    """A problem, or a reply that names what it could not look up and no order of anybody else's."""
    if turn.response.status_code != 200:
        return True
    strange = [fault for fault in _faults(turn) if fault.startswith("names order")]
    return not strange and any(phrase in _text(turn) for phrase in HONEST)
