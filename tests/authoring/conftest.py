import shutil
from pathlib import Path

import pytest


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """A small sound pack of an invented bicycle workshop, in a folder of its own to break."""
    pack = next(parent for parent in Path(__file__).parents if parent.name == "tests") / "packs" / "workshop"
    return Path(shutil.copytree(pack, tmp_path / "workshop"))
