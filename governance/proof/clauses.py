"""Clauses in their order: what each brings into scope, and what the next may see."""

from collections.abc import Container
from dataclasses import dataclass

from governance.proof import syntax as s
from governance.proof import types as t
from governance.proof.expressions import Names, all_properties, infer
from governance.proof.failing import condition
from governance.proof.grouping import check_grouping, split_aggregates
from governance.proof.growth import growth
from governance.proof.patterns import match_paths
from governance.proof.scope import Proof
from governance.proof.violation import RefusedError
from governance.proof.walk import has_aggregate, parts_of, replaced


@dataclass
class Rows:
    """What the rows hold between two clauses: names with their types, and how much each may have grown."""

    names: Names
    sizes: dict[str, int]


def check_query(proof: Proof, query: s.Query, rows: Rows, *, inner: bool) -> list[tuple[str, t.Type]]:
    """The columns of a query. ``inner``: of a CALL, whose nodes stay nodes. Raises ``RefusedError``."""
    results = [_branch(proof, branch, rows, inner=inner) for branch in query.branches]
    first = [name for name, _ in results[0]]
    for columns in results[1:]:
        if [name for name, _ in columns] != first:
            raise RefusedError(
                "union", f"All parts of a UNION return the same columns in one order: {', '.join(first)}."
            )
    return [(name, t.joined([columns[position][1] for columns in results])) for position, name in enumerate(first)]


def _branch(proof: Proof, clauses: list[s.Clause], rows: Rows, *, inner: bool) -> list[tuple[str, t.Type]]:
    last = clauses[-1] if clauses else None
    if not isinstance(last, s.Return):
        raise RefusedError("clause", "A query that reads ends with RETURN.")
    rows = Rows(dict(rows.names), dict(rows.sizes))
    if not inner:
        proof.separate, proof.unwound = 0, 1
    ordered = False
    checked: list[s.Clause] = []
    for clause in clauses:
        if isinstance(clause, s.With | s.Return):
            if not ordered and _minds_order(proof, clause.projection) and (sort := _sorted(proof, rows)) is not None:
                checked.append(sort)
            ordered = ordered or bool(clause.projection.order)
        checked.append(clause)
        if clause is not last:
            rows = check_reading(proof, clause, rows)
    clauses[:] = checked
    return check_return(proof, last.projection, rows, inner=inner)


def _minds_order(proof: Proof, projection: s.Projection) -> bool:
    """Whether the projection's result depends on the order of the rows before: lists do, and the last digits of
    sums. (Staff may sum over everybody's rows, which nobody wants sorted for that.)"""
    names = _IN_ORDER if proof.scope.name != "staff" else _IN_ORDER - {"sum", "avg"}
    return any(_calls(item.expression, names) for item in projection.items)


_IN_ORDER = frozenset({"collect", "sum", "avg"})


def _calls(expression: s.Expression, names: frozenset[str]) -> bool:
    if isinstance(expression, s.Call) and expression.name.lower() in names:
        return True
    return any(_calls(part, names) for part in parts_of(expression))


def _sorted(proof: Proof, rows: Rows) -> s.With | None:
    """A WITH of our own that sorts the rows before they are aggregated, where that makes a difference."""
    keys = [key for name, type_ in sorted(rows.names.items()) if (key := _key(proof, name, type_)) is not None]
    if not keys:
        return None
    items = [s.Item(s.Variable(name), name, named=True) for name in sorted(rows.names)]
    order = [s.Sort(key, descending=False) for key in keys]
    return s.With(s.Projection(False, False, items, order, None, None), None)


def _key(proof: Proof, name: str, type_: t.Type) -> s.Property | s.Variable | None:
    """What a column or variable is sorted by: itself, or the unique property of a node."""
    if type_.kind in t.SCALARS or type_ == t.ANY:
        return s.Variable(name)
    unique = _unique_property(proof, type_.label) if type_.kind == "node" else None
    return s.Property(s.Variable(name), unique, of_entity=True) if unique is not None else None


