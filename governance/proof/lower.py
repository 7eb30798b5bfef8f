"""From Neo4j's parse tree to the small tree of ``syntax.py``.

Closed by default: each function names the parts that it understands, and any other part of the parse tree is a
refusal. So a construct that the grammar gains one day is refused until somebody teaches it here.
"""

from collections.abc import Callable
from functools import reduce
from itertools import pairwise

from antlr4.tree.Tree import TerminalNode

from governance.proof import syntax as s
from governance.proof.parse_tree import (
    LONGEST_NAME,
    Tree,
    all_of,
    children_of,
    kind_of,
    name_of,
    one_of,
    refuse,
    refuse_tree,
    text_of,
    variable_name_of,
    written_of,
)
from governance.proof.walk import has_aggregate, parts_of

#: Values joined by one operator, ``a + b + …``, and properties in a row, ``a.b.c``: each is a level of the tree.
_LONGEST_CHAIN = 60
_LONGEST_ACCESS = 6


def lower(statements: Tree) -> s.Query:
    """The query of a parsed text. Raises ``RefusedError`` for everything that isn't in the subset."""
    found = children_of(statements, "Statement", ";", "<EOF>")
    inner = [child for child in found if kind_of(child) == "Statement"]
    if len(inner) != 1:
        refuse("statements", "Give one statement.")
    (query,) = children_of(inner[0], "QueryWithLocalDefinitions")
    return _query(query)


# -------------------------------------------------------------------------------------------- the clauses


def _query(tree: Tree) -> s.Query:
    (statement,) = children_of(tree, "NextStatement")
    (regular,) = children_of(statement, "RegularQuery")
    (union,) = children_of(regular, "Union")
    children = children_of(union, "SingleQuery", "UNION", "ALL", "DISTINCT")
    branches = [_branch(child) for child in all_of(children, "SingleQuery")]
    words = [kind_of(child) for child in children if isinstance(child, TerminalNode)]
    distinct = {words[i + 1] != "ALL" if i + 1 < len(words) else True for i, w in enumerate(words) if w == "UNION"}
    if len(distinct) > 1:
        refuse("union", "UNION and UNION ALL can't be mixed in one query.")
    return s.Query(branches, distinct=distinct.pop() if distinct else False)


def _branch(tree: Tree) -> list[s.Clause]:
    return [_clause(next(clause.getChildren())) for clause in children_of(tree, "Clause")]


def _clause(tree: Tree) -> s.Clause:
    lowered = _CLAUSES.get(kind_of(tree))
    if lowered is None:
        refuse_tree(tree)
    return lowered(tree)


def _match(tree: Tree) -> s.Match:
    children = children_of(tree, "OPTIONAL", "MATCH", "PatternList", "WhereClause")
    patterns, where = one_of(children, "PatternList"), one_of(children, "WhereClause")
    conditions: list[s.Expression] = []
    paths = _paths(patterns, conditions)
    if where is not None:
        conditions.append(_where(where))
    return s.Match(one_of(children, "OPTIONAL") is not None, paths, _all(conditions))


def _all(conditions: list[s.Expression]) -> s.Expression | None:
    return reduce(lambda left, right: s.Binary("AND", left, right), conditions) if conditions else None


def _where(tree: Tree) -> s.Expression:
    return _expression(children_of(tree, "WHERE", "Expression")[1])


def _paths(tree: Tree, conditions: list[s.Expression] | None = None) -> list[s.Path]:
    """The paths of a pattern. What they say in WHEREs of their own, ``(n WHERE …)``, is added to ``conditions``."""
    return [_pattern(child, conditions) for child in all_of(children_of(tree, "Pattern", ","), "Pattern")]


def _pattern(tree: Tree, conditions: list[s.Expression] | None = None) -> s.Path:
    # A path's name is left out: whoever uses it is told that there is no such variable.
    anonymous = children_of(tree, "Variable", "=", "AnonymousPattern")[-1]
    (element,) = children_of(anonymous, "PatternElement")
    return _path(children_of(element, "NodePattern", "RelationshipPattern"), conditions)


