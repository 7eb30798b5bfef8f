"""Runs texts on one graph: the embedded engine here, a server there. Only proven texts may be given to either.

(The embedded engine's process can be ended by a text, and either reads files of its machine when told to.)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import kglite
import neo4j

from contracts.graph import GraphSchema
from tests.governance.noninterference.graphs import Graph, key_property

Arguments = Mapping[str, Any]

TIMEOUT_MS = 2_000
ROW_LIMIT = 2_000


@dataclass(frozen=True)
class Outcome:
    """Rows in their order, or that the engine raised. Two outcomes are equal when a caller can't tell them apart."""

    rows: tuple[tuple[str, ...], ...] = ()
    raised: bool = False


@dataclass(frozen=True)
class Dump:
    """Everything in a graph: nodes by the engine's id, relationships as sorted tuples of start, type, end, values."""

    nodes: dict[int, tuple[str, str]]
    edges: tuple[tuple[int, str, int, str], ...]


class Engine(Protocol):
    """One loaded graph."""

    def read(self, text: str, arguments: Arguments) -> Outcome: ...

    def try_write(self, text: str, arguments: Arguments) -> tuple[Outcome, Dump]:
        """Run the text, dump what came of it, and undo it."""
        ...

    def dump(self) -> Dump: ...


def load_statements(graph: Graph, schema: GraphSchema) -> list[tuple[str, dict[str, Any]]]:
    """Texts and parameters that build the graph in its order, on either engine.

    Properties that a node lacks are set to null: the embedded engine else makes up a ``name`` and a ``title``, and
    raises where a map names a property that no node has.
    """
    statements: list[tuple[str, dict[str, Any]]] = []
    for node in graph.nodes:
        values = dict.fromkeys(schema.labels[node.label].properties) | node.properties
        statements.append((f"CREATE (n:`{node.label}`) SET n += $values", {"values": values}))
    for edge in graph.edges:
        (start_label, start_key), (end_label, end_key) = edge.start.identity, edge.end.identity
        text = (
            f"MATCH (a:`{start_label}` {{`{key_property(schema, start_label)}`: $start}})"
            f" MATCH (b:`{end_label}` {{`{key_property(schema, end_label)}`: $end}})"
            f" CREATE (a)-[r:`{edge.type}`]->(b) SET r += $values"
        )
        statements.append((text, {"start": start_key, "end": end_key, "values": edge.properties}))
    return statements


def constraint_statements(schema: GraphSchema) -> list[str]:
    return [
        f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:`{label}`) REQUIRE n.`{name}` IS UNIQUE"
        for label, declared in schema.labels.items()
        for name, prop in declared.properties.items()
        if prop.unique
    ]


class KgliteEngine:
    """A graph of its own in a file of its own."""

    def __init__(self, path: Path, graph: Graph, schema: GraphSchema) -> None:
        kglite.set_query_warning_policy("silent")
        self._labels = tuple(schema.labels)
        self._session = kglite.open_session(str(path), durable="full")
        for text in constraint_statements(schema):
            self._session.execute(text)
        with self._session.begin() as transaction:
            for text, values in load_statements(graph, schema):
                transaction.cypher(text, params=values)
        loaded = self.dump()
        if (len(loaded.nodes), len(loaded.edges)) != (len(graph.nodes), len(graph.edges)):
            raise AssertionError(f"{len(graph.nodes)} nodes, {len(graph.edges)} edges to load became {loaded}")

    def read(self, text: str, arguments: Arguments) -> Outcome:
        try:
            rows = self._session.cypher(
                text, params=dict(arguments), timeout_ms=TIMEOUT_MS, row_limit=ROW_LIMIT
            ).to_list()
        except Exception:
            return Outcome(raised=True)
        return Outcome(canonical(rows))

    def try_write(self, text: str, arguments: Arguments) -> tuple[Outcome, Dump]:
        transaction = self._session.begin()
        try:
            rows = transaction.cypher(text, params=dict(arguments), timeout_ms=TIMEOUT_MS).to_list()
        except Exception:
            transaction.rollback()
            return Outcome(raised=True), self.dump()
        try:
            return Outcome(canonical(rows)), _dump(transaction.cypher, self._labels)
        finally:
            transaction.rollback()

    def dump(self) -> Dump:
        return _dump(self._session.cypher, self._labels)

    def close(self) -> None:
        self._session.close()