def check_reading(proof: Proof, clause: s.Clause, rows: Rows) -> Rows:
    """The rows after a clause that reads. Raises ``RefusedError``."""
    match clause:
        case s.Match(optional=optional, paths=paths, where=where):
            names = match_paths(proof, paths, rows.names, optional=optional)
            if where is not None:
                condition(proof, where, names, of_pattern=True, sizes=rows.sizes)
            return Rows(names, rows.sizes)
        case s.Unwind(source=source, variable=variable):
            return _unwind(proof, source, variable, rows)
        case s.With(projection=projection, where=where):
            after = project(proof, projection, rows, named=True)
            if projection.order or projection.skip is not None or projection.limit is not None:
                _complete(proof, projection.order, after.names)
            if where is not None:
                condition(proof, where, after.names, sizes=after.sizes)
            return after
        case s.CallSubquery():
            return _call(proof, clause, rows)
        case s.Return():
            raise RefusedError("clause", "RETURN must be the last clause.")
    raise RefusedError("read-only", "This query may only read; CREATE, SET, MERGE, REMOVE and DELETE are not allowed.")


def _unwind(proof: Proof, source: s.Expression, variable: str, rows: Rows) -> Rows:
    proof.count_unwind(_written_out(source))
    if variable in rows.names:
        raise RefusedError("variable", f"{variable!r} has a meaning already; use another name.")
    if has_aggregate(source):
        raise RefusedError("aggregate", "UNWIND can't aggregate; collect in a WITH before.")
    if isinstance(source, s.Parameter):
        proof.use_parameter(source.name)
        proof.settle(source.name, t.ANY, many=True)
    type_ = infer(proof, source, rows.names)
    if type_.kind != "list" and not t.is_open(type_):
        raise RefusedError("type", f"UNWIND takes a list, and this is a {type_}.")
    size = growth(source, rows.sizes)
    return Rows({**rows.names, variable: type_.element or t.ANY}, {**rows.sizes, variable: size})


_USUAL_ITEMS = 100


def _written_out(source: s.Expression) -> int:
    """How many items a list has by the text alone, and about how many where the data tell."""
    match source:
        case s.ListOf(items=items):
            return len(items)
        case s.Call(name="range", arguments=[s.Literal(value=int(start)), s.Literal(value=int(end)), *_]):
            return abs(end - start) + 1
        case _:
            return _USUAL_ITEMS


def _call(proof: Proof, clause: s.CallSubquery, rows: Rows) -> Rows:
    imports = list(rows.names) if clause.imports is None else clause.imports
    for name in imports:
        if name not in rows.names:
            raise RefusedError("variable", f"CALL imports {name!r}, and there is no such variable here.")
    clause.imports = sorted(set(imports))
    names = {name: rows.names[name] for name in clause.imports}
    inner = Rows(names, {name: rows.sizes.get(name, 1) for name in names})
    outer, proof.imported = proof.imported, frozenset(names)
    proof.calls += 1
    columns = check_query(proof, clause.query, inner, inner=True)
    proof.calls -= 1
    proof.imported = outer
    for name, _ in columns:
        if name in rows.names:
            raise RefusedError("variable", f"CALL returns {name!r}, which has a meaning already; use another name.")
    return Rows({**rows.names, **{name: t.unmatched(type_) for name, type_ in columns}}, rows.sizes)


# -------------------------------------------------------------------------------------- WITH and RETURN


def project(proof: Proof, projection: s.Projection, rows: Rows, *, named: bool) -> Rows:
    """The rows after a WITH or RETURN; ``*`` is written out, and ORDER BY made to name columns.

    ``named``: whether every column must have a name of its own. Raises ``RefusedError``.
    """
    if projection.every:
        if not rows.names:
            raise RefusedError("projection", "There is nothing that * stands for.")
        given = {item.alias for item in projection.items}
        every = [s.Item(s.Variable(name), name, named=True) for name in sorted(rows.names) if name not in given]
        projection.items[:0] = every
        projection.every = False
    aliases = [item.alias for item in projection.items]
    for item in projection.items:
        if aliases.count(item.alias) > 1:
            raise RefusedError("projection", f"There are two columns {item.alias!r}; name one otherwise.")
        if item.alias in proof.imported and item.expression != s.Variable(item.alias):
            raise RefusedError(
                "variable", f"{item.alias!r} is imported by CALL and keeps its meaning; use another name."
            )
        if named and not item.named:
            raise RefusedError("projection", f"Give {item.alias!r} a name: AS name.")
    aggregates = any(has_aggregate(item.expression) for item in projection.items)
    names = {item.alias: infer(proof, item.expression, rows.names) for item in projection.items}
    sizes = {item.alias: growth(item.expression, rows.sizes) for item in projection.items}
    if aggregates:
        check_grouping(projection)
    _check_order(proof, projection, rows.names, names, closed=aggregates or projection.distinct)
    for sort in projection.order:
        growth(sort.expression, {**rows.sizes, **sizes})
    if aggregates:
        split_aggregates(proof, projection, rows.names)
    for bound, word in ((projection.skip, "SKIP"), (projection.limit, "LIMIT")):
        if bound is not None:
            _check_bound(proof, bound, word)
    if proof.calls and not aggregates and not projection.distinct:
        _limit_before(proof, projection, rows.names)
    return Rows(names, sizes)


