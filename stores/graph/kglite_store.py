"""The business graph in this process: kglite, one file with a write-ahead log, one process at a time."""

import asyncio
import contextlib
import functools
import logging
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import kglite

from contracts.base import Argument, Row
from contracts.errors import FrontlineError, OutOfTimeError, OverLimitError, StoreError
from contracts.graph import (
    GraphEdges,
    GraphNodes,
    GraphSchema,
    ProvenQuery,
    ProvenWrite,
    ReadLimits,
    WriteLimits,
    WriteOutcome,
)
from stores.graph.bulk_rows import Load, LoadEdges, checked_load
from stores.graph.kglite_names import stored_name
from stores.graph.kglite_values import KgliteRows, special_assignments, split_row
from stores.graph.names import LOAD_RECORD, NUMBER_RECORD, WRITE_RECORD, quoted, require_names, unique_properties
from stores.graph.outcomes import MAX_ROWS, replay, replayed_outcome, request_digest, require_key, stored_text
from stores.graph.parameters import Parameters, query_parameters

logger = logging.getLogger(__name__)

#: How often a successor looks whether its predecessor has let go of the file, in s.
LOCK_POLL_S = 0.1
#: Limits of our own small reads and of each statement of a load, in ms.
OWN_READ_TIMEOUT_MS = 2_000
LOAD_TIMEOUT_MS = 60_000

#: The engine's own counts of what a statement created and deleted.
_ENTITY_COUNTS = ("nodes_created", "nodes_deleted", "relationships_created", "relationships_deleted")

_STORED = f"MATCH (record:`{WRITE_RECORD}` {{key: $key}}) RETURN record.request AS request, record.outcome AS outcome"
_STORE = f"CREATE (record:`{WRITE_RECORD}`) SET record.key = $key, record.request = $request, record.outcome = $outcome"


