"""Records that a business keeps: handovers to its people."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol

from contracts.base import Frozen


class HandoverStatus(StrEnum):
    """``delivered``: the queue row is committed. ``acknowledged``: a person has taken it."""

    REQUESTED = "requested"
    DELIVERED = "delivered"
    ACKNOWLEDGED = "acknowledged"


class Handover(Frozen):
    """A request for a person, with what they need to begin.

    ``turn_id`` is unique: a turn that is run again after a crash hands over once.
    """

    handover_id: str
    turn_id: str
    session_id: str
    owner: str
    customer_id: str | None
    desk: str
    reason: str
    message: str
    summary: str
    status: HandoverStatus
    requested_at: datetime


class RecordsStore(Protocol):
    async def add_handover(self, handover: Handover) -> Handover:
        """Commit the handover, or return the one already kept for its turn."""
        ...

    async def get_handover(self, handover_id: str) -> Handover:
        """Read it back from the database. Raises ``NotFoundError``."""
        ...

    async def list_handovers(self, *, desk: str | None = None, limit: int = 50) -> list[Handover]:
        """Open ones, oldest first."""
        ...

    async def close(self) -> None: ...
