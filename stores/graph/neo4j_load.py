"""The bulk load into a Neo4j server: in batches, each of which can be repeated, under a lease that only one load holds.

The load goes over the graph as it is: what is not in it is removed, what is there already is set, what is missing
is created. So a second run changes nothing, and one that was cut off is mended by the next. Nodes without a label of
the schema, and relationships of other types than its, stay as they are.
"""

import asyncio
import contextlib
import itertools
import time
import uuid
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import neo4j

from contracts.base import Value
from contracts.errors import FrontlineError, StoreError
from contracts.graph import GraphSchema
from stores.graph import neo4j_values
from stores.graph.bulk_rows import Load, LoadEdges, LoadNodes
from stores.graph.names import LOAD_RECORD, quoted, unique_properties
from stores.graph.neo4j_calls import Neo4jCalls

#: Rows a transaction: large enough that its fixed cost is small, small enough for a server of little memory.
BATCH_ROWS = 5_000
#: A statement's time limit, in s. Removing nodes of many relationships takes longest.
STATEMENT_TIMEOUT_S = 120.0
#: How long a load that gives no sign of life keeps others out, in s: longer than its longest silence.
LEASE_S = 150
#: How often one that waits for another load looks again, in s.
_WAIT_S = 0.5

_CLAIM = (
    f"MERGE (record:`{LOAD_RECORD}` {{name: 'load'}}) SET record._lock = true REMOVE record._lock"
    " WITH record WHERE record.holder IS NULL OR record.holder = $holder OR record.held_until < datetime()"
    " SET record.holder = $holder, record.held_until = datetime() + duration({seconds: $lease_s}), record.digest = null"
    " RETURN 1 AS held"
)
_KEEP = (
    f"MATCH (record:`{LOAD_RECORD}` {{name: 'load', holder: $holder}})"
    " SET record.held_until = datetime() + duration({seconds: $lease_s}) RETURN 1 AS held"
)
_FINISH = (
    f"MATCH (record:`{LOAD_RECORD}` {{name: 'load', holder: $holder}})"
    " SET record.digest = $digest REMOVE record.holder, record.held_until RETURN 1 AS held"
)

_LET_GO = (
    f"MATCH (record:`{LOAD_RECORD}` {{name: 'load', holder: $holder}})"
    " REMOVE record.holder, record.held_until RETURN 1 AS held"
)
_TAKEN_OVER = "another load of the graph has taken over: this one stops"

_Item = TypeVar("_Item")


