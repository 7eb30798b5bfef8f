"""Whatever goes wrong leaves as a problem document, and the catalogue knows it."""

import json
import re
from pathlib import Path

import httpx
import pytest

from contracts import errors
from contracts.errors import FrontlineError, PackError, StoreError
from serve_app.api.catalogue import CATALOGUE

MEMBERS = {"type", "title", "status", "detail", "instance", "repeatable"}
DOCUMENT = Path(__file__).parents[3] / "docs" / "problems.md"


def assert_problem(response: httpx.Response, status: int, code: str) -> dict:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body.keys() >= MEMBERS
    assert body["status"] == status
    assert body["type"] == f"/problems/{code}"
    assert body["instance"] == response.headers["x-request-id"]
    return body


async def post(http: httpx.AsyncClient, body: bytes, content_type: str = "application/json") -> httpx.Response:
    return await http.post("/v1/turns", content=body, headers={"Content-Type": content_type})


async def test_unknown_addresses_and_methods_are_problems(http: httpx.AsyncClient) -> None:
    assert_problem(await http.get("/v2/turns"), 404, "not-found")
    assert_problem(await http.get("/"), 404, "not-found")
    response = await http.put("/v1/turns")
    assert_problem(response, 405, "method-not-allowed")
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/sessions", "GET, HEAD, POST"),
        ("/v1/sessions/s1", "DELETE, GET, HEAD"),
        ("/v1/turns/t1", "GET, HEAD"),
        ("/v1/health", "GET, HEAD"),
        ("/problems/busy", "GET, HEAD"),
        ("/docs", "GET, HEAD"),
        ("/docs/files/swagger-ui.css", "GET, HEAD"),
        ("/openapi.json", "GET, HEAD"),
    ],
)
async def test_a_refused_method_names_all_that_the_address_takes(
    http: httpx.AsyncClient, path: str, allowed: str
) -> None:
    for method in ("PATCH", "OPTIONS"):
        response = await http.request(method, path)
        assert_problem(response, 405, "method-not-allowed")
        assert response.headers["allow"] == allowed
    assert (await http.head("/v1/turns")).headers["allow"] == "POST"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe\xfd",
        b'{"message": "\xff"}',
        b"null",
        b"[]",
        b'"Hello"',
        b"[" * 100_000,
        b'{"message":' * 50_000,
        b'{"message": ' + b"9" * 5_000 + b"}",
        b"{}",
        b'{"message": null}',
        b'{"message": 7}',
        b'{"message": ["Hello"]}',
        b'{"message": "\\ud800"}',
        b'{"message": "hi \\ud800 there"}',
        b'{"message": "hi \\uDFFF\\uD83D there"}',
        b'{"message": "Hello", "session_id": "\\ud800"}',
        b'{"message": "Hello", "images": [{"media_type": "image/png", "data": "\\ud800"}]}',
        b'{"message": "Hello", "\\ud800": 1}',
        b'{"message": "Hello", "message": "Goodbye"}',
        b'{"message": "Hello", "images": [{"media_type": "image/png", "data": "AA==", "data": "AA=="}]}',
        b'{"message": "Hello", "explain": NaN}',
        b'{"message": "Hello", "explain": "true"}',
        b'{"message": "Hello", "explain": 1}',
        b'{"message": "Hello", "images": [{"media_type": "image/png", "data": ""}]}',
        b'{"message": "Hello", "images": [{"media_type": "image/png", "data": "no picture"}]}',
        b'{"message": "Hello", "images": [{"media_type": "image/png", "data": "AAA"}]}',
        '{"message": "Hello"}'.encode("utf-16"),
        '{"message": "Hello"}'.encode("utf-32-le"),
        b'{"message": "Hello", "customer_id": "C2"}',
        b'{"message": "Hello", "explain": "perhaps"}',
        b'{"message": "Hello", "locale": "../en"}',
        b'{"message": "Hello", "session_id": 7}',
        b'{"message": "Hello", "images": [{"media_type": "text/html", "data": ""}]}',
        b'{"message": "Hello", "images": "x"}',
        b'{"message": ""}',
        b'{"message": " \\n\\t "}',
        b'{"message": "\\u200b\\u2060"}',
        b'{"message": "a\\u0000b"}',
    ],
)
async def test_a_body_that_is_no_message_is_a_bad_request(http: httpx.AsyncClient, service, body: bytes) -> None:
    assert_problem(await post(http, body), 400, "bad-request")
    assert service.requests == []


