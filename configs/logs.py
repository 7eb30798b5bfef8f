"""Where this process's log lines go: a file a part in ``<home>/logs``, and standard error."""

import logging
import logging.handlers
import sys

from configs.settings import Settings


def log_as(part: str, settings: Settings) -> None:
    """Write this process's warnings and errors, and our own notices, as ``part``.

    Several replicas append to one part's file, a line at a time; rotating it is the operating system's
    work (the file is opened anew when it was moved).
    """
    folder = settings.home / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    form = logging.Formatter(f"%(asctime)s %(levelname)s {part}[%(process)d] %(name)s: %(message)s")
    root = logging.getLogger()
    for handler in (logging.handlers.WatchedFileHandler(folder / f"{part}.log"), logging.StreamHandler(sys.stderr)):
        handler.setFormatter(form)
        handler.setLevel(logging.INFO)
        root.addHandler(handler)
    for ours in ("serve_app", "deployments", "agents", "authoring", "stores", "indexes", "models", "governance"):
        logging.getLogger(ours).setLevel(logging.INFO)
