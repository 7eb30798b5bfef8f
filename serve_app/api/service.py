"""What the API needs of the workflow behind it, and the bodies that travel between the two."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypedDict

from contracts.base import Frozen
from contracts.clock import Clock
from contracts.principal import Principal
from contracts.sessions import SessionStore
from contracts.turns import Plan, Reason, Reply, RouteName, TaskStatus, TurnEvent


class TurnRequest(Frozen):
    """One message, checked: not empty, without control characters, within the size limit.

    ``images`` is the number of pictures that came with it. ``request_id`` is for logs and traces.
    """

    message: str
    session_id: str | None = None
    idempotency_key: str | None = None
    locale: str | None = None
    explain: bool = False
    images: int = 0
    request_id: str = ""

    @property
    def fingerprint(self) -> str:
        """Equal for two requests that ask the same: what tells a repeat from a key used twice."""
        asked = self.model_dump(mode="json", exclude={"idempotency_key", "request_id"})
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


class TaskTiming(Frozen):
    """How one task fared, and how long it took."""

    task_id: str
    tool: str
    status: TaskStatus
    reason: Reason
    latency_ms: float


class Explanation(Frozen):
    """Why the reply is as it is. ``timings_ms`` maps each step of the turn to its duration."""

    route: RouteName
    confidence: float
    clauses: tuple[str, ...]
    plan: Plan
    tasks: tuple[TaskTiming, ...]
    timings_ms: dict[str, float]


class TurnAnswer(Frozen):
    """The body of an answered turn. ``explanation`` is there when it was asked for.

    ``guest_token`` comes with the answer to a caller without a token: the conversation goes on with it.
    """

    turn_id: str
    session_id: str
    reply: Reply
    explanation: Explanation | None = None
    guest_token: str | None = None


class TurnOutcome(Frozen):
    """A finished turn. ``body`` is a :class:`TurnAnswer` as JSON when ``http_status`` is 200, else a problem."""

    turn_id: str
    session_id: str
    http_status: int
    body: dict[str, Any]


class PartReadiness(TypedDict):
    """Whether one part can work now, and one sentence about it."""

    ready: bool
    detail: str


Emit = Callable[[TurnEvent], Awaitable[None]]


class TurnService(Protocol):
    """The workflow, as the API sees it."""

    @property
    def sessions(self) -> SessionStore: ...

    @property
    def clock(self) -> Clock:
        """The real clock."""
        ...

    async def take_turn(self, request: TurnRequest, principal: Principal, emit: Emit | None) -> TurnOutcome:
        """Answer one message, once per idempotency key.

        ``emit`` is told of the events ``route``, ``plan``, ``task`` and ``sentence`` as they happen;
        what ends the turn (``reply`` or ``error``) is the outcome's and is sent by the API.
        A caller that goes away cancels this call. Raises any ``FrontlineError``.
        """
        ...

    async def readiness(self) -> Mapping[str, PartReadiness]:
        """Each part's readiness, by name."""
        ...
