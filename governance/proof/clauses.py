"""Clauses in their order: what each brings into scope, and what the next may see."""

from collections.abc import Container
from dataclasses import dataclass, replace

from governance.proof import syntax as s
from governance.proof import types as t
from governance.proof.expressions import Names, all_properties, infer
from governance.proof.failing import condition
from governance.proof.grouping import check_grouping, split_aggregates
from governance.proof.growth import growth
from governance.proof.patterns import match_paths
from governance.proof.scope import Proof
from governance.proof.violation import RefusedError
from governance.proof.walk import has_aggregate, holds_pattern, items_of, names_in, parts_of, replaced, variables_of


@dataclass
class Rows:
    """What the rows hold between two clauses: names with their types, and how much each may have grown.

    ``order`` is what an earlier WITH sorted them by, ``None`` where none did, and empty where that can't be named
    any more.
    """

    names: Names
    sizes: dict[str, int]
    order: list[s.Sort] | None = None


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
    checked: list[s.Clause] = []
    for clause in clauses:
        if isinstance(clause, s.With | s.Return):
            minds = rows.order is None and _minds_order(proof, clause.projection)
            if minds and (sort := _sorted(proof, rows)) is not None:
                checked.append(sort)
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
            if optional and where is not None and _holds_comprehension(where):
                raise RefusedError(
                    "pattern", "The WHERE of an OPTIONAL MATCH can't hold a pattern comprehension; use EXISTS or COUNT."
                )
            if where is not None:
                condition(proof, where, names, of_pattern=True, sizes=rows.sizes)
            return Rows(names, rows.sizes, rows.order)
        case s.Unwind(source=source, variable=variable):
            return _unwind(proof, source, variable, rows)
        case s.With(projection=projection, where=where):
            after = project(proof, projection, rows, named=True)
            if projection.order or projection.skip is not None or projection.limit is not None:
                if not projection.order:
                    projection.order = _still_named(after.order)
                _complete(proof, projection.order, after.names)
                named = all(variables_of(sort.expression) <= after.names.keys() for sort in projection.order)
                after.order = projection.order if named else []
            if where is not None:
                condition(proof, where, after.names, sizes=after.sizes)
            return after
        case s.CallSubquery():
            return _call(proof, clause, rows)
        case s.Return():
            raise RefusedError("clause", "RETURN must be the last clause.")
    raise RefusedError("read-only", "This query may only read; CREATE, SET, MERGE, REMOVE and DELETE are not allowed.")


def _unwind(proof: Proof, source: s.Expression, variable: str, rows: Rows) -> Rows:
    if variable in proof.imported:
        raise RefusedError("variable", f"{variable!r} is imported by CALL; use another name.")
    written = isinstance(source, s.ListOf) or (isinstance(source, s.Call) and source.name.lower() == "range")
    proof.count_unwind(items_of(source), written=written)
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
    return Rows({**rows.names, variable: type_.element or t.ANY}, {**rows.sizes, variable: size}, rows.order)


def _call(proof: Proof, clause: s.CallSubquery, rows: Rows) -> Rows:
    imports = list(rows.names) if clause.imports is None else clause.imports
    for name in imports:
        if name not in rows.names:
            raise RefusedError("variable", f"CALL imports {name!r}, and there is no such variable here.")
    clause.imports = sorted(set(imports))
    names = {name: rows.names[name] for name in clause.imports}
    inner = Rows(names, {name: rows.sizes[name] for name in names if name in rows.sizes})
    outer, proof.imported = proof.imported, frozenset(names)
    proof.calls += 1
    columns = check_query(proof, clause.query, inner, inner=True)
    proof.calls -= 1
    proof.imported = outer
    sizes = {**rows.sizes, **proof.returned_sizes}
    for name, _ in columns:
        if name in rows.names:
            raise RefusedError("variable", f"CALL returns {name!r}, which has a meaning already; use another name.")
    return Rows({**rows.names, **{name: t.unmatched(type_) for name, type_ in columns}}, sizes, rows.order)


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
    projection.grouped = aggregates
    if aggregates:
        check_grouping(projection)
    before = dict(rows.names)
    if not _is_closed(projection):
        before.update(_patterns_first(proof, projection, rows, names))
    _check_order(proof, projection, before, names, closed=_is_closed(projection))
    for sort in projection.order:
        growth(sort.expression, {**rows.sizes, **sizes})
    if aggregates:
        split_aggregates(proof, projection, rows.names)
    for bound, word in ((projection.skip, "SKIP"), (projection.limit, "LIMIT")):
        if bound is not None:
            _check_bound(proof, bound, word)
    moved = proof.calls > 0 and not _is_closed(projection) and _limit_before(proof, projection, rows)
    return Rows(names, sizes, [] if moved else _renamed(rows.order, projection))


