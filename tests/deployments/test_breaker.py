from collections.abc import Callable

import pytest

from deployments.breaker import Admission, Breaker, BreakerState


class Stopwatch:
    """Monotonic seconds that pass when told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def watch() -> Stopwatch:
    return Stopwatch()


@pytest.fixture
def breaker(watch: Stopwatch) -> Breaker:
    return Breaker(failures=3, window_s=10, open_s=2, now=watch)


def admitted(breaker: Breaker) -> Admission:
    admission = breaker.admit()
    assert admission is not None
    return admission


def open_it(breaker: Breaker) -> None:
    for _ in range(3):
        breaker.failed(admitted(breaker))
    assert breaker.state is BreakerState.OPEN


def test_it_opens_at_the_last_of_so_many_failures(breaker: Breaker) -> None:
    for _ in range(2):
        breaker.failed(admitted(breaker))
    assert breaker.state is BreakerState.CLOSED
    breaker.failed(admitted(breaker))
    assert breaker.state is BreakerState.OPEN
    assert breaker.admit() is None


def test_failures_further_apart_than_the_window_do_not_open_it(breaker: Breaker, watch: Stopwatch) -> None:
    for _ in range(5):
        breaker.failed(admitted(breaker))
        watch.seconds += 5.1
    assert breaker.state is BreakerState.CLOSED


def test_a_success_between_makes_failures_count_anew(breaker: Breaker) -> None:
    for _ in range(2):
        breaker.failed(admitted(breaker))
    breaker.succeeded(admitted(breaker))
    for _ in range(2):
        breaker.failed(admitted(breaker))
    assert breaker.state is BreakerState.CLOSED


def test_what_tells_nothing_of_the_backend_does_not_count(breaker: Breaker) -> None:
    for _ in range(9):
        breaker.neither(admitted(breaker))
    assert breaker.state is BreakerState.CLOSED


def test_half_open_it_lets_one_probe_through_and_no_second(breaker: Breaker, watch: Stopwatch) -> None:
    open_it(breaker)
    watch.seconds += 1.9
    assert breaker.admit() is None
    watch.seconds += 0.2
    assert breaker.state is BreakerState.HALF_OPEN
    assert breaker.admit() is Admission.PROBE
    assert breaker.admit() is None
    watch.seconds += 60
    assert breaker.admit() is None


def test_a_probe_that_succeeds_closes_it(breaker: Breaker, watch: Stopwatch) -> None:
    open_it(breaker)
    watch.seconds += 2
    breaker.succeeded(admitted(breaker))
    assert breaker.state is BreakerState.CLOSED
    assert breaker.admit() is Admission.CALL


def test_a_probe_that_fails_keeps_it_open_for_as_long_again(breaker: Breaker, watch: Stopwatch) -> None:
    open_it(breaker)
    watch.seconds += 2
    breaker.failed(admitted(breaker))
    watch.seconds += 1.9
    assert breaker.admit() is None
    watch.seconds += 0.2
    assert breaker.admit() is Admission.PROBE


def test_after_a_probe_that_told_nothing_another_may_go(breaker: Breaker, watch: Stopwatch) -> None:
    open_it(breaker)
    watch.seconds += 2
    breaker.neither(admitted(breaker))
    assert breaker.admit() is Admission.PROBE


@pytest.mark.parametrize("end", [Breaker.neither, Breaker.failed, Breaker.succeeded])
def test_a_call_from_before_the_opening_ends_without_a_say(
    breaker: Breaker,
    watch: Stopwatch,
    end: Callable[[Breaker, Admission], None],
) -> None:
    early = admitted(breaker)
    open_it(breaker)
    watch.seconds += 2
    assert breaker.admit() is Admission.PROBE
    end(breaker, early)
    assert breaker.state is BreakerState.HALF_OPEN
    assert breaker.admit() is None


def test_failures_from_before_an_opening_are_not_counted_after_it(breaker: Breaker, watch: Stopwatch) -> None:
    open_it(breaker)
    watch.seconds += 2
    breaker.succeeded(admitted(breaker))
    for _ in range(2):
        breaker.failed(admitted(breaker))
    assert breaker.state is BreakerState.CLOSED