class KgliteStore:
    """:class:`contracts.graph.GraphStore` on kglite.

    Reads run side by side in threads on the engine's read-only path, each bounded by its ``ReadLimits``; a
    running one can't be cancelled, it ends by its own time-out. Changes run one at a time, each in a transaction
    that no other commit can overtake.
    """

    def __init__(self, path: Path, session: kglite.Session, schema: GraphSchema) -> None:
        self._path = path
        self._session = session
        self._schema = schema
        self._rows_of = KgliteRows(schema)
        self._one_writer = threading.Lock()
        self._running: dict[str, set[asyncio.Task[WriteOutcome]]] = {}
        self._closed = False

    @classmethod
    async def open(cls, path: Path, *, schema: GraphSchema, wait_s: float = 0.0) -> Self:
        """Open or create the graph for this process alone, every write flushed to the disk before it returns.

        ``wait_s``: how long to wait for another process to let go of it (a successor waits for the replica
        that is draining or was killed). Raises ``StoreError`` when the file is still held then, can't be
        read, or its log was found damaged; of a commit that a crash cut off, only a warning is logged.
        """
        require_names(schema)
        kglite.set_query_warning_policy("silent")  # they are for people at a prompt, and printed once a query
        store = cls(path, await asyncio.to_thread(_open_session, path, wait_s), schema)
        await asyncio.to_thread(store._declare)
        return store

    async def load(
        self, nodes: Iterable[GraphNodes], edges: Iterable[GraphEdges], *, digest: str | None = None
    ) -> None:
        """Make the graph exactly these nodes and relationships, in one transaction.

        ``digest`` names what was loaded (see :meth:`loaded_digest`). Readers see the old graph until the load
        is whole, and a crash leaves the old one. Raises ``BadRequestError`` when a row doesn't fit the
        schema, and ``StoreError`` when a unique value appears twice or a pair names a node that isn't there.
        """
        await asyncio.to_thread(self._load, nodes, edges, digest)

    async def loaded_digest(self) -> str | None:
        """The digest given to the last load, ``None`` when there was none: whether to load at all."""
        text = f"MATCH (record:`{LOAD_RECORD}`) RETURN record.digest AS digest"
        rows = await asyncio.to_thread(self._rows, text, {}, ReadLimits(timeout_ms=OWN_READ_TIMEOUT_MS))
        return str(rows[0]["digest"]) if rows and rows[0]["digest"] is not None else None

    async def is_empty(self) -> bool:
        """Whether the graph holds no node of the schema's labels."""
        for label in self._schema.labels:
            text = f"MATCH (node:{quoted(label)}) RETURN 1 AS one LIMIT 1"
            if await asyncio.to_thread(self._rows, text, {}, ReadLimits(timeout_ms=OWN_READ_TIMEOUT_MS)):
                return False
        return True

    async def read(self, query: ProvenQuery, arguments: Mapping[str, Argument], limits: ReadLimits) -> tuple[Row, ...]:
        """Rows of a proven query, in its order; dates, moments, durations and points as our own types.

        ``$customer_id`` is filled from ``query.principal``, never from ``arguments``. Raises
        ``BadRequestError`` (an argument missing, unknown or mistyped), ``DeniedError`` (about a customer, and
        the principal is none), ``OutOfTimeError``, ``OverLimitError`` (rows or work) or ``StoreError``.
        """
        parameters = query_parameters(query, arguments)
        return await asyncio.to_thread(self._rows, query.embedded_text or query.text, parameters, limits)

    async def write(
        self, write: ProvenWrite, arguments: Mapping[str, Argument], idempotency_key: str, limits: WriteLimits
    ) -> WriteOutcome:
        """Carry out a proven write once under its key; see :class:`contracts.graph.GraphStore`.

        ``write.lock_text`` isn't run: there is one writer at a time, and it sees all that those before committed.
        """
        require_key(idempotency_key)
        parameters = query_parameters(write, arguments)
        running = asyncio.create_task(asyncio.to_thread(self._write, write, parameters, idempotency_key, limits))
        self._running.setdefault(idempotency_key, set()).add(running)
        running.add_done_callback(functools.partial(self._forget, idempotency_key))
        return await asyncio.shield(running)  # a caller who goes away ends nothing, and `written` still waits for it

    async def written(self, idempotency_key: str) -> WriteOutcome | None:
        """What was stored under the key; ``None``: nothing, and what may still have been running is over."""
        timeout_s = WriteLimits().timeout_ms / 1000
        if running := self._running.get(idempotency_key):
            _, still = await asyncio.wait(set(running), timeout=timeout_s)
            if still:
                raise OutOfTimeError("the change under this key is still running")
        return await asyncio.to_thread(self._written, idempotency_key)

    def _forget(self, key: str, ended: asyncio.Task[WriteOutcome]) -> None:
        if not ended.cancelled():
            ended.exception()  # looked at, or asyncio complains when the caller has gone away
        self._running[key].discard(ended)
        if not self._running[key]:
            del self._running[key]

    async def ready(self) -> bool:
        """Whether the engine answers a trivial read."""
        try:
            rows = await asyncio.to_thread(
                self._rows, "RETURN 1 AS one", {}, ReadLimits(timeout_ms=OWN_READ_TIMEOUT_MS)
            )
        except (StoreError, OutOfTimeError):
            return False
        return rows == ({"one": 1},)

    async def close(self) -> None:
        """Write a checkpoint and let go of the file; a second call does nothing. Raises ``StoreError``."""
        if self._closed:
            return
        self._closed = True
        try:
            await asyncio.to_thread(self._close)
        except Exception as error:
            raise StoreError(f"{self._path.name} can't be closed: {error}") from error

    def _close(self) -> None:
        with self._one_writer:  # a change that has begun ends first
            self._session.close()

    def _rows(self, text: str, parameters: Parameters, limits: ReadLimits) -> tuple[Row, ...]:
        self._require_open()
        if limits.timeout_ms <= 0:  # to the engine 0 means no limit at all
            raise OutOfTimeError("no time is left for the query")
        with _our_errors("query", limits.timeout_ms):
            # `cypher` is the engine's read-only path: a statement that writes is refused there, whatever was proven.
            found: list[dict[str, Any]] = self._session.cypher(
                text,
                params=parameters,
                timeout_ms=limits.timeout_ms,
                max_work_units=limits.max_work_units,
                row_limit=limits.max_rows + 1,
            ).to_list()
        if len(found) > limits.max_rows:
            raise OverLimitError(f"the query has more than {limits.max_rows} rows")
        return self._rows_of.rows(text, found)

    def _write(self, write: ProvenWrite, parameters: Parameters, key: str, limits: WriteLimits) -> WriteOutcome:
        request = request_digest(write, parameters)
        give_up_at_s = time.monotonic() + limits.timeout_ms / 1000
        with self._writing(limits.timeout_ms), _our_errors("change", limits.timeout_ms):
            stored = self._stored(key)
            if stored is not None:
                return replay(stored["request"], stored["outcome"], request)
            left_ms = int((give_up_at_s - time.monotonic()) * 1000)
            if left_ms <= 0:
                raise OutOfTimeError("no time is left for the change")
            with self._session.begin() as transaction:  # an error rolls it back
                outcome = self._change(transaction, write, parameters, limits, left_ms)
                transaction.cypher(_STORE, params={"key": key, "request": request, "outcome": stored_text(outcome)})
            return outcome

    def _change(
        self,
        transaction: kglite.SessionTransaction,
        write: ProvenWrite,
        parameters: Parameters,
        limits: WriteLimits,
        left_ms: int,
    ) -> WriteOutcome:
        text = write.embedded_text or write.text
        result = transaction.cypher(text, params=parameters, timeout_ms=left_ms, row_limit=MAX_ROWS + 1)
        found = result.to_list()
        changed: dict[str, int] = result.stats or {}
        entities = sum(changed.get(name, 0) for name in _ENTITY_COUNTS)
        properties = changed.get("properties_set", 0) + changed.get("properties_removed", 0)
        if entities + properties > limits.max_changes:
            raise OverLimitError(f"the change would touch more than {limits.max_changes} things: nothing was changed")
        if len(found) > MAX_ROWS:
            raise OverLimitError(f"the change would bring more than {MAX_ROWS} rows: nothing was changed")
        return WriteOutcome(rows=self._rows_of.rows(text, found), changes=entities or properties)

    def _written(self, key: str) -> WriteOutcome | None:
        timeout_ms = WriteLimits().timeout_ms
        with self._writing(timeout_ms), _our_errors("question", timeout_ms):
            stored = self._stored(key)
        return None if stored is None else replayed_outcome(stored["outcome"])

    def _stored(self, key: str) -> dict[str, Any] | None:
        found = self._session.cypher(_STORED, params={"key": key}, timeout_ms=OWN_READ_TIMEOUT_MS).to_list()
        return found[0] if found else None

    @contextlib.contextmanager
    def _writing(self, timeout_ms: float) -> Iterator[None]:
        """Be the one writer. Raises ``OutOfTimeError`` when another is for longer than ``timeout_ms``."""
        if timeout_ms <= 0 or not self._one_writer.acquire(timeout=timeout_ms / 1000):
            raise OutOfTimeError("other changes took all the time that there was")
        try:
            self._require_open()
            yield
        finally:
            self._one_writer.release()

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self._path.name} is closed")

    def _load(self, nodes: Iterable[GraphNodes], edges: Iterable[GraphEdges], digest: str | None) -> None:
        load = checked_load(nodes, edges, self._schema)
        with self._writing(LOAD_TIMEOUT_MS), _our_errors("load", LOAD_TIMEOUT_MS):
            with self._session.begin() as transaction:
                self._put(load, _Statements(transaction), digest)
            self._session.save()  # the next start reads the checkpoint instead of the load's long log

    def _put(self, load: Load, run: "_Statements", digest: str | None) -> None:
        # The keys of changes stay: what was done once must not be done again because data was loaded.
        run(f"MATCH (node) WHERE NOT node:`{WRITE_RECORD}` DETACH DELETE node")
        for item in load.nodes:
            special = special_assignments("node", self._schema.labels[item.label].properties)
            create = f"UNWIND $rows AS row CREATE (node:{quoted(item.label)}) SET node += row.plain{special}"
            run(create, rows=[split_row(row) for row in item.rows])
        for edge in load.edges:
            self._put_relationships(edge, run)
        run(f"CREATE (:`{LOAD_RECORD}` {{digest: $digest}})", digest=digest)

    def _put_relationships(self, edge: LoadEdges, run: "_Statements") -> None:
        declared = next(
            relationship.properties
            for relationship in self._schema.relationships
            if (relationship.type, relationship.start, relationship.end)
            == (edge.type, edge.start_label, edge.end_label)
        )
        setting = f" SET link += row.plain{special_assignments('link', declared)}" if declared else ""
        changed = run(
            "UNWIND $rows AS row"
            f" MATCH (start_node:{quoted(edge.start_label)} {{{quoted(stored_name(edge.start_key))}: row.start_key}})"
            f" MATCH (end_node:{quoted(edge.end_label)} {{{quoted(stored_name(edge.end_key))}: row.end_key}})"
            f" CREATE (start_node)-[link:{quoted(edge.type)}]->(end_node){setting}",
            rows=[
                {"start_key": start, "end_key": end, **split_row(properties)}
                for (start, end), properties in edge.pairs.items()
            ],
        )
        created = changed.get("relationships_created", 0)
        if created != len(edge.pairs):
            raise StoreError(f"{edge.type}: of {len(edge.pairs)} pairs {created} became relationships")

    def _declare(self) -> None:
        """Make the schema known: its unique properties as constraints, which are indexes too, and all its properties.

        A pattern may name a property only if a node of the label has had it once, so each label gets a node with
        all of them for the length of one statement.
        """
        own = [(f"`{WRITE_RECORD}`", "key")]
        for label, name in own + [
            (quoted(label), stored_name(name)) for label, name in unique_properties(self._schema)
        ]:
            text = f"CREATE CONSTRAINT IF NOT EXISTS FOR (node:{label}) REQUIRE node.`{name}` IS UNIQUE"
            try:
                self._session.execute(text, timeout_ms=LOAD_TIMEOUT_MS)
            except Exception as error:
                raise StoreError(f"{label}.{name} can't be made unique: {error}") from error
        with _our_errors("schema's declaration", LOAD_TIMEOUT_MS), self._session.begin() as transaction:
            # The engine numbers new nodes and, opened anew, begins with a number that may be taken still: then it
            # refuses to create any. It goes on from the highest that it has met, so it is shown one above all.
            (found,) = transaction.cypher("MATCH (node) RETURN max(node.id) AS highest").to_list()
            above_all = {"id": (found["highest"] or 0) + 1}
            transaction.cypher(f"CREATE (node:`{NUMBER_RECORD}` {{id: $id}}) DELETE node", params=above_all)
            for label, declared in self._schema.labels.items():
                nothing = dict.fromkeys(map(stored_name, declared.properties))
                transaction.cypher(
                    f"CREATE (node:{quoted(label)}) SET node += $row DELETE node", params={"row": nothing}
                )


