"""The public interface of the running service."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from loadtest.questions import Question, QuestionMix, complaints
from loadtest.shop_data import load_shop
from tests.cluster.conftest import Service

DATA = Path(__file__).parents[2] / "domains" / "shop" / "data"
THREE_PARTS = "where is order 11568, what does its warranty cover, and send it to my new address"


def test_three_questions_in_one_message_get_one_reply_with_sources(service: Service) -> None:
    answer = service.ask(THREE_PARTS, "C0001").json()

    text = answer["reply"]["text"]
    # orders.csv and shipments.csv: 11568 is shipped, expected on 2026-06-16, in transit.
    assert "has been shipped" in text
    assert "16 June 2026" in text
    # warranty-washing-machines.md, What is covered.
    assert "drain pump" in text
    assert "Warranty terms for washing machines" in [source["title"] for source in answer["reply"]["sources"]]
    # No action can be carried out yet, and the reply says so.
    assert "nothing has been changed" in text
    assert [part["clause_id"] for part in answer["reply"]["parts"]][-1] == "c3"


def test_server_sent_events_come_in_the_turns_order_and_end_with_the_reply(service: Service) -> None:
    events: list[tuple[str, dict[str, object]]] = []
    with httpx.stream(
        "POST",
        f"{service.url}/v1/turns",
        json={"message": THREE_PARTS},
        headers={**service.headers("C0001"), "Accept": "text/event-stream"},
        timeout=30,
    ) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in response.iter_lines():
            if line.startswith("event:"):
                name = line.removeprefix("event:").strip()
            elif line.startswith("data:"):
                events.append((name, json.loads(line.removeprefix("data:"))))

    names = [name for name, _ in events]
    assert names[:2] == ["route", "plan"]
    assert names[-1] == "reply"
    assert names.index("task") < names.index("sentence")
    said = [data["text"] for name, data in events if name == "sentence"]
    assert said == [sentence["text"] for sentence in events[-1][1]["reply"]["sentences"]]  # type: ignore[index]


def test_the_service_says_that_each_deployment_is_ready(service: Service) -> None:
    parts = httpx.get(f"{service.url}/v1/ready", timeout=10).json()["parts"]

    assert set(parts) == {"embedder", "router", "planner", "cypher", "search", "summarizer", "ingress"}
    assert all(part["ready"] for part in parts.values())


def test_the_interface_describes_itself(service: Service) -> None:
    paths = httpx.get(f"{service.url}/openapi.json", timeout=10).json()["paths"]

    assert {"/v1/turns", "/v1/sessions", "/v1/health", "/v1/ready"} <= set(paths)
    assert httpx.get(f"{service.url}/docs", timeout=10).status_code == 200


def test_a_repeated_request_gets_the_one_answer_of_its_turn(service: Service) -> None:
    first, again = (service.ask("where is order 11568", "C0001", **{"Idempotency-Key": "once"}) for _ in range(2))

    assert again.json() == first.json()
    assert service.ask("hello", "C0001", **{"Idempotency-Key": "once"}).status_code == 409


def test_a_session_understands_what_was_spoken_of_before(service: Service) -> None:
    headers = service.headers("C0001")
    first = service.ask("where is order 11568", "C0001").json()
    body = {"message": "and what did it cost in total?", "session_id": first["session_id"]}
    second = httpx.post(f"{service.url}/v1/turns", json=body, headers=headers, timeout=30).json()

    order = next(row for row in load_shop(DATA).accounts["C0001"].orders if row["order_number"] == "11568")
    assert f"€{float(order['total_eur']):,.2f}" in second["reply"]["text"]


def test_sessions_and_turns_of_others_do_not_exist(service: Service) -> None:
    answer = service.ask("where is order 11568", "C0001").json()
    others = service.headers("C0002")

    for path in (f"/v1/turns/{answer['turn_id']}", f"/v1/sessions/{answer['session_id']}"):
        assert httpx.get(service.url + path, headers=others, timeout=10).status_code == 404
        assert httpx.get(service.url + path, headers=service.headers("C0001"), timeout=10).status_code == 200
    body = {"message": "hello", "session_id": answer["session_id"]}
    assert httpx.post(f"{service.url}/v1/turns", json=body, headers=others, timeout=10).status_code == 404


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 400),
        (b"\x00\xff\xfe\x80", 400),
        (b'{"message": "   "}', 400),
        (json.dumps({"message": "a" * 100_000}).encode(), 413),
        (b'{"message": "' + b"a" * 2_000_000 + b'"}', 413),
    ],
)
def test_bad_input_gets_a_problem_that_says_what_to_do(service: Service, content: bytes, status: int) -> None:
    response = httpx.post(
        f"{service.url}/v1/turns", content=content, headers={"Content-Type": "application/json"}, timeout=30
    )

    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["detail"]


@pytest.mark.parametrize(
    "message", ["¿Dónde está mi pedido 11568?", "我的订单在哪里", "أين طلبي", "🙂🙂🙂", "a " * 1_999]
)
def test_any_text_ends_in_a_reply(service: Service, message: str) -> None:
    response = service.ask(message, "C0001")

    assert response.status_code == 200, response.text
    assert response.json()["reply"]["text"]


def test_fifty_customers_with_two_thousand_questions_see_nothing_but_their_own(service: Service) -> None:
    mix = QuestionMix(load_shop(DATA), seed=20_260_615)
    customers: set[str] = set()
    questions: list[Question] = []
    while len(questions) < 2_000:
        question = mix.draw()
        if question.customer_id is not None:
            if len(customers) == 50 and question.customer_id not in customers:
                continue
            customers.add(question.customer_id)
        questions.append(question)
    assert len(customers) == 50

    def wrong(question: Question) -> list[str]:
        response = service.ask(question.message, question.customer_id)
        if response.status_code != 200:
            return [f"{question.message}: HTTP {response.status_code}"]
        text = response.json()["reply"]["text"]
        return [f"{question.message} -> {text}: {fault}" for fault in complaints(question, text)]

    with ThreadPoolExecutor(16) as pool:
        faults = [fault for found in pool.map(wrong, questions) for fault in found]
    assert faults == []
