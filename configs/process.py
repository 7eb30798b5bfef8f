"""What a process of ours needs before its first heavy import."""

import os
import sys

#: glibc keeps little room for libraries that want static thread-local storage, and the graph engine, the
#: embedding engine and FAISS each bring one that does: together in one process the last would not load.
TUNABLE = "glibc.rtld.optional_static_tls=16384"
VARIABLE = "GLIBC_TUNABLES"


def has_room_for_engines() -> bool:
    """Whether this process was started with room for all engines at once."""
    return "optional_static_tls" in os.environ.get(VARIABLE, "")


def make_room_for_engines() -> None:
    """Start this very command anew with the room, where it lacks it; glibc reads the setting at start alone."""
    if has_room_for_engines() or not sys.platform.startswith("linux"):
        return
    given = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = f"{given}:{TUNABLE}" if given else TUNABLE
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  # no shell is wanted