class Neo4jEngine:
    """A whole database of a server: what was in it goes when a graph is loaded."""

    def __init__(self, driver: neo4j.Driver, schema: GraphSchema) -> None:
        self._driver = driver
        self._schema = schema

    def load(self, graph: Graph) -> None:
        with self._driver.session() as session:
            session.run("MATCH (n) DETACH DELETE n").consume()
            for text in constraint_statements(self._schema):
                session.run(text).consume()
            with session.begin_transaction() as transaction:
                for text, values in load_statements(graph, self._schema):
                    transaction.run(text, values).consume()
                transaction.commit()

    def explain(self, text: str, arguments: Arguments) -> str:
        """The kind of plan ("r", "rw", …) that the server makes of the text."""
        with self._driver.session() as session:
            return str(session.run(f"EXPLAIN {text}", dict(arguments)).consume().query_type)

    def read(self, text: str, arguments: Arguments) -> Outcome:
        with self._driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
            try:
                return Outcome(canonical(session.run(text, dict(arguments)).data()))
            except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError):
                return Outcome(raised=True)

    def try_write(self, text: str, arguments: Arguments) -> tuple[Outcome, Dump]:
        with self._driver.session() as session:
            transaction = session.begin_transaction()
            try:
                rows = transaction.run(text, dict(arguments)).data()
            except (neo4j.exceptions.Neo4jError, neo4j.exceptions.DriverError):
                transaction.close()
                return Outcome(raised=True), self.dump()
            try:
                changed = _server_dump(transaction)
            finally:
                transaction.rollback()
            # Relationships of a node that is gone: the server would refuse to commit that.
            if not {end for edge in changed.edges for end in (edge[0], edge[2])} <= changed.nodes.keys():
                return Outcome(raised=True), self.dump()
            return Outcome(canonical(rows)), changed

    def dump(self) -> Dump:
        with self._driver.session() as session, session.begin_transaction() as transaction:
            return _server_dump(transaction)


def canonical(rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], ...]:
    """Rows as text that two engines write alike: column and value, values with their type, in the rows' order."""
    return tuple(tuple(f"{column}={plain(value)}" for column, value in row.items()) for row in rows)


def plain(value: Any) -> str:
    """One value as text, whatever the engine's driver makes of dates, numbers and nested values."""
    match value:
        case bool() | None:
            return str(value)
        case float() if math.isfinite(value) and value.is_integer() and abs(value) < 1e15:
            return f"{value:.1f}"
        case float():
            return f"{value:.12g}"
        case int():
            return str(value)
        case str():
            return repr(value)
        case list() | tuple():
            return "[" + ", ".join(plain(item) for item in value) + "]"
        case dict():
            return "{" + ", ".join(f"{name}: {plain(value[name])}" for name in sorted(value)) + "}"
        case _:
            return _moment(str(getattr(value, "iso_format", lambda: value)()))


def _moment(text: str) -> str:
    """A date or moment without what engines write differently: the letter between, zero seconds' parts, UTC."""
    text = text.replace(" ", "T").replace("+00:00", "").removesuffix("Z").removesuffix("[UTC]")
    return text.split(".000")[0]


def _dump(run: Any, labels: Sequence[str]) -> Dump:
    nodes: dict[int, tuple[str, str]] = {}
    for label in labels:
        for row in run(f"MATCH (n:`{label}`) RETURN id(n) AS id, properties(n) AS values").to_list():
            values = {name: value for name, value in row["values"].items() if name not in ("id", "title", "type")}
            nodes[row["id"]] = (nodes.get(row["id"], ("", ""))[0] + f":{label}", plain(values))
    edges = [
        (row["start"], row["type"], row["end"], plain({k: v for k, v in row["values"].items() if k != "type"}))
        for row in run(
            "MATCH (a)-[r]->(b) RETURN id(a) AS start, type(r) AS type, id(b) AS end, properties(r) AS values"
        ).to_list()
    ]
    return Dump(nodes, tuple(sorted(edges)))


def _server_dump(transaction: neo4j.Transaction) -> Dump:
    nodes = {
        row["id"]: (":".join(["", *sorted(row["labels"])]), plain(row["values"]))
        for row in transaction.run("MATCH (n) RETURN id(n) AS id, labels(n) AS labels, properties(n) AS values")
    }
    edges = [
        (row["start"], row["type"], row["end"], plain(row["values"]))
        for row in transaction.run(
            "MATCH (a)-[r]->(b) RETURN id(a) AS start, type(r) AS type, id(b) AS end, properties(r) AS values"
        )
    ]
    return Dump(nodes, tuple(sorted(edges)))
