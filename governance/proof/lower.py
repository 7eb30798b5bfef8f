"""From Neo4j's parse tree to the small tree of ``syntax.py``.

Closed by default: each function names the parts that it understands, and any other part of the parse tree is a
refusal. So a construct that the grammar gains one day is refused until somebody teaches it here.
"""

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import pairwise
from typing import Any, NoReturn

from antlr4.tree.Tree import TerminalNode

from governance.proof import syntax as s
from governance.proof.violation import RefusedError
from governance.proof.walk import has_aggregate

Tree = Any

_LONGEST_NAME = 200
#: Values joined by one operator, ``a + b + …``, and properties in a row, ``a.b.c``: each is a level of the tree.
_LONGEST_CHAIN = 60
_LONGEST_ACCESS = 6

#: Clauses that are refused, and what to do instead.
_REFUSED_CLAUSES = {
    "UseClause": "USE is not allowed: there is one graph.",
    "FinishClause": "FINISH is not allowed; end with RETURN.",
    "InsertClause": "INSERT is not allowed; write CREATE.",
    "FilterClause": "FILTER is not allowed; write WITH … WHERE.",
    "ForListClause": "FOR is not allowed; write UNWIND.",
    "LetClause": "LET is not allowed; write WITH.",
    "CallClause": "CALL of a procedure is not allowed.",
    "LoadCSVClause": "LOAD CSV is not allowed: a query reads the graph and nothing else.",
    "ForeachClause": "FOREACH is not allowed; write UNWIND.",
    "OrderBySkipLimitClause": "ORDER BY, SKIP and LIMIT belong to a WITH or a RETURN.",
}
_REFUSED_EXPRESSIONS = {
    "CollectExpression": "COLLECT { } is not allowed; write collect(…) after a MATCH, or a pattern comprehension.",
    "ReduceExpression": "reduce() is not allowed; use sum(), or a list comprehension.",
    "AllReduceExpression": "allReduce() is not allowed.",
    "ShortestPathExpression": "shortestPath() is not allowed; write the path out.",
    "NormalizeFunction": "normalize() is not allowed.",
    "PropertyExistsPredicate": "exists(…) of a property is not allowed; write IS NOT NULL.",
}


def lower(statements: Tree) -> s.Query:
    """The query of a parsed text. Raises ``RefusedError`` for everything that isn't in the subset."""
    found = _children(statements, "Statement", ";", "<EOF>")
    inner = [child for child in found if _kind(child) == "Statement"]
    if len(inner) != 1:
        _refuse("statements", "Give one statement.")
    (query,) = _children(inner[0], "QueryWithLocalDefinitions")
    return _query(query)


# ---------------------------------------------------------------------------------- reading the parse tree


def _kind(tree: Tree) -> str:
    """The grammar rule of a node, or a terminal's own text in capitals."""
    if isinstance(tree, TerminalNode):
        return str(tree.getText()).upper()
    return type(tree).__name__.removesuffix("Context")


def _children(tree: Tree, *allowed: str) -> list[Tree]:
    """The node's children, each of a kind that is allowed here."""
    children = list(tree.getChildren())
    for child in children:
        if _kind(child) not in allowed:
            _refuse_tree(child)
    return children


def _refuse(rule: str, message: str) -> NoReturn:
    raise RefusedError(rule, message)


def _refuse_tree(tree: Tree) -> NoReturn:
    kind = _kind(tree)
    if kind in _REFUSED_CLAUSES:
        _refuse("clause", _REFUSED_CLAUSES[kind])
    if kind in _REFUSED_EXPRESSIONS:
        _refuse("expression", _REFUSED_EXPRESSIONS[kind])
    if kind in ("PathLength", "Quantifier", "ParenthesizedPath", "ShortestPathPattern", "PathPatternPrefix"):
        _refuse("path", "Paths of variable length are not allowed; write each step out.")
    if kind.startswith("Label") or kind.startswith("Dynamic") or kind in ("AnyLabel", "ParenthesizedLabelExpression"):
        _refuse("label", f"{_text(tree)} is not allowed; name one label or type.")
    _refuse("construct", f"{_text(tree)} is not allowed here.")


def _written(tree: Tree) -> str:
    """The node's text as it was written, its white space single blanks."""
    if isinstance(tree, TerminalNode) or tree.start is None or tree.stop is None or tree.stop.stop < tree.start.start:
        written = str(tree.getText())
    else:
        written = str(tree.start.getInputStream().getText(tree.start.start, tree.stop.stop))
    return " ".join(written.split())