def _renamed(order: list[s.Sort] | None, projection: s.Projection) -> list[s.Sort] | None:
    """The order of the rows before in terms of the columns, empty where it has no such terms."""
    if not order:
        return order
    names = {item.expression.name: item.alias for item in projection.items if isinstance(item.expression, s.Variable)}
    columns = [(item.expression, item.alias) for item in projection.items]

    def column(part: s.Expression) -> s.Expression | None:
        alias = next((alias for expression, alias in columns if expression == part), None)
        return None if alias is None else s.Variable(alias)

    renamed = []
    for sort in order:
        expression = replaced(sort.expression, column)
        whole = next((alias for whole, alias in columns if whole == sort.expression), None)
        if whole is None and not variables_of(sort.expression) <= names.keys():
            return []
        renamed.append(s.Sort(expression, sort.descending))
    return renamed


def _still_named(order: list[s.Sort] | None) -> list[s.Sort]:
    return [s.Sort(sort.expression, sort.descending) for sort in order or ()]


def _complete(proof: Proof, order: list[s.Sort], names: Names) -> None:
    """Make an order total by all that has one."""
    known = [sort.expression for sort in order]
    keys = [_key(proof, name, type_) for name, type_ in names.items()]
    order += [s.Sort(key, descending=False) for key in keys if key is not None and key not in known]


def _limit_before(proof: Proof, projection: s.Projection, rows: Rows) -> bool:
    """In a CALL, sort and limit the rows in a WITH before, and make the columns behind it: one engine gives nulls
    for columns made in the same step."""
    limited = projection.skip is not None or projection.limit is not None
    if not limited or all(item.expression == s.Variable(item.alias) for item in projection.items):
        return False
    columns = {item.alias: item.expression for item in projection.items}

    def column(part: s.Expression) -> s.Expression | None:
        return columns.get(part.name) if isinstance(part, s.Variable) else None

    names = rows.names
    order = [s.Sort(replaced(sort.expression, column), sort.descending) for sort in projection.order]
    order = order or _still_named(rows.order)
    kept = [s.Item(s.Variable(name), name, named=True) for name in sorted(names)]
    _complete(proof, order, {name: names[name] for name in sorted(names)})
    proof.rewrote = True
    projection.before.append(s.Projection(False, False, kept, order, projection.skip, projection.limit))
    projection.order, projection.skip, projection.limit = [], None, None
    return True


def check_return(proof: Proof, projection: s.Projection, rows: Rows, *, inner: bool) -> list[tuple[str, t.Type]]:
    """The columns of a RETURN. Whole nodes become maps of their properties, and the order is made total."""
    after = project(proof, projection, rows, named=inner)
    if inner:
        if projection.skip is not None or projection.limit is not None:
            projection.order = projection.order or _still_named(after.order)
            _complete(proof, projection.order, after.names)
        known = proof.returned_sizes
        proof.returned_sizes = {name: max(size, known.get(name, 0)) for name, size in after.sizes.items()}
        return list(after.names.items())
    inherited = rows.order is not None and not projection.order
    whole = {name for name, type_ in after.names.items() if type_.kind in _WHOLE}
    shadowed = any(
        item.alias in rows.names and (item.alias in whole or item.expression != s.Variable(item.alias))
        for item in projection.items
    )
    if inherited and not shadowed:
        # Sorted before: that order is kept, and made total where it can still be named.
        proof.rewrote = True
        projection.order = _sorted_before(projection, rows)
    if not inherited or projection.order:
        projection.order.extend(_sort_keys(proof, projection, rows.names, after.names))
    columns = [(name, t.MAP if type_.kind in _WHOLE else type_) for name, type_ in after.names.items()]
    if not _is_closed(projection):
        if projection.order and shadowed:
            _sort_first(proof, projection, rows)
        elif whole:
            nodes = {item.alias: item.expression for item in projection.items if item.alias in whole}
            order: list[s.Sort] = []
            for sort in projection.order:
                meant = replaced(
                    sort.expression, lambda part: nodes.get(part.name) if isinstance(part, s.Variable) else None
                )
                if all(meant != known.expression for known in order):
                    order.append(s.Sort(meant, sort.descending))
            projection.order = order
        for item in projection.items:
            item.expression = _as_value(proof, item, after.names[item.alias], {*rows.names, *after.names})
    elif whole or shadowed or any(map(t.holds_entity, after.names.values())):
        _convert_behind(proof, projection, rows, after)
    return columns


