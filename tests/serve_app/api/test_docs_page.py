"""The page at ``/docs``."""

import re

import httpx


async def test_the_page_loads_nothing_from_elsewhere(http: httpx.AsyncClient) -> None:
    page = await http.get("/docs")
    assert page.status_code == 200
    loaded = re.findall(r"""(?:src|href)=["']([^"']+)["']""", page.text)
    kinds = {address: (await http.get(address)).headers["content-type"].split(";")[0] for address in loaded}
    assert sorted(kinds.values()) == ["image/png", "text/css", "text/javascript"]
    assert all(address.startswith("/docs/files/") for address in loaded)
    assert "//" not in re.sub(r"<!--.*?-->|// .*", "", page.text)


async def test_the_page_shows_this_service_s_own_description(http: httpx.AsyncClient) -> None:
    page = (await http.get("/docs")).text
    (described,) = re.findall(r"url: '([^']+)'", page)
    assert (await http.get(described)).json()["info"]["title"] == "Frontline"


async def test_a_file_that_is_not_there_is_a_problem_like_any_other(http: httpx.AsyncClient) -> None:
    for name in ("nothing.js", "..%2f__init__.py", ""):
        missing = await http.get(f"/docs/files/{name}")
        assert missing.status_code == 404, name
        assert missing.headers["content-type"] == "application/problem+json"
