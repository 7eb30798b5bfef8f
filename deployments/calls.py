"""The only way from one deployment to another.

A call waits the smaller of its cap and what is left of the turn, is cancelled on time-out at every hop
(gRPC handles: with Ray's default transport a time-out leaves the callee running), is sent a second time
only where the method says that this is harmless, and feeds the caller's breaker for that backend.
"""

import asyncio
import logging
from typing import Any

from opentelemetry import trace
from ray.exceptions import RayActorError, RayTaskError, TaskCancelledError
from ray.serve.exceptions import BackPressureError, RequestCancelledError
from ray.serve.handle import DeploymentHandle

from contracts.clock import Deadline
from contracts.context import CallContext
from contracts.errors import (
    BusyError,
    FrontlineError,
    OutOfTimeError,
    SnapshotMismatchError,
    StoreError,
    UnavailableError,
)
from deployments.breaker import Breaker
from deployments.serving import is_repeatable

_log = logging.getLogger(__name__)
_tracer = trace.get_tracer("frontline")

#: Errors of ours that mean the backend is unwell; all others mean that the request was.
_UNWELL = (StoreError, UnavailableError, SnapshotMismatchError)

#: How long to wait before the one repeat after a replica's death, so that the router has noticed it.
_REPEAT_AFTER_MS = 50


class Backend:
    """A deployment as its callers in this process see it: handle, class, cap and breaker."""

    def __init__(self, name: str, handle: DeploymentHandle[Any], owner: type, *, cap_ms: int) -> None:
        self.name = name
        self.breaker = Breaker()
        self._handle = handle.options(_by_reference=False)
        self._owner = owner
        self._cap_ms = cap_ms

    async def call(self, method: str, ctx: CallContext, deadline: Deadline, /, *args: Any) -> Any:
        """The result of ``method(ctx, *args)`` on one of the backend's replicas.

        Raises what the method raises of our error family; ``OutOfTimeError`` when cap or turn ran out,
        ``BusyError`` on back-pressure, ``UnavailableError`` when the replica died, failed, or the breaker is open.
        """
        attempts = 2 if is_repeatable(self._owner, method) else 1
        with _tracer.start_as_current_span(f"{self.name}.{method}"):
            while True:
                attempts -= 1
                try:
                    return await self._once(method, ctx, deadline, args)
                except _ReplicaLostError as error:
                    if attempts == 0 or deadline.remaining_ms() <= _REPEAT_AFTER_MS:
                        raise UnavailableError(f"The {self.name} is restarting.") from error
                    await asyncio.sleep(_REPEAT_AFTER_MS / 1000)

    async def _once(self, method: str, ctx: CallContext, deadline: Deadline, args: tuple[Any, ...]) -> Any:
        left_ms = deadline.remaining_ms()
        if left_ms == 0:
            raise OutOfTimeError("The time for this turn has run out.")
        admission = self.breaker.admit()
        if admission is None:
            raise UnavailableError(f"The {self.name} has failed repeatedly and is given time to recover.")
        wait_ms = min(self._cap_ms, left_ms)
        try:
            async with asyncio.timeout(wait_ms / 1000):
                result = await getattr(self._handle, method).remote(ctx.with_budget(wait_ms), *args)
        except asyncio.CancelledError:
            self.breaker.neither(admission)
            raise
        except (TimeoutError, OutOfTimeError) as error:
            # Only a backend that used up its own cap is slow; a turn that came late is not its fault.
            if wait_ms == self._cap_ms:
                self.breaker.failed(admission)
            else:
                self.breaker.neither(admission)
            raise OutOfTimeError(f"The {self.name} did not answer within {wait_ms} ms.") from error
        except (BackPressureError, BusyError) as error:
            self.breaker.neither(admission)
            raise BusyError(f"Every replica of the {self.name} is at its limit.") from error
        except (RayActorError, TaskCancelledError, RequestCancelledError) as error:
            self.breaker.failed(admission)
            raise _ReplicaLostError from error
        except FrontlineError as error:
            if isinstance(error, _UNWELL):
                self.breaker.failed(admission)
            else:
                self.breaker.succeeded(admission)
            if isinstance(error, RayTaskError):
                # Ray hands an error on as a class of its own; the next hop would no longer know it by its type.
                raise error.cause from error
            raise
        except Exception as error:
            self.breaker.failed(admission)
            _log.exception("%s.%s failed", self.name, method)
            raise UnavailableError(f"The {self.name} failed.") from error
        self.breaker.succeeded(admission)
        return result


class _ReplicaLostError(Exception):
    """The replica that had the call is gone; whether it did the work is not known."""