def _is_closed(projection: s.Projection) -> bool:
    """Whether nothing but the columns is left of the rows: they are grouped, or distinct."""
    return projection.distinct or projection.grouped


def _sort_first(proof: Proof, projection: s.Projection, rows: Rows) -> None:
    """Sort and limit in a WITH before the columns are made: behind it a column may hide the variable of its name,
    and the engines don't agree on which of the two an ORDER BY means."""
    columns = {item.alias: item.expression for item in projection.items}

    def meant(part: s.Expression) -> s.Expression | None:
        match part:
            case s.Property(subject=s.Variable(name=alias), name=key):
                made = columns.get(alias)
                if isinstance(made, s.MapProjection | s.MapOf):
                    return dict(made.entries).get(key)
            case s.Variable(name=alias):
                return columns.get(alias)
        return None

    order: list[s.Sort] = []
    for sort in projection.order:
        expression = replaced(sort.expression, meant)
        if all(expression != known.expression for known in order):
            order.append(s.Sort(expression, sort.descending))
    names = {name: rows.names[name] for name in sorted(rows.names)}
    _complete(proof, order, names)
    kept = [s.Item(s.Variable(name), name, named=True) for name in names]
    proof.rewrote = True
    projection.before.append(s.Projection(False, False, kept, order, projection.skip, projection.limit))
    projection.order, projection.skip, projection.limit = [], None, None


def _convert_behind(proof: Proof, projection: s.Projection, rows: Rows, after: Rows) -> None:
    """Group, sort and limit in a WITH before, and make values of whole nodes, and the columns' names, behind it: a
    column that has a variable's name is called otherwise until then."""
    taken = {*rows.names, *after.names}
    inner_names: dict[str, str] = {}
    for item in projection.items:
        hides = item.alias in rows.names and item.expression != s.Variable(item.alias)
        inner_names[item.alias] = proof.new_name(taken) if hides else item.alias

    def called(part: s.Expression) -> s.Expression | None:
        return s.Variable(inner_names[part.name]) if isinstance(part, s.Variable) and part.name in inner_names else None

    names = {inner_names[alias]: type_ for alias, type_ in after.names.items()}
    inner = replace(
        projection,
        before=[],
        items=[s.Item(item.expression, inner_names[item.alias], named=True) for item in projection.items],
        order=[s.Sort(replaced(sort.expression, called), sort.descending) for sort in projection.order],
    )
    if inner.order:
        _complete(proof, inner.order, names)
    proof.rewrote = True
    projection.before.append(inner)
    projection.distinct, projection.order, projection.skip, projection.limit = False, [], None, None
    projection.items = []
    for alias, name in inner_names.items():
        item = s.Item(s.Variable(name), alias, named=True)
        item.expression = _as_value(proof, item, after.names[alias], {*taken, *names})
        projection.items.append(item)
    # What a proof of the print would add.
    if not any(item.alias in names and item.expression != s.Variable(item.alias) for item in projection.items):
        printed = Rows(names, {}, inner.order or None)
        projection.order = _sorted_before(replace(projection, before=[]), printed)
        if printed.order is None or projection.order:
            projection.order += _sort_keys(proof, replace(projection, before=[]), names, after.names)
    elif not inner.order:
        projection.order = _sort_keys(proof, replace(projection, before=[]), names, after.names)


