"""The text of a CSV cell as a typed value."""

from math import isfinite

from agents.lexicon import typed
from contracts.base import Value
from contracts.graph import PropertySchema, PropertyType

_WORDS = {
    PropertyType.STRING: "text",
    PropertyType.INTEGER: "whole number",
    PropertyType.FLOAT: "number",
    PropertyType.BOOLEAN: "true or false",
    PropertyType.DATE: "date (YYYY-MM-DD)",
    PropertyType.DATETIME: "date and time (YYYY-MM-DDTHH:MM:SS)",
    PropertyType.DURATION: "duration (P1M2DT3H)",
    PropertyType.POINT: "place (POINT(-9.14 38.71), longitude before latitude)",
}


def cell_value(text: str, property_: PropertySchema) -> Value:
    """The value of a cell; an empty one is ``None``. Raises ``ValueError`` with a sentence for the author."""
    if not text:
        return None
    try:
        value = typed(text, property_.type)
        if isinstance(value, float) and not isfinite(value):
            raise ValueError(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no {_WORDS[property_.type]}") from error
    if property_.values and value not in property_.values:
        raise ValueError(f"{text!r} is none of {', '.join(property_.values)}")
    return value
