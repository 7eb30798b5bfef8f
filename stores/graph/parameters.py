"""The parameters of a proven text: the caller's arguments, checked, and the customer's id, filled in."""

import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from contracts.base import Argument, Value
from contracts.errors import BadRequestError, DeniedError
from contracts.graph import CUSTOMER_PARAMETER, PropertyType, ProvenQuery, ProvenWrite
from contracts.principal import Principal
from stores.graph.moments import as_kept

#: How many values a list may hold. What names more than that is no question of a customer.
MAX_LIST_LENGTH = 1_000

_LARGEST_INTEGER = 2**63 - 1
_WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}")

#: What may stand for a parameter of each type. A boolean is an int to Python, but to no graph.
_FITTING: dict[PropertyType, tuple[type, ...]] = {
    PropertyType.STRING: (str,),
    PropertyType.INTEGER: (int,),
    PropertyType.FLOAT: (float, int),
    PropertyType.BOOLEAN: (bool,),
    PropertyType.DATE: (date,),
    PropertyType.DATETIME: (datetime,),
    PropertyType.DURATION: (),
    PropertyType.POINT: (),
}

Parameters = dict[str, Value | list[Value]]


def query_parameters(proven: ProvenQuery | ProvenWrite, arguments: Mapping[str, Argument]) -> Parameters:
    """All parameters of the text: ``arguments``, and ``$customer_id`` from its principal.

    A ``Decimal`` becomes a float, a moment without an offset is UTC, and where the text needs a day or a moment, one
    in ISO 8601 becomes it. Raises ``BadRequestError`` when an argument is missing, unknown, of a type that graphs
    don't take or that the text doesn't compare it with, or outside its enumeration; and ``DeniedError`` when the text
    is about a customer and the principal is none, or one whose id can't be a customer's key.
    """
    wanted = proven.parameters - {CUSTOMER_PARAMETER}
    if missing := sorted(wanted - arguments.keys()):
        raise BadRequestError(f"the query needs a value for {', '.join(missing)}")
    if unknown := sorted(arguments.keys() - wanted):
        raise BadRequestError(f"the query takes no argument named {', '.join(unknown)}")
    parameters: Parameters = {name: _checked(name, value) for name, value in arguments.items()}
    for name, expected in proven.parameter_types.items():
        if name in parameters:
            parameters[name] = _fitting(name, parameters[name], expected, name in proven.list_parameters)
    if isinstance(proven, ProvenWrite):
        _require_writable(proven, parameters)
    if CUSTOMER_PARAMETER in proven.parameters:
        parameters[CUSTOMER_PARAMETER] = _customer_key(proven.principal, proven.parameter_types.get(CUSTOMER_PARAMETER))
    return parameters


def _customer_key(principal: Principal, expected: PropertyType | None) -> Value:
    """The principal's customer as the graph keeps the key: a token says it as text, a schema may say a number."""
    text = principal.customer_id
    if text is None:
        raise DeniedError("this question is about a customer's own data: it needs a signed-in customer")
    if expected is not PropertyType.INTEGER:
        return text
    # Only as a number is written plainly: no two ids of tokens may become one customer.
    if not _WHOLE_NUMBER.fullmatch(text) or abs(int(text)) > _LARGEST_INTEGER:
        raise DeniedError("customers have whole numbers as their ids here, and the id of this sign-in is none")
    return int(text)


def _checked(name: str, value: Argument) -> Value | list[Value]:
    if isinstance(value, list):
        if len(value) > MAX_LIST_LENGTH:
            raise BadRequestError(f"the list {name} holds more than {MAX_LIST_LENGTH} values")
        return [_checked_scalar(name, item) for item in value]
    return _checked_scalar(name, value)


def _checked_scalar(name: str, value: object) -> Value:
    match value:
        case datetime():
            return as_kept(value)
        case None | bool() | date():
            return value
        case int() if -_LARGEST_INTEGER <= value <= _LARGEST_INTEGER:
            return value
        case float() | Decimal() if math.isfinite(value):
            return float(value)
        case str() if _is_unicode(value):
            return value
        case int() | float() | Decimal() | str():
            raise BadRequestError(f"the value of {name} is not one that can be looked up")
        case _:
            raise BadRequestError(f"the value of {name} can't be a {type(value).__name__}")


def _fitting(name: str, value: Value | list[Value], expected: PropertyType, wants_list: bool) -> Value | list[Value]:
    """The value, or its items, as ``expected`` keeps them: a float where it was a whole number in a float's place."""
    if wants_list != isinstance(value, list) and value is not None:
        raise BadRequestError(f"the value of {name} must be {'a list' if wants_list else f'one {expected.value}'}")
    if isinstance(value, list):
        return [_fitting_scalar(name, item, expected) for item in value]
    return _fitting_scalar(name, value, expected)


def _fitting_scalar(name: str, value: Value, expected: PropertyType) -> Value:
    if value is None:
        return None
    if isinstance(value, str) and expected in (PropertyType.DATE, PropertyType.DATETIME):
        return _from_text(name, value, expected)
    is_boolean_for_number = isinstance(value, bool) and expected is not PropertyType.BOOLEAN
    is_moment_for_day = isinstance(value, datetime) and expected is not PropertyType.DATETIME
    if is_boolean_for_number or is_moment_for_day or not isinstance(value, _FITTING[expected]):
        raise BadRequestError(f"the value of {name} is a {type(value).__name__}, it must be a {expected.value}")
    return float(value) if expected is PropertyType.FLOAT and isinstance(value, int) else value


def _from_text(name: str, text: str, expected: PropertyType) -> date | datetime:
    """The day or the moment that ISO 8601 writes so; a day alone is no moment."""
    try:
        if expected is PropertyType.DATE:
            return date.fromisoformat(text)
        if not _is_day(text):
            return as_kept(datetime.fromisoformat(text))
    except ValueError:
        pass
    example = "2025-01-31" if expected is PropertyType.DATE else "2025-01-31T08:30:00+01:00"
    raise BadRequestError(f"the value of {name} is no {expected.value} like {example}")


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _require_writable(write: ProvenWrite, parameters: Parameters) -> None:
    for name, value in parameters.items():
        if value is None:
            # Engines count a property that is set to nothing differently, and REMOVE says what is meant.
            raise BadRequestError(f"the value of {name} must not be missing in a change")
        allowed = write.parameter_values.get(name)
        if allowed and not set(value if isinstance(value, list) else [value]) <= set(allowed):
            raise BadRequestError(f"the value of {name} must be one of {', '.join(allowed)}")


def _is_unicode(text: str) -> bool:
    """Whether the text has no half of a surrogate pair, which no engine takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
