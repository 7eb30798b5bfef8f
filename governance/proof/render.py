"""Prints the checked tree, in the words that both engines understand alike. What it prints is what runs.

Some functions differ between the engines, or fail where others give null; they are printed as expressions that
don't: ``round``, ``isEmpty``, ``nullIf``, ``duration.between(…).days``, division by what may be zero, truncation of
what may be null. Printing again what was printed changes nothing.
"""

import re

from contracts.base import Value
from governance.proof import syntax as s
from governance.proof.source import KEYWORDS

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Property names that kglite answers itself where a node has no such property. Printed in back quotes, and
#: nothing else of this name ever is, so that its store can tell them from columns and keys, and rename them.
ENGINE_NAMES = frozenset({"id", "name", "title", "type", "label", "node_type"})


def render(query: s.Query) -> str:
    """The query on one line."""
    joint = " UNION " if query.distinct else " UNION ALL "
    return joint.join(" ".join(map(_clause, branch)) for branch in query.branches)


def render_clauses(clauses: list[s.Clause]) -> str:
    """Some clauses on one line."""
    return " ".join(map(_clause, clauses))


def quoted(name: str) -> str:
    """The name as it may stand in a text, in back quotes where it must.

    >>> quoted("total_eur"), quoted("Return"), quoted("count(*)")
    ('total_eur', '`Return`', '`count(*)`')
    """
    if _PLAIN.fullmatch(name) and (name.upper() not in KEYWORDS or name in ENGINE_NAMES):
        return name
    return f"`{name}`"


def _property_name(name: str) -> str:
    return f"`{name}`" if name in ENGINE_NAMES else quoted(name)


def _clause(clause: s.Clause) -> str:
    match clause:
        case s.Match(optional=optional, paths=paths, where=where):
            return f"{'OPTIONAL ' if optional else ''}MATCH {_paths(paths)}{_where(where)}"
        case s.Unwind(source=source, variable=variable):
            return f"UNWIND {_expression(source)} AS {quoted(variable)}"
        case s.With(projection=projection, where=where):
            return f"{_before(projection)}WITH {_projection(projection)}{_where(where)}"
        case s.Return(projection=projection):
            return f"{_before(projection)}RETURN {_projection(projection)}"
        case s.CallSubquery(imports=imports, query=query):
            return f"CALL ({', '.join(map(quoted, imports or []))}) {{ {render(query)} }}"
        case s.Set(items=items):
            return f"SET {_sets(items)}"
        case s.Create(paths=paths):
            return f"CREATE {_paths(paths)}"
        case s.Merge(path=path, on_create=on_create, on_match=on_match):
            created = f" ON CREATE SET {_sets(on_create)}" if on_create else ""
            matched = f" ON MATCH SET {_sets(on_match)}" if on_match else ""
            return f"MERGE {_path(path)}{created}{matched}"
        case s.Delete(variables=variables, detach=detach):
            return f"{'DETACH ' if detach else ''}DELETE {', '.join(map(quoted, variables))}"


def _where(where: s.Expression | None) -> str:
    return f" WHERE {_expression(where)}" if where is not None else ""


def _sets(items: list[s.SetProperty]) -> str:
    return ", ".join(f"{quoted(one.variable)}.{_property_name(one.name)} = {_expression(one.value)}" for one in items)


def _before(projection: s.Projection) -> str:
    return f"WITH {_projection(projection.before)} " if projection.before is not None else ""


def _projection(projection: s.Projection) -> str:
    parts = ["DISTINCT "] if projection.distinct else []
    parts.append(", ".join(map(_item, projection.items)))
    if projection.order:
        parts.append(" ORDER BY " + ", ".join(map(_sort, projection.order)))
    if projection.skip is not None:
        parts.append(f" SKIP {_expression(projection.skip)}")
    if projection.limit is not None:
        parts.append(f" LIMIT {_expression(projection.limit)}")
    return "".join(parts)


def _item(item: s.Item) -> str:
    if item.expression == s.Variable(item.alias):
        return quoted(item.alias)
    return f"{_expression(item.expression)} AS {quoted(item.alias)}"


def _sort(sort: s.Sort) -> str:
    return _expression(sort.expression) + (" DESC" if sort.descending else "")


# -------------------------------------------------------------------------------------------- patterns


def _paths(paths: list[s.Path]) -> str:
    return ", ".join(map(_path, paths))


