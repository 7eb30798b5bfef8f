"""The business graph in this process: kglite, one file with a write-ahead log, one process at a time."""

import asyncio
import logging
import re
import time
import warnings
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, Self

import kglite

from contracts.base import Row, Value
from contracts.errors import BadRequestError, OutOfTimeError, OverLimitError, StoreError
from contracts.graph import GraphEdges, GraphNodes, GraphSchema, ProvenQuery, ReadLimits
from stores.graph.bulk_rows import checked_pairs, checked_rows
from stores.graph.parameters import query_parameters

logger = logging.getLogger(__name__)

#: How often a successor looks whether its predecessor has let go of the file, in s.
LOCK_POLL_S = 0.1
#: Limits of our own small reads and of each statement of a load, in ms.
OWN_READ_TIMEOUT_MS = 2_000
LOAD_TIMEOUT_MS = 60_000

#: A name that may stand in a query's text between backticks. No label of a schema begins with an underscore,
#: so the load's own record can't be named by a proven query.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_LOAD_RECORD = "_LoadRecord"


class KgliteStore:
    """:class:`contracts.graph.GraphStore` on kglite.

    Reads run side by side in threads on the engine's read-only path, each bounded by its ``ReadLimits``; a
    running one can't be cancelled, it ends by its own time-out.
    """

    def __init__(self, path: Path, session: kglite.Session, schema: GraphSchema) -> None:
        self._path = path
        self._session = session
        self._schema = schema
        self._closed = False

    @classmethod
    async def open(cls, path: Path, *, schema: GraphSchema, wait_s: float = 0.0) -> Self:
        """Open or create the graph for this process alone, every write flushed to the disk before it returns.

        ``wait_s``: how long to wait for another process to let go of it (a successor waits for the replica
        that is draining or was killed). Raises ``StoreError`` when the file is still held then, can't be
        read, or its log was found damaged; of a commit that a crash cut off, only a warning is logged.
        """
        for name in (*schema.labels, *(name for label in schema.labels.values() for name in label.properties)):
            _quoted(name)
        kglite.set_query_warning_policy("silent")  # they are for people at a prompt, and printed once a query
        store = cls(path, await asyncio.to_thread(_open_session, path, wait_s), schema)
        await asyncio.to_thread(store._declare_unique_properties)
        return store

    async def load(
        self, nodes: Iterable[GraphNodes], edges: Iterable[GraphEdges], *, digest: str | None = None
    ) -> None:
        """Make the graph exactly these nodes and relationships, in one transaction.

        ``digest`` names what was loaded (see :meth:`loaded_digest`). Readers see the old graph until the load
        is whole, and a crash leaves the old one. Raises ``BadRequestError`` when a row doesn't fit the
        schema, and ``StoreError`` when a unique value appears twice or a pair names a node that isn't there.
        """
        await asyncio.to_thread(self._load, list(nodes), list(edges), digest)

    async def loaded_digest(self) -> str | None:
        """The digest given to the last load, ``None`` when there was none: whether to load at all."""
        text = f"MATCH (record:`{_LOAD_RECORD}`) RETURN record.digest AS digest"
        rows = await asyncio.to_thread(self._rows, text, {}, ReadLimits(timeout_ms=OWN_READ_TIMEOUT_MS))
        return str(rows[0]["digest"]) if rows and rows[0]["digest"] is not None else None

    async def read(self, query: ProvenQuery, arguments: Mapping[str, Value], limits: ReadLimits) -> tuple[Row, ...]:
        """Rows of a proven query, in its order; dates and moments as Python's own.

        ``$customer_id`` is filled from ``query.principal``, never from ``arguments``. Raises
        ``BadRequestError`` (an argument missing, unknown or mistyped), ``DeniedError`` (about a customer, and
        the principal is none), ``OutOfTimeError``, ``OverLimitError`` (rows or work) or ``StoreError``.
        """
        parameters = query_parameters(query, arguments)
        return await asyncio.to_thread(self._rows, query.text, parameters, limits)

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
            await asyncio.to_thread(self._session.close)
        except Exception as error:
            raise StoreError(f"{self._path.name} can't be closed: {error}") from error

    def _rows(self, text: str, parameters: dict[str, Value], limits: ReadLimits) -> tuple[Row, ...]:
        if self._closed:
            raise StoreError(f"{self._path.name} is closed")
        if limits.timeout_ms <= 0:  # to the engine 0 means no limit at all
            raise OutOfTimeError("no time is left for the query")
        try:
            # `cypher` is the engine's read-only path: a statement that writes is refused there, whatever was proven.
            rows: list[Row] = self._session.cypher(
                text,
                params=parameters,
                timeout_ms=limits.timeout_ms,
                max_work_units=limits.max_work_units,
                row_limit=limits.max_rows + 1,
            ).to_list()
        except kglite.CypherTimeoutError as error:
            raise OutOfTimeError(f"the query took longer than {limits.timeout_ms} ms") from error
        except Exception as error:  # the engine raises its own family, and built-in types for what it can't convert
            if isinstance(error, kglite.CypherExecutionError) and "max_work_units" in str(error):
                raise OverLimitError("the query asks for more work than one question may") from error
            raise StoreError("the graph could not answer the query") from error
        if len(rows) > limits.max_rows:
            raise OverLimitError(f"the query has more than {limits.max_rows} rows")
        for row in rows:
            for column, cell in row.items():
                _require_value(column, cell)
        return tuple(rows)

    def _load(self, nodes: list[GraphNodes], edges: list[GraphEdges], digest: str | None) -> None:
        rows = [checked_rows(item, self._schema) for item in nodes]
        pairs = [checked_pairs(item, self._schema) for item in edges]
        if self._closed:
            raise StoreError(f"{self._path.name} is closed")
        try:
            with self._session.begin() as transaction:
                run = _Statements(transaction)
                run("MATCH (node) DETACH DELETE node")
                for item, its_rows in zip(nodes, rows, strict=True):
                    run(f"UNWIND $rows AS row CREATE (node:{_quoted(item.label)}) SET node += row", rows=its_rows)
                for edge, its_pairs in zip(edges, pairs, strict=True):
                    _add_relationships(run, edge, its_pairs)
                run(f"CREATE (:`{_LOAD_RECORD}` {{digest: $digest}})", digest=digest)
            self._session.save()  # the next start reads the checkpoint instead of the load's long log
        except StoreError:
            raise
        except Exception as error:
            raise StoreError(f"the graph can't be loaded: {error}") from error

    def _declare_unique_properties(self) -> None:
        """Constraints on all unique properties. They are indexes too: lookups by them don't scan."""
        for label, declared in self._schema.labels.items():
            for name, prop in declared.properties.items():
                if prop.unique:
                    text = f"FOR (node:{_quoted(label)}) REQUIRE node.{_quoted(name)} IS UNIQUE"
                    try:
                        self._session.execute(f"CREATE CONSTRAINT IF NOT EXISTS {text}", timeout_ms=LOAD_TIMEOUT_MS)
                    except Exception as error:
                        raise StoreError(f"{label}.{name} can't be made unique: {error}") from error


