"""A backend's calls over a stand-in for Ray's handle, which is the edge of what runs here."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from ray.exceptions import ActorUnavailableError, RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError, RequestCancelledError

from contracts.clock import Deadline
from contracts.context import CallContext
from contracts.errors import (
    BadRequestError,
    BusyError,
    DeniedError,
    FrontlineError,
    OutOfTimeError,
    SnapshotMismatchError,
    StoreError,
    UnavailableError,
)
from deployments.breaker import Breaker, BreakerState
from deployments.calls import Backend
from deployments.serving import served

Answer = Callable[..., Awaitable[Any]]


class Shelf:
    """What the backend's replicas would run: only its declarations count here."""

    @served(repeatable=True)
    async def read(self, ctx: CallContext, title: str) -> str:
        raise NotImplementedError

    @served(repeatable=False)
    async def write(self, ctx: CallContext, title: str) -> str:
        raise NotImplementedError


class Handle:
    """Answers each call with the next of ``answers``; a coroutine function is run, an exception raised."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.options_given: dict[str, Any] = {}
        self.calls: list[tuple[str, CallContext, tuple[Any, ...]]] = []

    def options(self, **options: Any) -> "Handle":
        self.options_given |= options
        return self

    def __getattr__(self, method: str) -> "Method":
        return Method(self, method)


class Method:
    def __init__(self, handle: Handle, name: str) -> None:
        self.handle = handle
        self.name = name

    async def remote(self, ctx: CallContext, *args: Any) -> Any:
        self.handle.calls.append((self.name, ctx, args))
        answer = self.handle.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return await answer() if callable(answer) else answer


async def never() -> None:
    await asyncio.Event().wait()


def backend(handle: Handle, *, cap_ms: int = 1_000, failures: int = 3) -> Backend:
    made = Backend("shelf", handle, Shelf, cap_ms=cap_ms)  # type: ignore[arg-type]
    made.breaker = Breaker(failures=failures)
    return made


def lost() -> RayActorError:
    return RayActorError(error_msg="the replica was killed")


def state_after_one(handle: Handle, cap_ms: int = 1_000) -> Backend:
    """A backend whose breaker opens at the first failure."""
    return backend(handle, cap_ms=cap_ms, failures=1)


async def test_a_call_brings_the_result_of_the_method(ctx: CallContext) -> None:
    handle = Handle("found")
    assert await backend(handle).call("read", ctx, Deadline(5_000), "Dune") == "found"
    ((method, _, arguments),) = handle.calls
    assert (method, arguments) == ("read", ("Dune",))


def test_results_travel_by_value(ctx: CallContext) -> None:
    handle = Handle()
    backend(handle)
    assert handle.options_given == {"_by_reference": False}


async def test_the_callee_is_given_the_cap_where_the_turn_has_more(ctx: CallContext) -> None:
    handle = Handle("found")
    await backend(handle, cap_ms=300).call("read", ctx, Deadline(60_000), "Dune")
    assert handle.calls[0][1] == ctx.with_budget(300)


async def test_the_callee_is_given_what_is_left_where_the_cap_is_more(ctx: CallContext) -> None:
    handle = Handle("found")
    await backend(handle, cap_ms=60_000).call("read", ctx, Deadline(5_000), "Dune")
    assert 0 < handle.calls[0][1].budget_ms <= 5_000


async def test_a_call_after_the_turns_end_is_not_sent(ctx: CallContext) -> None:
    handle = Handle("found")
    with pytest.raises(OutOfTimeError):
        await backend(handle).call("read", ctx, Deadline(0), "Dune")
    assert handle.calls == []


async def test_a_backend_that_uses_up_its_cap_is_cancelled_and_has_failed(ctx: CallContext) -> None:
    cancelled = asyncio.Event()

    async def dawdle() -> None:
        try:
            await never()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    made = state_after_one(Handle(dawdle), cap_ms=20)
    with pytest.raises(OutOfTimeError):
        await made.call("read", ctx, Deadline(60_000), "Dune")
    assert cancelled.is_set()
    assert made.breaker.state is BreakerState.OPEN


async def test_a_turn_that_comes_late_is_not_the_backends_failure(ctx: CallContext) -> None:
    made = state_after_one(Handle(never), cap_ms=60_000)
    with pytest.raises(OutOfTimeError):
        await made.call("read", ctx, Deadline(20), "Dune")
    assert made.breaker.state is BreakerState.CLOSED


async def test_a_time_out_is_not_repeated(ctx: CallContext) -> None:
    handle = Handle(OutOfTimeError("The time is over."), "found")
    with pytest.raises(OutOfTimeError):
        await backend(handle).call("read", ctx, Deadline(60_000), "Dune")
    assert len(handle.calls) == 1


@pytest.mark.parametrize(
    "loss",
    [lost(), ActorUnavailableError("gone", b"0" * 16), RequestCancelledError("r1")],
    ids=lambda error: type(error).__name__,
)
async def test_a_lost_replicas_call_is_sent_again_where_that_is_harmless(ctx: CallContext, loss: Exception) -> None:
    handle = Handle(loss, "found")
    assert await backend(handle).call("read", ctx, Deadline(60_000), "Dune") == "found"
    assert len(handle.calls) == 2


async def test_it_is_sent_again_once_and_not_twice(ctx: CallContext) -> None:
    handle = Handle(lost(), lost(), "found")
    with pytest.raises(UnavailableError):
        await backend(handle).call("read", ctx, Deadline(60_000), "Dune")
    assert len(handle.calls) == 2


async def test_what_may_not_be_repeated_is_sent_once(ctx: CallContext) -> None:
    handle = Handle(lost(), "written")
    with pytest.raises(UnavailableError):
        await backend(handle).call("write", ctx, Deadline(60_000), "Dune")
    assert len(handle.calls) == 1


async def test_nothing_is_sent_again_where_no_time_is_left_for_it(ctx: CallContext) -> None:
    handle = Handle(lost(), "found")
    with pytest.raises(UnavailableError):
        await backend(handle).call("read", ctx, Deadline(40), "Dune")
    assert len(handle.calls) == 1


async def test_a_method_that_is_not_declared_is_not_called(ctx: CallContext) -> None:
    handle = Handle("done")
    with pytest.raises(AttributeError):
        await backend(handle).call("burn", ctx, Deadline(60_000))
    assert handle.calls == []


async def test_back_pressure_is_busy_and_no_failure(ctx: CallContext) -> None:
    made = state_after_one(Handle(BackPressureError(num_queued_requests=9, max_queued_requests=9)))
    with pytest.raises(BusyError):
        await made.call("read", ctx, Deadline(60_000), "Dune")
    assert made.breaker.state is BreakerState.CLOSED


@pytest.mark.parametrize(
    "error", [BadRequestError("No."), DeniedError("No."), BusyError("Full.")], ids=lambda error: error.code
)
async def test_an_error_that_is_the_requests_own_comes_as_it_is_and_is_no_failure(
    ctx: CallContext, error: FrontlineError
) -> None:
    made = state_after_one(Handle(error))
    with pytest.raises(type(error)):
        await made.call("read", ctx, Deadline(60_000), "Dune")
    assert made.breaker.state is BreakerState.CLOSED


@pytest.mark.parametrize(
    "error",
    [StoreError("The disk is full."), UnavailableError("Down."), SnapshotMismatchError("Old.")],
    ids=lambda error: error.code,
)
async def test_an_error_of_an_unwell_backend_comes_as_it_is_and_is_a_failure(
    ctx: CallContext, error: FrontlineError
) -> None:
    made = state_after_one(Handle(error))
    with pytest.raises(type(error), match=error.detail):
        await made.call("read", ctx, Deadline(60_000), "Dune")
    assert made.breaker.state is BreakerState.OPEN


async def test_an_error_that_ray_has_wrapped_comes_as_it_was_raised(ctx: CallContext) -> None:
    wrapped = RayTaskError("read", "a traceback", DeniedError("Not yours.")).as_instanceof_cause()
    with pytest.raises(DeniedError) as caught:
        await backend(Handle(wrapped)).call("read", ctx, Deadline(60_000), "Dune")
    assert type(caught.value) is DeniedError
    assert caught.value.detail == "Not yours."


async def test_any_other_error_makes_the_backend_unavailable_and_tells_no_internals(ctx: CallContext) -> None:
    made = state_after_one(Handle(ZeroDivisionError("in /srv/shelf.py")))
    with pytest.raises(UnavailableError) as caught:
        await made.call("read", ctx, Deadline(60_000), "Dune")
    assert "srv" not in caught.value.detail
    assert made.breaker.state is BreakerState.OPEN


async def test_an_open_breaker_answers_at_once_without_a_call(ctx: CallContext) -> None:
    handle = Handle(StoreError("Full."), "found")
    made = state_after_one(handle)
    with pytest.raises(StoreError):
        await made.call("read", ctx, Deadline(60_000), "Dune")
    with pytest.raises(UnavailableError):
        await made.call("read", ctx, Deadline(60_000), "Dune")
    assert len(handle.calls) == 1


async def test_a_caller_that_goes_away_cancels_the_call_and_is_no_failure(ctx: CallContext) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def dawdle() -> None:
        begun.set()
        try:
            await never()
        except asyncio.CancelledError:
            stopped.set()
            raise

    made = state_after_one(Handle(dawdle))
    task = asyncio.create_task(made.call("read", ctx, Deadline(60_000), "Dune"))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stopped.is_set()
    assert made.breaker.state is BreakerState.CLOSED


async def test_a_recovering_backend_gets_one_call_until_it_has_answered(ctx: CallContext) -> None:
    seconds = [0.0]
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def recover() -> str:
        begun.set()
        await go_on.wait()
        return "found"

    handle = Handle(StoreError("Full."), recover, "found")
    made = backend(handle)
    made.breaker = Breaker(failures=1, open_s=2, now=lambda: seconds[0])
    with pytest.raises(StoreError):
        await made.call("read", ctx, Deadline(60_000), "Dune")
    seconds[0] = 2.0
    probe = asyncio.create_task(made.call("read", ctx, Deadline(60_000), "Dune"))
    await begun.wait()
    with pytest.raises(UnavailableError):
        await made.call("read", ctx, Deadline(60_000), "Dune")
    go_on.set()
    assert await probe == "found"
    assert await made.call("read", ctx, Deadline(60_000), "Dune") == "found"
