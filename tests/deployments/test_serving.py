import asyncio

import pytest

from contracts.context import CallContext
from contracts.errors import BadRequestError, OutOfTimeError
from deployments.serving import is_repeatable, served


class Kitchen:
    def __init__(self) -> None:
        self.begun = 0
        self.cooking = asyncio.Event()
        self.stopped = False

    @served(repeatable=True)
    async def look(self, ctx: CallContext, at: str) -> str:
        self.begun += 1
        return f"{at} for {ctx.turn_id}"

    @served(repeatable=False)
    async def cook(self, ctx: CallContext) -> None:
        self.cooking.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise

    @served(repeatable=False)
    async def burn(self, ctx: CallContext) -> None:
        raise TimeoutError("the stove's own")

    @served(repeatable=False)
    async def refuse(self, ctx: CallContext) -> None:
        raise BadRequestError("No such dish.")

    async def eat(self, ctx: CallContext) -> None: ...


async def test_a_method_gets_its_arguments_and_gives_its_result(ctx: CallContext) -> None:
    assert await Kitchen().look(ctx, "soup") == "soup for t1"


@pytest.mark.parametrize("budget_ms", [0, -5])
async def test_work_whose_budget_is_spent_is_refused_before_it_begins(ctx: CallContext, budget_ms: int) -> None:
    kitchen = Kitchen()
    with pytest.raises(OutOfTimeError):
        await kitchen.look(ctx.with_budget(budget_ms), "soup")
    assert kitchen.begun == 0


async def test_work_stops_when_its_budget_has_passed(ctx: CallContext) -> None:
    kitchen = Kitchen()
    with pytest.raises(OutOfTimeError):
        await kitchen.cook(ctx.with_budget(20))
    assert kitchen.stopped


async def test_a_time_out_inside_a_method_is_told_as_running_out_of_time(ctx: CallContext) -> None:
    with pytest.raises(OutOfTimeError) as caught:
        await Kitchen().burn(ctx)
    assert isinstance(caught.value.__cause__, TimeoutError)


async def test_a_cancel_stays_a_cancel(ctx: CallContext) -> None:
    kitchen = Kitchen()
    task = asyncio.create_task(kitchen.cook(ctx))
    await kitchen.cooking.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert kitchen.stopped


async def test_other_errors_of_ours_pass_as_they_are(ctx: CallContext) -> None:
    with pytest.raises(BadRequestError, match="No such dish"):
        await Kitchen().refuse(ctx)


def test_a_method_says_whether_it_may_be_repeated() -> None:
    assert is_repeatable(Kitchen, "look")
    assert not is_repeatable(Kitchen, "cook")


@pytest.mark.parametrize("method", ["eat", "sleep"])
def test_a_method_that_is_not_marked_or_not_there_can_not_be_called(method: str) -> None:
    with pytest.raises(AttributeError):
        is_repeatable(Kitchen, method)
