"""What every replica is told at its start: the settings and where the compiled pack lies."""

from pathlib import Path

from configs.packs.compiled import PACK
from configs.packs.types import Pack
from configs.settings import Settings
from contracts.base import Frozen


class Installation(Frozen):
    """Settings and the folder of the pack's compiled artefacts. Small: it travels to each replica."""

    settings: Settings
    compiled: Path

    def pack(self) -> Pack:
        """The pack as it was compiled, whatever has been edited since."""
        return Pack.model_validate_json((self.compiled / PACK).read_bytes())
