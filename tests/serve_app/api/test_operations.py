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


async def test_answers_are_neither_stored_nor_sniffed(http: httpx.AsyncClient) -> None:
    headers = (await http.get("/v1/health")).headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers
