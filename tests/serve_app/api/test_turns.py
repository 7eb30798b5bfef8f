"""Messages over HTTP: answered once, to their caller alone."""

from collections.abc import Callable

import httpx

from serve_app.api.tokens import guest_subject

Bearer = Callable[[str], dict[str, str]]


async def ask(http: httpx.AsyncClient, message: object, headers: dict[str, str], **fields: object) -> httpx.Response:
    return await http.post("/v1/turns", json={"message": message, **fields}, headers=headers)


async def test_a_message_gets_one_finished_reply(http: httpx.AsyncClient, bearer: Bearer) -> None:
    response = await ask(http, "Hello\nthere", bearer("C1"))
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert body["reply"]["text"] == "Hello\nthere"
    assert [sentence["text"] for sentence in body["reply"]["sentences"]] == ["Hello", "there"]
    assert body.keys() == {"turn_id", "session_id", "reply"}


async def test_an_explanation_comes_only_when_asked_for(http: httpx.AsyncClient, bearer: Bearer) -> None:
    explained = (await ask(http, "Hello", bearer("C1"), explain=True)).json()
    assert explained["explanation"]["route"] == "general"


async def test_the_service_is_told_who_asks_what(http: httpx.AsyncClient, bearer: Bearer, service) -> None:
    picture = {"media_type": "image/png", "data": "iVBORw0KGgo="}
    headers = bearer("C1") | {"Idempotency-Key": "k-1", "X-Request-ID": "r-1"}
    response = await ask(http, "  Hello\x07\r\nthere ", headers, locale="pt-BR", images=[picture, picture])
    assert response.status_code == 200
    request, principal = service.requests[0]
    assert request.message == "Hello\nthere"
    assert (request.idempotency_key, request.request_id) == ("k-1", "r-1")
    assert (request.locale, request.images, request.explain) == ("pt-BR", 2, False)
    assert (principal.owner, principal.customer_id) == ("customer:C1", "C1")


async def test_a_repeat_under_the_same_key_gets_the_same_turn(http: httpx.AsyncClient, bearer: Bearer) -> None:
    headers = bearer("C1") | {"Idempotency-Key": "k-1"}
    first = await ask(http, "Hello", headers)
    again = await ask(http, "Hello", headers)
    assert again.json() == first.json()


async def test_a_key_used_for_another_message_is_a_conflict(http: httpx.AsyncClient, bearer: Bearer) -> None:
    headers = bearer("C1") | {"Idempotency-Key": "k-1"}
    await ask(http, "Hello", headers)
    for other in ({"message": "Goodbye"}, {"message": "Hello", "explain": True}):
        response = await http.post("/v1/turns", json=other, headers=headers)
        assert response.status_code == 409
        assert response.json()["type"] == "/problems/conflict"


async def test_two_customers_may_use_the_same_key(http: httpx.AsyncClient, bearer: Bearer) -> None:
    first = await ask(http, "Hello", bearer("C1") | {"Idempotency-Key": "k-1"})
    second = await ask(http, "Hello", bearer("C2") | {"Idempotency-Key": "k-1"})
    assert first.json()["turn_id"] != second.json()["turn_id"]


async def test_a_turn_can_be_read_by_its_caller(http: httpx.AsyncClient, bearer: Bearer) -> None:
    answer = (await ask(http, "Hello", bearer("C1"))).json()
    turn = (await http.get(f"/v1/turns/{answer['turn_id']}", headers=bearer("C1"))).json()
    assert turn["status"] == "answered"
    assert turn["message"] == "Hello"
    assert turn["http_status"] == 200
    assert turn["result"] == answer
    assert turn["received_at"] == turn["answered_at"] == "2030-05-17T12:00:00Z"


async def test_a_turn_is_not_there_for_anyone_else(http: httpx.AsyncClient, bearer: Bearer) -> None:
    answer = (await ask(http, "Hello", bearer("C1"))).json()
    foreign = await http.get(f"/v1/turns/{answer['turn_id']}", headers=bearer("C2"))
    absent = await http.get("/v1/turns/0000", headers=bearer("C2"))
    assert foreign.status_code == absent.status_code == 404
    assert foreign.json()["detail"] == absent.json()["detail"]


async def test_nobody_goes_on_with_anothers_conversation(http: httpx.AsyncClient, bearer: Bearer) -> None:
    answer = (await ask(http, "Hello", bearer("C1"))).json()
    for headers in (bearer("C2"), {}):
        response = await ask(http, "Go on", headers, session_id=answer["session_id"])
        assert response.status_code == 404


async def test_a_session_id_that_cannot_exist_is_not_found(http: httpx.AsyncClient, bearer: Bearer, service) -> None:
    for session_id in ("", "../x", "a b", "x" * 65, "a\0b", "é"):
        response = await ask(http, "Hello", bearer("C1"), session_id=session_id)
        assert response.status_code == 404, session_id
    assert service.requests == []


