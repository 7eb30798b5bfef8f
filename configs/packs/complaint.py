"""What is wrong with a pack, and where."""

from contracts.base import Frozen


class Complaint(Frozen):
    """One thing for a pack's author to put right. ``file`` is relative to the pack's folder, ``line``
    counts from 1. Printed as ``file:line: message``."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"