def _text(tree: Tree) -> str:
    """The node's text in quotes, at most 60 characters of it."""
    written = _written(tree)
    return repr(written if len(written) <= 60 else written[:57] + "…")


def _of_kind(children: list[Tree], kind: str) -> Iterator[Tree]:
    return (child for child in children if _kind(child) == kind)


def _one(children: list[Tree], kind: str) -> Tree | None:
    return next(_of_kind(children, kind), None)


def _name(tree: Tree) -> str:
    """The name in a ``Variable``, ``PropertyKeyName``, ``SymbolicNameString`` …, back quotes taken off."""
    written = str(tree.getText())
    if written.startswith("`"):
        written = written[1:-1].replace("``", "`")
    if not written or len(written) > _LONGEST_NAME or "`" in written or "\\" in written or not written.isprintable():
        _refuse("name", f"{_text(tree)} can't be a name; use letters, digits and _.")
    return written


def _variable_name(tree: Tree) -> str:
    """A name that is no column of the result: letters, digits, _ and blanks."""
    name = _name(tree)
    if not name.replace("_", "").replace(" ", "").isalnum():
        _refuse("name", f"{_text(tree)} can't be the name of a variable; use letters, digits and _.")
    return name


# -------------------------------------------------------------------------------------------- the clauses


def _query(tree: Tree) -> s.Query:
    (statement,) = _children(tree, "NextStatement")
    (regular,) = _children(statement, "RegularQuery")
    (union,) = _children(regular, "Union")
    children = _children(union, "SingleQuery", "UNION", "ALL", "DISTINCT")
    branches = [_branch(child) for child in _of_kind(children, "SingleQuery")]
    words = [_kind(child) for child in children if isinstance(child, TerminalNode)]
    distinct = {words[i + 1] != "ALL" if i + 1 < len(words) else True for i, w in enumerate(words) if w == "UNION"}
    if len(distinct) > 1:
        _refuse("union", "UNION and UNION ALL can't be mixed in one query.")
    return s.Query(branches, distinct=distinct.pop() if distinct else False)


def _branch(tree: Tree) -> list[s.Clause]:
    return [_clause(next(clause.getChildren())) for clause in _children(tree, "Clause")]


def _clause(tree: Tree) -> s.Clause:
    lowered = _CLAUSES.get(_kind(tree))
    if lowered is None:
        _refuse_tree(tree)
    return lowered(tree)


def _match(tree: Tree) -> s.Match:
    children = _children(tree, "OPTIONAL", "MATCH", "PatternList", "WhereClause")
    patterns, where = _one(children, "PatternList"), _one(children, "WhereClause")
    conditions: list[s.Expression] = []
    paths = _paths(patterns, conditions)
    if where is not None:
        conditions.append(_where(where))
    return s.Match(_one(children, "OPTIONAL") is not None, paths, _all(conditions))


def _all(conditions: list[s.Expression]) -> s.Expression | None:
    return reduce(lambda left, right: s.Binary("AND", left, right), conditions) if conditions else None


def _where(tree: Tree) -> s.Expression:
    return _expression(_children(tree, "WHERE", "Expression")[1])


def _paths(tree: Tree, conditions: list[s.Expression] | None = None) -> list[s.Path]:
    """The paths of a pattern. What they say in WHEREs of their own, ``(n WHERE …)``, is added to ``conditions``."""
    return [_pattern(child, conditions) for child in _of_kind(_children(tree, "Pattern", ","), "Pattern")]


def _pattern(tree: Tree, conditions: list[s.Expression] | None = None) -> s.Path:
    # A path's name is left out: whoever uses it is told that there is no such variable.
    anonymous = _children(tree, "Variable", "=", "AnonymousPattern")[-1]
    (element,) = _children(anonymous, "PatternElement")
    return _path(_children(element, "NodePattern", "RelationshipPattern"), conditions)


def _path(children: list[Tree], conditions: list[s.Expression] | None) -> s.Path:
    nodes = [_node(child, conditions) for child in _of_kind(children, "NodePattern")]
    relationships = [_relationship(child, conditions) for child in _of_kind(children, "RelationshipPattern")]
    if len(nodes) != len(relationships) + 1:
        _refuse("path", "Nodes and relationships must take turns in a path.")
    return s.Path(nodes, relationships)