class _Statements:
    """Runs statements of one transaction and returns what each changed."""

    def __init__(self, transaction: kglite.SessionTransaction) -> None:
        self._transaction = transaction

    def __call__(self, text: str, **parameters: Any) -> dict[str, int]:
        result = self._transaction.cypher(text, params=parameters, timeout_ms=LOAD_TIMEOUT_MS)
        return result.stats or {}


def _add_relationships(run: _Statements, edge: GraphEdges, pairs: list[dict[str, Value]]) -> None:
    changed = run(
        "UNWIND $pairs AS pair"
        f" MATCH (start_node:{_quoted(edge.start_label)} {{{_quoted(edge.start_key)}: pair.start_key}})"
        f" MATCH (end_node:{_quoted(edge.end_label)} {{{_quoted(edge.end_key)}: pair.end_key}})"
        f" CREATE (start_node)-[:{_quoted(edge.type)}]->(end_node)",
        pairs=pairs,
    )
    created = changed.get("relationships_created", 0)
    if created != len(pairs):
        raise StoreError(
            f"{edge.type}: of {len(pairs)} pairs {created} became relationships:"
            f" the others name a {edge.start_label} or a {edge.end_label} that isn't there"
        )


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


def _quoted(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadRequestError(f"{name!r} can't be the name of a label, a relationship or a property")
    return f"`{name}`"


def _require_value(column: str, cell: object) -> None:
    cells = cell if isinstance(cell, list) else [cell]
    for item in cells:
        if item is not None and not isinstance(item, str | int | float | bool | date | datetime):
            raise StoreError(f"the query's column {column} holds a {type(item).__name__}, which no row can")
