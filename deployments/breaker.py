"""A circuit breaker in the caller's process: rolling failures open it, one half-open probe closes it.

Own code because the kept libraries let every waiting caller through when half open, which is the
moment in which a recovering replica can bear it least.
"""

import time
from collections import deque
from collections.abc import Callable
from enum import StrEnum


class BreakerState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    """Opens after ``failures`` within ``window_s``; lets one probe through after ``open_s``.

    Used from one event loop, so it needs no lock. ``now`` is a monotonic clock in seconds.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        window_s: float = 10.0,
        open_s: float = 2.0,
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

    def admit(self) -> bool:
        """Whether a call may go out now. An admitted call must end in one of the three methods below."""
        if self._opened_at is None:
            return True
        if self._probing or self._now() - self._opened_at < self._open_s:
            return False
        self._probing = True
        return True

    def succeeded(self) -> None:
        self._opened_at = None
        self._probing = False
        self._failed_at.clear()

    def failed(self) -> None:
        now = self._now()
        if self._opened_at is not None:
            # The probe failed, or a call from before the opening did: stay open from now on.
            self._opened_at = now
            self._probing = False
            return
        self._failed_at.append(now)
        if len(self._failed_at) == self._limit and now - self._failed_at[0] <= self._window_s:
            self._opened_at = now
            self._failed_at.clear()

    def neither(self) -> None:
        """The call told nothing of the backend's health: cancelled, turned away, or badly asked."""
        self._probing = False
