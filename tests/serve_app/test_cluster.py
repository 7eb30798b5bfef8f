"""What stands before the first Ray process: the machine's one place for a cluster, and the ports."""

import os
import socket
import tempfile
from pathlib import Path

import pytest

from configs.settings import Settings
from contracts.errors import FrontlineError
from serve_app import cluster


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_second_cluster_is_refused_with_the_process_of_the_first() -> None:
    with cluster._only_cluster() as lock:
        cluster._fresh_folder(lock)
        with pytest.raises(FrontlineError, match=str(os.getpid())), cluster._only_cluster():
            pass


def test_the_place_is_free_again_afterwards() -> None:
    for _ in range(2):
        with cluster._only_cluster():
            pass


def test_what_a_killed_predecessor_left_behind_is_removed() -> None:
    with cluster._only_cluster() as lock:
        left = Path(cluster._fresh_folder(lock))
        (left / "session").mkdir()
    with cluster._only_cluster() as lock:
        own = Path(cluster._fresh_folder(lock))
        assert own.exists()
        assert not left.exists()


def test_a_taken_port_is_named_with_what_to_do() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(FrontlineError, match=rf"{port} is taken.*--port"):
            cluster._require_free_ports(Settings(port=port))
