"""Where this process's log lines go: a file a part in ``<home>/logs``, and standard error."""

import logging
import logging.handlers
import sys
import traceback
from types import TracebackType

from configs.settings import Settings


class _Formatter(logging.Formatter):
    """Writes tracebacks itself: the standard one prints them, and Ray replaces ``print`` in its workers."""

    def formatException(  # noqa: N802  # logging's name
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        return "".join(traceback.format_exception(ei[1])).rstrip()


def log_as(part: str, settings: Settings) -> None:
    """Write this process's warnings and errors, and our own notices, as ``part``.

    Several replicas append to one part's file, a line at a time; rotating it is the operating system's
    work (the file is opened anew when it was moved).
    """
    folder = settings.home / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    form = _Formatter(f"%(asctime)s %(levelname)s {part}[%(process)d] %(name)s: %(message)s")
    root = logging.getLogger()
    for handler in (logging.handlers.WatchedFileHandler(folder / f"{part}.log"), logging.StreamHandler(sys.stderr)):
        handler.setFormatter(form)
        handler.setLevel(logging.INFO)
        root.addHandler(handler)
    for ours in ("serve_app", "deployments", "agents", "authoring", "stores", "indexes", "models", "governance"):
        logging.getLogger(ours).setLevel(logging.INFO)