def _node(tree: Tree, conditions: list[s.Expression] | None) -> s.NodePattern:
    children = _children(tree, "(", ")", "Variable", "LabelExpression", "Properties", "WHERE", "Expression")
    _take_condition(children, conditions)
    variable, label = _one(children, "Variable"), _one(children, "LabelExpression")
    names = _labels(label) if label else []
    if len(names) > 1:
        _refuse("label", f"{_text(label)} is not allowed; name one label.")
    return s.NodePattern(
        _variable_name(variable) if variable else None, names[0] if names else None, _properties(children)
    )


def _take_condition(children: list[Tree], conditions: list[s.Expression] | None) -> None:
    condition = _one(children, "Expression")
    if condition is not None:
        if conditions is None:
            _refuse("pattern", "WHERE inside of a pattern's brackets is not allowed here.")
        conditions.append(_expression(condition))


def _relationship(tree: Tree, conditions: list[s.Expression] | None) -> s.RelationshipPattern:
    children = _children(
        tree,
        *("ArrowLine", "LeftArrow", "RightArrow", "[", "]", "Variable", "LabelExpression", "Properties"),
        *("WHERE", "Expression"),
    )
    _take_condition(children, conditions)
    variable, label = _one(children, "Variable"), _one(children, "LabelExpression")
    left, right = _one(children, "LeftArrow") is not None, _one(children, "RightArrow") is not None
    return s.RelationshipPattern(
        _variable_name(variable) if variable else None,
        _labels(label) if label else [],
        "" if left == right else "<" if left else ">",
        _properties(children),
    )


def _labels(tree: Tree) -> list[str]:
    """The names of ``:A`` or, between types, ``:A|B``."""
    children = _children(tree, ":", "IS", "LabelExpression4")
    alternatives = _children(_one(children, "LabelExpression4"), "LabelExpression3", "|", ":")
    return [_label(child) for child in _of_kind(alternatives, "LabelExpression3")]


def _label(tree: Tree) -> str:
    (inner,) = _single(tree, "LabelExpression2", whole=tree)
    (inner,) = _single(inner, "LabelName", whole=tree)
    (symbol,) = _single(inner, "SymbolicNameString", whole=tree)
    return _name(symbol)


def _single(tree: Tree, kind: str, *, whole: Tree) -> list[Tree]:
    children = list(tree.getChildren())
    if len(children) != 1 or _kind(children[0]) != kind:
        _refuse("label", f"{_text(whole)} is not allowed; name one label or type.")
    return children


def _properties(children: list[Tree]) -> list[tuple[str, s.Expression]]:
    properties = _one(children, "Properties")
    if properties is None:
        return []
    if _one(list(properties.getChildren()), "Parameter") is not None:
        _refuse("pattern", "A parameter can't stand for a map of properties; name each property.")
    (entries,) = _children(properties, "Map")
    return _map_entries(entries)


def _map_entries(tree: Tree) -> list[tuple[str, s.Expression]]:
    children = _children(tree, "{", "}", "PropertyKeyName", ":", "Expression", ",")
    keys = [_name(child) for child in _of_kind(children, "PropertyKeyName")]
    for key in keys:
        if keys.count(key) > 1:
            _refuse("map", f"The key {key!r} stands twice in one map.")
    return list(zip(keys, map(_expression, _of_kind(children, "Expression")), strict=True))


def _unwind(tree: Tree) -> s.Unwind:
    _, source, _, variable = _children(tree, "UNWIND", "Expression", "AS", "Variable")
    return s.Unwind(_expression(source), _variable_name(variable))


def _with(tree: Tree) -> s.With:
    children = _children(tree, "WITH", "ReturnBody", "WhereClause")
    where = _one(children, "WhereClause")
    return s.With(_projection(children[1]), _where(where) if where else None)


def _return(tree: Tree) -> s.Return:
    return s.Return(_projection(_children(tree, "RETURN", "ReturnBody")[1]))


