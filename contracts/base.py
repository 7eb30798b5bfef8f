"""The base of every value that crosses a floor or a process."""

from datetime import date, datetime

from pydantic import BaseModel, ConfigDict

#: What a graph row, a task argument or a slot may hold.
Value = str | int | float | bool | date | datetime | None

#: One row of a query's result: column name to value (a list only where the query collects).
Row = dict[str, Value | list[Value]]


class Frozen(BaseModel):
    """An immutable value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
