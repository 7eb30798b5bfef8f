"""The content of a bulk load, checked against the schema and in itself before an engine sees any of it.

Embedded engines keep what a server would refuse (a text in a number's place, a property nobody declared), and a
server takes a load in parts; so the checks are ours, the same for all of them, and a load that fails one of them
has changed nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from contracts.base import Duration, Point, Value
from contracts.errors import BadRequestError, StoreError
from contracts.graph import GraphEdges, GraphNodes, GraphSchema, LabelSchema, PropertySchema, PropertyType
from stores.graph.moments import as_kept


@dataclass(frozen=True)
class LoadNodes:
    """All nodes of one label; each row has its key and no missing value."""

    label: str
    key: str
    rows: list[dict[str, Value]]


@dataclass(frozen=True)
class LoadEdges:
    """All relationships of one type between two labels: (start key, end key) to the properties, none missing."""

    type: str
    start_label: str
    start_key: str
    end_label: str
    end_key: str
    pairs: dict[tuple[Value, Value], dict[str, Value]]


@dataclass(frozen=True)
class Load:
    nodes: list[LoadNodes]
    edges: list[LoadEdges]


def checked_load(nodes: Iterable[GraphNodes], edges: Iterable[GraphEdges], schema: GraphSchema) -> Load:
    """The load, each relationship once, numbers as the schema types them, moments without an offset as UTC.

    Raises ``BadRequestError`` when a row or a pair doesn't fit the schema, and ``StoreError`` when a unique value
    appears twice or a pair names a node that isn't there.
    """
    checked: dict[str, LoadNodes] = {}
    for item in nodes:
        if item.label in checked:
            raise BadRequestError(f"{item.label} is loaded twice: give all its rows at once")
        checked[item.label] = LoadNodes(item.label, item.key, _rows(item, schema))
    values = {
        (label, name): _unique_values(checked[label], name) if label in checked else set()
        for label, declared in schema.labels.items()
        for name, property_ in declared.properties.items()
        if property_.unique
    }
    relationships: dict[tuple[str, str, str], LoadEdges] = {}
    for edge in edges:
        triple = (edge.type, edge.start_label, edge.end_label)
        known = relationships.setdefault(triple, LoadEdges(*_ends(edge, schema), pairs={}))
        if (known.start_key, known.end_key) != (edge.start_key, edge.end_key):
            raise BadRequestError(f"{edge.type} is loaded by two pairs of keys: give one")
        _add_pairs(known, edge, schema, values)
    return Load(list(checked.values()), list(relationships.values()))


def _rows(nodes: GraphNodes, schema: GraphSchema) -> list[dict[str, Value]]:
    label = schema.labels.get(nodes.label)
    if label is None or not _is_unique(label, nodes.key):
        raise BadRequestError(f"{nodes.label}.{nodes.key} is no unique property in the schema")
    rows = []
    for row in nodes.rows:
        if row.get(nodes.key) is None:
            raise BadRequestError(f"a row of {nodes.label} has no {nodes.key}")
        rows.append(_properties(row, label.properties, nodes.label, f"{nodes.label} {row[nodes.key]}"))
    return rows


def _is_unique(label: LabelSchema, name: str) -> bool:
    return name in label.properties and label.properties[name].unique


def _unique_values(nodes: LoadNodes, name: str) -> set[Value]:
    seen: set[Value] = set()
    for row in nodes.rows:
        value = row.get(name)
        if value is not None and value in seen:
            raise StoreError(f"the graph can't be loaded: {nodes.label}.{name} is unique, and {value!r} stands twice")
        if value is not None:
            seen.add(value)
    return seen


def _ends(edge: GraphEdges, schema: GraphSchema) -> tuple[str, str, str, str, str]:
    declared = any(
        (relationship.type, relationship.start, relationship.end) == (edge.type, edge.start_label, edge.end_label)
        for relationship in schema.relationships
    )
    if not declared:
        raise BadRequestError(f"({edge.start_label})-[:{edge.type}]->({edge.end_label}) is not in the schema")
    for label, key in ((edge.start_label, edge.start_key), (edge.end_label, edge.end_key)):
        if not _is_unique(schema.labels[label], key):
            raise BadRequestError(f"{label}.{key} is no unique property in the schema")
    return edge.type, edge.start_label, edge.start_key, edge.end_label, edge.end_key


def _add_pairs(
    known: LoadEdges, edge: GraphEdges, schema: GraphSchema, values: Mapping[tuple[str, str], set[Value]]
) -> None:
    triple = (edge.type, edge.start_label, edge.end_label)
    declared = next(item for item in schema.relationships if (item.type, item.start, item.end) == triple)
    if edge.properties and len(edge.properties) != len(edge.pairs):
        raise BadRequestError(f"{edge.type} has {len(edge.pairs)} pairs and {len(edge.properties)} maps of properties")
    starts, ends = values[edge.start_label, edge.start_key], values[edge.end_label, edge.end_key]
    for position, pair in enumerate(edge.pairs):
        start, end = pair
        if start not in starts or end not in ends:
            raise StoreError(
                f"the graph can't be loaded: {edge.type} goes from {start!r} to {end!r}, which names"
                f" a {edge.start_label} or a {edge.end_label} that isn't there"
            )
        where = f"{edge.type} from {start!r} to {end!r}"
        given = edge.properties[position] if edge.properties else {}
        properties = _properties(given, declared.properties, edge.type, where)
        if known.pairs.setdefault((start, end), properties) != properties:
            raise BadRequestError(f"{where} stands twice, with other properties")


def _properties(
    row: Mapping[str, Any], declared: Mapping[str, PropertySchema], owner: str, where: str
) -> dict[str, Value]:
    properties: dict[str, Value] = {}
    for name, value in row.items():
        if name not in declared:
            raise BadRequestError(f"{owner}.{name} is not in the schema")
        if value is not None:
            properties[name] = _of_type(value, declared[name].type, f"{where}: {name}")
    return properties


def _of_type(value: Any, expected: PropertyType, where: str) -> Value:
    match expected, value:
        case PropertyType.STRING, str():
            return value
        case PropertyType.BOOLEAN, bool():
            return value
        case ((PropertyType.INTEGER | PropertyType.FLOAT), bool()):
            pass
        case PropertyType.INTEGER, int():
            return value
        case PropertyType.FLOAT, int() | float() | Decimal():
            return float(value)
        case PropertyType.DATETIME, datetime():
            return as_kept(value)
        case PropertyType.DATE, date() if not isinstance(value, datetime):
            return value
        case PropertyType.DURATION, Duration():
            return value
        case PropertyType.POINT, Point(srid=4326, z=None):
            return value
    raise BadRequestError(f"{where} is a {type(value).__name__}, the schema says {expected.value}")
