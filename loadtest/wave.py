"""The Locust user under a wave of load: 2, then 32, then 2 users. Run by ``python -m loadtest --wave``."""

from locust import LoadTestShape

from loadtest.locustfile import Customer

#: End of each stage in s from the start, and its users. The last is long enough for replicas to go again.
STAGES = ((20, 2), (80, 32), (160, 2))

__all__ = ["Customer", "Wave"]


class Wave(LoadTestShape):  # type: ignore[misc]  # Locust has no types
    """The stages, one after the other."""

    def tick(self) -> tuple[int, float] | None:
        """Users wanted now, and how many to start a second; ``None`` ends the run."""
        ran_s = self.get_run_time()
        return next(((users, 16.0) for end_s, users in STAGES if ran_s < end_s), None)