def _projection(tree: Tree) -> s.Projection:
    children = _children(tree, "DISTINCT", "ReturnItems", "OrderBy", "Skip", "Limit")
    items = _children(_one(children, "ReturnItems"), "ReturnItem", ",", "*")
    order, skip, limit = _one(children, "OrderBy"), _one(children, "Skip"), _one(children, "Limit")
    sorts = _of_kind(_children(order, "ORDER", "BY", "OrderItem", ","), "OrderItem") if order else ()
    return s.Projection(
        distinct=_one(children, "DISTINCT") is not None,
        every=_one(items, "*") is not None,
        items=[_item(item) for item in _of_kind(items, "ReturnItem")],
        order=[_sort(sort) for sort in sorts],
        skip=_expression(_children(skip, "SKIP", "OFFSET", "Expression")[1]) if skip else None,
        limit=_expression(_children(limit, "LIMIT", "Expression")[1]) if limit else None,
    )


def _item(tree: Tree) -> s.Item:
    children = _children(tree, "Expression", "AS", "Variable")
    expression = _expression(children[0])
    if len(children) == 3:
        return s.Item(expression, _name(children[2]), named=True)
    if isinstance(expression, s.Variable):
        return s.Item(expression, expression.name, named=True)
    written = _written(children[0]).replace("`", "")
    if len(written) > _LONGEST_NAME or "\\" in written or not written.isprintable():
        _refuse("projection", f"Give {_text(children[0])} a name: AS name.")
    return s.Item(expression, written, named=False)


def _sort(tree: Tree) -> s.Sort:
    children = _children(tree, "Expression", "AscToken", "DescToken")
    return s.Sort(_expression(children[0]), _one(children, "DescToken") is not None)


def _call(tree: Tree) -> s.CallSubquery:
    if _one(list(tree.getChildren()), "OPTIONAL") is not None:
        _refuse("clause", "OPTIONAL CALL is not allowed; write OPTIONAL MATCH inside of the CALL.")
    if _one(list(tree.getChildren()), "SubqueryInTransactionsParameters") is not None:
        _refuse("clause", "CALL { } IN TRANSACTIONS is not allowed.")
    children = _children(tree, "CALL", "SubqueryScope", "{", "QueryWithLocalDefinitions", "}")
    scope, query = _one(children, "SubqueryScope"), _query(_one(children, "QueryWithLocalDefinitions"))
    if scope is not None:
        parts = _children(scope, "(", ")", "*", "Variable", ",")
        if _one(parts, "*") is not None:
            return s.CallSubquery(None, query)
        return s.CallSubquery([_name(part) for part in _of_kind(parts, "Variable")], query)
    return s.CallSubquery(_take_importing_withs(query), query)


def _take_importing_withs(query: s.Query) -> list[str]:
    """The older form ``CALL { WITH a, b … }``: the variables that its branches import, taken out of them."""
    imports: list[str] = []
    for branch in query.branches:
        first = branch[0] if branch else None
        if not isinstance(first, s.With) or first.where is not None:
            continue
        projection = first.projection
        plain = not (projection.distinct or projection.every or projection.order or projection.skip or projection.limit)
        names = [item.expression.name for item in projection.items if isinstance(item.expression, s.Variable)]
        if plain and len(names) == len(projection.items) and names == [item.alias for item in projection.items]:
            imports.extend(name for name in names if name not in imports)
            del branch[0]
    return imports


def _create(tree: Tree) -> s.Create:
    return s.Create(_paths(_children(tree, "CREATE", "PatternList")[1]))


def _merge(tree: Tree) -> s.Merge:
    children = _children(tree, "MERGE", "Pattern", "MergeAction")
    merge = s.Merge(_pattern(children[1]), [], [])
    for action in children[2:]:
        parts = _children(action, "ON", "CREATE", "MATCH", "SetClause")
        items = merge.on_create if _one(parts, "CREATE") is not None else merge.on_match
        items.extend(_set(parts[2]).items)
    return merge


def _set(tree: Tree) -> s.Set:
    items: list[s.SetProperty] = []
    for item in (
        child
        for child in _children(
            tree, "SET", ",", "SetProp", "AddProp", "SetProps", "SetLabels", "SetLabelsIs", "SetDynamicProp"
        )
        if not isinstance(child, TerminalNode)
    ):
        kind = _kind(item)
        if kind == "SetProp":
            target, _, value = _children(item, "Expression2", "=", "Expression")
            variable, name = _property_of_variable(target)
            items.append(s.SetProperty(variable, name, _expression(value)))
        elif kind == "AddProp":
            target, _, value = _children(item, "Variable", "+=", "Expression")
            entries = _expression(value)
            if not isinstance(entries, s.MapOf):
                _refuse("write", "SET += takes a map written out, {name: value}, so that each property is checked.")
            items.extend(s.SetProperty(_name(target), name, entry) for name, entry in entries.entries)
        else:
            _refuse("write", f"{_text(item)} is not allowed; set single properties, node.name = value.")
    return s.Set(items)


