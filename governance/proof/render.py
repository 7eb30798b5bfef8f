"""Prints the checked tree, in the words that both engines understand alike. What it prints is what runs.

Some functions differ between the engines, or fail where others give null; they are printed as expressions that
don't: ``round``, ``isEmpty``, ``nullIf``, ``duration.between(…).days``, division by what may be zero, truncation of
what may be null. Printing again what was printed changes nothing.
"""

import re
from collections.abc import Callable

from contracts.base import Value
from governance.proof import syntax as s
from governance.proof.source import KEYWORDS
from governance.proof.violation import RefusedError
from governance.proof.walk import replaced

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Words of the language itself: of Neo4j's grammar, and those that kglite has besides.
_RESERVED = KEYWORDS | frozenset(
    {"EXCEPT", "EXPLAIN", "HAVING", "INTERSECT", "LIMIT", "NULLS", "OVER", "PARTITION", "PROFILE", "SKIP"}
)


def render(query: s.Query, stored_name: Callable[[str], str] = str) -> str:
    """The query on one line, the properties of nodes and relationships under their stored names."""
    return _Printer(stored_name).query(query)


def render_clauses(clauses: list[s.Clause]) -> str:
    """Some clauses on one line."""
    return _Printer(str).clauses(clauses)


def quoted(name: str) -> str:
    """The name as it may stand in a text, in back quotes where it must.

    >>> quoted("total_eur"), quoted("Return"), quoted("count(*)")
    ('total_eur', '`Return`', '`count(*)`')
    """
    if _PLAIN.fullmatch(name) and name.upper() not in _RESERVED:
        return name
    if "`" in name or "\\" in name or not name.isprintable():
        # Names are checked where they are read; nothing that could end its own quotes is ever printed.
        raise RefusedError("name", f"{name!r} can't be a name; use letters, digits and _.")
    return f"`{name}`"


# How strongly each operator binds; what binds less inside of what binds more gets brackets.


_BINDING = {"OR": 1, "XOR": 2, "AND": 3, "NOT": 4, "=": 5, "<>": 5, "<": 5, "<=": 5, ">": 5, ">=": 5}


_BINDING |= dict.fromkeys(("IN", "=~", "STARTS WITH", "ENDS WITH", "CONTAINS"), 6)


_BINDING |= {"+": 7, "-": 7, "*": 8, "/": 8, "%": 8, "^": 9}


_ATOM = 12


_ZERO, _NULL, _TODAY = s.Literal(0), s.Literal(None), s.Call("date", [])


def _coalesced_count(part: s.Expression) -> s.Expression | None:
    match part:
        case s.Subquery(kind="COUNT"):
            return s.Call("coalesce", [part, _ZERO])
        case s.Call(name="coalesce", arguments=[s.Subquery(kind="COUNT"), _]):
            return part
        case _:
            return None


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
            # Halves go away from zero, and what is a half but for the last bit is one.
            factor = s.Literal(float(10**digits))
            scaled = s.Binary("+", s.Binary("*", s.Call("abs", [number]), factor), s.Literal(0.500001))
            return s.Binary("/", s.Binary("*", s.Call("sign", [number]), s.Call("floor", [scaled])), factor)
        case s.Call(name="nullIf", arguments=[value, other]):
            return s.Case(None, [(s.Binary("=", value, other), _NULL)], value)
        case _:
            return s.Binary("=", s.Call("size", call.arguments), _ZERO)


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
        case s.Literal(value=int() | float() as value) if not isinstance(value, bool):
            return 10 if value < 0 else 11  # a dot behind a bare number would be a part of it
        case s.IsNull():
            return 6
        case _:
            return _ATOM


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


