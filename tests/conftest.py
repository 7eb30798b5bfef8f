"""What every test may rely on."""

import pytest

from configs.process import TUNABLE, VARIABLE, has_room_for_engines


def pytest_configure() -> None:
    if not has_room_for_engines():
        raise pytest.UsageError(f"Run `make test`, or set {VARIABLE}={TUNABLE}: all engines load into one process.")
