"""The business graph on a Neo4j server, by the official driver.

A text is proven before it comes here; the server's plan of it is looked at once more, and reads run in READ mode
under the server's own time limit. A change runs in one transaction: claim the key, take the locks, check and
change, store the outcome, commit. So it happens once under its key, whoever dies in between.
"""

import asyncio
import logging
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, Self, TypeVar

import neo4j
from cachetools import LRUCache

from contracts.base import Argument, Row
from contracts.errors import FrontlineError, OutOfTimeError, OverLimitError, StoreError
from contracts.graph import (
    CUSTOMER_PARAMETER,
    GraphEdges,
    GraphNodes,
    GraphSchema,
    ProvenQuery,
    ProvenWrite,
    ReadLimits,
    WriteLimits,
    WriteOutcome,
)
from stores.graph import neo4j_values
from stores.graph.bulk_rows import checked_load
from stores.graph.names import LOAD_RECORD, WRITE_RECORD, quoted, require_names
from stores.graph.neo4j_calls import Neo4jCalls, Work
from stores.graph.neo4j_errors import is_lost_connection
from stores.graph.neo4j_load import Neo4jLoad
from stores.graph.neo4j_revival import Revival
from stores.graph.outcomes import MAX_ROWS, replay, replayed_outcome, request_digest, require_key, stored_text
from stores.graph.parameters import Parameters, query_parameters
from stores.graph.read_plan import READ_ONLY, foreign_operators

logger = logging.getLogger(__name__)

#: The first version that has `CALL (x) { … }`, which proven texts are printed with.
OLDEST_VERSION = (5, 23)

_ADDRESS = re.compile(r"(bolt|neo4j)(\+s|\+ssc)?://")
_NO_ADDRESS = "the address of the graph database is not valid: it looks like neo4j://HOST:7687 or bolt://HOST:7687"

#: The driver's own limits, in s. All are short, because a call is bounded by its own time anyway, and what
#: waits behind a dead address should fail while there is time for a second try.
_CONNECT_TIMEOUT_S = 1.5
#: Longer than to connect. Who waits for a connection of a full pool is not always woken when the server dies, and
#: asks anew after this.
_ACQUIRE_TIMEOUT_S = 2.0
#: A connection that was idle for longer is tried before it is used: firewalls drop such without a word.
_LIVENESS_CHECK_S = 10.0
_LIFETIME_S = 1_800.0

_OPEN_TRY_S = 5.0
_OPEN_PAUSE_S = 0.25
_OWN_TIMEOUT_S = 2.0
#: A server's first query may take this long on a machine that is busy with everything else.
_FIRST_QUERY_S = 30.0
_CLOSE_TIMEOUT_S = 5.0
#: How many texts' plans are remembered as looked at.
_KNOWN_TEXTS = 4_096

_UNIQUE_KEYS = "`frontline_keys_of_changes`"
_CLAIM = (
    f"MERGE (record:`{WRITE_RECORD}` {{key: $key}}) ON CREATE SET record.request = $request"
    " RETURN record.request AS request, record.outcome AS outcome"
)
_STORE = f"MATCH (record:`{WRITE_RECORD}` {{key: $key}}) SET record.outcome = $outcome, record.stored_at = datetime()"


_Result = TypeVar("_Result")


