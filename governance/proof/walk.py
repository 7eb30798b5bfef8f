"""Walks over expressions."""

from collections.abc import Callable
from dataclasses import replace

from governance.proof import syntax as s
from governance.proof.functions import AGGREGATES


def has_aggregate(expression: s.Expression) -> bool:
    """Whether the expression aggregates rows, outside of nested scopes that have rows of their own."""
    if isinstance(expression, s.CountRows):
        return True
    if isinstance(expression, s.Call) and expression.name.lower() in AGGREGATES:
        return True
    return any(has_aggregate(part) for part in parts_of(expression))


def parts_of(expression: s.Expression) -> list[s.Expression]:
    """The expression's direct parts; of a subquery or a pattern, none."""
    match expression:
        case s.Property(subject=subject):
            return [subject]
        case s.Index(subject=subject, index=index):
            return [subject, index]
        case s.Slice(subject=subject, start=start, end=end):
            return [part for part in (subject, start, end) if part is not None]
        case s.ListOf(items=items):
            return items
        case s.MapOf(entries=entries) | s.MapProjection(entries=entries):
            return [entry for _, entry in entries]
        case s.Unary(operand=operand) | s.IsNull(operand=operand):
            return [operand]
        case s.Binary(left=left, right=right):
            return [left, right]
        case s.Call(arguments=arguments):
            return arguments
        case s.Case(subject=subject, alternatives=alternatives, default=default):
            pairs = [part for pair in alternatives for part in pair]
            return [part for part in (subject, *pairs, default) if part is not None]
        case s.ListComprehension(source=source, where=where, result=result):
            return [part for part in (source, where, result) if part is not None]
        case s.Quantifier(source=source, where=where):
            return [source, where]
        case _:
            return []


def literal_size(expression: s.Expression) -> int:
    """The largest whole number that the text itself brings into a sum or product."""
    if isinstance(expression, s.Literal):
        value = expression.value
        return abs(value) if isinstance(value, int) else 0
    if isinstance(expression, s.Binary) and expression.operator == "*":
        return max(1, literal_size(expression.left)) * max(1, literal_size(expression.right))
    return max(map(literal_size, parts_of(expression)), default=0)


def variables_of(expression: s.Expression) -> set[str]:
    """The names of all variables in the expression, those of nested scopes left out."""
    match expression:
        case s.Variable(name=name) | s.MapProjection(variable=name):
            found = {name}
        case _:
            found = set()
    for part in parts_of(expression):
        found |= variables_of(part)
    return found


def holds_pattern(expression: s.Expression) -> bool:
    """Whether a part of the expression is a pattern, with names and rows of its own."""
    if isinstance(expression, s.Subquery | s.PatternComprehension):
        return True
    return any(map(holds_pattern, parts_of(expression)))


def replaced(expression: s.Expression, replacement: Callable[[s.Expression], s.Expression | None]) -> s.Expression:
    """The expression with every part replaced for which ``replacement`` gives something; of those, no parts."""
    new = replacement(expression)
    if new is not None:
        return new

    def again(part: s.Expression) -> s.Expression:
        return replaced(part, replacement)

    def maybe(part: s.Expression | None) -> s.Expression | None:
        return None if part is None else again(part)

    match expression:
        case s.Property():
            return replace(expression, subject=again(expression.subject))
        case s.Index():
            return replace(expression, subject=again(expression.subject), index=again(expression.index))
        case s.Slice():
            return s.Slice(again(expression.subject), maybe(expression.start), maybe(expression.end))
        case s.ListOf():
            return s.ListOf([again(item) for item in expression.items])
        case s.MapOf() | s.MapProjection():
            return replace(expression, entries=[(key, again(value)) for key, value in expression.entries])
        case s.Unary() | s.IsNull():
            return replace(expression, operand=again(expression.operand))
        case s.Binary():
            return s.Binary(expression.operator, again(expression.left), again(expression.right))
        case s.Call():
            return replace(expression, arguments=[again(argument) for argument in expression.arguments])
        case s.Case():
            pairs = [(again(when), again(then)) for when, then in expression.alternatives]
            return s.Case(maybe(expression.subject), pairs, maybe(expression.default))
        case s.ListComprehension():
            source, where = again(expression.source), maybe(expression.where)
            return s.ListComprehension(expression.variable, source, where, maybe(expression.result))
        case s.Quantifier():
            return replace(expression, source=again(expression.source), where=again(expression.where))
        case _:
            return expression


#: How many items a list of the graph's is taken for.
USUAL_ITEMS = 100


def items_of(source: s.Expression, unknown: int = USUAL_ITEMS) -> int:
    """How many items a list has by the text alone, ``unknown`` or the usual number where the data tell."""
    match source:
        case s.ListOf(items=items):
            return len(items)
        case s.Call(name="range", arguments=[s.Literal(value=int(start)), s.Literal(value=int(end)), *_]):
            return abs(end - start) + 1
        case _:
            return max(unknown, USUAL_ITEMS)


def names_in(expression: s.Expression) -> set[str]:
    """All names in the expression, those of its patterns too."""
    found = variables_of(expression)
    stack = [expression]
    while stack:
        part = stack.pop()
        stack.extend(parts_of(part))
        match part:
            case s.Subquery(matches=matches):
                paths = [path for match in matches for path in match.paths]
                stack.extend(match.where for match in matches if match.where is not None)
            case s.PatternComprehension(path=path, where=where, result=result):
                paths = [path]
                stack.extend(inner for inner in (where, result) if inner is not None)
            case s.Variable(name=name):
                paths = []
                found.add(name)
            case _:
                paths = []
        for path in paths:
            found |= {node.variable for node in path.nodes if node.variable is not None}
            stack.extend(value for node in path.nodes for _, value in node.properties)
    return found
