"""Values as kglite takes and gives them, from and to ours.

The engine hands out a duration and a point as plain maps, which a map projection may look like too. So they are
read as what they are only where the schema or the text can bring one forth.
"""

import math
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from contracts.base import Cell, Duration, Point, Row, Value
from contracts.errors import StoreError
from contracts.graph import GraphSchema, PropertySchema, PropertyType
from stores.graph.kglite_names import stored_name
from stores.graph.moments import with_fixed_offset

#: WGS 84, longitude and latitude: the only points that the engine keeps.
WGS_84 = 4326

_DURATION_KEYS = ({"months", "days", "seconds"}, {"months", "days", "seconds", "nanoseconds"})
_POINT_KEYS = {"latitude", "longitude"}
_NODE_KEYS = {"id", "labels", "properties"}


class KgliteRows:
    """Turns the engine's rows into ours."""

    def __init__(self, schema: GraphSchema) -> None:
        declared = [label.properties for label in schema.labels.values()]
        declared += [relationship.properties for relationship in schema.relationships]
        types = {property_.type for properties in declared for property_ in properties.values()}
        self._keeps_durations = PropertyType.DURATION in types
        self._keeps_points = PropertyType.POINT in types

    def rows(self, text: str, found: list[dict[str, Any]]) -> tuple[Row, ...]:
        """The rows that ``text`` has brought. Raises ``StoreError`` when one holds what no row can."""
        lowered = text.lower()
        durations = self._keeps_durations or "duration" in lowered
        points = self._keeps_points or "point" in lowered
        return tuple({column: _cell(column, cell, durations, points) for column, cell in row.items()} for row in found)


def _cell(column: str, cell: Any, durations: bool, points: bool) -> Cell:
    match cell:
        case datetime():
            return with_fixed_offset(cell)
        case None | bool() | int() | str() | date():
            return cell
        case float():
            return cell if math.isfinite(cell) else None
        case list():
            return [_cell(column, item, durations, points) for item in cell]
        case dict():
            keys = set(cell)
            if durations and keys in _DURATION_KEYS:
                return Duration(cell["months"], cell["days"], cell["seconds"], cell.get("nanoseconds", 0))
            if points and keys == _POINT_KEYS:
                return Point(WGS_84, cell["longitude"], cell["latitude"])
            if keys != _NODE_KEYS:
                return {key: _cell(column, item, durations, points) for key, item in cell.items()}
    raise StoreError(f"the query's column {column} holds what no row can: return the properties that are wanted")


def special_assignments(variable: str, types: Mapping[str, PropertySchema]) -> str:
    """Assignments that set what :func:`split_row` leaves out of a map: ``, node.x = duration(row.special.x)``.

    ``variable`` is what is set. Durations and points exist in the engine's texts alone.
    """
    functions = {PropertyType.DURATION: "duration", PropertyType.POINT: "point"}
    return "".join(
        f", {variable}.`{stored_name(name)}` = {functions[property_.type]}(row.special.`{name}`)"
        for name, property_ in types.items()
        if property_.type in functions
    )


def split_row(row: Mapping[str, Value]) -> dict[str, Any]:
    """A row of a load as a parameter: ``{"plain": …, "special": …}``, durations and points apart as maps of parts.

    The plain ones have the names under which the embedded graph stores them.
    """
    plain: dict[str, Any] = {}
    special: dict[str, Any] = {}
    for name, value in row.items():
        match value:
            case Duration():
                special[name] = {
                    "months": value.months,
                    "days": value.days,
                    "seconds": value.seconds,
                    "nanoseconds": value.nanoseconds,
                }
            case Point():
                special[name] = {"longitude": value.x, "latitude": value.y}
            case _:
                plain[stored_name(name)] = value
    return {"plain": plain, "special": special}