def _remove(tree: Tree) -> s.Set:
    items = []
    for item in _children(tree, "REMOVE", ",", "RemoveProp", "RemoveLabels", "RemoveLabelsIs", "RemoveDynamicProp"):
        if isinstance(item, TerminalNode):
            continue
        if _kind(item) != "RemoveProp":
            _refuse("write", f"{_text(item)} is not allowed; remove single properties, node.name.")
        variable, name = _property_of_variable(_children(item, "Expression2")[0])
        items.append(s.SetProperty(variable, name, s.Literal(None)))
    return s.Set(items)


def _property_of_variable(tree: Tree) -> tuple[str, str]:
    target = _expression(tree)
    if isinstance(target, s.Property) and isinstance(target.subject, s.Variable):
        return target.subject.name, target.name
    _refuse("write", f"{_text(tree)} can't be changed; name a property of a variable, node.name.")


def _delete(tree: Tree) -> s.Delete:
    children = _children(tree, "DETACH", "NODETACH", "DELETE", "Expression", ",")
    variables = []
    for child in _of_kind(children, "Expression"):
        target = _expression(child)
        if not isinstance(target, s.Variable):
            _refuse("write", f"{_text(child)} can't be deleted; name a variable.")
        variables.append(target.name)
    return s.Delete(variables, detach=_one(children, "DETACH") is not None)


_CLAUSES: dict[str, Callable[[Tree], s.Clause]] = {
    "MatchClause": _match,
    "UnwindClause": _unwind,
    "WithClause": _with,
    "ReturnClause": _return,
    "SubqueryClause": _call,
    "CreateClause": _create,
    "MergeClause": _merge,
    "SetClause": _set,
    "RemoveClause": _remove,
    "DeleteClause": _delete,
}


# ---------------------------------------------------------------------------------------- the expressions


def _expression(tree: Tree) -> s.Expression:
    """Descends to the first node that says something, and hands it to its own function."""
    kind = _kind(tree)
    while kind in _LEVELS and tree.getChildCount() == 1:
        tree = tree.getChild(0)
        kind = _kind(tree)
    lowered = _EXPRESSIONS.get(kind)
    if lowered is None:
        _refuse_tree(tree)
    return lowered(tree)


def _chain(*operators: str) -> Callable[[Tree], s.Expression]:
    """Operators that group to the left: ``a - b - c``."""

    def lowered(tree: Tree) -> s.Expression:
        result: s.Expression | None = None
        operator = ""
        if tree.getChildCount() > 2 * _LONGEST_CHAIN:
            _refuse("depth", f"More than {_LONGEST_CHAIN} values are joined by {operators[0]}; use a list, or less.")
        for child in tree.getChildren():
            if isinstance(child, TerminalNode):
                operator = _kind(child)
                if operator not in operators:
                    _refuse_tree(child)
            else:
                operand = _expression(child)
                result = operand if result is None else s.Binary("+" if operator == "||" else operator, result, operand)
        assert result is not None
        return result

    return lowered


def _prefix(*operators: str) -> Callable[[Tree], s.Expression]:
    def lowered(tree: Tree) -> s.Expression:
        *signs, operand = tree.getChildren()
        result = _expression(operand)
        for sign in reversed(signs):
            operator = _kind(sign)
            if operator not in operators:
                _refuse_tree(sign)
            if operator == "-" and isinstance(result, s.Literal) and isinstance(result.value, int | float):
                result = s.Literal(-result.value)
            elif operator != "+":
                result = s.Unary(operator, result)
        return result

    return lowered


def _comparison(tree: Tree) -> s.Expression:
    """``a < b <= c`` means ``a < b AND b <= c``."""
    children = list(tree.getChildren())
    if len(children) > 7:
        _refuse("depth", "So many comparisons in a row can't be read; join them by AND.")
    operands = [_expression(child) for child in children[0::2]]
    result: s.Expression | None = None
    for position, sign in enumerate(children[1::2]):
        operator = _kind(sign)
        if operator == "!=":
            _refuse("syntax", "!= is no operator; write <>.")
        if operator not in ("=", "<>", "<", "<=", ">", ">="):
            _refuse_tree(sign)
        pair = s.Binary(operator, operands[position], operands[position + 1])
        result = pair if result is None else s.Binary("AND", result, pair)
    assert result is not None
    return result


