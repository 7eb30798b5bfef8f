"""Reply templates: valid, and over names that there are."""

from collections.abc import Iterable, Iterator

from jinja2 import meta, nodes
from jinja2.sandbox import SandboxedEnvironment

from agents.templates import check_template
from configs.nearest import hint

#: What a reply template may use.
NAMES = frozenset({"rows", "row", "arguments", "today"})


def template_complaints(
    text: str, language: str, columns: Iterable[str] | None, arguments: Iterable[str]
) -> Iterator[str]:
    """What is wrong with a template over rows that have these columns; ``None`` where they aren't known."""
    invalid = syntax_complaint(text, language)
    if invalid:
        yield invalid
        return
    environment = SandboxedEnvironment()
    tree = environment.parse(text)
    for use in tree.find_all(nodes.Filter):
        # That each filter exists was checked above; here only the names count.
        environment.filters.setdefault(use.name, str)
    for name in sorted(meta.find_undeclared_variables(tree) - NAMES - environment.globals.keys()):
        yield f"names {name!r}, which templates don't have{hint(name, NAMES)}"
    arguments = set(arguments)
    read = set() if columns is None else _read(tree, _row_names(tree)) - set(columns)
    for name in read:
        yield f"reads column {name!r}, which the query does not return{hint(name, columns or ())}"
    for name in _read(tree, {"arguments"}) - arguments:
        yield f"reads argument {name!r}, which the query does not have{hint(name, arguments)}"


def syntax_complaint(text: str, language: str) -> str | None:
    """Why ``text`` is no template, if it isn't one."""
    reason = check_template(text, language)
    return None if reason is None else f"is no valid template: {' '.join(reason.split())}"


def _row_names(tree: nodes.Template) -> set[str]:
    """``row``, and the variables of loops over ``rows``."""
    names = {"row"}
    for loop in tree.find_all(nodes.For):
        source = loop.iter
        while isinstance(source, nodes.Filter | nodes.Getitem) and source.node is not None:
            # A filter such as groupby gives something else than rows.
            if isinstance(source, nodes.Filter) and source.name not in ("sort", "reverse", "list", "unique"):
                break
            source = source.node
        if isinstance(source, nodes.Name) and source.name == "rows" and isinstance(loop.target, nodes.Name):
            names.add(loop.target.name)
    return names


def _read(tree: nodes.Template, owners: set[str]) -> set[str]:
    """The attributes and constant keys that the template reads of these variables."""
    read = set()
    for attribute in tree.find_all(nodes.Getattr):
        if isinstance(attribute.node, nodes.Name) and attribute.node.name in owners:
            read.add(attribute.attr)
    for item in tree.find_all(nodes.Getitem):
        if isinstance(item.node, nodes.Name) and item.node.name in owners and isinstance(item.arg, nodes.Const):
            read.add(str(item.arg.value))
    return read - _DICT_METHODS


_DICT_METHODS = {"items", "keys", "values", "get"}
