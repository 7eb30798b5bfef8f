import os
import subprocess
import sys

import pytest

from configs.process import TUNABLE, VARIABLE, has_room_for_engines
from configs.settings import ROOT

_COUNTED = """
import os, sys
from configs.process import VARIABLE, make_room_for_engines
print("started", flush=True)
make_room_for_engines()
print(os.environ.get(VARIABLE), sys.argv[1:])
"""

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc is Linux's")


def started(tunables: str | None) -> list[str]:
    """What a process with these tunables prints: how often it was started, then its tunables and arguments."""
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if tunables is not None:
        environment[VARIABLE] = tunables
    command = [sys.executable, "-c", _COUNTED, "serve", "--port", "8123"]
    ran = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return ran.stdout.splitlines()


def test_a_process_knows_whether_it_was_started_with_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "glibc.malloc.arena_max=2")
    assert not has_room_for_engines()
    monkeypatch.setenv(VARIABLE, f"glibc.malloc.arena_max=2:{TUNABLE}")
    assert has_room_for_engines()
    monkeypatch.delenv(VARIABLE)
    assert not has_room_for_engines()


@linux_only
def test_a_process_without_the_room_starts_itself_anew_with_its_arguments() -> None:
    assert started(None) == ["started", "started", f"{TUNABLE} ['serve', '--port', '8123']"]


@linux_only
def test_tunables_that_were_set_stay() -> None:
    assert started("glibc.malloc.arena_max=2")[-1].startswith(f"glibc.malloc.arena_max=2:{TUNABLE} ")


@linux_only
def test_a_process_with_the_room_goes_on() -> None:
    assert started(TUNABLE) == ["started", f"{TUNABLE} ['serve', '--port', '8123']"]
