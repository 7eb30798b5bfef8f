"""What one call between two deployments costs, by the way it is made."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from ray import serve
from ray.serve.handle import DeploymentHandle

from contracts.clock import Deadline
from contracts.context import CallContext
from contracts.principal import Principal, PrincipalKind
from deployments.calls import Backend
from deployments.serving import served

_CALLS = 300
_APPLICATION = "hops"


class Echo:
    """Answers with what it is given."""

    @served(repeatable=True)
    async def echo(self, ctx: CallContext, payload: bytes) -> bytes:
        return payload

    async def plain(self, payload: bytes) -> bytes:
        return payload


class Caller:
    """Calls the other deployment many times, and tells how long each call took."""

    def __init__(self, echo: DeploymentHandle[Echo]) -> None:
        self._echo = echo
        self._backend = Backend("echo", echo, Echo, cap_ms=5_000)

    async def __call__(self) -> dict[str, list[float]]:
        payload = bytes(2_000)
        principal = Principal(kind=PrincipalKind.GUEST, subject="bench")
        ctx = CallContext(request_id="r", turn_id="t", session_id="s", principal=principal, budget_ms=5_000)
        by_grpc = self._echo.options(_by_reference=False)
        by_reference = self._echo.options(_by_reference=True)
        ways: dict[str, Callable[[], Awaitable[bytes]]] = {
            "through the object store (Ray's default)": lambda: by_reference.plain.remote(payload),
            "over gRPC, bare": lambda: by_grpc.plain.remote(payload),
            "over gRPC by deployments.calls": lambda: self._backend.call("echo", ctx, Deadline(5_000), payload),
        }
        costs: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(-20, _CALLS):
            for name, call in ways.items():
                started = time.perf_counter()
                await call()
                if number >= 0:
                    costs[name].append((time.perf_counter() - started) * 1000)
        return costs


def hop_costs_ms() -> dict[str, list[float]]:
    """Durations of calls, in ms, by the way they are made. Needs the running cluster."""
    deployed = serve.deployment(ray_actor_options={"num_cpus": 0.1})
    caller = deployed(Caller).bind(deployed(Echo).bind())
    handle = serve.run(caller, name=_APPLICATION, route_prefix=None)

    async def ask() -> dict[str, list[float]]:
        costs: dict[str, list[float]] = await handle.remote()
        return costs

    try:
        return asyncio.run(ask())
    finally:
        serve.delete(_APPLICATION)