def _complete(proof: Proof, order: list[s.Sort], names: Names) -> None:
    """Make an order total by all that has one."""
    known = [sort.expression for sort in order]
    keys = [_key(proof, name, type_) for name, type_ in names.items()]
    order += [s.Sort(key, descending=False) for key in keys if key is not None and key not in known]


def _limit_before(proof: Proof, projection: s.Projection, names: Names) -> None:
    """In a CALL, sort and limit the rows in a WITH before, and make the columns behind it: one engine gives nulls
    for columns made in the same step."""
    limited = projection.skip is not None or projection.limit is not None
    if not limited or all(item.expression == s.Variable(item.alias) for item in projection.items):
        return
    columns = {item.alias: item.expression for item in projection.items}

    def column(part: s.Expression) -> s.Expression | None:
        return columns.get(part.name) if isinstance(part, s.Variable) else None

    order = [s.Sort(replaced(sort.expression, column), sort.descending) for sort in projection.order]
    kept = [s.Item(s.Variable(name), name, named=True) for name in sorted(names)]
    _complete(proof, order, {name: names[name] for name in sorted(names)})
    projection.before = s.Projection(False, False, kept, order, projection.skip, projection.limit)
    projection.order, projection.skip, projection.limit = [], None, None


def check_return(proof: Proof, projection: s.Projection, rows: Rows, *, inner: bool) -> list[tuple[str, t.Type]]:
    """The columns of a RETURN. Whole nodes become maps of their properties, and the order is made total."""
    after = project(proof, projection, rows, named=inner)
    if inner:
        if projection.skip is not None or projection.limit is not None:
            _complete(proof, projection.order, after.names)
        return list(after.names.items())
    projection.order.extend(_sort_keys(proof, projection, rows.names, after.names))
    for item in projection.items:
        item.expression = _as_value(proof, item, after.names[item.alias], rows.names, {*rows.names, *after.names})
    _order_by_columns(projection, {alias for alias, type_ in after.names.items() if type_.kind == "node"})
    return [
        (item.alias, t.MAP if after.names[item.alias].kind == "node" else after.names[item.alias])
        for item in projection.items
    ]


def _check_order(proof: Proof, projection: s.Projection, before: Names, after: Names, *, closed: bool) -> None:
    """ORDER BY sees the columns, and where rows are neither grouped nor distinct, the variables before as well."""
    columns = {item.alias: item.expression for item in projection.items}
    visible = after if closed else {**before, **after}
    for sort in projection.order:
        same = next((alias for alias, expression in columns.items() if expression == sort.expression), None)
        if same is not None:
            sort.expression = s.Variable(same)
        elif closed:
            sort.expression = _by_alias(sort.expression, columns)
            if has_aggregate(sort.expression):
                raise RefusedError(
                    "order", "ORDER BY an aggregate that is no column; return it, and order by its name."
                )
        elif has_aggregate(sort.expression):
            raise RefusedError("order", "ORDER BY can't aggregate here; do it in a WITH before.")
        if _holds_pattern(sort.expression) and (closed or any(one.kind == "node" for one in after.values())):
            raise RefusedError("order", "ORDER BY can't hold a pattern; give it a column, and order by its name.")
        type_ = infer(proof, sort.expression, visible)
        if type_.kind not in t.SCALARS and not t.is_open(type_):
            raise RefusedError("order", f"A {type_} has no order; order by a property or a number.")


def _by_alias(expression: s.Expression, columns: dict[str, s.Expression]) -> s.Expression:
    """The expression with those parts that are columns replaced by their names."""
    for alias, column in columns.items():
        if column == expression:
            return s.Variable(alias)
    match expression:
        case s.Unary():
            expression.operand = _by_alias(expression.operand, columns)
        case s.Binary():
            expression.left = _by_alias(expression.left, columns)
            expression.right = _by_alias(expression.right, columns)
        case s.Call():
            expression.arguments = [_by_alias(argument, columns) for argument in expression.arguments]
        case s.Property(subject=s.Variable()):
            pass
    return expression