def _path(children: list[Tree], conditions: list[s.Expression] | None) -> s.Path:
    nodes = [_node(child, conditions) for child in all_of(children, "NodePattern")]
    relationships = [_relationship(child, conditions) for child in all_of(children, "RelationshipPattern")]
    if len(nodes) != len(relationships) + 1:
        refuse("path", "Nodes and relationships must take turns in a path.")
    return s.Path(nodes, relationships)


def _node(tree: Tree, conditions: list[s.Expression] | None) -> s.NodePattern:
    children = children_of(tree, "(", ")", "Variable", "LabelExpression", "Properties", "WHERE", "Expression")
    _take_condition(children, conditions)
    variable, label = one_of(children, "Variable"), one_of(children, "LabelExpression")
    names = _labels(label) if label else []
    if len(names) > 1:
        refuse("label", f"{text_of(label)} is not allowed; name one label.")
    return s.NodePattern(
        variable_name_of(variable) if variable else None, names[0] if names else None, _properties(children)
    )


def _take_condition(children: list[Tree], conditions: list[s.Expression] | None) -> None:
    condition = one_of(children, "Expression")
    if condition is not None:
        if conditions is None:
            refuse("pattern", "WHERE inside of a pattern's brackets is not allowed here.")
        conditions.append(_expression(condition))


def _relationship(tree: Tree, conditions: list[s.Expression] | None) -> s.RelationshipPattern:
    children = children_of(
        tree,
        *("ArrowLine", "LeftArrow", "RightArrow", "[", "]", "Variable", "LabelExpression", "Properties"),
        *("WHERE", "Expression"),
    )
    _take_condition(children, conditions)
    variable, label = one_of(children, "Variable"), one_of(children, "LabelExpression")
    left, right = one_of(children, "LeftArrow") is not None, one_of(children, "RightArrow") is not None
    return s.RelationshipPattern(
        variable_name_of(variable) if variable else None,
        _labels(label) if label else [],
        "" if left == right else "<" if left else ">",
        _properties(children),
    )


def _labels(tree: Tree) -> list[str]:
    """The names of ``:A`` or, between types, ``:A|B``."""
    children = children_of(tree, ":", "IS", "LabelExpression4")
    alternatives = children_of(one_of(children, "LabelExpression4"), "LabelExpression3", "|", ":")
    return [_label(child) for child in all_of(alternatives, "LabelExpression3")]


def _label(tree: Tree) -> str:
    (inner,) = _single(tree, "LabelExpression2", whole=tree)
    (inner,) = _single(inner, "LabelName", whole=tree)
    (symbol,) = _single(inner, "SymbolicNameString", whole=tree)
    return name_of(symbol)


def _single(tree: Tree, kind: str, *, whole: Tree) -> list[Tree]:
    children = list(tree.getChildren())
    if len(children) != 1 or kind_of(children[0]) != kind:
        refuse("label", f"{text_of(whole)} is not allowed; name one label or type.")
    return children


def _properties(children: list[Tree]) -> list[tuple[str, s.Expression]]:
    properties = one_of(children, "Properties")
    if properties is None:
        return []
    if one_of(list(properties.getChildren()), "Parameter") is not None:
        refuse("pattern", "A parameter can't stand for a map of properties; name each property.")
    (entries,) = children_of(properties, "Map")
    return _map_entries(entries)


def _map_entries(tree: Tree) -> list[tuple[str, s.Expression]]:
    children = children_of(tree, "{", "}", "PropertyKeyName", ":", "Expression", ",")
    keys = [name_of(child) for child in all_of(children, "PropertyKeyName")]
    for key in keys:
        if keys.count(key) > 1:
            refuse("map", f"The key {key!r} stands twice in one map.")
    return list(zip(keys, map(_expression, all_of(children, "Expression")), strict=True))