def _path(path: s.Path) -> str:
    parts = [_node(path.nodes[0])]
    for relationship, node in zip(path.relationships, path.nodes[1:], strict=True):
        parts += [_relationship(relationship), _node(node)]
    return "".join(parts)


def _node(node: s.NodePattern) -> str:
    name = quoted(node.variable) if node.variable is not None else ""
    label = f":{quoted(node.label)}" if node.label is not None else ""
    properties = f"{' ' if name or label else ''}{_properties(node.properties)}" if node.properties else ""
    return f"({name}{label}{properties})"


def _relationship(relationship: s.RelationshipPattern) -> str:
    name = quoted(relationship.variable) if relationship.variable is not None else ""
    properties = f" {_properties(relationship.properties)}" if relationship.properties else ""
    inner = f"[{name}:{'|'.join(map(quoted, relationship.types))}{properties}]"
    left, right = ("<-", "-") if relationship.direction == "<" else ("-", "->" if relationship.direction else "-")
    return f"{left}{inner}{right}"


# ----------------------------------------------------------------------------------------- expressions

# How strongly each operator binds; what binds less inside of what binds more gets brackets.
_BINDING = {"OR": 1, "XOR": 2, "AND": 3, "NOT": 4, "=": 5, "<>": 5, "<": 5, "<=": 5, ">": 5, ">=": 5}
_BINDING |= dict.fromkeys(("IN", "=~", "STARTS WITH", "ENDS WITH", "CONTAINS"), 6)
_BINDING |= {"+": 7, "-": 7, "*": 8, "/": 8, "%": 8, "^": 9}
_ATOM = 12


def _expression(expression: s.Expression) -> str:
    match expression:
        case s.Literal(value=value):
            return _literal(value)
        case s.Parameter(name=name):
            return f"${name}"
        case s.Variable(name=name):
            return quoted(name)
        case s.Property(subject=s.Call(name="duration.between", arguments=[start, end]), name=name):
            return _between(start, end, name)
        case s.Property(subject=subject, name=name):
            return f"{_operand(subject, _ATOM)}.{_property_name(name)}"
        case s.Index(subject=subject, index=index):
            return f"{_operand(subject, _ATOM)}[{_expression(index)}]"
        case s.Slice(subject=subject, start=start, end=end):
            low, high = ("" if bound is None else _expression(bound) for bound in (start, end))
            return f"{_operand(subject, _ATOM)}[{low}..{high}]"
        case s.ListOf(items=items):
            return f"[{', '.join(map(_expression, items))}]"
        case s.MapOf(entries=entries):
            return _map(entries)
        case s.Unary(operator="NOT", operand=operand):
            return f"NOT {_operand(operand, 5)}"
        case s.Unary(operator=operator, operand=operand):
            return f"{operator}{_operand(operand, _ATOM)}"
        case s.Binary(operator="/" | "%" as operator, left=left, right=right) if _may_be_zero(right):
            return _expression(s.Binary(operator, left, s.Case(right, [(_ZERO, _NULL)], right)))
        case s.Binary(operator=operator, left=left, right=right):
            strength = _BINDING[operator]
            # Comparisons don't chain: a < b < c means something else than (a < b) < c.
            apart = strength in (5, 6)
            return f"{_operand(left, strength + apart)} {operator} {_operand(right, strength + 1)}"
        case s.IsNull(operand=operand, negated=negated):
            return f"{_operand(operand, 7)} IS {'NOT ' if negated else ''}NULL"
        case s.Call(name="round" | "isEmpty" | "nullIf"):
            return _expression(_alike(expression))
        case s.Call(name="date.truncate" | "datetime.truncate", arguments=[_, moment]) if moment != _TODAY:
            return f"CASE WHEN {_operand(moment, 7)} IS NULL THEN null ELSE {_call(expression)} END"
        case s.Call():
            return _call(expression)
        case s.CountRows():
            return "count(*)"
        case s.Case():
            return _case(expression)
        case s.ListComprehension(variable=variable, source=source, where=where, result=result):
            tail = f" | {_expression(result)}" if result is not None else ""
            return f"[{quoted(variable)} IN {_expression(source)}{_where(where)}{tail}]"
        case s.Quantifier(kind=kind, variable=variable, source=source, where=where):
            return f"{kind}({quoted(variable)} IN {_expression(source)}{_where(where)})"
        case s.PatternComprehension(path=path, where=where, result=result):
            return f"[{_path(path)}{_where(where)} | {_expression(result)}]"
        case s.MapProjection(entries=entries, as_map=True):
            return _map(entries)
        case s.MapProjection(variable=variable, entries=entries):
            return f"{quoted(variable)} {{{', '.join(_projected(variable, *entry) for entry in entries)}}}"
        case s.Subquery(kind=kind, matches=matches):
            return f"{kind} {{ {' '.join(map(_clause, matches))} }}"


