"""The parameters of a proven query: the caller's arguments, checked, and the customer's id, filled in."""

import math
from collections.abc import Mapping
from datetime import date, datetime

from contracts.base import Value
from contracts.errors import BadRequestError, DeniedError
from contracts.graph import ProvenQuery

#: The parameter that stands for the customer in every query. Callers can't give it.
CUSTOMER_PARAMETER = "customer_id"

_LARGEST_INTEGER = 2**63 - 1


def query_parameters(query: ProvenQuery, arguments: Mapping[str, Value]) -> dict[str, Value]:
    """All parameters of ``query``: ``arguments``, and ``$customer_id`` from the query's principal.

    Raises ``BadRequestError`` when an argument is missing, unknown or of a type that graphs don't keep, and
    ``DeniedError`` when the query is about a customer and the principal is none.
    """
    wanted = query.parameters - {CUSTOMER_PARAMETER}
    if missing := sorted(wanted - arguments.keys()):
        raise BadRequestError(f"the query needs a value for {', '.join(missing)}")
    if unknown := sorted(arguments.keys() - wanted):
        raise BadRequestError(f"the query takes no argument named {', '.join(unknown)}")
    parameters = {name: _checked(name, value) for name, value in arguments.items()}
    if CUSTOMER_PARAMETER in query.parameters:
        if query.principal.customer_id is None:
            raise DeniedError("this question is about a customer's own data: it needs a signed-in customer")
        parameters[CUSTOMER_PARAMETER] = query.principal.customer_id
    return parameters


def _checked(name: str, value: Value) -> Value:
    match value:
        case None | bool() | date() | datetime():
            return value
        case int() if -_LARGEST_INTEGER <= value <= _LARGEST_INTEGER:
            return value
        case float() if math.isfinite(value):
            return value
        case str() if _is_unicode(value):
            return value
        case int() | float() | str():
            raise BadRequestError(f"the value of {name} is not one that can be looked up")
        case _:
            raise BadRequestError(f"the value of {name} can't be a {type(value).__name__}")


def _is_unicode(text: str) -> bool:
    """Whether the text has no half of a surrogate pair, which no engine takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