async def test_a_bad_request_names_the_part_and_echoes_no_value(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/turns", json={"message": "Hello", "explain": "hunter2", "extra": 1})
    body = assert_problem(response, 400, "bad-request")
    assert {part["where"] for part in body["errors"]} == {"body.explain", "body.extra"}
    assert "hunter2" not in response.text


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/xml; a"])
async def test_other_media_types_are_refused(http: httpx.AsyncClient, content_type: str) -> None:
    assert_problem(await post(http, b'{"message": "Hello"}', content_type), 415, "unsupported-media-type")


async def test_a_compressed_body_is_refused(http: httpx.AsyncClient) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    response = await http.post("/v1/turns", content=b'{"message": "Hello"}', headers=headers)
    assert_problem(response, 415, "unsupported-media-type")


async def test_json_with_a_charset_is_taken(http: httpx.AsyncClient) -> None:
    response = await post(http, '{"message": "Olá"}'.encode(), "Application/JSON; charset=utf-8")
    assert response.json()["reply"]["text"] == "Olá"


async def test_whole_surrogate_pairs_are_ordinary_characters(http: httpx.AsyncClient) -> None:
    response = await post(http, b'{"message": "hi \\ud83d\\ude00"}')
    assert response.json()["reply"]["text"] == "hi \U0001f600"


@pytest.mark.parametrize("charset", ["latin-1", "utf-16", "UTF-8-SIG", "us-ascii", "", "*"])
async def test_other_charsets_are_refused_whatever_the_bytes(http: httpx.AsyncClient, charset: str) -> None:
    for body in (b'{"message": "Hello"}', b'{"message": "Ol\xe1"}', '{"message": "Hello"}'.encode("utf-16")):
        response = await post(http, body, f'application/json; charset="{charset}"')
        assert_problem(response, 415, "unsupported-media-type")


async def test_a_long_message_is_too_large_and_the_longest_is_not(http: httpx.AsyncClient) -> None:
    assert (await http.post("/v1/turns", json={"message": "é" * 4_000})).status_code == 200
    body = assert_problem(await http.post("/v1/turns", json={"message": "é" * 4_001}), 413, "too-large")
    assert "4,000" in body["detail"]


async def test_too_many_pictures_are_too_large(http: httpx.AsyncClient) -> None:
    pictures = [{"media_type": "image/png", "data": "AA=="}] * 5
    assert_problem(await http.post("/v1/turns", json={"message": "Hello", "images": pictures}), 413, "too-large")


async def test_a_large_body_is_refused_by_its_declared_length(http: httpx.AsyncClient) -> None:
    for length in ("1000001", "9" * 5_000):
        response = await http.post("/v1/turns", content=b"{}", headers={"Content-Length": length})
        assert_problem(response, 413, "too-large")


async def test_a_large_body_without_a_length_is_stopped_while_it_arrives(http: httpx.AsyncClient) -> None:
    sent = 0

    async def chunks():
        nonlocal sent
        yield b'{"message": "'
        for _ in range(1_000):
            sent += 10_000
            yield b"a" * 10_000

    response = await http.post("/v1/turns", content=chunks(), headers={"Content-Type": "application/json"})
    assert_problem(response, 413, "too-large")
    assert sent <= 1_010_000


async def test_a_plain_request_id_comes_back_and_any_other_is_replaced(http: httpx.AsyncClient) -> None:
    assert (await http.get("/v1/health", headers={"X-Request-ID": "web-7.a_b"})).headers["x-request-id"] == "web-7.a_b"
    for bad in ("a b", "x" * 65, "a/b", "<b>", ""):
        response = await http.get("/v1/health", headers={"X-Request-ID": bad})
        (given,) = response.headers.get_list("x-request-id")
        assert re.fullmatch(r"[0-9a-f]{32}", given)


async def test_an_id_sent_twice_comes_back_once(http: httpx.AsyncClient) -> None:
    response = await http.get("/v1/health", headers=[("X-Request-ID", "one"), ("X-Request-ID", "two")])
    assert response.headers.get_list("x-request-id") == ["one"]


@pytest.mark.parametrize("kind", [value for value in vars(errors).values() if isinstance(value, type)])
async def test_each_error_of_the_service_is_its_problem(http: httpx.AsyncClient, service, kind: type) -> None:
    service.before = kind("A sentence.")
    response = await http.post("/v1/turns", json={"message": "Hello"})
    assert assert_problem(response, kind.status, kind.code)["repeatable"] == kind.repeatable


@pytest.mark.parametrize("error", [KeyError("/secret"), PackError("/secret:1: bad"), StoreError("/secret is locked")])
async def test_what_is_inside_is_logged_and_not_told(http: httpx.AsyncClient, service, caplog, error) -> None:
    service.before = error
    response = await http.post("/v1/turns", json={"message": "Hello"}, headers={"X-Request-ID": "r-9"})
    assert response.headers["content-type"] == "application/problem+json"
    assert "secret" not in response.text
    assert "r-9" in caplog.text
    assert "secret" in caplog.text


async def test_what_is_turned_away_on_purpose_is_one_line_in_the_log(http: httpx.AsyncClient, service, caplog) -> None:
    kinds = [kind for kind in error_kinds().values() if kind.status != 500]
    for kind in kinds:
        caplog.clear()
        service.before = kind("A sentence.\nAnd another.")
        for accept in ("application/json", "text/event-stream"):
            await http.post("/v1/turns", json={"message": "Hello"}, headers={"Accept": accept, "X-Request-ID": "r-9"})
        ours = [record for record in caplog.records if record.name.startswith("serve_app")]
        assert len(ours) == (2 if kind.status > 500 else 0), kind.code
        for record in ours:
            assert record.levelname == "WARNING"
            assert record.exc_info is None
            assert record.getMessage() == f"request r-9 ended in {kind.code}: A sentence. And another."


async def test_an_error_inside_is_told_in_words_for_the_caller(http: httpx.AsyncClient, service) -> None:
    service.before = KeyError("secret")
    detail = (await http.post("/v1/turns", json={"message": "Hello"})).json()["detail"]
    assert "customer" not in detail
    assert "report" in detail


def error_kinds() -> dict[str, type[FrontlineError]]:
    family, found = [FrontlineError], {}
    while family:
        kind = family.pop()
        found[kind.code] = kind
        family += [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    return found


def test_every_error_has_its_own_code_and_an_entry_in_the_catalogue() -> None:
    declared = [value for value in vars(errors).values() if isinstance(value, type)]
    assert len({kind.code for kind in declared}) == len(declared)
    assert CATALOGUE.keys() == error_kinds().keys()


def test_the_printed_catalogue_says_what_the_served_one_says() -> None:
    sections = dict(re.findall(r"^## `([a-z-]+)`\n(.*?)(?=^## |\Z)", DOCUMENT.read_text(), re.M | re.S))
    assert sections.keys() == error_kinds().keys()
    for code, kind in error_kinds().items():
        text = " ".join(sections[code].split())
        assert f"**{kind.status}**" in text, code
        assert kind.title in text, code
        assert ("may be repeated" in text) == kind.repeatable, code
        assert CATALOGUE[code].what_to_do in text, code


async def test_the_catalogue_is_served(http: httpx.AsyncClient) -> None:
    entry = (await http.get("/problems/busy")).json()
    assert (entry["status"], entry["repeatable"]) == (503, True)
    assert_problem(await http.get("/problems/unheard-of"), 404, "not-found")


async def test_a_problems_type_leads_to_its_entry(http: httpx.AsyncClient) -> None:
    problem = (await http.get("/nowhere")).json()
    assert (await http.get(problem["type"])).json()["title"] == problem["title"]


async def test_the_description_shows_problems_and_no_status_that_never_comes(http: httpx.AsyncClient) -> None:
    description = (await http.get("/openapi.json")).json()
    for path, operations in description["paths"].items():
        for operation in operations.values():
            assert "422" not in operation["responses"], path
            assert "application/problem+json" in operation["responses"]["default"]["content"], path
    answers = description["paths"]["/v1/turns"]["post"]["responses"]["200"]["content"]
    assert answers.keys() == {"application/json", "text/event-stream"}
    assert json.dumps(description).count('"#/$defs/') == 0
    assert (await http.get("/docs")).status_code == 200
