"""The base of every value that crosses a floor or a process."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Self

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeAliasType

_DURATION = re.compile(
    r"P(?:([+-]?\d+)Y)?(?:([+-]?\d+)M)?(?:([+-]?\d+)W)?(?:([+-]?\d+)D)?"
    r"(?:T(?:([+-]?\d+)H)?(?:([+-]?\d+)M)?(?:(?P<seconds>[+-]?\d+(?:\.\d{1,9})?)S)?)?"
)
_POINT = re.compile(r"POINT ?\(([+-]?\d+(?:\.\d+)?) ([+-]?\d+(?:\.\d+)?)\)")


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time as graphs keep it: months, days and seconds apart, because neither has a fixed length.

    ``str`` of it is ISO 8601: ``P1Y2M3DT4H5M6.5S``. Parts may be negative; ``nanoseconds`` is 0 to 999,999,999
    and counts forward from ``seconds``.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    months: int
    days: int
    seconds: int
    nanoseconds: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The duration that ISO 8601 writes so: ``P1Y2M3W4DT5H6M7.5S``, each part possibly with a sign of its own.

        Raises ``ValueError`` when the text is none.
        """
        found = _DURATION.fullmatch(text)
        if found is None or text.endswith(("P", "T")):
            raise ValueError(f"{text!r} is no duration like P1M2DT3H")
        years, months, weeks, days, hours, minutes = (int(part or 0) for part in found.groups()[:6])
        seconds_ns = int(Decimal(found["seconds"] or 0).scaleb(9))
        seconds, nanoseconds = divmod((hours * 60 + minutes) * 60_000_000_000 + seconds_ns, 1_000_000_000)
        return cls(12 * years + months, 7 * weeks + days, seconds, nanoseconds)

    def __str__(self) -> str:
        total_ns = self.seconds * 1_000_000_000 + self.nanoseconds
        sign = "-" if total_ns < 0 else ""
        whole, fraction = divmod(abs(total_ns), 1_000_000_000)
        hours, minutes, seconds = whole // 3600, whole // 60 % 60, whole % 60
        years, months = divmod(abs(self.months), 12)
        months_sign = "-" if self.months < 0 else ""
        days = [f"{months_sign}{years}Y"] * bool(years) + [f"{months_sign}{months}M"] * bool(months)
        days += [f"{self.days}D"] * bool(self.days)
        time = [f"{sign}{hours}H"] * bool(hours) + [f"{sign}{minutes}M"] * bool(minutes)
        if seconds or fraction:
            time.append(f"{sign}{seconds}{f'.{fraction:09d}'.rstrip('0') if fraction else ''}S")
        text = "P" + "".join(days) + ("T" + "".join(time) if time else "")
        return text if text != "P" else "PT0S"


@dataclass(frozen=True, slots=True)
class Point:
    """A place. ``srid`` 4326 is longitude (``x``) and latitude (``y``) in degrees (WGS 84), which both engines keep."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    srid: int
    x: float
    y: float
    z: float | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """The place that well-known text writes so: ``POINT(-9.14 38.71)``, longitude first.

        Raises ``ValueError`` when the text is none.
        """
        found = _POINT.fullmatch(text)
        if found is None or abs(float(found[1])) > 180 or abs(float(found[2])) > 90:
            raise ValueError(f"{text!r} is no place like POINT(-9.14 38.71), longitude before latitude")
        return cls(4326, float(found[1]), float(found[2]))


#: What a property of a graph, a task argument or a slot may hold.
Value = str | int | float | bool | date | datetime | Duration | Point | None

#: What a query may be given: a value, or a list of them. A ``Decimal`` becomes a float: graphs keep no decimals.
Argument = Value | Decimal | list[Value] | list[str] | list[int] | list[float] | list[date]

#: What stands in one column of a row: lists where the query collects, maps where it projects.
Cell = TypeAliasType("Cell", "Value | list[Cell] | dict[str, Cell]")

#: One row of a query's result: column name to cell.
Row = dict[str, Cell]


class Frozen(BaseModel):
    """An immutable value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
