"""The types of expressions, and what they may do. Raises ``RefusedError`` for what the language would not run."""

import re
from datetime import date, datetime

from contracts.base import Value
from governance.proof import functions
from governance.proof import syntax as s
from governance.proof import types as t
from governance.proof.scope import Proof
from governance.proof.violation import RefusedError
from governance.proof.walk import has_aggregate, parts_of

#: Variables in scope and their types.
Names = dict[str, t.Type]

_BOOLEAN_OPERATORS = frozenset({"AND", "OR", "XOR"})
_ORDER = frozenset({"<", "<=", ">", ">="})
_TEXT = frozenset({"STARTS WITH", "ENDS WITH", "CONTAINS"})
_DATE_PARTS = frozenset(
    {"year", "quarter", "month", "week", "weekYear", "day", "dayOfWeek", "weekDay", "ordinalDay", "dayOfQuarter"}
)
_TIME_PARTS = frozenset({"hour", "minute", "second", "millisecond", "epochSeconds", "epochMillis"})
_DURATION_PARTS = frozenset({"years", "months", "weeks", "days", "hours", "minutes", "seconds"})
_PARTS = {"date": _DATE_PARTS, "datetime": _DATE_PARTS | _TIME_PARTS, "duration": _DURATION_PARTS}
_DATE_KEYS = frozenset({"year", "month", "day", "date", "week", "dayOfWeek", "quarter", "dayOfQuarter", "ordinalDay"})
_MAP_KEYS = {
    "date": _DATE_KEYS,
    "datetime": _DATE_KEYS | {"hour", "minute", "second", "millisecond", "timezone", "datetime", "time"},
    "duration": _DURATION_PARTS | {"milliseconds"},
}
_CLOCK_KEYS = frozenset({"hours", "minutes", "seconds", "milliseconds"})
_UNITS = frozenset({"year", "quarter", "month", "week", "day", "hour", "minute", "second"})
_MAX_RANGE = 1_000


def infer(proof: Proof, expression: s.Expression, names: Names) -> t.Type:
    """The type of an expression that reads ``names``; its pattern parts are completed in place."""
    match expression:
        case s.Literal(value=value):
            return _of_value(value)
        case s.Parameter(name=name):
            proof.use_parameter(name)
            known = proof.parameter_types.get(name, t.ANY)
            return t.list_of(known) if name in proof.list_parameters else known
        case s.Variable(name=name):
            if name not in names:
                raise RefusedError("variable", f"There is no variable {name!r} here.")
            return names[name]
        case s.Property():
            return _property(proof, expression, names)
        case s.Index(subject=subject, index=index):
            return _index(proof, subject, index, names)
        case s.Slice(subject=subject, start=start, end=end):
            for bound in (start, end):
                if bound is not None:
                    _require(proof, bound, names, "integer", "A list's bounds")
            return _list(proof, subject, names, "A slice")
        case s.ListOf(items=items):
            return t.list_of(t.joined([infer(proof, item, names) for item in items]) if items else t.ANY)
        case s.MapOf(entries=entries):
            return t.Type("map", fields=tuple((key, infer(proof, value, names)) for key, value in entries))
        case s.MapProjection():
            return _map_projection(proof, expression, names)
        case s.Unary(operator="NOT", operand=operand):
            _require(proof, operand, names, "boolean", "NOT")
            return t.BOOLEAN
        case s.Unary(operand=operand):
            type_ = infer(proof, operand, names)
            if not (t.is_number(type_) or type_ == t.DURATION):
                raise RefusedError("type", f"A {type_} can't be negated.")
            return type_
        case s.Binary():
            return _binary(proof, expression, names)
        case s.IsNull(operand=operand):
            infer(proof, operand, names)
            return t.BOOLEAN
        case s.CountRows():
            return t.INTEGER
        case s.Call():
            return _call(proof, expression, names)
        case s.Case():
            return _case(proof, expression, names)
        case s.ListComprehension(variable=variable, source=source, where=where, result=result):
            element = _list(proof, source, names, "A list comprehension").element or t.ANY
            inner = _with_new(names, variable, element)
            if where is not None:
                _require(proof, where, inner, "boolean", "WHERE")
            return t.list_of(infer(proof, result, inner)) if result is not None else t.list_of(element)
        case s.Quantifier(kind=kind, variable=variable, source=source, where=where):
            element = _list(proof, source, names, f"{kind}()").element or t.ANY
            _require(proof, where, _with_new(names, variable, element), "boolean", "WHERE")
            return t.BOOLEAN
        case s.PatternComprehension():
            return _pattern_comprehension(proof, expression, names)
        case s.Subquery():
            return _subquery(proof, expression, names)
    raise RefusedError("expression", "This expression is not allowed.")