def _postfix_comparison(tree: Tree) -> s.Expression:
    operand, comparison = tree.getChildren()
    left = _expression(operand)
    kind = _kind(comparison)
    if kind == "NullComparison":
        words = [_kind(child) for child in _children(comparison, "IS", "NOT", "NULL")]
        return s.IsNull(left, negated="NOT" in words)
    if kind != "StringAndListComparison":
        _refuse("expression", f"{_text(tree)} is not allowed.")
    *words, right = _children(comparison, "=~", "STARTS", "ENDS", "WITH", "CONTAINS", "IN", "Expression6")
    return s.Binary(" ".join(map(_kind, words)), left, _expression(right))


def _postfixes(tree: Tree) -> s.Expression:
    first, *postfixes = tree.getChildren()
    if len(postfixes) > _LONGEST_ACCESS:
        _refuse("depth", f"More than {_LONGEST_ACCESS} properties and indexes in a row are not allowed.")
    result = _expression(first)
    for postfix in postfixes:
        kind = _kind(postfix)
        if kind == "PropertyPostfix":
            (property_,) = _children(postfix, "Property")
            result = s.Property(result, _name(_children(property_, ".", "PropertyKeyName")[1]))
        elif kind == "IndexPostfix":
            index = _expression(_children(postfix, "[", "Expression", "]")[1])
            if isinstance(index, s.Literal) and isinstance(index.value, str):
                result = s.Property(result, index.value)
            else:
                result = s.Index(result, index)
        elif kind == "RangePostfix":
            parts = _children(postfix, "[", "Expression", "..", "]")
            dots = next(position for position, part in enumerate(parts) if _kind(part) == "..")
            start, end = parts[1:dots], parts[dots + 1 : -1]
            result = s.Slice(result, _expression(start[0]) if start else None, _expression(end[0]) if end else None)
        else:
            _refuse_tree(postfix)
    return result


def _parenthesized(tree: Tree) -> s.Expression:
    return _expression(_children(tree, "(", "Expression", ")")[1])


def _variable(tree: Tree) -> s.Expression:
    return s.Variable(_name(tree))


def _parameter(tree: Tree) -> s.Expression:
    name = _name(_children(tree, "$", "ParameterName")[1])
    if not (name.isascii() and name.isidentifier()):
        _refuse("parameter", f"${name} can't be the name of a parameter; use letters, digits and _.")
    return s.Parameter(name)


def _number(tree: Tree) -> s.Expression:
    written = str(tree.getText()).replace("_", "")
    try:
        digits = written.removeprefix("-")
        number: int | float = int(written) if digits.isdigit() else float(written)
    except ValueError:
        _refuse("number", f"{written} is not allowed; write a decimal number.")
    if digits.isdigit() and (abs(number) > 2**63 - 1 or (len(digits) > 1 and digits[0] == "0")):
        _refuse("number", f"{written} is not allowed; write a decimal number of at most 18 digits.")
    if number in (float("inf"), float("-inf")):
        _refuse("number", f"{written} is too large.")
    return s.Literal(number)


_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t", "r": "\r"}


def _string(tree: Tree) -> s.Expression:
    written = str(tree.getText())
    characters: list[str] = []
    rest = iter(written[1:-1])
    for character in rest:
        if character == "\\":
            escaped = next(rest, "")
            if escaped not in _ESCAPES:
                _refuse("escape", f"\\{escaped} is not allowed in a text; write the character itself.")
            characters.append(_ESCAPES[escaped])
        elif character == written[0] and next(rest, "") == character:
            _refuse("escape", "Two quotes in a row are not allowed in a text; write \\' or \\\".")
        else:
            characters.append(character)
    return s.Literal("".join(characters))


def _keyword(tree: Tree) -> s.Expression:
    word = str(tree.getText()).upper()
    if word not in ("NULL", "TRUE", "FALSE"):
        _refuse("number", f"{word} is not allowed.")
    return s.Literal({"NULL": None, "TRUE": True, "FALSE": False}[word])