def _call(call: s.Call) -> str:
    return f"{call.name}({'DISTINCT ' if call.distinct else ''}{', '.join(map(_expression, call.arguments))})"


_ZERO, _NULL, _TODAY = s.Literal(0), s.Literal(None), s.Call("date", [])


def _may_be_zero(divisor: s.Expression) -> bool:
    match divisor:
        case s.Literal(value=value):
            return not value
        case s.Case(subject=subject, alternatives=alternatives, default=default):
            return not (subject is not None and subject == default and alternatives == [(_ZERO, _NULL)])
        case _:
            return True


def _alike(call: s.Call) -> s.Expression:
    """What both engines compute alike in the place of a function that they don't."""
    match call:
        case s.Call(name="round", arguments=[number]):
            return s.Call("floor", [s.Binary("+", number, s.Literal(0.5))])
        case s.Call(name="round", arguments=[number, s.Literal(value=int(digits))]):
            factor = s.Literal(float(10**digits))
            scaled = s.Binary("+", s.Binary("*", number, factor), s.Literal(0.5))
            return s.Binary("/", s.Call("floor", [scaled]), factor)
        case s.Call(name="nullIf", arguments=[value, other]):
            return s.Case(None, [(s.Binary("=", value, other), _NULL)], value)
        case _:
            return s.Binary("=", s.Call("size", call.arguments), _ZERO)


def _between(start: s.Expression, end: s.Expression, part: str) -> str:
    """A part of ``duration.between``: whole months, and the days that are left after them."""
    months = s.Property(s.Call("duration.inMonths", [start, end]), "months")
    if part != "days":
        return _expression(s.Property(months.subject, part))
    later = s.Binary("+", start, s.Call("duration", [s.MapOf([("months", months)])]))
    return _expression(s.Property(s.Call("duration.inDays", [later, end]), "days"))


def _operand(expression: s.Expression, strength: int) -> str:
    text = _expression(expression)
    return text if _strength(expression) >= strength else f"({text})"


def _strength(expression: s.Expression) -> int:
    match expression:
        case s.Call(name="round", arguments=[_, _]):
            return _BINDING["/"]
        case s.Call(name="isEmpty"):
            return _BINDING["="]
        case s.Binary(operator=operator):
            return _BINDING[operator]
        case s.Unary(operator="NOT"):
            return 4
        case s.Unary():
            return 10
        case s.Literal(value=int() | float() as value) if not isinstance(value, bool) and value < 0:
            return 10
        case s.IsNull():
            return 6
        case _:
            return _ATOM


def _projected(variable: str, key: str, value: s.Expression) -> str:
    if value == s.Property(s.Variable(variable), key) and key not in ENGINE_NAMES:
        return f".{quoted(key)}"
    return f"{quoted(key)}: {_expression(value)}"


def _properties(entries: list[tuple[str, s.Expression]]) -> str:
    return "{" + ", ".join(f"{_property_name(key)}: {_expression(value)}" for key, value in entries) + "}"


def _case(case: s.Case) -> str:
    match case:
        case s.Case(None, [(s.IsNull(moment, False), s.Literal(None))], s.Call(arguments=[_, other]) as call):
            if moment == other and call.name.endswith(".truncate"):
                return f"CASE WHEN {_operand(moment, 7)} IS NULL THEN null ELSE {_call(call)} END"
    parts = ["CASE"] if case.subject is None else ["CASE", _expression(case.subject)]
    for when, then in case.alternatives:
        parts.append(f"WHEN {_expression(when)} THEN {_expression(then)}")
    if case.default is not None:
        parts.append(f"ELSE {_expression(case.default)}")
    return " ".join([*parts, "END"])


def _map(entries: list[tuple[str, s.Expression]]) -> str:
    return "{" + ", ".join(f"{quoted(key)}: {_expression(value)}" for key, value in entries) + "}"


_ESCAPED = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def _literal(value: Value) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case _:
            return "'" + str(value).translate(_ESCAPED) + "'"