def condition(proof: Proof, expression: s.Expression, names: Names, *, of_pattern: bool = False) -> None:
    """A WHERE: a boolean without aggregates, that fails on no values of the graph.

    An engine may check it on nodes before it knows that they are the customer's, also when a WITH stands between:
    a failure would tell of them. (What divides is printed so that it can't fail; ``of_pattern`` refuses it still.)
    """
    if has_aggregate(expression):
        raise RefusedError("aggregate", "WHERE can't aggregate; do it in a WITH before.")
    _require(proof, expression, names, "boolean", "WHERE")
    check_total(proof, expression, names, of_pattern=of_pattern)


# --------------------------------------------------------------------------------------- single kinds


def _of_value(value: Value) -> t.Type:
    match value:
        case None:
            return t.NULL
        case bool():
            return t.BOOLEAN
        case int():
            return t.INTEGER
        case float():
            return t.FLOAT
        case _:
            return t.STRING


def _with_new(names: Names, variable: str, type_: t.Type) -> Names:
    """The names inside of a comprehension."""
    if variable in names:
        raise RefusedError("variable", f"{variable!r} has a meaning here already; use another name.")
    return {**names, variable: type_}


def _require(proof: Proof, expression: s.Expression, names: Names, kind: str, what: str) -> None:
    type_ = infer(proof, expression, names)
    if isinstance(expression, s.Parameter):
        proof.settle(expression.name, t.Type(kind))
    elif type_.kind != kind and not t.is_open(type_):
        raise RefusedError("type", f"{what} takes a {kind}, and this is a {type_}.")


def _list(proof: Proof, expression: s.Expression, names: Names, what: str) -> t.Type:
    if isinstance(expression, s.Parameter):
        proof.use_parameter(expression.name)
        proof.settle(expression.name, t.ANY, many=True)
        return t.list_of(proof.parameter_types.get(expression.name, t.ANY))
    type_ = infer(proof, expression, names)
    if type_.kind != "list" and not t.is_open(type_):
        raise RefusedError("type", f"{what} takes a list, and this is a {type_}.")
    return type_ if type_.kind == "list" else t.list_of(t.ANY)


def _property(proof: Proof, expression: s.Property, names: Names) -> t.Type:
    if isinstance(expression.subject, s.Parameter):
        raise RefusedError("parameter", f"${expression.subject.name} is one value or a list, and has no properties.")
    subject, name = infer(proof, expression.subject, names), expression.name
    match subject.kind:
        case "node":
            expression.of_entity = True
            return t.of_property(proof.property_of(subject.label, name).type)
        case "relationship":
            expression.of_entity = True
            first, *others = subject.label.split("|")
            type_ = t.of_property(proof.property_of(first, name, of_relationship=True).type)
            for other in others:
                if t.of_property(proof.property_of(other, name, of_relationship=True).type) != type_:
                    raise RefusedError("property", f"{name!r} is not of one type in {subject.label}.")
            return type_
        case "map":
            if subject.fields is None:
                return t.ANY
            for key, type_ in subject.fields:
                if key == name:
                    return type_
            raise RefusedError("property", f"The map has no key {name!r}.")
        case "date" | "datetime" | "duration" as kind:
            call = expression.subject
            if isinstance(call, s.Call) and call.name == "duration.between" and name not in ("years", "months", "days"):
                raise RefusedError("function", f"For {name} write duration.inSeconds(…).{name}.")
            if name not in _PARTS[kind]:
                raise RefusedError(
                    "property", f"A {kind} has no part {name!r}; it has {', '.join(sorted(_PARTS[kind]))}."
                )
            return t.INTEGER
        case "null":
            return t.NULL
        case _:
            raise RefusedError("property", f"A {subject} has no property {name!r}.")


