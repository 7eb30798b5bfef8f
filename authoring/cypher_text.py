"""What can be told of a query from its text alone, without a parser.

Enough to point an author at a slip. That a query is safe is for ``governance`` to prove.
"""

import re

from configs.packs.canonical import canonical

_STRING = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"", re.DOTALL)
_LAST_RETURN = re.compile(r".*\bRETURN\b(?:\s+DISTINCT\b)?", re.IGNORECASE | re.DOTALL)
_AFTER_COLUMNS = re.compile(r"\b(ORDER\s+BY|SKIP|LIMIT|UNION)\b", re.IGNORECASE)
_NAMED = re.compile(r".*\bAS\s+(\w+)$|^(\w+)$", re.IGNORECASE | re.DOTALL)
_ELEMENT = re.compile(r"([(\[])\s*\w*\s*:\s*(\w+)")
_PROPERTY = re.compile(r"\b[A-Za-z_]\w*\.([A-Za-z_]\w*)\b(?!\s*[(.])")
_MAP_KEY = re.compile(r"[{,]\s*([A-Za-z_]\w*)\s*:")
_NOT_A_READ = re.compile(
    r"(?<![.:$\w])((?:CREATE|MERGE|SET|DELETE|REMOVE|FOREACH|DROP|LOAD\s+CSV)\b|CALL\s+\w+\s*\.|reduce\s*\()",
    re.IGNORECASE,
)


def without_strings(text: str) -> str:
    """The canonical text with its string literals emptied, so that what they say counts for nothing."""
    return _STRING.sub("''", canonical(text))


def columns(text: str) -> tuple[list[str], list[str]]:
    """The result's column names, and those expressions that were given no name by ``AS``."""
    tail = _LAST_RETURN.sub("", without_strings(text), count=1)
    end = _AFTER_COLUMNS.search(tail)
    named, unnamed = [], []
    for expression in _split(tail[: end.start()] if end else tail):
        match = _NAMED.match(expression)
        if match:
            named.append(match.group(1) or match.group(2))
        else:
            unnamed.append(expression)
    return named, unnamed


def labels(text: str) -> set[str]:
    """The labels that node patterns name."""
    return {name for bracket, name in _ELEMENT.findall(without_strings(text)) if bracket == "("}


def relationship_types(text: str) -> set[str]:
    """The types that relationship patterns name."""
    return {name for bracket, name in _ELEMENT.findall(without_strings(text)) if bracket == "["}


def properties(text: str) -> set[str]:
    """The names read as ``something.name``, less those that maps in the text define."""
    bare = without_strings(text)
    return set(_PROPERTY.findall(bare)) - _TEMPORAL_PARTS - set(_MAP_KEY.findall(bare))


def first_write(text: str) -> str | None:
    """The first word that is no read (or that no engine may be given), if any."""
    match = _NOT_A_READ.search(without_strings(text))
    return match.group(1).rstrip(" (.") if match else None


# Components of dates and durations are read like properties.
_PARTS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")
_TEMPORAL_PARTS = {*_PARTS, *(f"{part}s" for part in _PARTS), "dayOfWeek", "dayOfYear"}


def _split(expressions: str) -> list[str]:
    """Split at the commas that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(expressions):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(expressions[start:position].strip())
            start = position + 1
    parts.append(expressions[start:].strip())
    return [part for part in parts if part]
