"""The types of expressions, and what they may do. Raises ``RefusedError`` for what the language would not run."""

from dataclasses import replace
from math import prod

from contracts.base import Value
from governance.proof import functions
from governance.proof import syntax as s
from governance.proof import types as t
from governance.proof.moments import PARTS, check_literals, require_days
from governance.proof.regexes import contained, safe_pattern
from governance.proof.scope import Proof
from governance.proof.violation import RefusedError
from governance.proof.walk import has_aggregate, items_of, variables_of

#: Variables in scope and their types.
Names = dict[str, t.Type]

_BOOLEAN_OPERATORS = frozenset({"AND", "OR", "XOR"})
_ORDER = frozenset({"<", "<=", ">", ">="})
_TEXT = frozenset({"STARTS WITH", "ENDS WITH", "CONTAINS"})


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
                    require(proof, bound, names, "integer", "A list's bounds")
            return _in_order(_list(proof, subject, names, "A slice"))
        case s.ListOf(items=items):
            return t.list_of(t.joined([infer(proof, item, names) for item in items]) if items else t.ANY)
        case s.MapOf(entries=entries):
            return t.Type("map", fields=tuple((key, infer(proof, value, names)) for key, value in entries))
        case s.MapProjection():
            return _map_projection(proof, expression, names)
        case s.Unary(operator="NOT", operand=operand):
            require(proof, operand, names, "boolean", "NOT")
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
            _refuse_aggregates(where, result)
            listed = _list(proof, source, names, "A list comprehension")
            inner = _with_new(names, variable, listed.element or t.ANY)
            proof.begin_loop(_work(proof, source, [where, result], names))
            if where is not None:
                require(proof, where, inner, "boolean", "WHERE")
            made = t.list_of(infer(proof, result, inner) if result is not None else listed.element or t.ANY)
            proof.end_loop()
            return replace(made, unordered=listed.unordered)
        case s.Quantifier(kind=kind, variable=variable, source=source, where=where):
            _refuse_aggregates(where)
            element = _list(proof, source, names, f"{kind}()").element or t.ANY
            inner = _with_new(names, variable, element)
            proof.begin_loop(_work(proof, source, [where], names))
            require(proof, where, inner, "boolean", "WHERE")
            proof.end_loop()
            return t.BOOLEAN
        case s.PatternComprehension():
            return _pattern_comprehension(proof, expression, names)
        case s.Subquery():
            return _subquery(proof, expression, names)
    raise RefusedError("expression", "This expression is not allowed.")


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


def _work(proof: Proof, source: s.Expression, parts: list[s.Expression | None], names: Names) -> int:
    """About how many items a comprehension goes through; lists from outside that it reads, once for each."""
    read = {name for part in parts if part is not None for name in variables_of(part)}
    lists = [name for name in read if name in names and names[name].kind == "list"]
    return items_of(source, proof.written) * prod(items_of(s.Variable(name), proof.written) for name in lists)


def _refuse_aggregates(*parts: s.Expression | None) -> None:
    if any(part is not None and has_aggregate(part) for part in parts):
        raise RefusedError("aggregate", "A comprehension can't aggregate; do it in a WITH before.")


def _with_new(names: Names, variable: str, type_: t.Type) -> Names:
    """The names inside of a comprehension."""
    if variable in names:
        raise RefusedError("variable", f"{variable!r} has a meaning here already; use another name.")
    return {**names, variable: type_}


