"""Sessions, journal and leases in one SQLite file that several processes of one machine may share."""

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from contracts.clock import Clock, SystemClock
from contracts.errors import ConflictError, LeaseLostError, NotFoundError
from contracts.sessions import Lease, SessionState, TurnRecord, TurnStatus
from stores.sessions.encoding import decode_state, encode_state
from stores.sessions.sqlite_file import SqliteFile

#: Scripts that lead from one schema version to the next. Moments are whole microseconds since 1970, UTC.
SCHEMA_VERSIONS = (
    """
    CREATE TABLE sessions (
        session_id TEXT PRIMARY KEY,
        owner      TEXT NOT NULL,
        updated_us INTEGER NOT NULL,
        state      TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX sessions_by_owner ON sessions (owner, updated_us);
    CREATE TABLE turns (
        sequence        INTEGER PRIMARY KEY AUTOINCREMENT,
        turn_id         TEXT NOT NULL UNIQUE,
        session_id      TEXT NOT NULL REFERENCES sessions (session_id),
        owner           TEXT NOT NULL,
        idempotency_key TEXT,
        fingerprint     TEXT NOT NULL,
        message         TEXT NOT NULL,
        status          TEXT NOT NULL,
        received_us     INTEGER NOT NULL,
        answered_us     INTEGER,
        lease_token     INTEGER,
        http_status     INTEGER,
        result          TEXT,
        UNIQUE (owner, idempotency_key)
    );
    CREATE INDEX turns_by_session ON turns (session_id, sequence);
    CREATE TABLE leases (
        session_id TEXT PRIMARY KEY,
        holder     TEXT,
        token      INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OPEN = (TurnStatus.RECEIVED, TurnStatus.RUNNING)


class SqliteSessionStore:
    """:class:`contracts.sessions.SessionStore` on SQLite.

    Every call raises ``StoreError`` when the file can't be read or written, or stays locked for seconds.
    """

    def __init__(self, file: SqliteFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock

    @classmethod
    async def open(cls, path: Path | str, *, clock: Clock | None = None) -> Self:
        """Open or create the file. ``clock`` tells when leases run out; it is the real one unless given.

        Raises ``StoreError`` when the file was written by a newer release, or can't be opened.
        """
        return cls(
            await SqliteFile.open(Path(path), versions=SCHEMA_VERSIONS),
            clock or SystemClock(),
        )

    async def create_session(self, state: SessionState) -> None:
        """Keep a new session. Raises ``ConflictError`` when its id is taken."""

        def work(connection: sqlite3.Connection) -> None:
            try:
                connection.execute(
                    "INSERT INTO sessions (session_id, owner, updated_us, state) VALUES (?, ?, ?, ?)",
                    (
                        state.session_id,
                        state.owner,
                        _microseconds(state.updated_at),
                        encode_state(state),
                    ),
                )
            except sqlite3.IntegrityError as error:
                raise ConflictError("there is a session with this id already") from error

        await self._file.write(work)

    async def get_session(self, session_id: str, owner: str) -> SessionState:
        return await self._file.read(lambda connection: _session(connection, session_id, owner))

    async def list_sessions(self, owner: str, *, limit: int, before: datetime | None = None) -> list[SessionState]:
        """The owner's sessions, latest update first; with ``before``, those updated earlier than that."""

        def work(connection: sqlite3.Connection) -> list[SessionState]:
            rows = connection.execute(
                "SELECT state FROM sessions WHERE owner = ? AND (? IS NULL OR updated_us < ?)"
                " ORDER BY updated_us DESC, session_id LIMIT ?",
                (owner, before_us, before_us, limit),
            )
            return [decode_state(row["state"]) for row in rows]

        before_us = None if before is None else _microseconds(before)
        return await self._file.read(work)

    async def end_session(self, session_id: str, owner: str, at: datetime) -> SessionState:
        """Mark the session ended; ending an ended one returns it unchanged."""

        def work(connection: sqlite3.Connection) -> SessionState:
            state = _session(connection, session_id, owner)
            if state.ended_at is not None:
                return state
            ended = state.model_copy(update={"ended_at": at, "updated_at": at})
            _store_state(connection, ended)
            return ended

        return await self._file.write(work)

    async def receive_turn(self, turn: TurnRecord) -> TurnRecord:
        """Journal a new turn, or return the one already kept under the owner's idempotency key or the turn's id.

        Raises ``NotFoundError`` when the session isn't the owner's, and ``ConflictError`` when the key was
        used with another fingerprint or the session has ended.
        """

        def work(connection: sqlite3.Connection) -> TurnRecord:
            kept = connection.execute(
                "SELECT * FROM turns WHERE turn_id = ? OR (owner = ? AND idempotency_key = ?)",
                (turn.turn_id, turn.owner, turn.idempotency_key),
            ).fetchone()
            if kept is not None:
                if kept["owner"] != turn.owner or kept["fingerprint"] != turn.fingerprint:
                    raise ConflictError("this idempotency key was used with another request")
                return _turn(kept)
            if _session(connection, turn.session_id, turn.owner).ended_at is not None:
                raise ConflictError("the session has ended")
            connection.execute(
                "INSERT INTO turns (turn_id, session_id, owner, idempotency_key, fingerprint, message, status,"
                " received_us, answered_us, lease_token, http_status, result)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                _columns(turn),
            )
            return turn

        return await self._file.write(work)

    async def get_turn(self, turn_id: str, owner: str) -> TurnRecord:
        def work(connection: sqlite3.Connection) -> TurnRecord:
            row = connection.execute("SELECT * FROM turns WHERE turn_id = ? AND owner = ?", (turn_id, owner)).fetchone()
            if row is None:
                raise NotFoundError("there is no such turn")
            return _turn(row)

        return await self._file.read(work)

    async def list_turns(self, session_id: str, owner: str, *, limit: int) -> list[TurnRecord]:
        """The session's latest ``limit`` turns, oldest of them first."""

        def work(connection: sqlite3.Connection) -> list[TurnRecord]:
            _session(connection, session_id, owner)
            rows = connection.execute(
                "SELECT * FROM turns WHERE session_id = ? ORDER BY sequence DESC LIMIT ?",
                (session_id, limit),
            ).fetchall()
            return [_turn(row) for row in reversed(rows)]

        return await self._file.read(work)

    async def acquire_lease(self, session_id: str, holder: str, ttl_ms: int) -> Lease | None:
        """The session's lease with a new, larger token; ``None`` while another holder's is valid.

        The holder itself may acquire anew at any time; its earlier token is then stale.
        """

        def work(connection: sqlite3.Connection) -> Lease | None:
            # The time is read here, with the write lock held: waiting for the lock must not shorten anyone's lease.
            now_ms = self._now_ms()
            row = connection.execute(
                "INSERT INTO leases (session_id, holder, token, expires_ms) VALUES (?, ?, 1, ?)"
                " ON CONFLICT (session_id) DO UPDATE SET"
                " holder = excluded.holder, token = token + 1, expires_ms = excluded.expires_ms"
                " WHERE leases.holder IS NULL OR leases.holder = excluded.holder OR leases.expires_ms <= ?"
                " RETURNING token",
                (session_id, holder, now_ms + ttl_ms, now_ms),
            ).fetchone()
            return None if row is None else Lease(session_id=session_id, holder=holder, token=row["token"])

        return await self._file.write(work)

    async def renew_lease(self, lease: Lease, ttl_ms: int) -> None:
        """Prolong it from now on. Raises ``LeaseLostError`` when the token is no longer the session's newest."""

        def work(connection: sqlite3.Connection) -> None:
            _require_lease(connection, lease)
            connection.execute(
                "UPDATE leases SET expires_ms = ? WHERE session_id = ?",
                (self._now_ms() + ttl_ms, lease.session_id),
            )

        await self._file.write(work)

    async def release_lease(self, lease: Lease) -> None:
        """Let go: the next may acquire at once, and this token writes nothing more. A lost lease: nothing happens."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE leases SET holder = NULL WHERE session_id = ? AND holder = ? AND token = ?",
                (lease.session_id, lease.holder, lease.token),
            )

        await self._file.write(work)

    async def check_lease(self, lease: Lease) -> None:
        """Raises ``LeaseLostError`` when the token is no longer the session's newest, or was released."""
        await self._file.read(lambda connection: _require_lease(connection, lease))

    async def start_turn(self, turn_id: str, lease: Lease) -> TurnRecord:
        """Mark the turn running under the lease, a failed one anew and without what it had failed with.

        One that was answered or voided is returned as it is. Raises ``LeaseLostError``, and ``NotFoundError``
        when the turn isn't one of the lease's session.
        """

        def work(connection: sqlite3.Connection) -> TurnRecord:
            _require_lease(connection, lease)
            turn = _turn_of_lease(connection, turn_id, lease)
            if turn.status not in (*_OPEN, TurnStatus.FAILED):
                return turn
            connection.execute(
                "UPDATE turns SET status = ?, lease_token = ?, http_status = NULL, result = NULL, answered_us = NULL"
                " WHERE turn_id = ?",
                (TurnStatus.RUNNING, lease.token, turn_id),
            )
            return turn.model_copy(
                update={
                    "status": TurnStatus.RUNNING,
                    "lease_token": lease.token,
                    "http_status": None,
                    "result": None,
                    "answered_at": None,
                }
            )

        return await self._file.write(work)

    async def unfinished_turns(self, session_id: str) -> list[TurnRecord]:
        """Turns of the session that are running, oldest first (call with its lease held)."""

        def work(connection: sqlite3.Connection) -> list[TurnRecord]:
            rows = connection.execute(
                "SELECT * FROM turns WHERE session_id = ? AND status = ? ORDER BY sequence",
                (session_id, TurnStatus.RUNNING),
            )
            return [_turn(row) for row in rows]

        return await self._file.read(work)

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

        Raises ``LeaseLostError`` and writes nothing when the token is stale. A turn that is over already is
        returned as it is. A session that was ended meanwhile stays ended.
        """

        def work(connection: sqlite3.Connection) -> TurnRecord:
            _require_lease(connection, lease)
            turn = _turn_of_lease(connection, turn_id, lease)
            if turn.status not in _OPEN:
                return turn
            connection.execute(
                "UPDATE turns SET status = ?, lease_token = ?, http_status = ?, result = ?, answered_us = ?"
                " WHERE turn_id = ?",
                (
                    status,
                    lease.token,
                    http_status,
                    _json(result),
                    _microseconds(at),
                    turn_id,
                ),
            )
            if state is not None:
                if state.session_id != lease.session_id:
                    raise NotFoundError("the state is not one of the lease's session")
                kept = _session(connection, state.session_id, state.owner)
                ended = kept.ended_at if state.ended_at is None else state.ended_at
                _store_state(connection, state.model_copy(update={"ended_at": ended}))
            return turn.model_copy(
                update={
                    "status": status,
                    "lease_token": lease.token,
                    "http_status": http_status,
                    "result": result,
                    "answered_at": at,
                }
            )

        return await self._file.write(work)

    async def close(self) -> None:
        """Close the file; a second call does nothing."""
        await self._file.close()

    def _now_ms(self) -> int:
        return _microseconds(self._clock.now()) // 1000


def _session(connection: sqlite3.Connection, session_id: str, owner: str) -> SessionState:
    row = connection.execute(
        "SELECT state FROM sessions WHERE session_id = ? AND owner = ?",
        (session_id, owner),
    ).fetchone()
    if row is None:
        raise NotFoundError("there is no such session")
    return decode_state(row["state"])


def _store_state(connection: sqlite3.Connection, state: SessionState) -> None:
    connection.execute(
        "UPDATE sessions SET updated_us = ?, state = ? WHERE session_id = ?",
        (_microseconds(state.updated_at), encode_state(state), state.session_id),
    )


def _require_lease(connection: sqlite3.Connection, lease: Lease) -> None:
    row = connection.execute("SELECT holder, token FROM leases WHERE session_id = ?", (lease.session_id,)).fetchone()
    if row is None or row["token"] != lease.token or row["holder"] != lease.holder:
        raise LeaseLostError("another request has taken the session over")


def _turn_of_lease(connection: sqlite3.Connection, turn_id: str, lease: Lease) -> TurnRecord:
    row = connection.execute(
        "SELECT * FROM turns WHERE turn_id = ? AND session_id = ?",
        (turn_id, lease.session_id),
    ).fetchone()
    if row is None:
        raise NotFoundError("there is no such turn in the lease's session")
    return _turn(row)


def _columns(turn: TurnRecord) -> tuple[str | int | None, ...]:
    return (
        turn.turn_id,
        turn.session_id,
        turn.owner,
        turn.idempotency_key,
        turn.fingerprint,
        turn.message,
        turn.status,
        _microseconds(turn.received_at),
        None if turn.answered_at is None else _microseconds(turn.answered_at),
        turn.lease_token,
        turn.http_status,
        None if turn.result is None else _json(turn.result),
    )


def _turn(row: sqlite3.Row) -> TurnRecord:
    return TurnRecord(
        turn_id=row["turn_id"],
        session_id=row["session_id"],
        owner=row["owner"],
        idempotency_key=row["idempotency_key"],
        fingerprint=row["fingerprint"],
        message=row["message"],
        status=TurnStatus(row["status"]),
        received_at=_moment(row["received_us"]),
        answered_at=None if row["answered_us"] is None else _moment(row["answered_us"]),
        lease_token=row["lease_token"],
        http_status=row["http_status"],
        result=None if row["result"] is None else json.loads(row["result"]),
    )


def _json(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
