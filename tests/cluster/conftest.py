"""The whole service, started once a module by the command that users start it with, in a home of its own."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

from configs.keys import signing_key
from contracts.clock import SystemClock
from contracts.principal import Principal, PrincipalKind
from serve_app.api.tokens import mint

_START_WITHIN_S = 300


@dataclass(frozen=True)
class Service:
    """A running service: where it answers, where its state lies, and its processes."""

    url: str
    home: Path
    pid: int

    def replicas(self, deployment: str) -> list[psutil.Process]:
        """The processes of a deployment's replicas that run now."""
        title = f"ServeReplica:frontline:{deployment}"
        found = []
        for process in psutil.Process(self.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if title in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def headers(self, customer_id: str | None) -> dict[str, str]:
        """The header by which that customer is known; none for a guest."""
        if customer_id is None:
            return {}
        principal = Principal(kind=PrincipalKind.CUSTOMER, subject=customer_id, customer_id=customer_id)
        return {"Authorization": f"Bearer {mint(principal, signing_key(self.home), 3600, SystemClock())}"}

    def ask(self, message: str, customer_id: str | None = None, **headers: str) -> httpx.Response:
        """The answer to one message, of whatever status."""
        return httpx.post(
            f"{self.url}/v1/turns",
            json={"message": message},
            headers={**self.headers(customer_id), **headers},
            timeout=30,
        )

    def wait_until_ready(self, within_s: float = 60) -> None:
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/v1/ready", timeout=5).status_code == 200:
                    return
            time.sleep(0.2)
        pytest.fail(f"the service was not ready within {within_s:g} s")


@contextlib.contextmanager
def running_service(home: Path, packs: Path, **variables: str) -> Iterator[Service]:
    """The service in ``home`` with these variables, until the end of the block; compiled packs are kept in ``packs``.

    Skips where another cluster has the machine's one place.
    """
    (home / "packs").symlink_to(packs)
    port = _free_port()
    log = home / "serve.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "serve"],
            env={**os.environ, "FRONTLINE_HOME": str(home), "FRONTLINE_PORT": str(port), **variables},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    running = Service(url=f"http://127.0.0.1:{port}", home=home, pid=process.pid)
    try:
        deadline = time.monotonic() + _START_WITHIN_S
        while "Ready after" not in log.read_text():
            if process.poll() is not None:
                if "Another cluster" in log.read_text():
                    pytest.skip("another cluster runs on this machine; these tests need the one place for it")
                pytest.fail(f"the service ended while it started:\n{log.read_text()[-3000:]}")
            if time.monotonic() > deadline:
                pytest.fail(f"the service did not start:\n{log.read_text()[-3000:]}")
            time.sleep(0.5)
        running.wait_until_ready()
        yield running
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=90)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="session")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all services of this session keep compiled packs: compiling takes a minute."""
    return tmp_path_factory.mktemp("packs")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, packs: Path) -> Iterator[Service]:
    """The service on its embedded parts. A module that needs another one has a fixture of this name of its own."""
    with running_service(tmp_path_factory.mktemp("home"), packs) as running:
        yield running


@pytest.fixture(autouse=True)
def _ready_before_each(service: Service) -> None:
    """Tests here kill and stop replicas: each begins with a whole service."""
    for deployment in ("embedder", "router", "planner", "cypher", "search", "summarizer", "ingress"):
        for process in service.replicas(deployment):
            with contextlib.suppress(psutil.Error):
                process.resume()
    service.wait_until_ready()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
