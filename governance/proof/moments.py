"""Dates, moments and durations: their parts, and how they are written."""

import re
from datetime import date, datetime

from governance.proof import syntax as s
from governance.proof.violation import RefusedError
from governance.proof.walk import literal_size

_DATE_PARTS = frozenset(
    {"year", "quarter", "month", "week", "weekYear", "day", "dayOfWeek", "weekDay", "ordinalDay", "dayOfQuarter"}
)
_TIME_PARTS = frozenset({"hour", "minute", "second", "millisecond", "epochSeconds", "epochMillis"})
_DURATION_PARTS = frozenset({"years", "months", "weeks", "days", "hours", "minutes", "seconds"})
PARTS = {"date": _DATE_PARTS, "datetime": _DATE_PARTS | _TIME_PARTS, "duration": _DURATION_PARTS}
_DATE_KEYS = frozenset({"year", "month", "day", "date", "week", "dayOfWeek", "quarter", "dayOfQuarter", "ordinalDay"})
_MAP_KEYS = {
    "date": _DATE_KEYS,
    "datetime": _DATE_KEYS | {"hour", "minute", "second", "millisecond", "timezone", "datetime", "time"},
    "duration": _DURATION_PARTS | {"milliseconds"},
}
_CLOCK_KEYS = frozenset({"hours", "minutes", "seconds", "milliseconds"})
_UNITS = frozenset({"year", "quarter", "month", "week", "day", "hour", "minute", "second"})

_WRITTEN = {
    "date": "write it like 2026-01-31",
    "datetime": "write it like 2026-01-31T12:00:00Z",
    "duration": "write it like P1Y2M3DT4H",
}
_NUMBER = r"\d{1,6}"
_DURATION = re.compile(
    rf"P(?!$)({_NUMBER}Y)?({_NUMBER}M)?({_NUMBER}W)?({_NUMBER}D)?(T(?!$)({_NUMBER}H)?({_NUMBER}M)?({_NUMBER}S)?)?"
)
_LONGEST_DURATION = 999_999


def _is_written_right(name: str, literal: s.Literal) -> bool:
    text = literal.value
    if not isinstance(text, str):
        return text is None
    if name == "duration":
        return _DURATION.fullmatch(text) is not None
    try:
        if name == "date":
            date.fromisoformat(text + "-01" * (2 - text.count("-")) if len(text) in (4, 7) else text)
        else:
            datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def check_literals(expression: s.Call) -> None:
    """Refuse dates and units that no engine takes, before one is asked."""
    name, arguments = expression.name, expression.arguments
    first = arguments[0] if arguments else None
    if name.endswith(".truncate") and not (isinstance(first, s.Literal) and first.value in _UNITS):
        raise RefusedError("function", f"{name}() takes one of {', '.join(sorted(_UNITS))} first, written out.")
    if name == "duration" and isinstance(first, s.Parameter):
        raise RefusedError("function", "Give the parts of a duration: duration({days: $days}).")
    if name in ("date", "datetime", "duration") and isinstance(first, s.Literal) and not _is_written_right(name, first):
        raise RefusedError("type", f"{first.value!r} is no {name}; {_WRITTEN[name]}.")
    if name in _MAP_KEYS and isinstance(first, s.MapOf):
        for key, value in first.entries:
            if name == "duration" and literal_size(value) > _LONGEST_DURATION:
                raise RefusedError("type", f"A duration of {literal_size(value)} {key} is too long.")
            if key not in _MAP_KEYS[name]:
                raise RefusedError(
                    "function", f"{name}() knows no {key!r}; it knows {', '.join(sorted(_MAP_KEYS[name]))}."
                )


def require_days(duration: s.Expression) -> None:
    """To a date only whole days are added: with hours one engine carries them over, the other drops them."""
    given = duration.arguments[0] if isinstance(duration, s.Call) and duration.name == "duration" else None
    hours = isinstance(given, s.MapOf) and any(key in _CLOCK_KEYS for key, _ in given.entries)
    hours = hours or (isinstance(given, s.Literal) and "T" in str(given.value).upper())
    if hours:
        raise RefusedError("type", "To a date add years, months, weeks or days; hours go with a datetime.")