def _unwind(tree: Tree) -> s.Unwind:
    _, source, _, variable = children_of(tree, "UNWIND", "Expression", "AS", "Variable")
    return s.Unwind(_expression(source), variable_name_of(variable))


def _with(tree: Tree) -> s.With:
    children = children_of(tree, "WITH", "ReturnBody", "WhereClause")
    where = one_of(children, "WhereClause")
    return s.With(_projection(children[1]), _where(where) if where else None)


def _return(tree: Tree) -> s.Return:
    return s.Return(_projection(children_of(tree, "RETURN", "ReturnBody")[1]))


def _projection(tree: Tree) -> s.Projection:
    children = children_of(tree, "DISTINCT", "ReturnItems", "OrderBy", "Skip", "Limit")
    items = children_of(one_of(children, "ReturnItems"), "ReturnItem", ",", "*")
    order, skip, limit = one_of(children, "OrderBy"), one_of(children, "Skip"), one_of(children, "Limit")
    sorts = all_of(children_of(order, "ORDER", "BY", "OrderItem", ","), "OrderItem") if order else ()
    return s.Projection(
        distinct=one_of(children, "DISTINCT") is not None,
        every=one_of(items, "*") is not None,
        items=[_item(item) for item in all_of(items, "ReturnItem")],
        order=[_sort(sort) for sort in sorts],
        skip=_expression(children_of(skip, "SKIP", "OFFSET", "Expression")[1]) if skip else None,
        limit=_expression(children_of(limit, "LIMIT", "Expression")[1]) if limit else None,
    )


def _item(tree: Tree) -> s.Item:
    children = children_of(tree, "Expression", "AS", "Variable")
    expression = _expression(children[0])
    if len(children) == 3:
        return s.Item(expression, name_of(children[2]), named=True)
    if isinstance(expression, s.Variable):
        return s.Item(expression, expression.name, named=True)
    written = written_of(children[0]).replace("`", "")
    if len(written) > LONGEST_NAME or "\\" in written or not written.isprintable():
        refuse("projection", f"Give {text_of(children[0])} a name: AS name.")
    return s.Item(expression, written, named=False)


def _sort(tree: Tree) -> s.Sort:
    children = children_of(tree, "Expression", "AscToken", "DescToken")
    return s.Sort(_expression(children[0]), one_of(children, "DescToken") is not None)


def _call(tree: Tree) -> s.CallSubquery:
    if one_of(list(tree.getChildren()), "OPTIONAL") is not None:
        refuse("clause", "OPTIONAL CALL is not allowed; write OPTIONAL MATCH inside of the CALL.")
    if one_of(list(tree.getChildren()), "SubqueryInTransactionsParameters") is not None:
        refuse("clause", "CALL { } IN TRANSACTIONS is not allowed.")
    children = children_of(tree, "CALL", "SubqueryScope", "{", "QueryWithLocalDefinitions", "}")
    scope, query = one_of(children, "SubqueryScope"), _query(one_of(children, "QueryWithLocalDefinitions"))
    if scope is not None:
        parts = children_of(scope, "(", ")", "*", "Variable", ",")
        if one_of(parts, "*") is not None:
            return s.CallSubquery(None, query)
        return s.CallSubquery([name_of(part) for part in all_of(parts, "Variable")], query)
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
    return s.Create(_paths(children_of(tree, "CREATE", "PatternList")[1]))


def _merge(tree: Tree) -> s.Merge:
    children = children_of(tree, "MERGE", "Pattern", "MergeAction")
    merge = s.Merge(_pattern(children[1]), [], [])
    for action in children[2:]:
        parts = children_of(action, "ON", "CREATE", "MATCH", "SetClause")
        items = merge.on_create if one_of(parts, "CREATE") is not None else merge.on_match
        items.extend(_set(parts[2]).items)
    return merge


