"""A circuit breaker in the caller's process: failures in a row open it, one half-open probe closes it.

Own code because the kept libraries let every waiting caller through when half open, which is the
moment in which a recovering replica can bear it least.
"""

import time
from collections import deque
from collections.abc import Callable
from enum import Enum, StrEnum, auto


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Admission(Enum):
    """How a call went out. What comes of a ``CALL`` says nothing any more once the breaker has opened."""

    CALL = auto()
    PROBE = auto()


class Breaker:
    """Opens after ``failures`` within ``window_s``, no success among them; lets one probe through after ``open_s``.

    Used from one event loop, so it needs no lock. ``now`` is a monotonic clock in seconds.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        window_s: float = 10.0,
        open_s: float = 1.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = failures
        self._window_s = window_s
        self._open_s = open_s
        self._now = now
        self._failed_at: deque[float] = deque(maxlen=failures)
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> BreakerState:
        if self._opened_at is None:
            return BreakerState.CLOSED
        if self._probing or self._now() - self._opened_at >= self._open_s:
            return BreakerState.HALF_OPEN
        return BreakerState.OPEN

    def admit(self) -> Admission | None:
        """How a call may go out now, ``None`` when it may not. It must end in one of the three methods below."""
        if self._opened_at is None:
            return Admission.CALL
        if self._probing or self._now() - self._opened_at < self._open_s:
            return None
        self._probing = True
        return Admission.PROBE

    def succeeded(self, admission: Admission) -> None:
        if admission is Admission.PROBE:
            self._probing = False
            self._opened_at = None
        if self._opened_at is None:
            self._failed_at.clear()

    def failed(self, admission: Admission) -> None:
        now = self._now()
        if admission is Admission.PROBE:
            self._probing = False
            self._opened_at = now
        elif self._opened_at is None:
            self._failed_at.append(now)
            if len(self._failed_at) == self._limit and now - self._failed_at[0] <= self._window_s:
                self._opened_at = now
                self._failed_at.clear()

    def neither(self, admission: Admission) -> None:
        """The call told nothing of the backend's health: cancelled, turned away, or badly asked."""
        if admission is Admission.PROBE:
            self._probing = False
