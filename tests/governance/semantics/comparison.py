"""Whether two results say the same: rows as multisets, in the order that the text asks for, whole nodes as maps."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import neo4j.graph
import neo4j.time

from contracts.base import Duration

Rows = Sequence[Mapping[str, Any]]

_ORDER = re.compile(
    r"\bORDER\s+BY\b(?P<keys>(?:(?!\bRETURN\b|\bWITH\b|\bMATCH\b|\bUNION\b).)*)$", re.IGNORECASE | re.DOTALL
)
_DIRECTION = re.compile(r"\s+(?:ASC|DESC|ASCENDING|DESCENDING)$", re.IGNORECASE)
_CUT = re.compile(r"\b(?:SKIP|LIMIT)\b.*$", re.IGNORECASE | re.DOTALL)


def difference(text: str, expected: Rows, found: Rows, *, lists_in_order: bool) -> str | None:
    """What tells the two results of one text apart, ``None`` when nothing does.

    Where the text ends in an ORDER BY, what it orders by must come in one sequence. ``lists_in_order``: the text
    says in which order lists are, too.
    """
    columns = {frozenset(row) for row in [*expected, *found]}
    if len(columns) > 1:
        return f"columns: {[list(row) for row in expected[:1]]} and {[list(row) for row in found[:1]]}"
    left, right = ([_row(row, lists_in_order) for row in rows] for rows in (expected, found))
    if sorted(left) != sorted(right):
        only = [row for row in left if row not in right], [row for row in right if row not in left]
        return f"rows: {len(left)} and {len(right)}; only there: {only[0][:3]}; only here: {only[1][:3]}"
    keys = [name for name in ordering_columns(text) if expected and name in expected[0]]
    left, right = (
        [_row({name: row[name] for name in keys}, lists_in_order) for row in rows] for rows in (expected, found)
    )
    return f"order by {keys}: {left} and {right}" if left != right else None


def ordering_columns(text: str) -> list[str]:
    """What the last ORDER BY of the text names: columns, or expressions, which are no column's name."""
    found = _ORDER.search(text.strip())
    if found is None:
        return []
    keys = _CUT.sub("", found["keys"]).split(",")
    return [_DIRECTION.sub("", key.strip()).strip("`") for key in keys]


def _row(row: Mapping[str, Any], lists_in_order: bool) -> str:
    return plain(dict(row), lists_in_order)


def plain(value: Any, lists_in_order: bool) -> str:
    """One value as text that tells its type; floats to the digits on which engines agree; no missing properties."""
    match value:
        case None | bool() | int():
            return str(value)
        case float() if math.isfinite(value):
            return f"float {round(value, 9) + 0.0:.10g}"
        case float():
            return f"float {value}"
        case str():
            return repr(value)
        case neo4j.graph.Node() | neo4j.graph.Relationship():
            return plain(dict(value.items()), lists_in_order)
        case neo4j.time.Duration():  # a tuple, too
            months, days, seconds, nanoseconds = value
            return str(Duration(months, days, seconds, nanoseconds))
        case list() | tuple():
            items = [plain(item, lists_in_order) for item in value]
            return "[" + ", ".join(items if lists_in_order else sorted(items)) + "]"
        case dict():
            present = sorted((name, plain(item, lists_in_order)) for name, item in value.items() if item is not None)
            return "{" + ", ".join(f"{name}: {item}" for name, item in present) + "}"
        case datetime() | date():
            return value.isoformat()
        case neo4j.time.DateTime() | neo4j.time.Date():
            return value.to_native().isoformat()
        case _:
            return str(value)
