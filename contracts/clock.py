"""Where time comes from. A clock is passed in; nothing asks the operating system by itself."""

import time
from datetime import UTC, date, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time, in UTC, and its date."""

    def now(self) -> datetime:
        """The present moment, timezone-aware, in UTC."""
        ...

    def today(self) -> date:
        """The present date."""
        ...


class SystemClock:
    """The real clock: for tokens, leases, expiry and the validity of documents."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def today(self) -> date:
        return self.now().date()


class BusinessClock:
    """The pack's "today", for answers over sample data. Without a fixed day it is the real date."""

    def __init__(self, fixed: date | None = None) -> None:
        self._fixed = fixed

    def now(self) -> datetime:
        now = datetime.now(UTC)
        return now if self._fixed is None else datetime.combine(self._fixed, now.timetz())

    def today(self) -> date:
        return self.now().date()


class Deadline:
    """A moment on this process's monotonic clock. Budgets travel as what *remains*, in ms."""

    __slots__ = ("_at_s",)

    def __init__(self, budget_ms: float) -> None:
        self._at_s = time.monotonic() + budget_ms / 1000

    def remaining_ms(self) -> int:
        """Milliseconds left, 0 when the deadline has passed."""
        return max(0, int((self._at_s - time.monotonic()) * 1000))

    @property
    def passed(self) -> bool:
        return self.remaining_ms() == 0
