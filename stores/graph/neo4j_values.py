"""Values as Neo4j's driver gives and takes them, to and from ours, so that rows are those of the embedded engine."""

import math
from typing import Any

import neo4j
import neo4j.spatial
import neo4j.time

from contracts.base import Cell, Duration, Point, Row, Value
from contracts.errors import StoreError
from stores.graph.moments import with_fixed_offset


def row(record: neo4j.Record) -> Row:
    """The driver's record as a row of ours. Raises as :func:`cell` does."""
    return {column: cell(column, value) for column, value in zip(record.keys(), record.values(), strict=True)}


def cell(column: str, value: Any) -> Cell:
    """The driver's value as a cell of a row.

    Moments lose what is below a microsecond; numbers that are none (``NaN``, an infinity) are missing. Raises
    ``StoreError`` for what no row can hold: nodes, relationships, paths, times of day, bytes.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case list():
            return [cell(column, item) for item in value]
        case dict():
            return {key: cell(column, item) for key, item in value.items()}
        case neo4j.time.DateTime():
            return with_fixed_offset(value.to_native())
        case neo4j.time.Date():
            return value.to_native()
        case neo4j.time.Duration():
            months, days, seconds, nanoseconds = value
            whole, rest = divmod(seconds * 1_000_000_000 + nanoseconds, 1_000_000_000)
            return Duration(int(months), int(days), int(whole), int(rest))
        case neo4j.spatial.Point():
            x, y, *more = value
            return Point(int(value.srid or 0), float(x), float(y), float(more[0]) if more else None)
    raise StoreError(f"the query's column {column} holds what no row can: return the properties that are wanted")


def parameter(value: Value) -> Any:
    """A value of a load or an argument as the driver takes it."""
    match value:
        case Duration():
            return neo4j.time.Duration(
                months=value.months, days=value.days, seconds=value.seconds, nanoseconds=value.nanoseconds
            )
        case Point():
            kind = neo4j.spatial.WGS84Point if value.srid in (4326, 4979) else neo4j.spatial.CartesianPoint
            return kind((value.x, value.y) if value.z is None else (value.x, value.y, value.z))
        case _:
            return value