class Neo4jStore:
    """:class:`contracts.graph.GraphStore` on Neo4j 5. Any number of processes may have one open."""

    def __init__(self, driver: neo4j.AsyncDriver, calls: Neo4jCalls, schema: GraphSchema) -> None:
        self._driver = driver
        self._calls = calls
        self._schema = schema
        self._closed = False
        self._keys_are_unique = False
        self._plans: LRUCache[str, str] = LRUCache(_KNOWN_TEXTS)
        self._last_read: tuple[str, dict[str, Any]] | None = None
        self._revival = Revival(self._ask_again)
        customer = (
            f"MATCH (node:{quoted(schema.customer_label)} {{{quoted(schema.customer_key)}: ${CUSTOMER_PARAMETER}}})"
        )
        # All changes for one customer run one after another, whatever their conditions read of the customer's.
        # An absent property set and removed takes the lock and leaves nothing; REMOVE alone takes none.
        self._lock_customer = f"{customer} SET node._lock = true REMOVE node._lock"

    @classmethod
    async def open(
        cls,
        uri: str,
        *,
        user: str,
        password: str,
        database: str | None = None,
        schema: GraphSchema,
        pool_size: int = 50,
        wait_s: float = 0.0,
    ) -> Self:
        """Connect to the server and make sure that it can be used; nothing is written there.

        ``database`` defaults to the user's own.
        ``uri``: ``neo4j://`` routes within a cluster, ``bolt://`` speaks to one server; ``+s`` encrypts.
        ``pool_size`` bounds the connections to each server. ``wait_s``: how long to wait for a server that
        can't be reached. Raises ``StoreError`` with what to do when it can't be reached then, or refuses the
        user, the database or its age.
        """
        require_names(schema)
        if not _ADDRESS.match(uri):
            raise StoreError(_NO_ADDRESS)
        try:
            driver = neo4j.AsyncGraphDatabase.driver(
                uri,
                auth=(user, password),
                connection_timeout=_CONNECT_TIMEOUT_S,
                connection_acquisition_timeout=_ACQUIRE_TIMEOUT_S,
                liveness_check_timeout=_LIVENESS_CHECK_S,
                max_connection_lifetime=_LIFETIME_S,
                max_connection_pool_size=pool_size,
                notifications_min_severity="OFF",
                telemetry_disabled=True,
            )
        except Exception as error:  # the driver raises several of its own and ValueError
            raise StoreError(_NO_ADDRESS) from error
        routed = uri.startswith("neo4j")
        bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager() if routed else None
        try:
            home = await _first_answer(Neo4jCalls(driver, database, bookmarks), wait_s)
        except BaseException:
            await driver.close()
            raise
        return cls(driver, Neo4jCalls(driver, home, bookmarks), schema)

    async def load(
        self, nodes: Iterable[GraphNodes], edges: Iterable[GraphEdges], *, digest: str | None = None
    ) -> None:
        """Make the graph exactly these nodes and relationships, as far as the schema's labels go.

        In batches: readers see some of the new beside the old, and :meth:`loaded_digest` is ``None``, until the
        load is whole. A load that was cut off is mended by the next. Only one runs at a time: another waits
        for it. Raises ``BadRequestError`` when a row doesn't fit the schema, and ``StoreError`` when a unique
        value appears twice or a pair names a node that isn't there; then nothing was changed.
        """
        self._require_open()
        load = await asyncio.to_thread(lambda: checked_load(nodes, edges, self._schema))
        await Neo4jLoad(self._calls, self._schema).run(load, digest)

    async def loaded_digest(self) -> str | None:
        """The digest given to the last load, ``None`` when there was none or it is not whole."""
        text = f"MATCH (record:`{LOAD_RECORD}`) RETURN record.digest AS digest"
        rows = await self._own_rows(text)
        return str(rows[0]["digest"]) if rows and rows[0]["digest"] is not None else None

    async def is_empty(self) -> bool:
        """Whether the database holds no node of the schema's labels."""
        for label in self._schema.labels:
            if await self._own_rows(f"MATCH (node:{quoted(label)}) RETURN 1 AS one LIMIT 1"):
                return False
        return True

    async def read(self, query: ProvenQuery, arguments: Mapping[str, Argument], limits: ReadLimits) -> tuple[Row, ...]:
        """Rows of a proven query, in its order; dates, moments, durations and points as our own types.

        ``$customer_id`` is filled from ``query.principal``, never from ``arguments``. ``max_work_units`` has no
        meaning here: the server bounds time and memory. Raises ``BadRequestError`` (an argument missing,
        unknown or mistyped), ``DeniedError`` (about a customer, and the principal is none), ``OutOfTimeError``,
        ``OverLimitError`` (rows or memory) or ``StoreError``.
        """
        parameters = _driver_parameters(query_parameters(query, arguments))
        self._require_there()
        _require_time(limits.timeout_ms, "query")

        async def work(session: neo4j.AsyncSession, left_s: float) -> tuple[Row, ...]:
            await self._require_plan(session, left_s, query.text, parameters, changes=False)
            result = await session.run(neo4j.Query(query.text, timeout=left_s), parameters)
            return _rows(await result.fetch(limits.max_rows + 1))

        try:
            rows = await self._calls.reading(work, limits.timeout_ms / 1000, fetch_size=limits.max_rows + 1)
        except StoreError as error:
            self._revive_after(error)
            raise
        self._last_read = (query.text, parameters)
        if len(rows) > limits.max_rows:
            raise OverLimitError(f"the query has more than {limits.max_rows} rows")
        return rows

    async def write(
        self, write: ProvenWrite, arguments: Mapping[str, Argument], idempotency_key: str, limits: WriteLimits
    ) -> WriteOutcome:
        """Carry out a proven write once under its key; see :class:`contracts.graph.GraphStore`."""
        require_key(idempotency_key)
        parameters = query_parameters(write, arguments)
        request = request_digest(write, parameters)
        self._require_there()
        _require_time(limits.timeout_ms, "change")

        async def work(session: neo4j.AsyncSession, left_s: float) -> WriteOutcome:
            # All of it is safe to repeat: what had been committed is found under the key.
            given = _driver_parameters(parameters)
            await self._require_plan(session, left_s, write.text, given, changes=True)
            async with await session.begin_transaction(timeout=left_s) as transaction:
                claimed = await _single(transaction, _CLAIM, key=idempotency_key, request=request)
                if claimed["outcome"] is not None:
                    return replay(claimed["request"], claimed["outcome"], request)
                outcome = await self._change(transaction, write, given, limits)
                await _run(transaction, _STORE, key=idempotency_key, outcome=stored_text(outcome))
                await transaction.commit()
                return outcome

        return await self._claiming(work, limits.timeout_ms / 1000)

    async def written(self, idempotency_key: str) -> WriteOutcome | None:
        """What was stored under the key; ``None``: nothing, and what may still have been running is over."""
        self._require_open()

        async def work(session: neo4j.AsyncSession, left_s: float) -> WriteOutcome | None:
            async with await session.begin_transaction(timeout=left_s) as transaction:
                # To claim the key waits for the transaction that holds it, so that "nothing" is the last word.
                claimed = await _single(transaction, _CLAIM, key=idempotency_key, request="")
                await transaction.rollback()
                return None if claimed["outcome"] is None else replayed_outcome(claimed["outcome"])

        return await self._claiming(work, WriteLimits().timeout_ms / 1000)

    async def ready(self) -> bool:
        """Whether the server answers a trivial read, and isn't being warmed after it was lost."""
        if self._revival.is_running:
            return False
        try:
            return await self._own_rows("RETURN 1 AS one") == ({"one": 1},)
        except FrontlineError:
            return False

    async def close(self) -> None:
        """Close all connections; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        await self._revival.stop()
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                await self._driver.close()
        except TimeoutError:
            logger.warning("the graph database did not answer the farewell; its connections were dropped")

    async def _require_unique_keys(self, session: neo4j.AsyncSession, left_s: float) -> None:
        """Without the constraint two transactions could claim one key. Made by who changes, never by who only reads."""
        if not self._keys_are_unique:
            text = f"CREATE CONSTRAINT {_UNIQUE_KEYS} IF NOT EXISTS FOR (r:`{WRITE_RECORD}`) REQUIRE r.key IS UNIQUE"
            await (await session.run(neo4j.Query(text, timeout=left_s))).consume()
            self._keys_are_unique = True

    async def _claiming(self, work: Work[_Result], timeout_s: float) -> _Result:
        """Do ``work`` that claims a key, once keys are unique."""

        async def unique_first(session: neo4j.AsyncSession, left_s: float) -> _Result:
            await self._require_unique_keys(session, left_s)
            return await work(session, left_s)

        try:
            return await self._calls.writing(unique_first, timeout_s)
        except (StoreError, OutOfTimeError) as error:
            self._keys_are_unique = False  # the server may come back with another database
            self._revive_after(error)
            raise

    async def _change(
        self, transaction: neo4j.AsyncTransaction, write: ProvenWrite, given: dict[str, Any], limits: WriteLimits
    ) -> WriteOutcome:
        if CUSTOMER_PARAMETER in given:
            await _run(transaction, self._lock_customer, **{CUSTOMER_PARAMETER: given[CUSTOMER_PARAMETER]})
        if write.lock_text:
            await (await transaction.run(write.lock_text, given)).consume()
        result = await transaction.run(write.text, given)
        rows = _rows(await result.fetch(MAX_ROWS + 1))
        counters = (await result.consume()).counters
        entities = (
            counters.nodes_created
            + counters.nodes_deleted
            + counters.relationships_created
            + counters.relationships_deleted
        )
        if entities + counters.properties_set > limits.max_changes:
            raise OverLimitError(f"the change would touch more than {limits.max_changes} things: nothing was changed")
        if len(rows) > MAX_ROWS:
            raise OverLimitError(f"the change would bring more than {MAX_ROWS} rows: nothing was changed")
        return WriteOutcome(rows=rows, changes=entities or counters.properties_set)

    async def _require_plan(
        self, session: neo4j.AsyncSession, left_s: float, text: str, parameters: dict[str, Any], *, changes: bool
    ) -> None:
        """Raises ``StoreError`` when the server would do more for the text than it may; asks once a text."""
        known = f"{changes}{text}"
        if known not in self._plans:
            explain = neo4j.Query(f"EXPLAIN {text}", timeout=left_s)
            summary = await (await session.run(explain, parameters)).consume()
            foreign = foreign_operators(summary.plan, changes=changes)
            if not changes and summary.query_type != READ_ONLY:
                foreign.append(f"query type {summary.query_type}")
            self._plans[known] = ", ".join(foreign)
        if foreign_text := self._plans[known]:
            logger.error("the server's plan of a proven text holds %s: %s", foreign_text, text)
            raise StoreError("the graph's plan of the query holds what no query needs: it was not run")

    async def _own_rows(self, text: str) -> tuple[Row, ...]:
        self._require_open()

        async def work(session: neo4j.AsyncSession, left_s: float) -> tuple[Row, ...]:
            result = await session.run(neo4j.Query(text, timeout=left_s))
            return _rows(await result.fetch(1))

        return await self._calls.reading(work, _OWN_TIMEOUT_S)

    async def _ask_again(self) -> None:
        """Repeat the last read, given the time that a server's first query takes."""
        text, parameters = self._last_read or ("RETURN 1 AS one", {})

        async def work(session: neo4j.AsyncSession, left_s: float) -> None:
            await (await session.run(neo4j.Query(text, timeout=left_s), parameters)).consume()

        await self._calls.reading(work, _FIRST_QUERY_S)

    def _revive_after(self, error: Exception) -> None:
        cause = error.__cause__
        if isinstance(cause, Exception) and is_lost_connection(cause) and not isinstance(error, OutOfTimeError):
            self._revival.begin()

    def _require_there(self) -> None:
        self._require_open()
        if self._revival.is_running:
            raise StoreError("the graph database can't be reached; it is being looked for")

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("the graph database's store is closed")