async def test_an_ended_conversation_takes_no_message(http: httpx.AsyncClient, bearer: Bearer) -> None:
    answer = (await ask(http, "Hello", bearer("C1"))).json()
    await http.delete(f"/v1/sessions/{answer['session_id']}", headers=bearer("C1"))
    response = await ask(http, "Go on", bearer("C1"), session_id=answer["session_id"])
    assert response.status_code == 409


async def test_a_guest_goes_on_with_the_token_of_the_first_answer(http: httpx.AsyncClient) -> None:
    first = (await ask(http, "Hello", {})).json()
    guest = {"Authorization": f"Bearer {first['guest_token']}"}
    second = await ask(http, "Go on", guest, session_id=first["session_id"])
    assert second.status_code == 200
    assert "guest_token" not in second.json()
    session = (await http.get(f"/v1/sessions/{first['session_id']}", headers=guest)).json()
    assert [turn["message"] for turn in session["turns"]] == ["Hello", "Go on"]


async def test_two_guests_share_nothing(http: httpx.AsyncClient, service) -> None:
    first = (await ask(http, "Hello", {})).json()
    second = (await ask(http, "Hello", {})).json()
    other = {"Authorization": f"Bearer {second['guest_token']}"}
    assert (await http.get(f"/v1/turns/{first['turn_id']}", headers=other)).status_code == 404
    assert service.requests[0][1].subject != service.requests[1][1].subject


async def test_a_guest_who_lost_the_connection_repeats_under_the_key(http: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "9f1d7a3c5b2e4f60"}
    first = (await ask(http, "Hello", headers)).json()
    again = (await ask(http, "Hello", headers)).json()
    assert again["turn_id"] == first["turn_id"]
    guest = {"Authorization": f"Bearer {again['guest_token']}"}
    assert (await http.get(f"/v1/turns/{first['turn_id']}", headers=guest)).status_code == 200


async def test_a_guests_key_must_be_hard_to_guess(http: httpx.AsyncClient, bearer: Bearer) -> None:
    short = {"Idempotency-Key": "x" * 15}
    response = await ask(http, "Hello", short)
    assert response.status_code == 400
    assert "16" in response.json()["detail"]
    assert (await ask(http, "Hello", bearer("C1") | short)).status_code == 200
    assert (await ask(http, "Hello", {"Idempotency-Key": "x" * 16})).status_code == 200


def test_a_guests_subject_depends_on_the_key_and_on_the_secret() -> None:
    subject = guest_subject("9f1d7a3c5b2e4f60", b"1" * 32)
    assert subject == guest_subject("9f1d7a3c5b2e4f60", b"1" * 32)
    assert subject != guest_subject("9f1d7a3c5b2e4f61", b"1" * 32)
    assert subject != guest_subject("9f1d7a3c5b2e4f60", b"2" * 32)


async def test_an_idempotency_key_is_plain_text_of_bounded_length(http: httpx.AsyncClient, bearer: Bearer) -> None:
    for key in ("", "a b", "x" * 201, "\u00e9"):
        headers = [*bearer("C1").items(), ("Idempotency-Key", key.encode("latin-1"))]
        response = await http.post("/v1/turns", json={"message": "Hello"}, headers=headers)
        assert response.status_code == 400, key


async def test_two_idempotency_keys_are_refused(http: httpx.AsyncClient, bearer: Bearer, service) -> None:
    for keys in (("k-1", "k-2"), ("k-1", "k-1")):
        headers = [*bearer("C1").items(), *(("Idempotency-Key", key) for key in keys)]
        response = await http.post("/v1/turns", json={"message": "Hello"}, headers=headers)
        assert response.status_code == 400
    assert service.requests == []


async def test_a_turn_that_ended_in_a_problem_answers_with_it(http: httpx.AsyncClient, bearer: Bearer, service) -> None:
    from serve_app.api.service import TurnOutcome

    async def timed_out(*_: object) -> TurnOutcome:
        problem = {"type": "/problems/out-of-time", "title": "T", "detail": "D", "instance": "the-first-request"}
        return TurnOutcome(turn_id="t1", session_id="s1", http_status=504, body=problem)

    service.take_turn = timed_out
    for accept in ("application/json", "text/event-stream"):
        response = await ask(http, "Hello", {"X-Request-ID": "r-2", "Accept": accept})
        assert response.status_code == 504
        assert response.headers["content-type"] == "application/problem+json"
        body = response.json()
        assert body["status"] == 504
        assert body["instance"] == "r-2"
        assert (body["turn_id"], body["session_id"]) == ("t1", "s1")
        assert body["guest_token"]
