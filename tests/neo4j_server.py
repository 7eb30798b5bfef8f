"""A Neo4j server for the tests: the one that the environment names, or one of our own.

``FRONTLINE_NEO4J_URI`` (with ``FRONTLINE_NEO4J_USER``, default ``neo4j``, and ``FRONTLINE_NEO4J_PASSWORD``) names a
running server; its database must be empty, because the tests put their data there and remove it again. Where
``FRONTLINE_TEST_NEO4J_FOLDER`` names the folder that the scripts started it on, tests may stop and start it. (The
first three reach us as ``FRONTLINE_TEST_NEO4J_…``; ``tests/conftest.py`` tells why.) Without a server's name,
the scripts ``start DIR PORT PASSWORD`` and ``stop DIR`` in the folder ``FRONTLINE_NEO4J_SERVER`` (default:
``../shared/neo4j`` beside the repository, where it exists) start a server of the test session's own. Without
either, what needs a server is skipped and says so.

A test module imports the fixture ``neo4j_server``; however many do, one server is started.
"""

import atexit
import functools
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import neo4j
import pytest

_DEFAULT_SCRIPTS = Path(__file__).resolve().parents[1].parent / "shared" / "neo4j"
_PATIENCE_S = 120


@dataclass(frozen=True)
class Neo4jServer:
    """Where the server answers; ``scripts`` and ``folder`` only of one that may be stopped and started."""

    uri: str
    user: str
    password: str
    database: str | None = None
    scripts: Path | None = None
    folder: Path | None = None

    @property
    def is_ours(self) -> bool:
        """Whether the tests may stop, kill and start it."""
        return self.scripts is not None

    @property
    def port(self) -> int:
        return int(self.uri.rsplit(":", 1)[1])

    def empty(self) -> None:
        """Remove all nodes and relationships. Constraints stay: they take long to make."""
        with _driver(self).session(database=self.database) as session:
            session.run("MATCH (node) CALL (node) { DETACH DELETE node } IN TRANSACTIONS OF 5000 ROWS").consume()

    def rows(self, text: str, **parameters: object) -> list[dict[str, object]]:
        """What the server answers to any text, past every store: for looking at what a store has done."""
        found = _driver(self).execute_query(text, parameters, database_=self.database)
        return [record.data() for record in found.records]

    def start(self) -> None:
        """Start it on its folder and wait until it answers."""
        assert self.scripts is not None
        assert self.folder is not None
        command = [self.scripts / "start", self.folder, str(self.port), self.password]
        # Its output goes to a file: the server would hold a pipe open for as long as it runs.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(command, stdout=output, stderr=output, timeout=_PATIENCE_S, check=False)
            output.seek(0)
            assert done.returncode == 0, output.read()

    def stop(self) -> None:
        """Stop it and wait until it has."""
        assert self.scripts is not None
        assert self.folder is not None
        command = [self.scripts / "stop", self.folder]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_PATIENCE_S, check=False)

    def signal(self, number: signal.Signals) -> None:
        """Send the server's process a signal."""
        assert self.folder is not None
        os.kill(int((self.folder / "pid").read_text()), number)

    def hang(self) -> None:
        """Make it stand still with its connections open, until :meth:`go_on`."""
        self.signal(signal.SIGSTOP)
        assert self.folder is not None
        tasks = Path("/proc") / (self.folder / "pid").read_text().strip() / "task"
        while not all(_is_stopped(task) for task in tasks.iterdir()):
            time.sleep(0.01)

    def go_on(self) -> None:
        """Let one that hangs go on."""
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill it, and wait until the process is gone and its port free."""
        self.signal(signal.SIGKILL)
        give_up_at = time.monotonic() + _PATIENCE_S
        while _answers(self.port):
            assert time.monotonic() < give_up_at
            time.sleep(0.05)


@functools.cache
def _driver(server: Neo4jServer) -> neo4j.Driver:
    driver = neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password))
    atexit.register(driver.close)
    return driver


@functools.cache
def server() -> Neo4jServer | str:
    """The server of this process, or why there is none."""
    scripts = Path(os.environ.get("FRONTLINE_NEO4J_SERVER", _DEFAULT_SCRIPTS))
    if uri := os.environ.get("FRONTLINE_TEST_NEO4J_URI"):
        user = os.environ.get("FRONTLINE_TEST_NEO4J_USER", "neo4j")
        password = os.environ.get("FRONTLINE_TEST_NEO4J_PASSWORD", "")
        started_on = os.environ.get("FRONTLINE_TEST_NEO4J_FOLDER")
        database = os.environ.get("FRONTLINE_TEST_NEO4J_DATABASE")
        named = Neo4jServer(uri, user, password, database, *((scripts, Path(started_on)) if started_on else ()))
        if named.rows("MATCH (node) RETURN 1 AS one LIMIT 1"):
            return "the database that FRONTLINE_NEO4J_URI names holds data: the tests need an empty one"
        return named
    if not (scripts / "start").exists():
        return "no Neo4j: neither FRONTLINE_NEO4J_URI nor FRONTLINE_NEO4J_SERVER is set"
    if shutil.which("java") is None:
        return "no Neo4j: there is no java to start it with"
    folder = Path(tempfile.mkdtemp(prefix="frontline-neo4j-"))
    own = Neo4jServer(f"bolt://127.0.0.1:{_free_port()}", "neo4j", secrets.token_urlsafe(12), None, scripts, folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(own.stop)  # runs before the folder goes
    own.start()
    return own


@pytest.fixture(scope="session")
def neo4j_server() -> Neo4jServer:
    """A running server whose data may be replaced; skips where there is none."""
    found = server()
    if isinstance(found, str):
        pytest.skip(found)
    return found


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _is_stopped(task: Path) -> bool:
    try:
        status = (task / "status").read_text()
    except OSError:  # a thread that has ended
        return True
    return "\nState:\tT" in status


def _answers(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(1)
        return client.connect_ex(("127.0.0.1", port)) == 0
