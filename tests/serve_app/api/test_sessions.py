"""Conversations over HTTP."""

from collections.abc import Callable

import httpx

Bearer = Callable[[str], dict[str, str]]


async def test_a_new_conversation_can_be_read(http: httpx.AsyncClient, bearer: Bearer) -> None:
    created = await http.post("/v1/sessions", json={"locale": "pt"}, headers=bearer("C1"))
    assert created.status_code == 201
    session = created.json()
    assert session["locale"] == "pt"
    assert session["guest_token"] is None
    read = await http.get(created.headers["location"], headers=bearer("C1"))
    assert read.json() == {"session": session, "turns": []}


async def test_a_conversation_needs_no_body(http: httpx.AsyncClient, bearer: Bearer) -> None:
    assert (await http.post("/v1/sessions", headers=bearer("C1"))).status_code == 201


async def test_a_guest_gets_a_token_with_a_conversation(http: httpx.AsyncClient) -> None:
    session = (await http.post("/v1/sessions")).json()
    guest = {"Authorization": f"Bearer {session['guest_token']}"}
    answer = await http.post("/v1/turns", json={"message": "Hello", "session_id": session["session_id"]}, headers=guest)
    assert answer.json()["session_id"] == session["session_id"]


async def test_turns_of_a_conversation_are_listed_oldest_first(http: httpx.AsyncClient, bearer: Bearer, clock) -> None:
    session_id = (await http.post("/v1/sessions", headers=bearer("C1"))).json()["session_id"]
    for message in ("One", "Two", "Three"):
        clock.advance(1)
        await http.post("/v1/turns", json={"message": message, "session_id": session_id}, headers=bearer("C1"))
    turns = (await http.get(f"/v1/sessions/{session_id}", headers=bearer("C1"))).json()["turns"]
    assert [turn["message"] for turn in turns] == ["One", "Two", "Three"]
    assert [turn["result"]["reply"]["text"] for turn in turns] == ["One", "Two", "Three"]


async def test_conversations_come_in_pages_latest_first(http: httpx.AsyncClient, bearer: Bearer, clock) -> None:
    made = []
    for _ in range(5):
        clock.advance(60)
        made.append((await http.post("/v1/sessions", headers=bearer("C1"))).json()["session_id"])
    await http.post("/v1/sessions", headers=bearer("C2"))
    found, sizes, before = [], [], None
    while True:
        parameters = {"limit": 2} | ({"before": before} if before else {})
        page = (await http.get("/v1/sessions", params=parameters, headers=bearer("C1"))).json()
        found += [session["session_id"] for session in page["sessions"]]
        sizes.append(len(page["sessions"]))
        before = page["next_before"]
        if before is None:
            break
    assert found == made[::-1]
    assert sizes == [2, 2, 1]


async def test_wrong_paging_is_refused_by_name(http: httpx.AsyncClient, bearer: Bearer) -> None:
    for parameters, name in (({"limit": 0}, "limit"), ({"limit": 101}, "limit"), ({"before": "noon"}, "before")):
        response = await http.get("/v1/sessions", params=parameters, headers=bearer("C1"))
        assert response.status_code == 400
        assert response.json()["errors"][0]["where"] == f"query.{name}"


async def test_ending_a_conversation_twice_changes_nothing(http: httpx.AsyncClient, bearer: Bearer, clock) -> None:
    session_id = (await http.post("/v1/sessions", headers=bearer("C1"))).json()["session_id"]
    clock.advance(60)
    first = await http.delete(f"/v1/sessions/{session_id}", headers=bearer("C1"))
    clock.advance(60)
    second = await http.delete(f"/v1/sessions/{session_id}", headers=bearer("C1"))
    assert first.json()["ended_at"] == "2030-05-17T12:01:00Z"
    assert second.json() == first.json()


async def test_anothers_conversation_looks_like_none(http: httpx.AsyncClient, bearer: Bearer) -> None:
    session_id = (await http.post("/v1/sessions", headers=bearer("C1"))).json()["session_id"]
    for method in ("GET", "DELETE"):
        foreign = await http.request(method, f"/v1/sessions/{session_id}", headers=bearer("C2"))
        absent = await http.request(method, "/v1/sessions/0000", headers=bearer("C2"))
        assert foreign.status_code == absent.status_code == 404
        assert foreign.json()["detail"] == absent.json()["detail"]
    assert (await http.get("/v1/sessions", headers=bearer("C2"))).json()["sessions"] == []
    assert (await http.get(f"/v1/sessions/{session_id}", headers=bearer("C1"))).json()["session"]["ended_at"] is None
