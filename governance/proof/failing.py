"""Conditions, and what in them may fail by somebody else's data."""

from governance.proof import functions
from governance.proof import syntax as s
from governance.proof import types as t
from governance.proof.expressions import Names, infer, require
from governance.proof.growth import growth
from governance.proof.scope import Proof
from governance.proof.violation import RefusedError
from governance.proof.walk import has_aggregate, literal_size, parts_of


def condition(
    proof: Proof,
    expression: s.Expression,
    names: Names,
    *,
    of_pattern: bool = False,
    sizes: dict[str, int] | None = None,
) -> None:
    """A WHERE: a boolean without aggregates, that fails on no values of the graph. ``sizes``: see ``growth``.

    An engine may check it on nodes before it knows that they are the customer's, also when a WITH stands between:
    a failure would tell of them. (What divides is printed so that it can't fail; ``of_pattern`` refuses it still.)
    """
    if has_aggregate(expression):
        raise RefusedError("aggregate", "WHERE can't aggregate; do it in a WITH before.")
    require(proof, expression, names, "boolean", "WHERE")
    check_total(proof, expression, names, of_pattern=of_pattern)
    growth(expression, sizes or {})


def check_total(proof: Proof, expression: s.Expression, names: Names, *, of_pattern: bool = True) -> None:
    """Refuse what fails on some values of the graph. ``names`` are those that the expression reads."""
    match expression:
        case s.Binary(operator="/" | "%" as operator, right=right) if of_pattern:
            if not (isinstance(right, s.Literal) and right.value):
                raise RefusedError(
                    "failing", f"{operator} in the WHERE of a MATCH needs a number but 0 behind it; put a WITH before."
                )
        case s.Binary(operator="+" | "-" | "*"):
            if literal_size(expression) > 10**9 or _products(expression) > 2:
                raise RefusedError("failing", "This sum may be too large to count; use smaller numbers.")
            if expression.operator == "*" and any(_is_duration(side) for side in (expression.left, expression.right)):
                raise RefusedError("failing", "A duration can't be multiplied in a WHERE; write it out.")
        case s.PatternComprehension(result=result):
            check_total(proof, result, names)
        case s.Call(name=name) if name in functions.PARTIAL and _may_fail(proof, expression, names):
            raise RefusedError(
                "failing", f"{name}() may fail on data, so it can't stand in a WHERE; return it instead."
            )
    inner = _inner_names(proof, expression, names)
    for part in parts_of(expression):
        check_total(proof, part, inner, of_pattern=of_pattern)


def _inner_names(proof: Proof, expression: s.Expression, names: Names) -> Names:
    """The names that the parts of an expression read: a comprehension brings one of its own."""
    if isinstance(expression, s.ListComprehension | s.Quantifier):
        element = infer(proof, expression.source, names).element or t.ANY
        return {**names, expression.variable: element}
    return names


def _may_fail(proof: Proof, call: s.Call, names: Names) -> bool:
    first, *counts = call.arguments or [s.Literal(None)]
    if call.name in ("left", "right", "substring"):
        return not all(
            isinstance(count, s.Literal) and type(count.value) is int and count.value >= 0 for count in counts
        )
    if call.name == "toInteger":
        return infer(proof, first, names).kind not in t.NUMBERS
    return _reads(first) and (call.name == "duration" or infer(proof, first, names).kind not in t.TEMPORAL)


def _reads(expression: s.Expression) -> bool:
    """Whether the expression reads a variable, and isn't settled by the text and the arguments."""
    return not isinstance(expression, s.Literal | s.Parameter) and (
        isinstance(expression, s.Variable | s.Subquery | s.PatternComprehension | s.MapProjection)
        or any(map(_reads, parts_of(expression)))
    )


def _is_duration(expression: s.Expression) -> bool:
    return isinstance(expression, s.Call) and expression.name == "duration"


def _products(expression: s.Expression) -> int:
    """How many values of the graph are multiplied with one another."""
    match expression:
        case s.Binary(operator="*", left=left, right=right):
            return _products(left) + _products(right)
        case _:
            return max([int(_reads(expression)), *map(_products, parts_of(expression))])