def _set(tree: Tree) -> s.Set:
    items: list[s.SetProperty] = []
    for item in (
        child
        for child in children_of(
            tree, "SET", ",", "SetProp", "AddProp", "SetProps", "SetLabels", "SetLabelsIs", "SetDynamicProp"
        )
        if not isinstance(child, TerminalNode)
    ):
        kind = kind_of(item)
        if kind == "SetProp":
            target, _, value = children_of(item, "Expression2", "=", "Expression")
            variable, name = _property_of_variable(target)
            items.append(s.SetProperty(variable, name, _expression(value)))
        elif kind == "AddProp":
            target, _, value = children_of(item, "Variable", "+=", "Expression")
            entries = _expression(value)
            if not isinstance(entries, s.MapOf):
                refuse("write", "SET += takes a map written out, {name: value}, so that each property is checked.")
            items.extend(s.SetProperty(name_of(target), name, entry) for name, entry in entries.entries)
        else:
            refuse("write", f"{text_of(item)} is not allowed; set single properties, node.name = value.")
    return s.Set(items)


def _remove(tree: Tree) -> s.Set:
    items = []
    for item in children_of(tree, "REMOVE", ",", "RemoveProp", "RemoveLabels", "RemoveLabelsIs", "RemoveDynamicProp"):
        if isinstance(item, TerminalNode):
            continue
        if kind_of(item) != "RemoveProp":
            refuse("write", f"{text_of(item)} is not allowed; remove single properties, node.name.")
        variable, name = _property_of_variable(children_of(item, "Expression2")[0])
        items.append(s.SetProperty(variable, name, s.Literal(None)))
    return s.Set(items)


def _property_of_variable(tree: Tree) -> tuple[str, str]:
    target = _expression(tree)
    if not (isinstance(target, s.Property) and isinstance(target.subject, s.Variable)):
        refuse("write", f"{text_of(tree)} can't be changed; name a property of a variable, node.name.")
    return target.subject.name, target.name


def _delete(tree: Tree) -> s.Delete:
    children = children_of(tree, "DETACH", "NODETACH", "DELETE", "Expression", ",")
    variables = []
    for child in all_of(children, "Expression"):
        target = _expression(child)
        if not isinstance(target, s.Variable):
            refuse("write", f"{text_of(child)} can't be deleted; name a variable.")
        variables.append(target.name)
    return s.Delete(variables, detach=one_of(children, "DETACH") is not None)


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
    kind = kind_of(tree)
    while kind in _LEVELS and tree.getChildCount() == 1:
        tree = tree.getChild(0)
        kind = kind_of(tree)
    lowered = _EXPRESSIONS.get(kind)
    if lowered is None:
        refuse_tree(tree)
    return lowered(tree)


def _chain(*operators: str) -> Callable[[Tree], s.Expression]:
    """Operators that group to the left: ``a - b - c``."""

    def lowered(tree: Tree) -> s.Expression:
        result: s.Expression | None = None
        operator = ""
        if tree.getChildCount() > 2 * _LONGEST_CHAIN:
            refuse("depth", f"More than {_LONGEST_CHAIN} values are joined by {operators[0]}; use a list, or less.")
        for child in tree.getChildren():
            if isinstance(child, TerminalNode):
                operator = kind_of(child)
                if operator not in operators:
                    refuse_tree(child)
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
            operator = kind_of(sign)
            if operator not in operators:
                refuse_tree(sign)
            value = result.value if isinstance(result, s.Literal) else None
            if operator == "-" and isinstance(value, int | float) and not isinstance(value, bool):
                result = s.Literal(-value)
            elif operator != "+":
                result = s.Unary(operator, result)
        return result

    return lowered


