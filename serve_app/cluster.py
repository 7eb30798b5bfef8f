"""A cluster of one machine with the application on it: what ``frontline serve`` and the benchmarks start.

Ray and Serve read their settings from the environment when they are imported, so they are imported here
only after those are set.
"""

import contextlib
import fcntl
import io
import logging
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from configs.settings import Settings, load_profile
from contracts.errors import FrontlineError, UnavailableError

#: Measured on two cores: with these a hop costs 1.0 instead of 3.4 ms, the public address 1.7 instead of 5.3 ms.
RAY_ENVIRONMENT = {
    # gRPC between replicas (a time-out then cancels the callee), direct ingress, buffered logs.
    "RAY_SERVE_THROUGHPUT_OPTIMIZED": "1",
    # One public port before all ingress replicas, without metrics of each request.
    "RAY_SERVE_ENABLE_HA_PROXY": "1",
    "RAY_SERVE_HAPROXY_METRICS_ENABLED": "0",
    # Our envelope around Serve's own request handling too: serve_app/edge.py tells why.
    "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH": "serve_app.edge.edge_middlewares",
    # Replicas would otherwise run at nice 15.
    "RAY_worker_niceness": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    # How long an idle replica stays after it was told to go; one with turns in progress finishes them first.
    "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": "5",
    # The engines are single-threaded by choice: many replicas share few cores.
    "OMP_NUM_THREADS": "1",
}

#: How far replicas stand back for a graph server on the same machine: every turn waits for it, and one that has
#: just started needs seconds of processor time before its first answer.
_NICENESS_BESIDE_A_SERVER = "10"


def ray_environment(settings: Settings) -> dict[str, str]:
    """``RAY_ENVIRONMENT`` as it suits these settings."""
    if settings.neo4j_uri is not None and urlsplit(settings.neo4j_uri).hostname in ("127.0.0.1", "localhost", "::1"):
        return {**RAY_ENVIRONMENT, "RAY_worker_niceness": _NICENESS_BESIDE_A_SERVER}
    return RAY_ENVIRONMENT


APPLICATION = "frontline"

#: Ports that Serve's load balancer takes besides the public one: its statistics and metrics.
_BALANCER_PORTS = (8404, 9101)

Say = Callable[[str], None]


@contextmanager
def running_application(settings: Settings, say: Say) -> Iterator[None]:
    """The application, ready at ``settings.host`` and ``settings.port`` until the end of the block.

    Raises ``PackError`` when the pack is not valid, and ``FrontlineError`` with what to do when another
    cluster runs, a port is taken, or a deployment does not come up.
    """
    for name, value in ray_environment(settings).items():
        os.environ.setdefault(name, value)
    with _only_cluster() as lock:
        _require_free_ports(settings)
        say("Preparing the pack …")
        from serve_app.setup import install

        installation = install(settings, say)
        say("Starting Ray …")
        import ray
        from ray import serve

        from serve_app.app import build

        profile = load_profile(settings.profile)
        ray.init(
            num_cpus=profile.scheduling_cpus,
            object_store_memory=profile.object_store_mb * 1024 * 1024,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.WARNING,
            _temp_dir=_fresh_folder(lock),
        )
        logging.getLogger("ray.serve").setLevel(logging.WARNING)
        try:
            serve.start(
                http_options={
                    "host": settings.host,
                    "port": settings.port,
                    # The turn's own deadline ends it earlier; this is for a replica that hangs.
                    "request_timeout_s": settings.budgets.turn_ms / 1000 + 5,
                }
            )
            try:
                serve.run(build(installation), name=APPLICATION, route_prefix="/")
            except RuntimeError as error:
                deployments = serve.status().applications[APPLICATION].deployments
                told = [f"{name}: {found.message}" for name, found in deployments.items() if found.message]
                raise UnavailableError("The service could not start.\n" + "\n".join(told)) from error
            yield
            say("Stopping: turns in progress are finished first …")
        finally:
            # Serve kills its controller while Ray would still retry a call of it: a warning that tells nobody anything.
            with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
                serve.shutdown()  # type: ignore[no-untyped-call]
                ray.shutdown()
            _remove_folder(lock)


@contextmanager
def _only_cluster() -> Iterator[IO[str]]:
    """Hold the machine's one place for a cluster: a locked file that names the holder and its folder."""
    path = Path(tempfile.gettempdir()) / f"frontline-cluster-{os.getuid()}.lock"
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = (_lines(file) or ["unknown"])[0]
            raise FrontlineError(
                f"Another cluster runs on this machine already (process {holder}); stop it first."
            ) from error
        yield file


def _fresh_folder(lock: IO[str]) -> str:
    """A new folder for Ray's files. What a killed predecessor left behind is removed."""
    _remove_folder(lock)
    # Short, since the paths of its sockets may have at most 107 characters.
    folder = tempfile.mkdtemp(prefix="frontline-")
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n{folder}\n")
    lock.flush()
    return folder


def _remove_folder(lock: IO[str]) -> None:
    for folder in _lines(lock)[1:2]:
        if Path(folder).name.startswith("frontline-"):
            shutil.rmtree(folder, ignore_errors=True)


def _lines(file: IO[str]) -> list[str]:
    file.seek(0)
    return file.read().splitlines()


def _require_free_ports(settings: Settings) -> None:
    for host, port in ((settings.host, settings.port), *(("0.0.0.0", port) for port in _BALANCER_PORTS)):  # noqa: S104
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as error:
                is_ours = port == settings.port
                hint = "or choose another with --port" if is_ours else "the load balancer needs this port"
                raise FrontlineError(f"Port {port} is taken by another program: stop that; {hint}.") from error