def _index(proof: Proof, subject: s.Expression, index: s.Expression, names: Names) -> t.Type:
    type_ = infer(proof, subject, names)
    if type_.kind in ("node", "relationship", "map"):
        raise RefusedError("property", "A property is named in the text, node.name; it can't be computed.")
    _require(proof, index, names, "integer", "A list's index")
    return _list(proof, subject, names, "An index").element or t.ANY


def _map_projection(proof: Proof, expression: s.MapProjection, names: Names) -> t.Type:
    subject = infer(proof, s.Variable(expression.variable), names)
    if subject.kind not in ("node", "map"):
        raise RefusedError("type", f"{expression.variable!r} is a {subject}; a map projection takes a node.")
    if expression.every:
        if subject.kind != "node":
            raise RefusedError("type", "`.*` takes a node; name the keys of a map.")
        expression.every = False
        given = {key for key, _ in expression.entries}
        expression.entries[:0] = [
            entry for entry in all_properties(proof, expression.variable, subject) if entry[0] not in given
        ]
    keys = [key for key, _ in expression.entries]
    for key in keys:
        if keys.count(key) > 1:
            raise RefusedError("map", f"The key {key!r} stands twice in one map.")
    expression.may_be_null = not subject.matched
    return t.Type("map", fields=tuple((key, infer(proof, value, names)) for key, value in expression.entries))


def all_properties(proof: Proof, variable: str, type_: t.Type) -> list[tuple[str, s.Expression]]:
    """The declared properties of a node, as entries of a map projection."""
    return [
        (name, s.Property(s.Variable(variable), name, of_entity=True)) for name in proof.label(type_.label).properties
    ]


def _case(proof: Proof, expression: s.Case, names: Names) -> t.Type:
    subject = infer(proof, expression.subject, names) if expression.subject is not None else None
    results = []
    for when, then in expression.alternatives:
        if subject is None:
            _require(proof, when, names, "boolean", "WHEN")
        elif isinstance(when, s.Parameter):
            proof.use_parameter(when.name)
            proof.settle(when.name, subject)
        elif not t.comparable(infer(proof, when, names), subject):
            raise RefusedError("type", f"CASE compares a {subject} with a {infer(proof, when, names)}.")
        results.append(infer(proof, then, names))
    if expression.default is not None:
        results.append(infer(proof, expression.default, names))
    return t.joined(results)


def _pattern_comprehension(proof: Proof, expression: s.PatternComprehension, names: Names) -> t.Type:
    from governance.proof.patterns import match_paths  # the two call one another

    inner = match_paths(proof, [expression.path], names, nested=True)
    if expression.where is not None:
        condition(proof, expression.where, inner, of_pattern=True)
    if has_aggregate(expression.result):
        raise RefusedError("aggregate", "A comprehension can't aggregate.")
    return t.list_of(infer(proof, expression.result, inner))


def _subquery(proof: Proof, expression: s.Subquery, names: Names) -> t.Type:
    from governance.proof.patterns import match_paths

    inner = names
    for match in expression.matches:
        inner = match_paths(proof, match.paths, inner, nested=True)
        if match.where is not None:
            condition(proof, match.where, inner, of_pattern=True)
    return t.INTEGER if expression.kind == "COUNT" else t.BOOLEAN


# ------------------------------------------------------------------------------------------ operators


def _binary(proof: Proof, expression: s.Binary, names: Names) -> t.Type:
    operator = expression.operator
    if operator in _BOOLEAN_OPERATORS:
        for side in (expression.left, expression.right):
            _require(proof, side, names, "boolean", operator)
        return t.BOOLEAN
    if operator == "IN":
        return _in(proof, expression, names)
    if operator == "=~":
        _require(proof, expression.left, names, "string", "=~")
        if (part := _contained(expression.right)) is not None:
            text, any_case = part
            _require(proof, text, names, "string", "=~")
            sides = [s.Call("toLower", [side]) if any_case else side for side in (expression.left, text)]
            expression.operator, (expression.left, expression.right) = "CONTAINS", sides
            return t.BOOLEAN
        expression.right = s.Literal(_pattern(expression.right))
        return t.BOOLEAN
    if operator in _TEXT:
        for side in (expression.left, expression.right):
            _require(proof, side, names, "string", operator)
        return t.BOOLEAN
    left, right = infer(proof, expression.left, names), infer(proof, expression.right, names)
    if operator in ("=", "<>") or operator in _ORDER:
        return _comparison(proof, expression, left, right)
    if operator in ("/", "%"):
        proof.count_division(expression)
    if t.DATE in (left, right):
        _require_days(expression.right if left == t.DATE else expression.left)
    return _arithmetic(operator, left, right)