def _list(tree: Tree) -> s.Expression:
    return s.ListOf(
        [_expression(child) for child in _of_kind(_children(tree, "[", "]", ",", "Expression"), "Expression")]
    )


def _map(tree: Tree) -> s.Expression:
    return s.MapOf(_map_entries(tree))


def _function(tree: Tree) -> s.Expression:
    children = _children(tree, "FunctionName", "(", ")", ",", "DISTINCT", "ALL", "FunctionArgument")
    arguments = [_expression(child) for child in _of_kind(children, "FunctionArgument")]
    name = str(children[0].getText())
    if name.lower() == "properties" and len(arguments) == 1 and isinstance(arguments[0], s.Variable):
        return s.MapProjection(arguments[0].name, [], every=True)
    if name.lower() == "exists" and len(arguments) == 1 and isinstance(arguments[0], s.Subquery):
        return arguments[0]  # exists((a)-[:TYPE]->(b)), the older way of EXISTS { }
    return s.Call(name, arguments, distinct=_one(children, "DISTINCT") is not None)


def _trim(tree: Tree) -> s.Expression:
    """``trim(text)`` has a rule of its own in the grammar; its form with FROM is refused."""
    children = _children(tree, "TRIM", "(", ")", "Expression")
    return s.Call("trim", [_expression(children[2])])


def _count_rows(tree: Tree) -> s.Expression:
    return s.CountRows()


def _case(tree: Tree) -> s.Expression:
    children = _children(tree, "CASE", "CaseAlternative", "ELSE", "Expression", "END")
    alternatives = []
    for alternative in _of_kind(children, "CaseAlternative"):
        _, when, _, then = _children(alternative, "WHEN", "Expression", "THEN")
        alternatives.append((_expression(when), _expression(then)))
    default = _one(children, "Expression")
    return s.Case(None, alternatives, _expression(default) if default else None)


def _simple_case(tree: Tree) -> s.Expression:
    children = _children(tree, "CASE", "Expression", "ExtendedCaseAlternative", "ELSE", "END")
    alternatives = []
    for alternative in _of_kind(children, "ExtendedCaseAlternative"):
        *whens, _, then = _children(alternative, "WHEN", "WhenEquals", "THEN", "Expression", ",")[1:]
        alternatives += [(_expression(when), _expression(then)) for when in _of_kind(whens, "WhenEquals")]
    expressions = list(_of_kind(children, "Expression"))
    return s.Case(
        _expression(expressions[0]), alternatives, _expression(expressions[1]) if len(expressions) > 1 else None
    )


def _list_comprehension(tree: Tree) -> s.Expression:
    children = _children(tree, "[", "]", "Variable", "IN", "WHERE", "|", "Expression")
    parts: dict[str, Tree] = {}
    for sign, part in pairwise(children):
        if _kind(part) == "Expression":
            parts[_kind(sign)] = part
    return s.ListComprehension(
        _variable_name(_one(children, "Variable")),
        _expression(parts["IN"]),
        _expression(parts["WHERE"]) if "WHERE" in parts else None,
        _expression(parts["|"]) if "|" in parts else None,
    )


def _quantifier(tree: Tree) -> s.Expression:
    children = _children(tree, "ALL", "ANY", "NONE", "SINGLE", "(", ")", "Variable", "IN", "WHERE", "Expression")
    expressions = list(_of_kind(children, "Expression"))
    if len(expressions) != 2:
        _refuse("expression", f"{_text(tree)} needs a WHERE.")
    return s.Quantifier(
        _kind(children[0]).lower(), _variable_name(_one(children, "Variable")), *map(_expression, expressions)
    )


def _pattern_comprehension(tree: Tree) -> s.Expression:
    if _one(list(tree.getChildren()), "Variable") is not None:
        _refuse("path", "A path can't have a name; name its nodes and relationships.")
    children = _children(tree, "[", "]", "PathPatternNonEmpty", "WHERE", "|", "Expression")
    conditions: list[s.Expression] = []
    path = _bare_path(children[1], conditions)
    *where, result = map(_expression, _of_kind(children, "Expression"))
    return s.PatternComprehension(path, _all([*conditions, *where]), result)


def _bare_path(tree: Tree, conditions: list[s.Expression]) -> s.Path:
    return _path(_children(tree, "NodePattern", "RelationshipPattern"), conditions)


