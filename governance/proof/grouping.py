"""Aggregation: what may stand beside an aggregate, and one WITH for the aggregates alone where both engines need it."""

from governance.proof import syntax as s
from governance.proof.expressions import Names
from governance.proof.scope import Proof
from governance.proof.violation import RefusedError
from governance.proof.walk import has_aggregate, parts_of, replaced


def check_grouping(projection: s.Projection) -> None:
    """Beside an aggregate only grouping keys and what the text settles may stand, as the language has it."""
    keys = [item.expression for item in projection.items if not has_aggregate(item.expression)]
    for item in projection.items:
        if has_aggregate(item.expression):
            loose = _outside_aggregates(item.expression, keys)
            if loose is not None:
                raise RefusedError(
                    "aggregate",
                    f"{item.alias!r} mixes an aggregate with {loose}; give that a column of its own before.",
                )


def _outside_aggregates(expression: s.Expression, keys: list[s.Expression]) -> str | None:
    """What stands beside an aggregate and is no grouping key, if anything."""
    if expression in keys:
        return None
    match expression:
        case s.CountRows():
            return None
        case s.Call() if has_aggregate(s.Call(expression.name, [])):
            return None
        case s.Variable(name=name):
            return repr(name)
        case s.MapProjection(variable=name) if s.Variable(name) not in keys:
            return repr(name)
        case s.Subquery() | s.PatternComprehension():
            return "a subquery"
        case s.ListComprehension(variable=name) | s.Quantifier(variable=name):
            return next(
                filter(None, (_outside_aggregates(p, [*keys, s.Variable(name)]) for p in parts_of(expression))), None
            )
    return next(filter(None, (_outside_aggregates(part, keys) for part in parts_of(expression))), None)


def split_aggregates(proof: Proof, projection: s.Projection, names: Names) -> None:
    """Where an aggregate is a part of an expression, aggregate in a WITH before and compute behind it.

    ``RETURN a.x AS x, sum(b.y) / count(*) AS mean`` becomes
    ``WITH a.x AS _n1, sum(b.y) AS _n2, count(*) AS _n3 RETURN _n1 AS x, _n2 / _n3 AS mean``.
    """
    if all(_is_aggregate(item.expression) or not has_aggregate(item.expression) for item in projection.items):
        return
    taken = {*names, *(item.alias for item in projection.items)}
    parts: list[s.Item] = []

    def moved(expression: s.Expression) -> s.Expression:
        known = next((part for part in parts if part.expression == expression), None)
        if known is None:
            name = expression.name if isinstance(expression, s.Variable) else proof.new_name(taken)
            known = s.Item(expression, name, named=True)
            parts.append(known)
        return s.Variable(known.alias)

    keys = [item.expression for item in projection.items if not has_aggregate(item.expression)]
    for key in keys:
        moved(key)
    for item in projection.items:
        item.expression = replaced(
            item.expression, lambda part: moved(part) if _is_aggregate(part) or part in keys else None
        )
    proof.rewrote = True
    projection.before.append(s.Projection(False, False, parts, [], None, None))


def _is_aggregate(expression: s.Expression) -> bool:
    """Whether the expression is an aggregate itself, and not only one of its parts."""
    return isinstance(expression, s.CountRows) or (
        isinstance(expression, s.Call) and has_aggregate(s.Call(expression.name, []))
    )