def _comparison(tree: Tree) -> s.Expression:
    """``a < b <= c`` means ``a < b AND b <= c``."""
    children = list(tree.getChildren())
    if len(children) > 7:
        refuse("depth", "So many comparisons in a row can't be read; join them by AND.")
    operands = [_expression(child) for child in children[0::2]]
    for middle in operands[1:-1]:
        if parts_of(middle) and not (isinstance(middle, s.Property) and isinstance(middle.subject, s.Variable)):
            refuse("expression", "In a chain of comparisons only plain values may stand between; join two by AND.")
    result: s.Expression | None = None
    for position, sign in enumerate(children[1::2]):
        operator = kind_of(sign)
        if operator == "!=":
            refuse("syntax", "!= is no operator; write <>.")
        if operator not in ("=", "<>", "<", "<=", ">", ">="):
            refuse_tree(sign)
        pair = s.Binary(operator, operands[position], operands[position + 1])
        result = pair if result is None else s.Binary("AND", result, pair)
    assert result is not None
    return result


def _postfix_comparison(tree: Tree) -> s.Expression:
    operand, comparison = tree.getChildren()
    left = _expression(operand)
    kind = kind_of(comparison)
    if kind == "NullComparison":
        words = [kind_of(child) for child in children_of(comparison, "IS", "NOT", "NULL")]
        return s.IsNull(left, negated="NOT" in words)
    if kind != "StringAndListComparison":
        refuse("expression", f"{text_of(tree)} is not allowed.")
    *words, right = children_of(comparison, "=~", "STARTS", "ENDS", "WITH", "CONTAINS", "IN", "Expression6")
    return s.Binary(" ".join(map(kind_of, words)), left, _expression(right))


def _postfixes(tree: Tree) -> s.Expression:
    first, *postfixes = tree.getChildren()
    if len(postfixes) > _LONGEST_ACCESS:
        refuse("depth", f"More than {_LONGEST_ACCESS} properties and indexes in a row are not allowed.")
    result = _expression(first)
    for postfix in postfixes:
        kind = kind_of(postfix)
        if kind == "PropertyPostfix":
            (property_,) = children_of(postfix, "Property")
            result = s.Property(result, name_of(children_of(property_, ".", "PropertyKeyName")[1]))
        elif kind == "IndexPostfix":
            index = _expression(children_of(postfix, "[", "Expression", "]")[1])
            if isinstance(index, s.Literal) and isinstance(index.value, str):
                if not index.value.isidentifier():
                    refuse("property", f"{text_of(postfix)} is not allowed; write the property's name behind a dot.")
                result = s.Property(result, index.value)
            else:
                result = s.Index(result, index)
        elif kind == "RangePostfix":
            parts = children_of(postfix, "[", "Expression", "..", "]")
            dots = next(position for position, part in enumerate(parts) if kind_of(part) == "..")
            start, end = parts[1:dots], parts[dots + 1 : -1]
            result = s.Slice(result, _expression(start[0]) if start else None, _expression(end[0]) if end else None)
        else:
            refuse_tree(postfix)
    return result


def _parenthesized(tree: Tree) -> s.Expression:
    return _expression(children_of(tree, "(", "Expression", ")")[1])


def _variable(tree: Tree) -> s.Expression:
    return s.Variable(name_of(tree))


def _parameter(tree: Tree) -> s.Expression:
    name = name_of(children_of(tree, "$", "ParameterName")[1])
    if not (name.isascii() and name.isidentifier()):
        refuse("parameter", f"${name} can't be the name of a parameter; use letters, digits and _.")
    return s.Parameter(name)


def _number(tree: Tree) -> s.Expression:
    written = str(tree.getText()).replace("_", "")
    try:
        digits = written.removeprefix("-")
        number: int | float = int(written) if digits.isdigit() else float(written)
    except ValueError:
        refuse("number", f"{written} is not allowed; write a decimal number.")
    if digits.isdigit() and (abs(number) > 2**63 - 1 or (len(digits) > 1 and digits[0] == "0")):
        refuse("number", f"{written} is not allowed; write a decimal number of at most 18 digits.")
    if number in (float("inf"), float("-inf")):
        refuse("number", f"{written} is too large.")
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
                refuse("escape", f"\\{escaped} is not allowed in a text; write the character itself.")
            characters.append(_ESCAPES[escaped])
        elif character == written[0] and next(rest, "") == character:
            refuse("escape", "Two quotes in a row are not allowed in a text; write \\' or \\\".")
        else:
            characters.append(character)
    return s.Literal("".join(characters))