def _require_days(duration: s.Expression) -> None:
    """To a date only whole days are added: with hours one engine carries them over, the other drops them."""
    given = duration.arguments[0] if isinstance(duration, s.Call) and duration.name == "duration" else None
    hours = isinstance(given, s.MapOf) and any(key in _CLOCK_KEYS for key, _ in given.entries)
    hours = hours or (isinstance(given, s.Literal) and "T" in str(given.value).upper())
    if hours:
        raise RefusedError("type", "To a date add years, months, weeks or days; hours go with a datetime.")


def _comparison(proof: Proof, expression: s.Binary, left: t.Type, right: t.Type) -> t.Type:
    for side, other in ((expression.left, right), (expression.right, left)):
        if isinstance(side, s.Parameter):
            proof.settle(side.name, other)
    if not t.comparable(left, right):
        kinds = {left.kind, right.kind}
        wish = next((f"; write {kind}('…')" for kind in ("date", "datetime") if kinds == {kind, "string"}), "")
        raise RefusedError("type", f"A {left} and a {right} can't be compared{wish}.")
    if expression.operator in _ORDER:
        for type_ in (left, right):
            if type_.kind in ("node", "relationship", "map", "list", "duration", "point"):
                raise RefusedError("type", f"A {type_} has no order; compare a property of it.")
    return t.BOOLEAN


def _in(proof: Proof, expression: s.Binary, names: Names) -> t.Type:
    left = infer(proof, expression.left, names)
    element = _list(proof, expression.right, names, "IN").element or t.ANY
    if isinstance(expression.right, s.Parameter):
        proof.settle(expression.right.name, left, many=True)
    elif isinstance(expression.left, s.Parameter):
        proof.settle(expression.left.name, element)
    elif not t.comparable(left, element):
        raise RefusedError("type", f"A {left} is never in a list of {element}.")
    return t.BOOLEAN


def _arithmetic(operator: str, left: t.Type, right: t.Type) -> t.Type:
    kinds = (left.kind, right.kind)
    if t.is_number(left) and t.is_number(right):
        if operator == "^":
            return t.FLOAT
        if t.is_open(left) or t.is_open(right):
            return right if t.is_open(left) and operator != "+" else left if operator != "+" else t.ANY
        return t.INTEGER if kinds == ("integer", "integer") else t.FLOAT
    if operator == "+":
        if "string" in kinds and all(kind in ("string", "integer", "float", "date", "any", "null") for kind in kinds):
            return t.STRING
        if kinds == ("list", "list"):
            return t.list_of(t.joined([left.element or t.ANY, right.element or t.ANY]))
    if operator in "+-" and left.kind in (*t.TEMPORAL, "duration") and (right == t.DURATION or t.is_open(right)):
        return left
    if operator == "+" and left == t.DURATION and right.kind in t.TEMPORAL:
        return right
    if operator == "*" and left == t.DURATION and t.is_number(right):
        return left
    if operator == "*" and right == t.DURATION and t.is_number(left):
        return right
    wish = "; write duration.between(…)" if operator == "-" and set(kinds) <= t.TEMPORAL else ""
    wish = wish or ("; write toString(…)" if operator == "+" and "string" in kinds else "")
    raise RefusedError("type", f"A {left} {operator} a {right} has no meaning{wish}.")


def _contained(pattern: s.Expression) -> tuple[s.Expression, bool] | None:
    """The text in ``'.*' + text + '.*'``, which means CONTAINS, and whether ``(?i)`` stands before it."""
    match pattern:
        case s.Binary("+", s.Binary("+", s.Literal(".*" | "(?i).*" as start), text), s.Literal(".*")):
            return text, start != ".*"
        case _:
            return None


