"""``queries.yaml``, the queries: names, parameters, text, columns, replies."""

import re
from collections.abc import Iterator

from authoring import cypher_text
from authoring.checks.checked import Checked
from authoring.checks.templates import template_complaints
from configs.nearest import hint
from configs.packs.canonical import canonical
from configs.packs.complaint import Complaint
from configs.packs.loader import QUERIES
from configs.packs.types import PredefinedQuery
from contracts.graph import Audience
from governance.prover import MAX_TEXT_CHARACTERS, parameters

#: Filled by the store from whoever asks; never a query's own parameter.
CUSTOMER_ID = "customer_id"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def query_complaints(checked: Checked) -> Iterator[Complaint]:
    """Everything wrong with the queries, their phrasings left out."""
    queries = checked.pack.queries.queries
    names = [(query.name, ("queries", position, "name")) for position, query in enumerate(queries)]
    yield from checked.duplicates(QUERIES, names, "query")
    for position, query in enumerate(queries):
        if not _NAME.fullmatch(query.name):
            message = f"{query.name!r} must be small letters, digits and _, a letter first"
            yield checked.complaint(QUERIES, message, "queries", position, "name")
        for message, *path in (
            *_parameters(checked, query),
            *_text(query),
            *_names_in_text(checked, query),
            *_customer_scope(checked, query),
            *_columns(checked, query),
        ):
            yield checked.complaint(QUERIES, message, "queries", position, *path)
        yield from _replies(checked, query, position)


_Finding = tuple[str, *tuple[str | int, ...]]


def _parameters(checked: Checked, query: PredefinedQuery) -> Iterator[_Finding]:
    types = checked.pack.queries.parameters
    for name, type_ in query.parameters.items():
        if type_ not in types:
            yield f"there is no parameter type {type_!r}{hint(type_, types)}", "parameters", name
        if name == CUSTOMER_ID:
            yield "is filled from whoever asks; remove it from the parameters", "parameters", name
    used = parameters(canonical(query.cypher))
    for name in sorted(used - query.parameters.keys() - {CUSTOMER_ID}):
        yield f"uses ${name}, which is not among the query's parameters{hint(name, query.parameters)}", "cypher"
    for name in query.parameters.keys() - used - {CUSTOMER_ID}:
        yield f"is declared but ${name} is not used in the text; use it or remove it", "parameters", name


def _text(query: PredefinedQuery) -> Iterator[_Finding]:
    if len(canonical(query.cypher)) > MAX_TEXT_CHARACTERS:
        yield f"is longer than {MAX_TEXT_CHARACTERS:,} characters; shorten it", "cypher"
    write = cypher_text.first_write(query.cypher)
    if write:
        yield f"has {write!r}; a predefined query only reads", "cypher"


def _names_in_text(checked: Checked, query: PredefinedQuery) -> Iterator[_Finding]:
    schema = checked.pack.schema_
    for label in sorted(cypher_text.labels(query.cypher) - schema.labels.keys()):
        yield f"names label {label!r}, which the schema does not declare{hint(label, schema.labels)}", "cypher"
    types = {relationship.type for relationship in schema.relationships}
    for type_ in sorted(cypher_text.relationship_types(query.cypher) - types):
        yield f"names relationship {type_!r}, which the schema does not declare{hint(type_, types)}", "cypher"
    properties = {name for label in schema.labels.values() for name in label.properties}
    for name in sorted(cypher_text.properties(query.cypher) - properties):
        yield f"names property {name!r}, which the schema does not declare{hint(name, properties)}", "cypher"


def _customer_scope(checked: Checked, query: PredefinedQuery) -> Iterator[_Finding]:
    schema = checked.pack.schema_
    text = cypher_text.without_strings(query.cypher)
    label, key = re.escape(schema.customer_label), re.escape(schema.customer_key)
    anchor = rf"\(\s*\w*\s*:\s*{label}\s*\{{\s*{key}\s*:\s*\${CUSTOMER_ID}\s*\}}\s*\)"
    anchors = len(re.findall(anchor, text))
    if query.audience is not Audience.CUSTOMER:
        if CUSTOMER_ID in parameters(text):
            yield f"is {query.audience} and must not use ${CUSTOMER_ID}", "cypher"
        if query.audience is Audience.PUBLIC:
            for name in sorted((cypher_text.labels(text) & schema.labels.keys()) - schema.public_labels):
                yield f"is public but reads label {name!r}, which is not", "cypher"
        return
    written = f"({schema.customer_label.lower()}:{schema.customer_label} {{{schema.customer_key}: ${CUSTOMER_ID}}})"
    if not anchors:
        yield f"is for customers but is not anchored; begin it at {written}", "cypher"
    elif len(re.findall(rf"\${CUSTOMER_ID}\b", text)) != anchors:
        yield f"uses ${CUSTOMER_ID} outside of the anchor {written}", "cypher"
    elif len(re.findall(rf":\s*`?{label}\b", text)) != anchors:
        yield (
            f"names {schema.customer_label} without the anchor, which reaches other customers; write {written}",
            "cypher",
        )


def _columns(checked: Checked, query: PredefinedQuery) -> Iterator[_Finding]:
    named, unnamed = cypher_text.columns(query.cypher)
    for expression in unnamed:
        yield f"returns {expression!r} without a name; add `AS name`", "cypher"
    for name in sorted({name for name in named if named.count(name) > 1}):
        yield f"returns two columns {name!r}; rename one", "cypher"
    types = checked.pack.queries.parameters
    for column, type_ in query.entities.items():
        if column not in named:
            yield f"the query returns no column {column!r}{hint(column, named)}", "entities", column
        if type_ not in types:
            yield f"there is no parameter type {type_!r}{hint(type_, types)}", "entities", column
    if query.follow and query.follow.column not in named:
        column = query.follow.column
        yield f"the query returns no column {column!r}{hint(column, named)}", "follow", "column"


def _replies(checked: Checked, query: PredefinedQuery, position: int) -> Iterator[Complaint]:
    named, _ = cypher_text.columns(query.cypher)
    for place, text in (("reply", query.reply), ("empty", query.empty)):
        path = ("queries", position, place)
        yield from checked.languages(QUERIES, text, *path)
        for language, template in text.items():
            for message in template_complaints(template, language, named, query.parameters):
                yield checked.complaint(QUERIES, message, *path, language)