def _keyword(tree: Tree) -> s.Expression:
    word = str(tree.getText()).upper()
    if word not in ("NULL", "TRUE", "FALSE"):
        refuse("number", f"{word} is not allowed.")
    return s.Literal({"NULL": None, "TRUE": True, "FALSE": False}[word])


def _list(tree: Tree) -> s.Expression:
    return s.ListOf(
        [_expression(child) for child in all_of(children_of(tree, "[", "]", ",", "Expression"), "Expression")]
    )


def _map(tree: Tree) -> s.Expression:
    return s.MapOf(_map_entries(tree))


def _function(tree: Tree) -> s.Expression:
    children = children_of(tree, "FunctionName", "(", ")", ",", "DISTINCT", "ALL", "FunctionArgument")
    arguments = [_expression(child) for child in all_of(children, "FunctionArgument")]
    name = str(children[0].getText())
    if name.lower() == "properties" and len(arguments) == 1 and isinstance(arguments[0], s.Variable):
        return s.MapProjection(arguments[0].name, [], every=True)
    if name.lower() == "exists" and len(arguments) == 1 and isinstance(arguments[0], s.Subquery):
        return arguments[0]  # exists((a)-[:TYPE]->(b)), the older way of EXISTS { }
    return s.Call(name, arguments, distinct=one_of(children, "DISTINCT") is not None)


def _trim(tree: Tree) -> s.Expression:
    """``trim(text)`` has a rule of its own in the grammar; its form with FROM is refused."""
    children = children_of(tree, "TRIM", "(", ")", "Expression")
    return s.Call("trim", [_expression(children[2])])


def _count_rows(tree: Tree) -> s.Expression:
    return s.CountRows()


def _case(tree: Tree) -> s.Expression:
    children = children_of(tree, "CASE", "CaseAlternative", "ELSE", "Expression", "END")
    alternatives = []
    for alternative in all_of(children, "CaseAlternative"):
        _, when, _, then = children_of(alternative, "WHEN", "Expression", "THEN")
        alternatives.append((_expression(when), _expression(then)))
    default = one_of(children, "Expression")
    return s.Case(None, alternatives, _expression(default) if default else None)


def _simple_case(tree: Tree) -> s.Expression:
    children = children_of(tree, "CASE", "Expression", "ExtendedCaseAlternative", "ELSE", "END")
    alternatives = []
    for alternative in all_of(children, "ExtendedCaseAlternative"):
        *whens, _, then = children_of(alternative, "WHEN", "WhenEquals", "THEN", "Expression", ",")[1:]
        wanted = [_expression(when) for when in all_of(whens, "WhenEquals")]
        result = _expression(then)
        if len(wanted) > 1 and not isinstance(result, s.Literal | s.Parameter | s.Variable | s.Property):
            refuse("expression", "WHEN with several values takes a plain value behind THEN; write a WHEN for each.")
        alternatives += [(when, result) for when in wanted]
    expressions = list(all_of(children, "Expression"))
    return s.Case(
        _expression(expressions[0]), alternatives, _expression(expressions[1]) if len(expressions) > 1 else None
    )


def _list_comprehension(tree: Tree) -> s.Expression:
    children = children_of(tree, "[", "]", "Variable", "IN", "WHERE", "|", "Expression")
    parts: dict[str, Tree] = {}
    for sign, part in pairwise(children):
        if kind_of(part) == "Expression":
            parts[kind_of(sign)] = part
    return s.ListComprehension(
        variable_name_of(one_of(children, "Variable")),
        _expression(parts["IN"]),
        _expression(parts["WHERE"]) if "WHERE" in parts else None,
        _expression(parts["|"]) if "|" in parts else None,
    )