def require(proof: Proof, expression: s.Expression, names: Names, kind: str, what: str) -> None:
    """Refuse an expression of another kind; a parameter learns its type. ``what`` asks for it, in the message."""
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
            if name not in PARTS[kind]:
                raise RefusedError(
                    "property", f"A {kind} has no part {name!r}; it has {', '.join(sorted(PARTS[kind]))}."
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
    require(proof, index, names, "integer", "A list's index")
    return _in_order(_list(proof, subject, names, "An index")).element or t.ANY


def _map_projection(proof: Proof, expression: s.MapProjection, names: Names) -> t.Type:
    subject = infer(proof, s.Variable(expression.variable), names)
    if subject.kind not in ("node", "relationship", "map"):
        raise RefusedError("type", f"{expression.variable!r} is a {subject}; a map projection takes a node.")
    if expression.every:
        if subject.kind == "map":
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
    """The declared properties of a node or relationship, as entries of a map projection."""
    if type_.kind == "node":
        names = list(proof.label(type_.label).properties)
    else:
        declared = [one for part in type_.label.split("|") for one in proof.relationship_types(part)]
        names = sorted({name for one in declared for name in one.properties})
    return [(name, s.Property(s.Variable(variable), name, of_entity=True)) for name in names]


def _case(proof: Proof, expression: s.Case, names: Names) -> t.Type:
    subject = infer(proof, expression.subject, names) if expression.subject is not None else None
    results = []
    for when, then in expression.alternatives:
        if subject is None:
            require(proof, when, names, "boolean", "WHEN")
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
    from governance.proof.failing import condition  # these call one another
    from governance.proof.patterns import match_paths

    inner = match_paths(proof, [expression.path], names, nested=True)
    if expression.where is not None:
        condition(proof, expression.where, inner, of_pattern=True)
    if has_aggregate(expression.result):
        raise RefusedError("aggregate", "A comprehension can't aggregate.")
    return replace(t.list_of(infer(proof, expression.result, inner)), unordered=True)


def _in_order(type_: t.Type) -> t.Type:
    """The type of a list of which something is taken by its place."""
    if type_.unordered:
        raise RefusedError(
            "order", "A pattern comprehension has no order to take from; MATCH, ORDER BY, and collect(…) instead."
        )
    return type_


def _subquery(proof: Proof, expression: s.Subquery, names: Names) -> t.Type:
    from governance.proof.failing import condition
    from governance.proof.patterns import match_paths

    inner = names
    for match in expression.matches:
        inner = match_paths(proof, match.paths, inner, nested=True)
        if match.where is not None:
            condition(proof, match.where, inner, of_pattern=True)
    for returned in expression.returned:
        infer(proof, returned, inner)
    return t.INTEGER if expression.kind == "COUNT" else t.BOOLEAN


# ------------------------------------------------------------------------------------------ operators


def _binary(proof: Proof, expression: s.Binary, names: Names) -> t.Type:
    operator = expression.operator
    if operator in _BOOLEAN_OPERATORS:
        for side in (expression.left, expression.right):
            require(proof, side, names, "boolean", operator)
        return t.BOOLEAN
    if operator == "IN":
        return _in(proof, expression, names)
    if operator == "=~":
        require(proof, expression.left, names, "string", "=~")
        if (part := contained(expression.right)) is not None:
            text, any_case = part
            require(proof, text, names, "string", "=~")
            sides = [s.Call("toLower", [side]) if any_case else side for side in (expression.left, text)]
            expression.operator, (expression.left, expression.right) = "CONTAINS", sides
            return t.BOOLEAN
        expression.right = s.Literal(safe_pattern(expression.right))
        return t.BOOLEAN
    if operator in _TEXT:
        for side in (expression.left, expression.right):
            require(proof, side, names, "string", operator)
        return t.BOOLEAN
    left, right = infer(proof, expression.left, names), infer(proof, expression.right, names)
    if operator in ("=", "<>") or operator in _ORDER:
        return _comparison(proof, expression, left, right)
    if operator in ("/", "%"):
        proof.count_division(expression)
    if t.DATE in (left, right):
        require_days(expression.right if left == t.DATE else expression.left)
    return _arithmetic(operator, left, right)


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
    if expression.name in ("nullIf", "date.truncate", "datetime.truncate"):
        proof.count_division(expression)  # an argument of it is printed twice
    check_literals(expression)
    if expression.name == "round" and len(expression.arguments) == 2:
        proof.count_division(expression)  # its number is printed twice as well
        digits = expression.arguments[1]
        if not (isinstance(digits, s.Literal) and type(digits.value) is int and 0 <= digits.value <= 9):
            raise RefusedError("function", "round() takes its number of digits, 0 to 9, written out.")
    types = [infer(proof, argument, names) for argument in expression.arguments]
    if expression.name in ("head", "last", "tail", "reverse"):
        _in_order(types[0] if types else t.ANY)
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
    if abs(numbers[1] - numbers[0]) > functions.LONGEST_RANGE:
        raise RefusedError("work", f"range() may span {functions.LONGEST_RANGE:,} at most.")
    expression.name = "range"
    return t.list_of(t.INTEGER)
