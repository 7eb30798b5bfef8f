"""How large an expression's value may become: texts and lists that double end any process, long before a time-out."""

from governance.proof import syntax as s
from governance.proof.functions import LONGEST_RANGE
from governance.proof.violation import RefusedError
from governance.proof.walk import parts_of, variables_of

#: Characters that a value of the graph, or an argument, is taken to have; and that one expression may come to.
_USUAL_CHARACTERS = 256
_MAX_CHARACTERS = 200_000


def growth(expression: s.Expression, sizes: dict[str, int]) -> int:
    """About how many characters the expression's value may have; ``sizes`` tells of variables.

    Raises ``RefusedError`` where that is out of bounds: texts that double a few dozen times fill any memory.
    """
    match expression:
        case s.Literal(value=str(text)):
            size = len(text) + 1
        case s.Literal() | s.CountRows() | s.Subquery():
            return 8
        case s.Parameter():
            return _USUAL_CHARACTERS
        case s.IsNull() | s.Quantifier():
            for part in parts_of(expression):
                growth(part, sizes)
            return 8
        case s.PatternComprehension(result=result):
            size = 8 * growth(result, sizes)
        case s.Variable(name=name):
            return sizes.get(name, _USUAL_CHARACTERS)
        case s.Property(subject=s.Variable(name=name)):
            return sizes.get(name, _USUAL_CHARACTERS)
        case s.Call(name="replace", arguments=arguments):
            replaced, _, new = (growth(argument, sizes) for argument in arguments)
            size = replaced * new
        case s.Call(name="range"):
            return 8 * LONGEST_RANGE
        case s.ListComprehension(variable=variable, source=source, result=result):
            size = growth(source, sizes)
            if result is not None:
                growth(result, {**sizes, variable: size})
                # What the result takes from outside of the list is there as often as the list has items.
                outside = [sizes.get(name, _USUAL_CHARACTERS) for name in variables_of(result) - {variable}]
                size *= max([1, *(one // 8 for one in outside)])
        case s.Binary(operator="+", left=left, right=right):
            size = growth(left, sizes) + growth(right, sizes)
        case s.ListOf() | s.MapOf() | s.MapProjection():
            size = 8 + sum(growth(part, sizes) for part in parts_of(expression))
        case _:
            size = max([growth(part, sizes) for part in parts_of(expression)], default=8)
    if size > _MAX_CHARACTERS:
        raise RefusedError("work", "This expression makes texts or lists that grow without bound; make it smaller.")
    return size
