"""What a deployment's method declares about itself, and what it does with the budget it is given."""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from contracts.context import CallContext
from contracts.errors import OutOfTimeError

Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

#: Attribute of a method that may be sent a second time: it reads, or it is idempotent.
_REPEATABLE = "frontline_repeatable"


def served(
    *, repeatable: bool
) -> Callable[
    [Callable[Concatenate[Owner, CallContext, Arguments], Awaitable[Result]]],
    Callable[Concatenate[Owner, CallContext, Arguments], Awaitable[Result]],
]:
    """Mark a deployment's method as callable by :mod:`deployments.calls`.

    The method refuses work whose budget is spent and stops when what remains of it has passed:
    both raise ``OutOfTimeError``. ``repeatable`` says that sending the call twice is harmless.
    """

    def mark(
        method: Callable[Concatenate[Owner, CallContext, Arguments], Awaitable[Result]],
    ) -> Callable[Concatenate[Owner, CallContext, Arguments], Awaitable[Result]]:
        @functools.wraps(method)
        async def bounded(
            self: Owner, ctx: CallContext, /, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> Result:
            if ctx.budget_ms <= 0:
                raise OutOfTimeError("The time for this turn had run out before the work began.")
            try:
                async with asyncio.timeout(ctx.budget_ms / 1000):
                    return await method(self, ctx, *args, **kwargs)
            except TimeoutError as error:
                raise OutOfTimeError("The time for this turn has run out.") from error

        setattr(bounded, _REPEATABLE, repeatable)
        return bounded

    return mark


def is_repeatable(owner: type, method: str) -> bool:
    """Whether ``owner.method`` declared itself safe to repeat.

    Raises ``AttributeError`` when there is no such method or it is not marked with :func:`served`.
    """
    value: Any = getattr(getattr(owner, method), _REPEATABLE)
    return bool(value)