def _holds_pattern(expression: s.Expression) -> bool:
    if isinstance(expression, s.Subquery | s.PatternComprehension):
        return True
    return any(map(_holds_pattern, parts_of(expression)))


def _check_bound(proof: Proof, bound: s.Expression, word: str) -> None:
    if isinstance(bound, s.Parameter):
        proof.use_parameter(bound.name)
        proof.settle(bound.name, t.INTEGER)
    elif not (isinstance(bound, s.Literal) and type(bound.value) is int and 0 <= bound.value < 10**9):
        raise RefusedError("limit", f"{word} takes a whole number written out, or a parameter.")


def _order_by_columns(projection: s.Projection, whole: set[str]) -> None:
    """Behind a RETURN the names of whole nodes mean their maps, whose keys are never renamed."""

    def visit(expression: s.Expression) -> None:
        if isinstance(expression, s.Property) and isinstance(expression.subject, s.Variable):
            expression.of_entity = expression.of_entity and expression.subject.name not in whole
        for part in parts_of(expression):
            visit(part)

    for sort in projection.order:
        visit(sort.expression)


_WITHOUT_ORDER = frozenset({"node", "map", "list", "duration", "point"})


def _sort_keys(proof: Proof, projection: s.Projection, before: Names, after: Names) -> list[s.Sort]:
    """What completes the order: columns of single values, and unique properties of whole nodes.

    Rows then come in one order on every engine and whatever else the graph holds.
    """
    if all(has_aggregate(item.expression) for item in projection.items):
        return []  # one row
    known = [sort.expression for sort in projection.order]
    closed = projection.distinct or projection.before is not None
    closed = closed or any(has_aggregate(item.expression) for item in projection.items)
    keys: list[s.Expression] = []
    for item in projection.items:
        keys += [key for key in _column_keys(proof, item, after[item.alias], before, closed) if key not in known]
    if not closed and any(type_.kind in _WITHOUT_ORDER for type_ in after.values()):
        # Columns that have no order of their own: what the rows were made from has one.
        columns = [item.expression for item in projection.items]
        others = [
            _key(proof, name, type_) for name, type_ in before.items() if type_.kind == "node" and name not in after
        ]
        keys += [key for key in others if key is not None and key not in known and key not in columns]
    return [s.Sort(key, descending=False) for key in keys]


def _column_keys(
    proof: Proof, item: s.Item, type_: t.Type, before: Names, closed: bool
) -> list[s.Property | s.Variable]:
    """What a column is sorted by: itself; of a node's map its unique property; of another map, where nothing but
    the columns is left of the rows, its single values."""
    match item.expression:
        case s.MapProjection(variable=name, entries=entries) if before[name].kind == "node":
            unique = _unique_property(proof, before[name].label)
            if any(key == unique and value == s.Property(s.Variable(name), unique) for key, value in entries):
                return [s.Property(s.Variable(item.alias), unique or "")]
    if type_.kind == "map":
        fields = type_.fields or () if closed else ()
        return [s.Property(s.Variable(item.alias), name) for name, field in fields if field.kind in t.SCALARS]
    key = _key(proof, item.alias, type_)
    return [key] if key is not None else []


def _unique_property(proof: Proof, label: str) -> str | None:
    return next((name for name, prop in proof.label(label).properties.items() if prop.unique), None)


def _as_value(proof: Proof, item: s.Item, type_: t.Type, names: Names, taken: Container[str]) -> s.Expression:
    """The item as a value of a row: a whole node as the map of its declared properties."""
    if type_.kind == "node":
        if not isinstance(item.expression, s.Variable):
            raise RefusedError("projection", f"Return a variable or properties, not {item.alias!r} as a whole node.")
        name = item.expression.name
        return s.MapProjection(name, all_properties(proof, name, type_), may_be_null=not type_.matched)
    if type_.kind == "list" and type_.element is not None and type_.element.kind == "node":
        expression = item.expression
        if isinstance(expression, s.Call) and expression.name == "collect":
            (node,) = expression.arguments
            if isinstance(node, s.Variable):
                properties = all_properties(proof, node.name, type_.element)
                projected = s.MapProjection(node.name, properties, may_be_null=not names[node.name].matched)
                return s.Call("collect", [projected], expression.distinct)
        name = proof.new_name(taken)
        return s.ListComprehension(name, item.expression, None, s.MapOf(all_properties(proof, name, type_.element)))
    if t.holds_entity(type_):
        raise RefusedError("projection", f"{item.alias!r} holds a whole node or relationship; return its properties.")
    return item.expression
