"""Sessions, the journal of turns, and the fenced lease that puts a session's turns in a row."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol

from contracts.base import Frozen, Value
from contracts.turns import Clause, Entity, MissingSlot

#: Raised when a stored state's shape changes; a replica refuses a newer one than its own.
SESSION_STATE_VERSION = 2


class Exchange(Frozen):
    """One past message and its reply, as the session remembers it."""

    turn_id: str
    at: datetime
    message: str
    reply: str


class OfferedValue(Frozen):
    """A value that may be chosen, with the words that were shown beside it."""

    value: Value
    described: str = ""


class OpenQuestion(Frozen):
    """What the assistant asked back: the slot it needs and the clause that waits for it.

    ``offered`` are the values it gave to choose from, in the order they were shown.
    """

    missing: MissingSlot
    clause_text: str
    offered: tuple[OfferedValue, ...] = ()


class OpenOffer(Frozen):
    """What the last reply offered to do, until the next message: a clear yes takes it, anything else voids it.

    ``person``: to hand over ``message``. ``look_up``: to answer ``clauses``, which were too many for one turn.
    """

    kind: Literal["person", "look_up"]
    message: str
    clauses: tuple[Clause, ...] = ()


class Dialogue(Frozen):
    """What a message may refer to. ``latest`` is the last request that was looked up for one value: "and 4712?"
    asks the same of another. ``is_under_way``: something has been said before."""

    open_question: OpenQuestion | None = None
    open_offers: tuple[OpenOffer, ...] = ()
    latest: OpenQuestion | None = None
    is_under_way: bool = False


class SessionState(Frozen):
    """What outlives a turn. Committed together with the turn's journal row."""

    session_id: str
    owner: str
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None = None
    locale: str = "en"
    desk: str | None = None
    history: tuple[Exchange, ...] = ()
    entities: tuple[Entity, ...] = ()
    open_question: OpenQuestion | None = None
    open_offers: tuple[OpenOffer, ...] = ()
    latest: OpenQuestion | None = None
    open_proposal_id: str | None = None
    handover_id: str | None = None
    version: int = SESSION_STATE_VERSION

    @property
    def dialogue(self) -> Dialogue:
        """What the next message may refer to."""
        return Dialogue(
            open_question=self.open_question,
            open_offers=self.open_offers,
            latest=self.latest,
            is_under_way=bool(self.history),
        )


class TurnStatus(StrEnum):
    RECEIVED = "received"
    RUNNING = "running"
    ANSWERED = "answered"
    FAILED = "failed"
    VOIDED = "voided"


class TurnRecord(Frozen):
    """A journal row. ``result`` is the whole JSON body that was answered (a reply or a problem),
    ``http_status`` its status; ``fingerprint`` tells a repeated key with another body."""

    turn_id: str
    session_id: str
    owner: str
    idempotency_key: str | None
    fingerprint: str
    message: str
    status: TurnStatus
    received_at: datetime
    answered_at: datetime | None = None
    lease_token: int | None = None
    http_status: int | None = None
    result: dict[str, Any] | None = None


class Lease(Frozen):
    """The right to write to a session until it runs out. ``token`` grows with every acquisition."""

    session_id: str
    holder: str
    token: int


class SessionStore(Protocol):
    """Sessions, journal and leases. Every read names the owner; what is another's is ``NotFoundError``."""

    async def create_session(self, state: SessionState) -> None: ...

    async def get_session(self, session_id: str, owner: str) -> SessionState: ...

    async def list_sessions(self, owner: str, *, limit: int, before: datetime | None = None) -> list[SessionState]:
        """The owner's sessions, latest update first."""
        ...

    async def end_session(self, session_id: str, owner: str, at: datetime) -> SessionState:
        """Mark the session ended; ending an ended one returns it unchanged."""
        ...

    async def receive_turn(self, turn: TurnRecord) -> TurnRecord:
        """Journal a new turn, or return the one already kept under the owner's idempotency key.

        Raises ``ConflictError`` when that key was used with another fingerprint.
        """
        ...

    async def get_turn(self, turn_id: str, owner: str) -> TurnRecord: ...

    async def list_turns(self, session_id: str, owner: str, *, limit: int) -> list[TurnRecord]:
        """The session's turns, oldest first."""
        ...

    async def acquire_lease(self, session_id: str, holder: str, ttl_ms: int) -> Lease | None:
        """The session's lease with a new, larger token; ``None`` while another holder's is valid."""
        ...

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> None:
        """Prolong it. Raises ``LeaseLostError`` when the token is no longer the session's newest."""
        ...

    async def release_lease(self, lease: Lease) -> None:
        """Let go; a lost lease is let go silently."""
        ...

    async def check_lease(self, lease: Lease) -> None:
        """Raises ``LeaseLostError`` when the token is no longer the session's newest."""
        ...

    async def start_turn(self, turn_id: str, lease: Lease) -> TurnRecord:
        """Mark the turn running under the lease, a failed one anew: a repeat may well succeed.

        One that was answered or voided is returned as it is. Raises ``LeaseLostError``.
        """
        ...

    async def unfinished_turns(self, session_id: str) -> list[TurnRecord]:
        """Turns of the session that are running, oldest first (call with its lease held)."""
        ...

    async def finish_turn(
        self,
        lease: Lease,
        turn_id: str,
        *,
        status: TurnStatus,
        http_status: int,
        result: dict[str, Any],
        at: datetime,
        state: SessionState | None,
    ) -> TurnRecord:
        """Commit the answer and, where given, the session's new state, in one transaction.

        Compare-and-set on the fencing token: raises ``LeaseLostError`` and writes nothing when
        it is stale. A turn that is already answered is returned as it is.
        """
        ...

    async def close(self) -> None: ...
