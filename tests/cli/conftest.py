"""The commands against the real API on a real socket, in this process."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from typer.testing import CliRunner

from configs.settings import Settings
from contracts.clock import SystemClock
from serve_app.api.app import create_api
from stores.sessions.sqlite_store import SqliteSessionStore
from tests.serve_app.api.conftest import EchoService


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation of its own: neither the key nor the variables of whoever runs the tests."""
    for name in ("FRONTLINE_SIGNING_KEY", "FRONTLINE_TOKEN", "FRONTLINE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FRONTLINE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


@pytest.fixture
def cli() -> CliRunner:
    return CliRunner()


@pytest.fixture
def service(home: Path) -> Iterator[EchoService]:
    """What runs behind ``url``."""
    with asyncio.Runner() as runner:
        store = runner.run(SqliteSessionStore.open(home / "sessions.sqlite"))
        yield EchoService(store, SystemClock())
        runner.run(store.close())


@pytest.fixture
def url(service: EchoService, home: Path) -> Iterator[str]:
    """Where the service answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        api = create_api(lambda: service, Settings(home=home))
        server = uvicorn.Server(uvicorn.Config(api, log_level="critical", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join()


@pytest.fixture
def free_url() -> str:
    """Where nothing answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"