def _patterns_first(proof: Proof, projection: s.Projection, rows: Rows, after: Names) -> Names:
    """Compute what ORDER BY asks of patterns in a WITH before, where their names mean what they say, and order by
    its name. Returns the new names with their types."""
    new: Names = {}
    hoisted: list[s.Item] = []
    for sort in projection.order:
        columns = [item.expression for item in projection.items]
        if not holds_pattern(sort.expression) or sort.expression in columns:
            continue
        hidden = {item.alias for item in projection.items if item.expression != s.Variable(item.alias)}
        if hidden & names_in(sort.expression) & (rows.names.keys() | after.keys()):
            raise RefusedError("order", "ORDER BY a pattern can't use a column's name; give the pattern a column.")
        name = proof.new_name({*rows.names, *after, *new})
        new[name] = infer(proof, sort.expression, rows.names)
        hoisted.append(s.Item(sort.expression, name, named=True))
        sort.expression = s.Variable(name)
    if hoisted:
        kept = [s.Item(s.Variable(name), name, named=True) for name in sorted(rows.names)]
        proof.rewrote = True
        projection.before.append(s.Projection(False, False, [*kept, *hoisted], [], None, None))
        # They are there for the clauses of our own that follow; nothing else can name them.
        rows.names.update(new)
    return new


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
        if holds_pattern(sort.expression):
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


def _holds_comprehension(expression: s.Expression) -> bool:
    return isinstance(expression, s.PatternComprehension) or any(map(_holds_comprehension, parts_of(expression)))


def _check_bound(proof: Proof, bound: s.Expression, word: str) -> None:
    if isinstance(bound, s.Parameter):
        proof.use_parameter(bound.name)
        proof.settle(bound.name, t.INTEGER)
    elif not (isinstance(bound, s.Literal) and type(bound.value) is int and 0 <= bound.value < 10**9):
        raise RefusedError("limit", f"{word} takes a whole number written out, or a parameter.")


def _sorted_before(projection: s.Projection, rows: Rows) -> list[s.Sort]:
    """The order that the rows have already, as the RETURN may say it; empty where it can't."""
    if _is_closed(projection):
        return _still_named(_renamed(rows.order, projection))
    meanings = {item.alias: item.expression for item in projection.items}
    order: list[s.Sort] = []
    for sort in rows.order or ():
        column = next((alias for alias, expression in meanings.items() if expression == sort.expression), None)
        names = variables_of(sort.expression) if column is None else set()
        if any(meanings.get(name, s.Variable(name)) != s.Variable(name) for name in names):
            return []
        expression = sort.expression if column is None else s.Variable(column)
        if all(expression != known.expression for known in order):
            order.append(s.Sort(expression, sort.descending))
    return order


_WHOLE = frozenset({"node", "relationship"})
_WITHOUT_ORDER = frozenset({"node", "relationship", "map", "list", "duration", "point"})


def _sort_keys(proof: Proof, projection: s.Projection, before: Names, after: Names) -> list[s.Sort]:
    """What completes the order: columns of single values, and unique properties of whole nodes.

    Rows then come in one order on every engine and whatever else the graph holds.
    """
    if all(has_aggregate(item.expression) for item in projection.items):
        return []  # one row
    known = [sort.expression for sort in projection.order]
    closed = _is_closed(projection)
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


def _as_value(proof: Proof, item: s.Item, type_: t.Type, taken: Container[str]) -> s.Expression:
    """The item as a value of a row: a whole node as the map of its declared properties."""
    if type_.kind == "node" or (type_.kind == "relationship" and all_properties(proof, "", type_)):
        if not isinstance(item.expression, s.Variable):
            raise RefusedError("projection", f"Return a variable or properties, not {item.alias!r} as a whole node.")
        name = item.expression.name
        return s.MapProjection(name, all_properties(proof, name, type_), may_be_null=not type_.matched)
    if type_.kind == "list" and type_.element is not None and type_.element.kind == "node":
        name = proof.new_name(taken)
        return s.ListComprehension(name, item.expression, None, s.MapOf(all_properties(proof, name, type_.element)))
    if t.holds_entity(type_):
        raise RefusedError("projection", f"{item.alias!r} holds a whole node or relationship; return its properties.")
    return item.expression
