"""``frontline serve``: the whole application on this machine, on one public address, until it is stopped."""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Annotated

import typer

from cli.options import fail
from configs.settings import read_settings
from contracts.errors import FrontlineError
from serve_app.cluster import running_application


def serve(
    port: Annotated[int | None, typer.Option(help="The public port (default 8000, or FRONTLINE_PORT).")] = None,
    pack: Annotated[Path | None, typer.Option(help="The domain pack's folder (default: the sample shop).")] = None,
) -> None:
    """Start the service on this machine; Ctrl-C stops it."""
    started = time.monotonic()
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    given = {name: value for name, value in {"port": port, "pack": pack}.items() if value is not None}
    # Replicas read their settings from the environment: they must see what this command was told.
    os.environ.update({f"FRONTLINE_{name.upper()}": str(value) for name, value in given.items()})
    try:
        settings = read_settings()
    except FrontlineError as error:
        fail(error.detail)
    try:
        with running_application(settings, _say):
            address = f"http://{settings.host}:{settings.port}"
            _say(f"Ready after {time.monotonic() - started:.0f} s at {address} (docs at {address}/docs).")
            stopping.wait()
    except FrontlineError as error:
        _say(f"{error.title}: {error.detail}")
        raise typer.Exit(1) from error
    _say("Stopped.")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