_SAFE_REGEX = re.compile(
    r"(\(\?iu?\))?((?:\\[dwsDWSb.\-+*?()\[\]|/]|\[[\w \-.,äöüßÄÖÜ]+\]|[^\\()\[\]{}*+?|^$])(?:[?]|[*+](?![*+?]))?|[|])*"
)
_MAX_REPEATS = 6


def _pattern(expression: s.Expression) -> str:
    """The pattern of ``=~``: literal, and of a kind that neither engine can be made slow with."""
    if not (isinstance(expression, s.Literal) and isinstance(expression.value, str)):
        raise RefusedError("regex", "The pattern of =~ must stand in the text; for a parameter use CONTAINS.")
    pattern = expression.value
    bare = pattern.removeprefix("^").removesuffix("$") if not pattern.endswith("\\$") else pattern
    if not _SAFE_REGEX.fullmatch(bare) or len(re.findall(r"[*+]", bare)) > _MAX_REPEATS:
        raise RefusedError(
            "regex", f"The pattern {pattern!r} is not allowed; use letters, '.', '.*', '|' and classes, or CONTAINS."
        )
    # One engine folds ASCII letters alone unless told otherwise, the other all.
    return bare.replace("(?i)", "(?iu)", 1)


# ------------------------------------------------------------------------------------------ functions


def _call(proof: Proof, expression: s.Call, names: Names) -> t.Type:
    if expression.name.lower() == "range":
        return _range(expression)
    expression.name = functions.known_name(expression.name)
    aggregate = expression.name.lower() in functions.AGGREGATES
    if expression.distinct and not aggregate:
        raise RefusedError("function", f"{expression.name}(DISTINCT …) has no meaning.")
    for argument in expression.arguments:
        if aggregate and has_aggregate(argument):
            raise RefusedError("aggregate", "An aggregate of an aggregate needs a WITH between the two.")
    _check_literals(expression)
    if expression.name == "round" and len(expression.arguments) == 2:
        digits = expression.arguments[1]
        if not (isinstance(digits, s.Literal) and type(digits.value) is int and 0 <= digits.value <= 9):
            raise RefusedError("function", "round() takes its number of digits, 0 to 9, written out.")
    types = [infer(proof, argument, names) for argument in expression.arguments]
    result, wanted = functions.result_type(expression.name, types)
    for argument, kind in zip(expression.arguments, wanted, strict=True):
        if isinstance(argument, s.Parameter) and expression.name in ("date", "datetime"):
            # An argument that is no date must fail before the query runs, not while it reads.
            proof.settle(argument.name, result)
        elif isinstance(argument, s.Parameter) and kind in t.SCALARS:
            proof.settle(argument.name, t.Type(kind))
        elif isinstance(argument, s.Parameter) and kind == "T":
            proof.settle(argument.name, result)
    return result


def _range(expression: s.Call) -> t.Type:
    bounds = [argument.value if isinstance(argument, s.Literal) else None for argument in expression.arguments]
    numbers = [bound for bound in bounds if isinstance(bound, int) and not isinstance(bound, bool)]
    if len(numbers) != len(bounds) or not 2 <= len(bounds) <= 3 or 0 in numbers[2:]:
        raise RefusedError("function", "range() takes two whole numbers written out, and a step.")
    if abs(numbers[1] - numbers[0]) > _MAX_RANGE:
        raise RefusedError("work", f"range() may span {_MAX_RANGE:,} at most.")
    expression.name = "range"
    return t.list_of(t.INTEGER)


def _check_literals(expression: s.Call) -> None:
    """Refuse dates and units that no engine takes, before one is asked."""
    name, arguments = expression.name, expression.arguments
    first = arguments[0] if arguments else None
    if name.endswith(".truncate") and not (isinstance(first, s.Literal) and first.value in _UNITS):
        raise RefusedError("function", f"{name}() takes one of {', '.join(sorted(_UNITS))} first, written out.")
    if name == "duration" and isinstance(first, s.Parameter):
        raise RefusedError("function", "Give the parts of a duration: duration({days: $days}).")
    if name in ("date", "datetime", "duration") and isinstance(first, s.Literal) and not _is_written_right(name, first):
        raise RefusedError("type", f"{first.value!r} is no {name}; {_WRITTEN[name]}.")
    if name in _MAP_KEYS and isinstance(first, s.MapOf):
        for key, value in first.entries:
            if name == "duration" and _literal_size(value) > _LONGEST_DURATION:
                raise RefusedError("type", f"A duration of {_literal_size(value)} {key} is too long.")
            if key not in _MAP_KEYS[name]:
                raise RefusedError(
                    "function", f"{name}() knows no {key!r}; it knows {', '.join(sorted(_MAP_KEYS[name]))}."
                )