class Neo4jLoad:
    """One load. Its instances are used once."""

    def __init__(self, calls: Neo4jCalls, schema: GraphSchema) -> None:
        self._calls = calls
        self._schema = schema
        self._holder = uuid.uuid4().hex

    async def run(self, load: Load, digest: str | None) -> None:
        """Make the graph what ``load`` says. Raises ``StoreError``; what was done until then stays."""
        await self._declare()
        await self._claim()
        try:
            await self._put(load)
            if not await self._held(_FINISH, digest=digest):
                raise StoreError(_TAKEN_OVER)
        except BaseException:
            # Best effort, so that the next need not wait for the lease to run out.
            with contextlib.suppress(FrontlineError, asyncio.CancelledError):
                await self._held(_LET_GO)
            raise

    async def _put(self, load: Load) -> None:
        given = {item.label: item for item in load.nodes}
        for label in self._schema.labels:
            await self._remove_nodes(label, given.get(label))
        for item in load.nodes:
            await self._free_unique_values(item)
            await self._set_nodes(item)
        edges = {(item.type, item.start_label, item.end_label): item for item in load.edges}
        for relationship in self._schema.relationships:
            triple = (relationship.type, relationship.start, relationship.end)
            if triple in edges:
                await self._set_relationships(edges[triple])
            else:
                await self._remove_all_relationships(*triple)

    async def _declare(self) -> None:
        """Constraints on all unique properties: they are indexes too, so that batches find their nodes."""

        async def work(session: neo4j.AsyncSession, left_s: float) -> None:
            for label, name in unique_properties(self._schema):
                text = f"FOR (node:{quoted(label)}) REQUIRE node.{quoted(name)} IS UNIQUE"
                await _consumed(session, f"CREATE CONSTRAINT IF NOT EXISTS {text}", left_s)
            await _consumed(session, f"CALL db.awaitIndexes({int(STATEMENT_TIMEOUT_S)})", left_s)

        await self._calls.writing(work, STATEMENT_TIMEOUT_S, "load's unique constraints")

    async def _claim(self) -> None:
        """Wait until no other load runs, then hold the lease. Raises ``StoreError`` when that takes too long."""
        give_up_at_s = time.monotonic() + 2 * LEASE_S
        while not await self._held(_CLAIM, lease_s=LEASE_S):
            if time.monotonic() >= give_up_at_s:
                raise StoreError("another load of the graph is running: try again when it has ended")
            await asyncio.sleep(_WAIT_S)

    async def _remove_nodes(self, label: str, given: LoadNodes | None) -> None:
        """Nodes of the label that the load doesn't have. DETACH takes along what hangs on them."""
        node = f"(node:{quoted(label)})"
        if given is None:
            await self._until_none_is_left(f"MATCH {node}")
            return
        key = quoted(given.key)
        await self._until_none_is_left(f"MATCH {node} WHERE node.{key} IS NULL")
        found = await self._found(f"MATCH {node} RETURN node.{key} AS key")
        surplus = {row["key"] for row in found} - {row[given.key] for row in given.rows}
        text = f"UNWIND $rows AS row MATCH (node:{quoted(label)} {{{key}: row}}) DETACH DELETE node"
        for batch in _batches(surplus):
            await self._in_lease(text, rows=[neo4j_values.parameter(value) for value in batch])

    async def _until_none_is_left(self, matched: str) -> None:
        text = f"{matched} WITH node LIMIT {BATCH_ROWS} DETACH DELETE node"
        while (await self._in_lease(text)).nodes_deleted:
            pass

    async def _free_unique_values(self, nodes: LoadNodes) -> None:
        """Take unique values from the nodes that are to have others: two nodes may be about to swap theirs."""
        for label, name in unique_properties(self._schema):
            if label != nodes.label or name == nodes.key:
                continue
            text = (
                f"UNWIND $rows AS row MATCH (node:{quoted(label)} {{{quoted(nodes.key)}: row.key}})"
                f" WHERE row.value IS NULL OR node.{quoted(name)} <> row.value REMOVE node.{quoted(name)}"
            )
            for batch in _batches(nodes.rows):
                rows = [{"key": row[nodes.key], "value": row.get(name)} for row in batch]
                await self._in_lease(text, rows=[_parameters(row) for row in rows])

    async def _set_nodes(self, nodes: LoadNodes) -> None:
        key = quoted(nodes.key)
        text = f"UNWIND $rows AS row MERGE (node:{quoted(nodes.label)} {{{key}: row.{key}}}) SET node = row"
        for batch in _batches(nodes.rows):
            await self._in_lease(text, rows=[_parameters(row) for row in batch])

    async def _set_relationships(self, edges: LoadEdges) -> None:
        start_key, end_key = quoted(edges.start_key), quoted(edges.end_key)
        found = await self._found(
            f"MATCH (start_node:{quoted(edges.start_label)})-[link:{quoted(edges.type)}]->"
            f"(end_node:{quoted(edges.end_label)})"
            f" RETURN start_node.{start_key} AS start, end_node.{end_key} AS end, count(*) AS times"
        )
        surplus = [(row["start"], row["end"]) for row in found if not _is_wanted(row, edges)]
        ends = (
            f"UNWIND $rows AS row MATCH (start_node:{quoted(edges.start_label)} {{{start_key}: row.start}})"
            f" MATCH (end_node:{quoted(edges.end_label)} {{{end_key}: row.end}})"
        )
        link = f"(start_node)-[link:{quoted(edges.type)}]->(end_node)"
        for batch in _batches(surplus):
            rows = [_parameters({"start": start, "end": end}) for start, end in batch]
            await self._in_lease(f"{ends} MATCH {link} DELETE link", rows=rows)
        there = {(row["start"], row["end"]) for row in found} - set(surplus)
        # What is there already is right, unless it has properties, which may have changed.
        todo = [
            (pair, own) for pair, own in edges.pairs.items() if own or pair not in there or self._has_properties(edges)
        ]
        for some in _batches(todo):
            rows = [
                _parameters({"start": start, "end": end}) | {"properties": _parameters(own)}
                for (start, end), own in some
            ]
            await self._in_lease(f"{ends} MERGE {link} SET link = row.properties", rows=rows)

    def _has_properties(self, edges: LoadEdges) -> bool:
        triple = (edges.type, edges.start_label, edges.end_label)
        return any(
            relationship.properties
            for relationship in self._schema.relationships
            if (relationship.type, relationship.start, relationship.end) == triple
        )

    async def _remove_all_relationships(self, type_: str, start: str, end: str) -> None:
        matched = f"MATCH (:{quoted(start)})-[link:{quoted(type_)}]->(:{quoted(end)})"
        text = f"{matched} WITH link LIMIT {BATCH_ROWS} DELETE link"
        while (await self._in_lease(text)).relationships_deleted:
            pass

    async def _found(self, text: str) -> list[dict[str, Any]]:
        async def work(session: neo4j.AsyncSession, left_s: float) -> list[dict[str, Any]]:
            result = await session.run(neo4j.Query(text, timeout=left_s))
            return [neo4j_values.row(record) async for record in result]

        return await self._calls.reading(work, STATEMENT_TIMEOUT_S)

    async def _in_lease(self, text: str, **parameters: Any) -> neo4j.SummaryCounters:
        """Run one statement in a transaction of its own that also prolongs the lease, or fails without it."""

        async def work(session: neo4j.AsyncSession, left_s: float) -> neo4j.SummaryCounters:
            async with await session.begin_transaction(timeout=left_s) as transaction:
                kept = await transaction.run(_KEEP, {"holder": self._holder, "lease_s": LEASE_S})
                if await kept.single() is None:
                    raise StoreError(_TAKEN_OVER)
                counters = (await (await transaction.run(text, parameters)).consume()).counters
                await transaction.commit()
                return counters

        return await self._calls.writing(work, STATEMENT_TIMEOUT_S, "load")

    async def _held(self, text: str, **parameters: Any) -> bool:
        """Run a statement about the lease; whether this load holds it."""

        async def work(session: neo4j.AsyncSession, left_s: float) -> bool:
            query = neo4j.Query(text, timeout=left_s)
            result = await session.run(query, {"holder": self._holder, **parameters})
            return await result.single() is not None

        return await self._calls.writing(work, STATEMENT_TIMEOUT_S, "load")


async def _consumed(session: neo4j.AsyncSession, text: str, left_s: float) -> None:
    await (await session.run(neo4j.Query(text, timeout=left_s))).consume()


def _is_wanted(row: dict[str, Any], edges: LoadEdges) -> bool:
    return row["times"] == 1 and (row["start"], row["end"]) in edges.pairs


def _parameters(row: dict[str, Value]) -> dict[str, Any]:
    return {name: neo4j_values.parameter(value) for name, value in row.items()}


def _batches(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while batch := list(itertools.islice(iterator, BATCH_ROWS)):
        yield batch