def _quantifier(tree: Tree) -> s.Expression:
    children = children_of(tree, "ALL", "ANY", "NONE", "SINGLE", "(", ")", "Variable", "IN", "WHERE", "Expression")
    expressions = list(all_of(children, "Expression"))
    if len(expressions) != 2:
        refuse("expression", f"{text_of(tree)} needs a WHERE.")
    return s.Quantifier(
        kind_of(children[0]).lower(), variable_name_of(one_of(children, "Variable")), *map(_expression, expressions)
    )


def _pattern_comprehension(tree: Tree) -> s.Expression:
    if one_of(list(tree.getChildren()), "Variable") is not None:
        refuse("path", "A path can't have a name; name its nodes and relationships.")
    children = children_of(tree, "[", "]", "PathPatternNonEmpty", "WHERE", "|", "Expression")
    conditions: list[s.Expression] = []
    path = _bare_path(children[1], conditions)
    *where, result = map(_expression, all_of(children, "Expression"))
    return s.PatternComprehension(path, _all([*conditions, *where]), result)


def _bare_path(tree: Tree, conditions: list[s.Expression]) -> s.Path:
    return _path(children_of(tree, "NodePattern", "RelationshipPattern"), conditions)


def _pattern_predicate(tree: Tree) -> s.Expression:
    (path,) = children_of(tree, "PathPatternNonEmpty")
    conditions: list[s.Expression] = []
    bare = _bare_path(path, conditions)
    return s.Subquery("EXISTS", [s.Match(optional=False, paths=[bare], where=_all(conditions))])


def _map_projection(tree: Tree) -> s.Expression:
    children = children_of(tree, "Variable", "{", "}", ",", "MapProjectionElement")
    projection = s.MapProjection(name_of(children[0]), [])
    for element in all_of(children, "MapProjectionElement"):
        parts = children_of(element, "Property", "PropertyKeyName", ":", "Expression", "Variable", ".", "*")
        if one_of(parts, "*") is not None:
            projection.every = True
        elif (property_ := one_of(parts, "Property")) is not None:
            name = name_of(children_of(property_, ".", "PropertyKeyName")[1])
            projection.entries.append((name, s.Property(s.Variable(projection.variable), name)))
        elif (variable := one_of(parts, "Variable")) is not None:
            projection.entries.append((name_of(variable), s.Variable(name_of(variable))))
        else:
            projection.entries.append((name_of(parts[0]), _expression(parts[2])))
    return projection


def _subquery(tree: Tree) -> s.Expression:
    kind = kind_of(tree.getChild(0))
    children = children_of(tree, "EXISTS", "COUNT", "{", "}", "PatternList", "WhereClause", "QueryWithLocalDefinitions")
    inner = one_of(children, "QueryWithLocalDefinitions")
    if inner is None:
        conditions: list[s.Expression] = []
        paths = _paths(one_of(children, "PatternList"), conditions)
        if (where := one_of(children, "WhereClause")) is not None:
            conditions.append(_where(where))
        return s.Subquery(kind, [s.Match(optional=False, paths=paths, where=_all(conditions))])
    query = _query(inner)
    if len(query.branches) != 1:
        refuse("subquery", f"UNION inside of {kind} {{ }} is not allowed; join two {kind} {{ }} by OR or +.")
    (clauses,) = query.branches
    returned: list[s.Expression] = []
    if kind == "EXISTS" and clauses and isinstance(clauses[-1], s.Return):
        # What an EXISTS returns counts for nothing, unless it leaves rows out.
        last = clauses[-1].projection
        if not (last.skip or last.limit) and not any(has_aggregate(item.expression) for item in last.items):
            clauses, returned = clauses[:-1], [item.expression for item in last.items]
    matches = [clause for clause in clauses if isinstance(clause, s.Match) and not clause.optional]
    if len(matches) != len(clauses) or not matches:
        refuse("subquery", f"{kind} {{ }} takes MATCH and WHERE alone; do the rest before it.")
    return s.Subquery(kind, matches, returned)


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