def _pattern_predicate(tree: Tree) -> s.Expression:
    (path,) = _children(tree, "PathPatternNonEmpty")
    conditions: list[s.Expression] = []
    bare = _bare_path(path, conditions)
    return s.Subquery("EXISTS", [s.Match(optional=False, paths=[bare], where=_all(conditions))])


def _map_projection(tree: Tree) -> s.Expression:
    children = _children(tree, "Variable", "{", "}", ",", "MapProjectionElement")
    projection = s.MapProjection(_name(children[0]), [])
    for element in _of_kind(children, "MapProjectionElement"):
        parts = _children(element, "Property", "PropertyKeyName", ":", "Expression", "Variable", ".", "*")
        if _one(parts, "*") is not None:
            projection.every = True
        elif (property_ := _one(parts, "Property")) is not None:
            name = _name(_children(property_, ".", "PropertyKeyName")[1])
            projection.entries.append((name, s.Property(s.Variable(projection.variable), name)))
        elif (variable := _one(parts, "Variable")) is not None:
            projection.entries.append((_name(variable), s.Variable(_name(variable))))
        else:
            projection.entries.append((_name(parts[0]), _expression(parts[2])))
    return projection


def _subquery(tree: Tree) -> s.Expression:
    kind = _kind(tree.getChild(0))
    children = _children(tree, "EXISTS", "COUNT", "{", "}", "PatternList", "WhereClause", "QueryWithLocalDefinitions")
    inner = _one(children, "QueryWithLocalDefinitions")
    if inner is None:
        conditions: list[s.Expression] = []
        paths = _paths(_one(children, "PatternList"), conditions)
        if (where := _one(children, "WhereClause")) is not None:
            conditions.append(_where(where))
        return s.Subquery(kind, [s.Match(optional=False, paths=paths, where=_all(conditions))])
    query = _query(inner)
    if len(query.branches) != 1:
        _refuse("subquery", f"UNION inside of {kind} {{ }} is not allowed; join two {kind} {{ }} by OR or +.")
    (clauses,) = query.branches
    if kind == "EXISTS" and clauses and isinstance(clauses[-1], s.Return):
        # What an EXISTS returns counts for nothing, unless it leaves rows out.
        last = clauses[-1].projection
        if not (last.skip or last.limit) and not any(has_aggregate(item.expression) for item in last.items):
            clauses = clauses[:-1]
    matches = [clause for clause in clauses if isinstance(clause, s.Match) and not clause.optional]
    if len(matches) != len(clauses) or not matches:
        _refuse("subquery", f"{kind} {{ }} takes MATCH and WHERE alone; do the rest before it.")
    return s.Subquery(kind, matches)


#: Levels of precedence, and wrappers: with one child they say nothing themselves.
_LEVELS = frozenset(
    {"Expression", *(f"Expression{n}" for n in range(1, 12)), "StringsLiteral", "OtherLiteral"}
    | {"FunctionArgument", "WhenEquals"}
)

_EXPRESSIONS: dict[str, Callable[[Tree], s.Expression]] = {
    "Expression": _chain("OR"),
    "Expression11": _chain("XOR"),
    "Expression10": _chain("AND"),
    "Expression9": _prefix("NOT"),
    "Expression8": _comparison,
    "Expression7": _postfix_comparison,
    "Expression6": _chain("+", "-", "||"),
    "Expression5": _chain("*", "/", "%"),
    "Expression4": _chain("^"),
    "Expression3": _prefix("-", "+"),
    "Expression2": _postfixes,
    "ParenthesizedExpression": _parenthesized,
    "Variable": _variable,
    "Parameter": _parameter,
    "NumericLiteral": _number,
    "NumberLiteral": _number,
    "StringLiteral": _string,
    "KeywordLiteral": _keyword,
    "BooleanLiteral": _keyword,
    "ListLiteral": _list,
    "Map": _map,
    "FunctionInvocation": _function,
    "TrimFunction": _trim,
    "CountStar": _count_rows,
    "CaseExpression": _case,
    "ExtendedCaseExpression": _simple_case,
    "ListComprehension": _list_comprehension,
    "ListItemsPredicate": _quantifier,
    "PatternComprehension": _pattern_comprehension,
    "PatternExpression": _pattern_predicate,
    "MapProjection": _map_projection,
    "ExistsExpression": _subquery,
    "CountExpression": _subquery,
}
