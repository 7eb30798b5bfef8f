"""Reading the grammar's parse tree, closed by default: a node's children are of the kinds named, or it is refused."""

from collections.abc import Iterator
from typing import Any, NoReturn

from antlr4.tree.Tree import TerminalNode

from governance.proof.violation import RefusedError

#: A node of the parse tree; the grammar's classes are generated and have no types.
Tree = Any

LONGEST_NAME = 200

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


def kind_of(tree: Tree) -> str:
    """The grammar rule of a node, or a terminal's own text in capitals."""
    if isinstance(tree, TerminalNode):
        return str(tree.getText()).upper()
    return type(tree).__name__.removesuffix("Context")


def children_of(tree: Tree, *allowed: str) -> list[Tree]:
    """The node's children, each of a kind that is allowed here."""
    children = list(tree.getChildren())
    for child in children:
        if kind_of(child) not in allowed:
            refuse_tree(child)
    return children


def refuse(rule: str, message: str) -> NoReturn:
    raise RefusedError(rule, message)


def refuse_tree(tree: Tree) -> NoReturn:
    kind = kind_of(tree)
    if kind in _REFUSED_CLAUSES:
        refuse("clause", _REFUSED_CLAUSES[kind])
    if kind in _REFUSED_EXPRESSIONS:
        refuse("expression", _REFUSED_EXPRESSIONS[kind])
    if kind in ("PathLength", "Quantifier", "ParenthesizedPath", "ShortestPathPattern", "PathPatternPrefix"):
        refuse("path", "Paths of variable length are not allowed; write each step out.")
    if kind.startswith("Label") or kind.startswith("Dynamic") or kind in ("AnyLabel", "ParenthesizedLabelExpression"):
        refuse("label", f"{text_of(tree)} is not allowed; name one label or type.")
    refuse("construct", f"{text_of(tree)} is not allowed here.")


def written_of(tree: Tree) -> str:
    """The node's text as it was written, its white space single blanks."""
    if isinstance(tree, TerminalNode) or tree.start is None or tree.stop is None or tree.stop.stop < tree.start.start:
        written = str(tree.getText())
    else:
        written = str(tree.start.getInputStream().getText(tree.start.start, tree.stop.stop))
    return " ".join(written.split())


def text_of(tree: Tree) -> str:
    """The node's text in quotes, at most 60 characters of it."""
    written = written_of(tree)
    return repr(written if len(written) <= 60 else written[:57] + "…")


def all_of(children: list[Tree], kind: str) -> Iterator[Tree]:
    return (child for child in children if kind_of(child) == kind)


def one_of(children: list[Tree], kind: str) -> Tree | None:
    return next(all_of(children, kind), None)


def name_of(tree: Tree) -> str:
    """The name in a ``Variable``, ``PropertyKeyName``, ``SymbolicNameString`` …, back quotes taken off."""
    written = str(tree.getText())
    if written.startswith("`"):
        written = written[1:-1].replace("``", "`")
    if not written or len(written) > LONGEST_NAME or "`" in written or "\\" in written or not written.isprintable():
        refuse("name", f"{text_of(tree)} can't be a name; use letters, digits and _.")
    return written


def variable_name_of(tree: Tree) -> str:
    """A name that is no column of the result: letters, digits, _ and blanks."""
    name = name_of(tree)
    if not name.replace("_", "").replace(" ", "").isalnum():
        refuse("name", f"{text_of(tree)} can't be the name of a variable; use letters, digits and _.")
    return name