class _Printer:
    """Prints with properties under the names that the engine stores them under."""

    def __init__(self, stored_name: Callable[[str], str]) -> None:
        self._stored_name = stored_name

    def query(self, query: s.Query) -> str:
        joint = " UNION " if query.distinct else " UNION ALL "
        return joint.join(self.clauses(branch) for branch in query.branches)

    def clauses(self, clauses: list[s.Clause]) -> str:
        return " ".join(map(self._clause, clauses))

    def _property_name(self, name: str) -> str:
        return quoted(self._stored_name(name))

    def _clause(self, clause: s.Clause) -> str:
        match clause:
            case s.Match(optional=optional, paths=paths, where=where):
                if optional:
                    # One engine loses the groups of an aggregation behind an OPTIONAL MATCH that has no WHERE, the
                    # other loses rows whose COUNT in that WHERE is zero.
                    condition = s.Literal(True) if where is None else replaced(where, _coalesced_count)
                    return f"OPTIONAL MATCH {self._paths(paths)}{self._where(condition)}"
                return f"MATCH {self._paths(paths)}{self._where(where)}"
            case s.Unwind(source=source, variable=variable):
                return f"UNWIND {self._expression(source)} AS {quoted(variable)}"
            case s.With(projection=projection, where=where):
                return f"{self._before(projection)}WITH {self._projection(projection)}{self._where(where)}"
            case s.Return(projection=projection):
                return f"{self._before(projection)}RETURN {self._projection(projection)}"
            case s.CallSubquery(imports=imports, query=query):
                return f"CALL ({', '.join(map(quoted, imports or []))}) {{ {self.query(query)} }}"
            case s.Set(items=items):
                return self._set(items)
            case s.Create(paths=paths):
                return f"CREATE {self._paths(paths)}"
            case s.Merge(path=path, on_create=on_create, on_match=on_match):
                created = f" ON CREATE SET {self._sets(on_create)}" if on_create else ""
                matched = f" ON MATCH SET {self._sets(on_match)}" if on_match else ""
                return f"MERGE {self._path(path)}{created}{matched}"
            case s.Delete(variables=variables, detach=detach):
                return f"{'DETACH ' if detach else ''}DELETE {', '.join(map(quoted, variables))}"

    def _where(self, where: s.Expression | None) -> str:
        return f" WHERE {self._expression(where)}" if where is not None else ""

    def _set(self, items: list[s.SetProperty]) -> str:
        """Nulls are removed: the engines count setting what is absent to null differently."""
        kept = [item for item in items if item.value != s.Literal(None)]
        gone = [f"{quoted(item.variable)}.{self._property_name(item.name)}" for item in items if item not in kept]
        return " ".join(([f"SET {self._sets(kept)}"] if kept else []) + ([f"REMOVE {', '.join(gone)}"] if gone else []))

    def _sets(self, items: list[s.SetProperty]) -> str:
        return ", ".join(
            f"{quoted(one.variable)}.{self._property_name(one.name)} = {self._expression(one.value)}" for one in items
        )

    def _before(self, projection: s.Projection) -> str:
        return "".join(f"WITH {self._projection(one)} " for one in projection.before)

    def _projection(self, projection: s.Projection) -> str:
        parts = ["DISTINCT "] if projection.distinct else []
        parts.append(", ".join(map(self._item, projection.items)))
        if projection.order:
            parts.append(" ORDER BY " + ", ".join(map(self._sort, projection.order)))
        if projection.skip is not None:
            parts.append(f" SKIP {self._expression(projection.skip)}")
        if projection.limit is not None:
            parts.append(f" LIMIT {self._expression(projection.limit)}")
        return "".join(parts)

    def _item(self, item: s.Item) -> str:
        if item.expression == s.Variable(item.alias) and quoted(item.alias) == item.alias:
            return item.alias
        return f"{self._expression(item.expression)} AS {quoted(item.alias)}"

    def _sort(self, sort: s.Sort) -> str:
        return self._expression(sort.expression) + (" DESC" if sort.descending else "")

    # -------------------------------------------------------------------------------------------- patterns

    def _paths(self, paths: list[s.Path]) -> str:
        return ", ".join(map(self._path, paths))

    def _path(self, path: s.Path) -> str:
        parts = [self._node(path.nodes[0])]
        for relationship, node in zip(path.relationships, path.nodes[1:], strict=True):
            parts += [self._relationship(relationship), self._node(node)]
        return "".join(parts)

    def _node(self, node: s.NodePattern) -> str:
        name = quoted(node.variable) if node.variable is not None else ""
        label = f":{quoted(node.label)}" if node.label is not None else ""
        properties = f"{' ' if name or label else ''}{self._properties(node.properties)}" if node.properties else ""
        return f"({name}{label}{properties})"

    def _relationship(self, relationship: s.RelationshipPattern) -> str:
        name = quoted(relationship.variable) if relationship.variable is not None else ""
        properties = f" {self._properties(relationship.properties)}" if relationship.properties else ""
        inner = f"[{name}:{'|'.join(map(quoted, relationship.types))}{properties}]"
        left, right = ("<-", "-") if relationship.direction == "<" else ("-", "->" if relationship.direction else "-")
        return f"{left}{inner}{right}"

    # ----------------------------------------------------------------------------------------- expressions

    def _expression(self, expression: s.Expression) -> str:
        match expression:
            case s.Literal(value=value):
                return _literal(value)
            case s.Parameter(name=name):
                return f"${name}"
            case s.Variable(name=name):
                return quoted(name)
            case s.Property(subject=s.Call(name="duration.between", arguments=[start, end]), name=name):
                return self._between(start, end, name)
            case s.Property(subject=subject, name=name):
                part = self._property_name(name) if expression.of_entity else quoted(name)
                return f"{self._operand(subject, _ATOM)}.{part}"
            case s.Index(subject=subject, index=index):
                return f"{self._operand(subject, _ATOM)}[{self._expression(index)}]"
            case s.Slice(subject=subject, start=start, end=end):
                low, high = ("" if bound is None else self._expression(bound) for bound in (start, end))
                return f"{self._operand(subject, _ATOM)}[{low}..{high}]"
            case s.ListOf(items=items):
                return f"[{', '.join(map(self._expression, items))}]"
            case s.MapOf(entries=entries):
                return self._map(entries)
            case s.Unary(operator="NOT", operand=operand):
                return f"NOT {self._operand(operand, 5)}"
            case s.Unary(operator=operator, operand=operand):
                return f"{operator}{self._operand(operand, _ATOM)}"
            case s.Binary(operator="/" | "%" as operator, left=left, right=right) if _may_be_zero(right):
                return self._expression(s.Binary(operator, left, s.Case(right, [(_ZERO, _NULL)], right)))
            case s.Binary(operator=operator, left=left, right=right):
                strength = _BINDING[operator]
                # Comparisons don't chain: a < b < c means something else than (a < b) < c.
                apart = strength in (5, 6)
                # Both engines read a test to the left of another only in brackets.
                least = 7 if apart else strength
                return f"{self._operand(left, least)} {operator} {self._operand(right, 7 if apart else strength + 1)}"
            case s.IsNull(operand=operand, negated=negated):
                return f"{self._operand(operand, 7)} IS {'NOT ' if negated else ''}NULL"
            case s.Call(name="round" | "isEmpty" | "nullIf"):
                return self._expression(_alike(expression))
            case s.Call(name="date.truncate" | "datetime.truncate", arguments=[_, moment]) if moment != _TODAY:
                return f"CASE WHEN {self._operand(moment, 7)} IS NULL THEN null ELSE {self._call(expression)} END"
            case s.Call():
                return self._call(expression)
            case s.CountRows():
                return "count(*)"
            case s.Case():
                return self._case(expression)
            case s.ListComprehension(variable=variable, source=source, where=where, result=result):
                tail = f" | {self._expression(result)}" if result is not None else ""
                return f"[{quoted(variable)} IN {self._expression(source)}{self._where(where)}{tail}]"
            case s.Quantifier(kind=kind, variable=variable, source=source, where=where):
                return f"{kind}({quoted(variable)} IN {self._expression(source)}{self._where(where)})"
            case s.PatternComprehension(path=path, where=where, result=result):
                return f"[{self._path(path)}{self._where(where)} | {self._expression(result)}]"
            case s.MapProjection(variable=variable, entries=entries, may_be_null=may_be_null):
                # As a map written out: one engine projects some nodes to null. Of a missing node there is no map.
                written = self._map(entries)
                return f"CASE WHEN {quoted(variable)} IS NULL THEN null ELSE {written} END" if may_be_null else written
            case s.Subquery(kind=kind, matches=matches):
                return f"{kind} {{ {' '.join(map(self._clause, matches))} }}"

    def _call(self, call: s.Call) -> str:
        return f"{call.name}({'DISTINCT ' if call.distinct else ''}{', '.join(map(self._expression, call.arguments))})"

    def _between(self, start: s.Expression, end: s.Expression, part: str) -> str:
        """A part of ``duration.between``: whole months, and the days that are left after them."""
        months = s.Property(s.Call("duration.inMonths", [start, end]), "months")
        if part != "days":
            return self._expression(s.Property(months.subject, part))
        whole = s.Call("coalesce", [months, _ZERO])  # no duration takes a null
        later = s.Binary("+", start, s.Call("duration", [s.MapOf([("months", whole)])]))
        return self._expression(s.Property(s.Call("duration.inDays", [later, end]), "days"))

    def _operand(self, expression: s.Expression, strength: int) -> str:
        text = self._expression(expression)
        if _strength(expression) < strength and text.startswith("COUNT {"):
            text = f"0 + {text}"  # one engine can't read a bracket before COUNT
        return text if _strength(expression) >= strength else f"({text})"

    def _properties(self, entries: list[tuple[str, s.Expression]]) -> str:
        return "{" + ", ".join(f"{self._property_name(key)}: {self._expression(value)}" for key, value in entries) + "}"

    def _case(self, case: s.Case) -> str:
        match case:
            case s.Case(None, [(s.IsNull(moment, False), s.Literal(None))], s.Call(arguments=[_, other]) as call):
                if moment == other and call.name.endswith(".truncate"):
                    return f"CASE WHEN {self._operand(moment, 7)} IS NULL THEN null ELSE {self._call(call)} END"
        parts = ["CASE"] if case.subject is None else ["CASE", self._expression(case.subject)]
        for when, then in case.alternatives:
            parts.append(f"WHEN {self._expression(when)} THEN {self._expression(then)}")
        if case.default is not None:
            parts.append(f"ELSE {self._expression(case.default)}")
        return " ".join([*parts, "END"])

    def _map(self, entries: list[tuple[str, s.Expression]]) -> str:
        return "{" + ", ".join(f"{quoted(key)}: {self._expression(value)}" for key, value in entries) + "}"
