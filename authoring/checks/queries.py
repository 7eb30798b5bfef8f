"""``queries.yaml``, the queries: names, parameters, text, columns, replies."""

import re
from collections.abc import Iterator

from authoring.checks.checked import Checked
from authoring.checks.templates import template_complaints
from authoring.proven import refusals, verdict_on
from configs.nearest import hint
from configs.packs.complaint import Complaint
from configs.packs.loader import QUERIES
from configs.packs.types import PredefinedQuery
from contracts.graph import CUSTOMER_PARAMETER, GraphSchema, PropertyType, ProvenQuery, Violations

_NAME = re.compile(r"[a-z][a-z0-9_]*")
#: A column that a reply's template can name.
_COLUMN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def query_complaints(checked: Checked) -> Iterator[Complaint]:
    """Everything wrong with the queries, their phrasings left out."""
    queries = checked.pack.queries.queries
    names = [(query.name, ("queries", position, "name")) for position, query in enumerate(queries)]
    yield from checked.duplicates(QUERIES, names, "query")
    for position, query in enumerate(queries):
        if not _NAME.fullmatch(query.name):
            message = f"{query.name!r} must be small letters, digits and _, a letter first"
            yield checked.complaint(QUERIES, message, "queries", position, "name")
        verdict = verdict_on(checked.pack.schema_, query)
        if isinstance(verdict, Violations):
            for message in refusals(query, verdict):
                yield checked.complaint(QUERIES, message, "queries", position, "cypher")
        proven = None if isinstance(verdict, Violations) else verdict
        for message, *path in (*_parameters(checked, query, proven), *_columns(checked, query, proven)):
            yield checked.complaint(QUERIES, message, "queries", position, *path)
        yield from _replies(checked, query, position, proven)


_Finding = tuple[str, *tuple[str | int, ...]]


def _parameters(checked: Checked, query: PredefinedQuery, proven: ProvenQuery | None) -> Iterator[_Finding]:
    types = checked.pack.queries.parameters
    for name, type_ in query.parameters.items():
        if type_ not in types:
            yield f"there is no parameter type {type_!r}{hint(type_, types)}", "parameters", name
        if name == CUSTOMER_PARAMETER:
            yield "is filled from whoever asks; remove it from the parameters", "parameters", name
    if proven is None:
        return
    for name in sorted(proven.parameters - query.parameters.keys() - {CUSTOMER_PARAMETER}):
        yield f"uses ${name}, which is not among the query's parameters{hint(name, query.parameters)}", "cypher"
    for name in query.parameters.keys() - proven.parameters - {CUSTOMER_PARAMETER}:
        yield f"is declared but ${name} is not used in the text; use it or remove it", "parameters", name
    for name, type_ in query.parameters.items():
        settled = proven.parameter_types.get(name)
        if type_ in types and settled is not None and not _fits(types[type_].type, settled):
            message = f"is of type {types[type_].type}, and the text compares ${name} with a {settled}"
            yield message, "parameters", name


def _fits(given: PropertyType, settled: PropertyType) -> bool:
    return given is settled or (given is PropertyType.INTEGER and settled is PropertyType.FLOAT)


def columns_of(schema: GraphSchema, query: PredefinedQuery) -> tuple[str, ...] | None:
    """The names of the query's columns; ``None`` when its text isn't proven for its audience."""
    verdict = verdict_on(schema, query)
    return None if isinstance(verdict, Violations) else verdict.columns


def _columns(checked: Checked, query: PredefinedQuery, proven: ProvenQuery | None) -> Iterator[_Finding]:
    types = checked.pack.queries.parameters
    for type_ in query.entities.values():
        if type_ not in types:
            column = next(column for column, its in query.entities.items() if its == type_)
            yield f"there is no parameter type {type_!r}{hint(type_, types)}", "entities", column
    if proven is None:
        return
    named = proven.columns
    for column in named:
        if not _COLUMN.fullmatch(column):
            yield f"returns {column!r} without a name; add `AS name`", "cypher"
    for column in query.entities:
        if column not in named:
            yield f"the query returns no column {column!r}{hint(column, named)}", "entities", column
    if query.follow and query.follow.column not in named:
        column = query.follow.column
        yield f"the query returns no column {column!r}{hint(column, named)}", "follow", "column"


def _replies(
    checked: Checked, query: PredefinedQuery, position: int, proven: ProvenQuery | None
) -> Iterator[Complaint]:
    for place, text in (("reply", query.reply), ("empty", query.empty)):
        path = ("queries", position, place)
        yield from checked.languages(QUERIES, text, *path)
        for language, template in text.items():
            named = None if proven is None else proven.columns
            for message in template_complaints(template, language, named, query.parameters):
                yield checked.complaint(QUERIES, message, *path, language)