_WRITTEN = {
    "date": "write it like 2026-01-31",
    "datetime": "write it like 2026-01-31T12:00:00Z",
    "duration": "write it like P1Y2M3DT4H",
}
_NUMBER = r"\d{1,6}"
_DURATION = re.compile(
    rf"P(?!$)({_NUMBER}Y)?({_NUMBER}M)?({_NUMBER}W)?({_NUMBER}D)?(T(?!$)({_NUMBER}H)?({_NUMBER}M)?({_NUMBER}S)?)?"
)
_LONGEST_DURATION = 999_999


def _is_written_right(name: str, literal: s.Literal) -> bool:
    text = literal.value
    if not isinstance(text, str):
        return text is None
    if name == "duration":
        return _DURATION.fullmatch(text) is not None
    try:
        if name == "date":
            date.fromisoformat(text + "-01" * (2 - text.count("-")) if len(text) in (4, 7) else text)
        else:
            datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


# ------------------------------------------------------------------------------------- work and failing


def check_total(proof: Proof, expression: s.Expression, names: Names, *, of_pattern: bool = True) -> None:
    """Refuse what fails on some values of the graph. ``names`` are those that the expression reads."""
    match expression:
        case s.Binary(operator="/" | "%" as operator, right=right) if of_pattern:
            if not (isinstance(right, s.Literal) and right.value):
                raise RefusedError(
                    "failing", f"{operator} in the WHERE of a MATCH needs a number but 0 behind it; put a WITH before."
                )
        case s.Binary(operator="+" | "-" | "*"):
            if _literal_size(expression) > 10**9 or _products(expression) > 2:
                raise RefusedError("failing", "This sum may be too large to count; use smaller numbers.")
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


def _literal_size(expression: s.Expression) -> int:
    if isinstance(expression, s.Literal):
        value = expression.value
        return abs(value) if isinstance(value, int) else 0
    if isinstance(expression, s.Binary):
        left, right = _literal_size(expression.left), _literal_size(expression.right)
        return left * right if expression.operator == "*" and left and right else max(left, right)
    return 0


def _products(expression: s.Expression) -> int:
    """How many values of the graph are multiplied with one another."""
    match expression:
        case s.Binary(operator="*", left=left, right=right):
            return _products(left) + _products(right)
        case s.Binary(left=left, right=right):
            return max(_products(left), _products(right))
        case _:
            return int(_reads(expression))


def _variables(expression: s.Expression) -> set[str]:
    found = {expression.name} if isinstance(expression, s.Variable) else set()
    for part in parts_of(expression):
        found |= _variables(part)
    return found


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
        case s.Literal() | s.CountRows() | s.Subquery() | s.IsNull() | s.Quantifier():
            return 8
        case s.Parameter() | s.PatternComprehension():
            return _USUAL_CHARACTERS
        case s.Variable(name=name):
            return sizes.get(name, _USUAL_CHARACTERS)
        case s.Property(subject=s.Variable(name=name)):
            return sizes.get(name, _USUAL_CHARACTERS)
        case s.Call(name="replace", arguments=arguments):
            replaced, _, new = (growth(argument, sizes) for argument in arguments)
            size = replaced * new
        case s.Call(name="range"):
            return 8 * _MAX_RANGE
        case s.ListComprehension(variable=variable, source=source, result=result):
            size = growth(source, sizes)
            if result is not None:
                growth(result, {**sizes, variable: size})
                # What the result takes from outside of the list is there as often as the list has items.
                outside = [sizes.get(name, _USUAL_CHARACTERS) for name in _variables(result) - {variable}]
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