async def _first_answer(calls: Neo4jCalls, wait_s: float) -> str:
    """The name of the database that answers, once one does and is young enough."""

    async def work(session: neo4j.AsyncSession, left_s: float) -> tuple[str, str]:
        summary = await (await session.run(neo4j.Query("RETURN 1 AS one", timeout=left_s))).consume()
        return summary.database or "neo4j", summary.server.agent

    give_up_at_s = time.monotonic() + wait_s
    while True:
        try:
            database, agent = await calls.reading(work, _OPEN_TRY_S)
            break
        except (StoreError, OutOfTimeError) as error:
            cause = error.__cause__
            can_pass = isinstance(error, OutOfTimeError) or (isinstance(cause, Exception) and is_lost_connection(cause))
            if not can_pass or time.monotonic() >= give_up_at_s:
                raise _as_store_error(error) from error
        await asyncio.sleep(_OPEN_PAUSE_S)
    version = re.match(r"Neo4j/(\d+)\.(\d+)", agent)
    if version and (int(version[1]), int(version[2])) < OLDEST_VERSION:
        oldest = ".".join(map(str, OLDEST_VERSION))
        raise StoreError(f"the graph database is {agent}: it must be at least version {oldest}")
    return database


def _as_store_error(error: FrontlineError) -> StoreError:
    if isinstance(error, StoreError):
        return error
    return StoreError("the graph database does not answer: start it, or correct its address in the settings")


async def _run(transaction: neo4j.AsyncTransaction, text: str, **parameters: Any) -> None:
    await (await transaction.run(text, parameters)).consume()


async def _single(transaction: neo4j.AsyncTransaction, text: str, **parameters: Any) -> neo4j.Record:
    return await (await transaction.run(text, parameters)).single(strict=True)


def _rows(records: Iterable[neo4j.Record]) -> tuple[Row, ...]:
    return tuple(map(neo4j_values.row, records))


def _driver_parameters(parameters: Parameters) -> dict[str, Any]:
    return {
        name: [neo4j_values.parameter(item) for item in value]
        if isinstance(value, list)
        else neo4j_values.parameter(value)
        for name, value in parameters.items()
    }


def _require_time(timeout_ms: int, what: str) -> None:
    if timeout_ms <= 0:  # to the server 0 means no limit at all
        raise OutOfTimeError(f"no time is left for the {what}")
