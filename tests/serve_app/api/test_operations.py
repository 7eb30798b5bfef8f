"""Liveness and readiness."""

import httpx


async def test_ready_lists_every_part(http: httpx.AsyncClient, service) -> None:
    response = await http.get("/v1/ready")
    assert response.status_code == 200
    assert response.json() == {"ready": True, "parts": {"router": {"ready": True, "detail": "1 running"}}}


async def test_one_part_that_is_not_ready_makes_all_unready(http: httpx.AsyncClient, service) -> None:
    service.parts = {
        "router": {"ready": True, "detail": "1 running"},
        "search": {"ready": False, "detail": "starting"},
    }
    response = await http.get("/v1/ready")
    assert response.status_code == 503
    body = response.json()
    assert body["type"] == "/problems/unavailable"
    assert body["ready"] is False
    assert body["parts"] == service.parts
    assert "search" in body["detail"]
    assert "router" not in body["detail"]


async def test_health_does_not_depend_on_any_part(http: httpx.AsyncClient, service) -> None:
    service.parts = {"search": {"ready": False, "detail": "starting"}}
    assert (await http.get("/v1/health")).status_code == 200


async def test_head_answers_as_get_does_without_the_body(http: httpx.AsyncClient, service) -> None:
    for is_ready, status in ((True, 200), (False, 503)):
        service.parts = {"search": {"ready": is_ready, "detail": "1 running"}}
        for path in ("/v1/ready", "/v1/health", "/v1/sessions", "/nowhere", "/docs", "/docs/files/swagger-ui.css"):
            head, get = await http.head(path), await http.get(path)
            assert head.content == b""
            assert get.content
            assert (head.status_code, head.headers["content-length"]) == (get.status_code, str(len(get.content)))
        assert (await http.head("/v1/ready")).status_code == status


async def test_answers_are_neither_stored_nor_sniffed(http: httpx.AsyncClient) -> None:
    headers = (await http.get("/v1/health")).headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers
