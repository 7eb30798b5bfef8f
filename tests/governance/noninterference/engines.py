"""Runs proven texts on one graph through the stores that the service runs them through, and looks at what came of it.

Reads and changes go by ``GraphStore``: what is tested is what runs, its checks of arguments, its other names for
properties and its transactions included. Past the stores goes only the look at the whole graph, and on a server
what puts the graph back as it was.
"""

import asyncio
import itertools
import math
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

import neo4j

from contracts.base import Row
from contracts.errors import FrontlineError
from contracts.graph import (
    GraphEdges,
    GraphNodes,
    GraphSchema,
    GraphStore,
    ProvenQuery,
    ProvenWrite,
    ReadLimits,
    WriteLimits,
)
from stores.graph.kglite_names import OWN_NAMES
from stores.graph.kglite_store import KgliteStore
from stores.graph.neo4j_store import Neo4jStore
from tests.governance.noninterference.graphs import Graph
from tests.neo4j_server import Neo4jServer

Arguments = Mapping[str, Any]

_Result = TypeVar("_Result")

#: Generous: nothing here is about time, and nothing may hide behind a limit.
READ_LIMITS = ReadLimits(timeout_ms=20_000, max_rows=2_000, max_work_units=50_000_000)
WRITE_LIMITS = WriteLimits(timeout_ms=20_000, max_changes=100_000)


@dataclass(frozen=True)
class Outcome:
    """Rows in their order and how many things changed, or the error.

    Two outcomes are equal when a caller can't tell them apart.
    """

    rows: tuple[tuple[str, ...], ...] = ()
    changes: int = 0
    error: str = ""

    @property
    def raised(self) -> bool:
        return self.error != ""


@dataclass(frozen=True)
class Dump:
    """Everything in a graph: nodes by the engine's id, relationships as sorted tuples of start, type, end, values."""

    nodes: dict[int, tuple[str, str]]
    edges: tuple[tuple[int, str, int, str], ...]


@dataclass(frozen=True)
class Change:
    """What came of a change, and the graph before and after it."""

    outcome: Outcome
    before: Dump
    after: Dump


class Engine(Protocol):
    """One loaded graph."""

    def read(self, query: ProvenQuery, arguments: Arguments) -> Outcome: ...

    def try_write(self, write: ProvenWrite, arguments: Arguments) -> Change:
        """Carry out the change, look at what came of it, and put the graph back as it was."""
        ...

    def dump(self) -> Dump: ...


class KgliteEngine:
    """A graph of its own in a file of its own."""

    def __init__(self, path: Path, graph: Graph, schema: GraphSchema) -> None:
        self._runner = asyncio.Runner()
        self._schema = schema
        self._store = self._runner.run(KgliteStore.open(path, schema=schema))
        self._graph = graph
        self._keys = itertools.count()
        self._now = self._loaded()

    def read(self, query: ProvenQuery, arguments: Arguments) -> Outcome:
        return _read(self._runner, self._store, query, arguments)

    def try_write(self, write: ProvenWrite, arguments: Arguments) -> Change:
        before = self._now
        outcome = _write(self._runner, self._store, write, arguments, f"change {next(self._keys)}")
        after = self.dump()
        if after != before:
            self._now = self._loaded()
        return Change(outcome, before, after)

    def dump(self) -> Dump:
        def rows(text: str) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = self._store._session.cypher(text).to_list()
            return found

        def stored(values: Mapping[str, Any]) -> str:
            return plain({name: value for name, value in values.items() if name not in OWN_NAMES})

        nodes: dict[int, tuple[str, str]] = {}
        for label in self._schema.labels:
            for row in rows(f"MATCH (n:`{label}`) RETURN id(n) AS id, properties(n) AS values"):
                nodes[row["id"]] = (nodes.get(row["id"], ("", ""))[0] + f":{label}", stored(row["values"]))
        edges = [
            (row["start"], row["type"], row["end"], stored(row["values"]))
            for row in rows(
                "MATCH (a)-[r]->(b) RETURN id(a) AS start, type(r) AS type, id(b) AS end, properties(r) AS values"
            )
        ]
        return Dump(nodes, tuple(sorted(edges)))

    def close(self) -> None:
        self._runner.run(self._store.close())
        self._runner.close()

    def _loaded(self) -> Dump:
        self._runner.run(self._store.load(*load_of(self._graph)))
        return _whole(self.dump(), self._graph)


class Neo4jEngine:
    """A whole database of a server: what was in it goes when a graph is loaded."""

    def __init__(self, server: Neo4jServer, driver: neo4j.Driver, schema: GraphSchema) -> None:
        self._runner = asyncio.Runner()
        self._schema = schema
        self._driver = driver
        self._keys = itertools.count()
        opening = Neo4jStore.open(
            server.uri,
            user=server.user,
            password=server.password,
            database=server.database,
            schema=schema,
            wait_s=30.0,
        )
        self._store = self._runner.run(opening)
        self._database = server.database
        self._now = Dump({}, ())
        self._loaded: list[Any] = []

    def load(self, graph: Graph) -> None:
        self._run("MATCH (n) DETACH DELETE n")
        self._runner.run(self._store.load(*load_of(graph)))
        self._now = _whole(self.dump(), graph)
        self._loaded = self._contents()

    def read(self, query: ProvenQuery, arguments: Arguments) -> Outcome:
        return _read(self._runner, self._store, query, arguments)

    def try_write(self, write: ProvenWrite, arguments: Arguments) -> Change:
        before = self._now
        outcome = _write(self._runner, self._store, write, arguments, f"change {id(self)} {next(self._keys)}")
        after = self.dump()
        if after != before:
            self._put_back()
        return Change(outcome, before, after)

    def dump(self) -> Dump:
        nodes, edges = self._contents()
        return Dump(
            {row["id"]: (":".join(["", *sorted(row["labels"])]), plain(row["values"])) for row in nodes},
            tuple(sorted((row["start"], row["type"], row["end"], plain(row["values"])) for row in edges)),
        )

    def close(self) -> None:
        self._runner.run(self._store.close())
        self._runner.close()

    def _contents(self) -> list[Any]:
        """Nodes and relationships as they are, without the store's own records."""
        return [
            self._run(
                "MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH '_')"
                " RETURN id(n) AS id, labels(n) AS labels, properties(n) AS values"
            ),
            self._run(
                "MATCH (a)-[r]->(b) RETURN id(a) AS start, type(r) AS type, id(b) AS end, properties(r) AS values"
            ),
        ]

    def _put_back(self) -> None:
        """The graph as it was loaded, from what was in it then: a load through the store takes longer."""
        nodes, edges = self._loaded
        self._run("MATCH (n) WHERE none(label IN labels(n) WHERE label STARTS WITH '_') DETACH DELETE n")
        new = self._run(
            "UNWIND $nodes AS row CREATE (n:$(row.labels)) SET n = row.values RETURN row.id AS old, id(n) AS id",
            nodes=nodes,
        )
        ids = {row["old"]: row["id"] for row in new}
        self._run(
            "UNWIND $edges AS row MATCH (a) WHERE id(a) = row.start MATCH (b) WHERE id(b) = row.end"
            " CREATE (a)-[r:$(row.type)]->(b) SET r = row.values",
            edges=[row | {"start": ids[row["start"]], "end": ids[row["end"]]} for row in edges],
        )
        self._loaded = self._contents()
        self._now = self.dump()

    def _run(self, text: str, **parameters: Any) -> list[dict[str, Any]]:
        return [
            dict(record) for record in self._driver.execute_query(text, parameters, database_=self._database).records
        ]


def load_of(graph: Graph) -> tuple[list[GraphNodes], list[GraphEdges]]:
    """The graph as the stores load it, each label's nodes and each type's relationships in the graph's order."""
    nodes: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for node in graph.nodes:
        nodes.setdefault((node.label, node.key), []).append(node.properties)
    edges: dict[tuple[str, str, str, str, str], dict[Any, dict[str, Any]]] = {}
    for edge in graph.edges:
        ends = (edge.type, edge.start.label, edge.start.key, edge.end.label, edge.end.key)
        edges.setdefault(ends, {})[edge.start.identity[1], edge.end.identity[1]] = edge.properties
    return (
        [GraphNodes(label=label, key=key, rows=rows) for (label, key), rows in nodes.items()],
        [
            GraphEdges(
                type=type_,
                start_label=start,
                start_key=start_key,
                end_label=end,
                end_key=end_key,
                pairs=list(pairs),
                properties=list(pairs.values()),
            )
            for (type_, start, start_key, end, end_key), pairs in edges.items()
        ],
    )


def _whole(dump: Dump, graph: Graph) -> Dump:
    pairs = {(edge.type, edge.start.identity, edge.end.identity) for edge in graph.edges}
    assert (len(dump.nodes), len(dump.edges)) == (len(graph.nodes), len(pairs)), f"not as loaded: {dump}"
    return dump


def _read(runner: asyncio.Runner, store: GraphStore, query: ProvenQuery, arguments: Arguments) -> Outcome:
    async def reading() -> Outcome:
        return Outcome(canonical(await store.read(query, arguments, READ_LIMITS)))

    return _outcome(runner, reading())


def _write(runner: asyncio.Runner, store: GraphStore, write: ProvenWrite, arguments: Arguments, key: str) -> Outcome:
    async def writing() -> Outcome:
        done = await store.write(write, arguments, key, WRITE_LIMITS)
        return Outcome(canonical(done.rows), done.changes)

    return _outcome(runner, writing())


def _outcome(runner: asyncio.Runner, work: Coroutine[Any, Any, Outcome]) -> Outcome:
    try:
        return runner.run(work)
    except FrontlineError as error:
        return Outcome(error=f"{type(error).__name__}: {error.detail}")


def canonical(rows: Sequence[Row]) -> tuple[tuple[str, ...], ...]:
    """Rows as text that two engines write alike: column and value, columns by name, in the rows' order."""
    return tuple(tuple(f"{column}={plain(row[column])}" for column in sorted(row)) for row in rows)


def plain(value: Any) -> str:
    """One value as text that tells its type, whatever an engine makes of whole floats and the order of maps."""
    match value:
        case float() if math.isfinite(value) and value.is_integer() and abs(value) < 1e15:
            return f"{value:.1f}"
        case float():
            return f"{value:.12g}"
        case None | bool() | int():
            return str(value)
        case str():
            return repr(value)
        case list() | tuple():
            return "[" + ", ".join(plain(item) for item in value) + "]"
        case dict():
            return "{" + ", ".join(f"{name}: {plain(value[name])}" for name in sorted(value)) + "}"
        case datetime() | date():
            return value.isoformat()
        case _:
            return str(getattr(value, "iso_format", lambda: value)())
