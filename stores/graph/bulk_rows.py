"""Rows and pairs of a bulk load, checked against the schema before an engine sees them.

Embedded engines keep what a server would refuse (a text in a number's place, a property nobody declared),
so the check is ours, and the same for all of them.
"""

from datetime import date, datetime

from contracts.base import Value
from contracts.errors import BadRequestError
from contracts.graph import GraphEdges, GraphNodes, GraphSchema, PropertyType


def checked_rows(nodes: GraphNodes, schema: GraphSchema) -> list[dict[str, Value]]:
    """The rows without their missing values, integers in a float's place made floats.

    Raises ``BadRequestError`` when the label, its key or a property isn't in the schema, a key is missing, or
    a value isn't of its property's type.
    """
    label = schema.labels.get(nodes.label)
    if label is None or nodes.key not in label.properties:
        raise BadRequestError(f"{nodes.label}.{nodes.key} is not in the schema")
    checked = []
    for row in nodes.rows:
        if row.get(nodes.key) is None:
            raise BadRequestError(f"a row of {nodes.label} has no {nodes.key}")
        properties: dict[str, Value] = {}
        for name, value in row.items():
            declared = label.properties.get(name)
            if declared is None:
                raise BadRequestError(f"{nodes.label}.{name} is not in the schema")
            if value is not None:
                where = f"{nodes.label} {row[nodes.key]}: {name}"
                properties[name] = _of_type(value, declared.type, where)
        checked.append(properties)
    return checked


def checked_pairs(edges: GraphEdges, schema: GraphSchema) -> list[dict[str, Value]]:
    """The pairs as ``{"start_key": …, "end_key": …}``, each once.

    Raises ``BadRequestError`` when the schema has no such relationship or no such keys.
    """
    declared = any(
        (relationship.type, relationship.start, relationship.end) == (edges.type, edges.start_label, edges.end_label)
        for relationship in schema.relationships
    )
    if not declared:
        raise BadRequestError(f"({edges.start_label})-[:{edges.type}]->({edges.end_label}) is not in the schema")
    for label, key in ((edges.start_label, edges.start_key), (edges.end_label, edges.end_key)):
        if key not in schema.labels[label].properties:
            raise BadRequestError(f"{label}.{key} is not in the schema")
    return [{"start_key": start, "end_key": end} for start, end in dict.fromkeys(edges.pairs)]


def _of_type(value: Value, expected: PropertyType, where: str) -> Value:
    match expected, value:
        case PropertyType.STRING, str():
            return value
        case PropertyType.BOOLEAN, bool():
            return value
        case ((PropertyType.INTEGER | PropertyType.FLOAT), bool()):
            pass
        case PropertyType.INTEGER, int():
            return value
        case PropertyType.FLOAT, int() | float():
            return float(value)
        case PropertyType.DATETIME, datetime():
            return value
        case PropertyType.DATE, date() if not isinstance(value, datetime):
            return value
    raise BadRequestError(f"{where} is a {type(value).__name__}, the schema says {expected.value}")
