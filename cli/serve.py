"""``frontline serve``: the whole application on this machine, on one public address, until it is stopped."""

import fcntl
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer

from configs.settings import Profile, Settings, load_profile
from contracts.errors import FrontlineError

#: Read when Ray and Serve are imported, so they are set before. FACTS: a hop costs 1.0 instead of 3.4 ms
#: and the public address 1.7 instead of 5.3 ms with them.
_RAY_ENVIRONMENT = {
    # gRPC between replicas (a time-out then cancels the callee), direct ingress, buffered logs.
    "RAY_SERVE_THROUGHPUT_OPTIMIZED": "1",
    # One public port before all ingress replicas; its metrics page stays closed.
    "RAY_SERVE_ENABLE_HA_PROXY": "1",
    "RAY_SERVE_HAPROXY_METRICS_ENABLED": "0",
    # Replicas would otherwise run at nice 15.
    "RAY_worker_niceness": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    # Longer than a turn: a replica that goes away finishes what it has.
    "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": "5",
    # Every request that a client needs to know about is in the journal; one log line each costs 10%.
    "RAY_SERVE_LOG_TO_STDERR": "0",
    # The engines below are single-threaded by choice: many replicas share few cores.
    "OMP_NUM_THREADS": "1",
    # Ray would put its own print in place of the built-in one, which spoils tracebacks in logs.
    "RAY_TQDM_PATCH_PRINT": "0",
}

APPLICATION = "frontline"


def serve(
    port: Annotated[int | None, typer.Option(help="The public port (default 8000, or FRONTLINE_PORT).")] = None,
    pack: Annotated[Path | None, typer.Option(help="The domain pack's folder (default: the sample shop).")] = None,
) -> None:
    """Start the service on this machine; Ctrl-C stops it."""
    given = {name: value for name, value in {"port": port, "pack": pack}.items() if value is not None}
    settings = Settings(**given)  # type: ignore[arg-type]  # pydantic checks what the command line gave
    # The replicas read the rest from the environment: they must see what this command was told.
    os.environ.update({f"FRONTLINE_{name.upper()}": str(value) for name, value in given.items()})
    for name, value in _RAY_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        with _only_cluster():
            _run(settings, load_profile(settings.profile))
    except FrontlineError as error:
        typer.echo(f"{error.title}: {error.detail}", err=True)
        raise typer.Exit(1) from error


def _run(settings: Settings, profile: Profile) -> None:
    started = time.monotonic()
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    _say("Preparing the pack …")
    from serve_app.setup import install

    installation = install(settings, _say)
    _say("Starting Ray …")
    import ray
    from ray import serve as ray_serve

    from serve_app.app import build

    folder = tempfile.mkdtemp(prefix="frontline-")
    ray.init(
        num_cpus=profile.scheduling_cpus,
        object_store_memory=profile.object_store_mb * 1024 * 1024,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.WARNING,
        _temp_dir=folder,
    )
    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    try:
        ray_serve.start(
            http_options={
                "host": settings.host,
                "port": settings.port,
                # The turn's own deadline ends it earlier; this is for a replica that hangs.
                "request_timeout_s": settings.budgets.turn_ms / 1000 + 5,
            }
        )
        ray_serve.run(build(installation), name=APPLICATION, route_prefix="/")
        _say(
            f"Ready after {time.monotonic() - started:.0f} s at http://{settings.host}:{settings.port} (docs at /docs)."
        )
        stopping.wait()
        _say("Stopping: turns in progress are finished first …")
    finally:
        ray_serve.shutdown()  # type: ignore[no-untyped-call]
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
        _say("Stopped.")


@contextmanager
def _only_cluster() -> Iterator[None]:
    """Hold the machine's one place for a cluster. Raises ``FrontlineError`` when it is taken."""
    path = Path(tempfile.gettempdir()) / "frontline-cluster.lock"
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FrontlineError(
                f"Another cluster runs on this machine already (process {_holder(file)}); stop it first."
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _holder(file: IO[str]) -> str:
    file.seek(0)
    return file.read().strip() or "unknown"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
