"""``--param name=value`` on a command line: a text for each parameter, made a value of the type that it needs."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime

from contracts.base import Argument, Value
from contracts.errors import BadRequestError
from contracts.graph import PropertyType


def parameter_values(
    given: Sequence[str], types: Mapping[str, PropertyType], lists: Collection[str] = ()
) -> dict[str, Argument]:
    """The parameters by name. Raises ``BadRequestError`` that says which one can't be read, and as what.

    ``lists`` are those that take a list, as JSON: ``[1, 2]``. Where the type isn't settled, a value is read as JSON
    (``12``, ``true``, ``null``, ``"12"``), or else as the text that it is.
    """
    values: dict[str, Argument] = {}
    for item in given:
        name, equals, text = item.partition("=")
        if not equals or not name:
            raise BadRequestError(f"--param {item!r} is not NAME=VALUE")
        if name in values:
            raise BadRequestError(f"--param {name} is given twice")
        expected = types.get(name)
        if name in lists:
            values[name] = [_value(name, str(cell), expected) for cell in _listed(name, text)]
        else:
            values[name] = _guessed(text) if expected is None else _value(name, text, expected)
    return values


def _listed(name: str, text: str) -> list[object]:
    cells = _guessed(text)
    if not isinstance(cells, list):
        raise BadRequestError(f'--param {name}={text}: a list is wanted, like [1, 2] or ["a", "b"]')
    return list(cells)


def _value(name: str, text: str, expected: PropertyType | None) -> Value:
    try:
        match expected:
            case None | PropertyType.STRING:
                return text
            case PropertyType.INTEGER:
                return int(text)
            case PropertyType.FLOAT:
                return float(text)
            case PropertyType.BOOLEAN:
                return {"true": True, "false": False}[text.lower()]
            case PropertyType.DATE:
                return date.fromisoformat(text)
            case PropertyType.DATETIME:
                return datetime.fromisoformat(text)
            case PropertyType.DURATION | PropertyType.POINT:
                raise BadRequestError(f"--param {name}: a {expected} can't be given here; write it into the query")
    except (ValueError, KeyError) as error:
        raise BadRequestError(f"--param {name}={text}: {text!r} is no {expected}") from error


def _guessed(text: str) -> Argument:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return value
    return value if value is None or isinstance(value, str | int | float) else text