class _Statements:
    """Runs statements of one transaction and returns what each changed."""

    def __init__(self, transaction: kglite.SessionTransaction) -> None:
        self._transaction = transaction

    def __call__(self, text: str, **parameters: Any) -> dict[str, int]:
        result = self._transaction.cypher(text, params=parameters, timeout_ms=LOAD_TIMEOUT_MS)
        return result.stats or {}


@contextlib.contextmanager
def _our_errors(what: str, timeout_ms: float) -> Iterator[None]:
    """Ours in place of what the engine raises: its own family, and built-in types for what it can't convert."""
    try:
        yield
    except FrontlineError:
        raise
    except kglite.CypherTimeoutError as error:
        raise OutOfTimeError(f"the {what} took longer than {timeout_ms:.0f} ms") from error
    except Exception as error:
        if isinstance(error, kglite.CypherExecutionError) and "max_work_units" in str(error):
            raise OverLimitError(f"the {what} asks for more work than one question may") from error
        raise StoreError(f"the graph could not carry out the {what}") from error


def _open_session(path: Path, wait_s: float) -> kglite.Session:
    """The engine's durable session, once its lock is free and only if its log is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _require_whole_log(path)
    give_up_at_s = time.monotonic() + wait_s
    while True:
        try:
            with warnings.catch_warnings(record=True) as raised:
                warnings.simplefilter("always")
                session = kglite.open_session(str(path), durable="full")
            break
        except kglite.WriterLeaseHeldError as error:
            if time.monotonic() >= give_up_at_s:
                holder = error.holder.get("pid") or "unknown"
                raise StoreError(
                    f"{path.name} is held by another process (id {holder}): only one may use it at a time"
                ) from error
            time.sleep(LOCK_POLL_S)
        except Exception as error:
            raise StoreError(f"{path.name} can't be opened: {error}") from error
    # The engine goes on from the part of a damaged log that it can read, and warns once. We don't go on, and
    # the session is dropped without a checkpoint; what it set aside keeps later starts from going on as well.
    _require_whole_log(path)
    for warning in raised:
        logger.warning("graph %s: %s", path.name, warning.message)
    return session


def _require_whole_log(path: Path) -> None:
    for aside in sorted(path.parent.glob(f"{path.name}-wal.quarantine-*")):
        logger.error("graph %s: its log was damaged; committed changes were set aside in %s", path.name, aside.name)
        raise StoreError(
            f"the log of {path.name} was damaged and committed changes stand in {aside.name}: restore a backup, or"
            " load the graph anew; move that file away to go on without them"
        )
