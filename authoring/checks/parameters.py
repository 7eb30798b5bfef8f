"""``queries.yaml``, the parameter types: how each is recognised, masked and asked for."""

import re
from collections.abc import Iterator

from authoring.checks.checked import Checked
from authoring.checks.pattern_time import slowest
from configs.nearest import hint
from configs.packs.complaint import Complaint
from configs.packs.loader import QUERIES
from configs.packs.types import Gazetteer, ParameterType, Related


def parameter_complaints(checked: Checked) -> Iterator[Complaint]:
    """Everything wrong with the parameter types."""
    used = {name for query in checked.pack.queries.queries for name in query.parameters.values()}
    for name, parameter in checked.pack.queries.parameters.items():
        path = ("parameters", name)
        yield from _patterns(checked, parameter, name)
        if parameter.gazetteer:
            yield from _gazetteer(checked, parameter.gazetteer, name)
        if parameter.gazetteer and parameter.gazetteer.related:
            yield from _related(checked, parameter.gazetteer.label, parameter.gazetteer.related, name)
        if not parameter.patterns and not parameter.gazetteer:
            yield checked.complaint(QUERIES, "has neither patterns nor a gazetteer; nothing recognises it", *path)
        if not parameter.mask.strip() or set(parameter.mask) & set("{}"):
            yield checked.complaint(QUERIES, "must be one or more plain words", *path, "mask")
        if parameter.ask:
            yield from checked.languages(QUERIES, parameter.ask, *path, "ask")
        elif name in used:
            yield checked.complaint(QUERIES, "has no `ask`, the question when a customer left it out; add it", *path)
        yield from _choices(checked, parameter, name)


def _patterns(checked: Checked, parameter: ParameterType, name: str) -> Iterator[Complaint]:
    for position, pattern in enumerate(parameter.patterns):
        path = ("parameters", name, "patterns", position)
        try:
            compiled = re.compile(pattern, re.IGNORECASE)
        except re.error as error:
            yield checked.complaint(QUERIES, f"is no regular expression: {error}", *path)
            continue
        if compiled.search(""):
            yield checked.complaint(QUERIES, "matches the empty text; it would find a value everywhere", *path)
            continue
        slow = slowest(compiled)
        if slow is not None:
            message = (
                f"takes {slow.seconds * 1000:.0f} ms over {slow.characters} characters such as {slow.beginning!r}; "
                "anybody can send such texts: bound the repetitions that may match the same characters (\\s{0,2})"
            )
            yield checked.complaint(QUERIES, message, *path)


def _gazetteer(checked: Checked, gazetteer: Gazetteer, name: str) -> Iterator[Complaint]:
    yield from _public_property(checked, gazetteer, "parameters", name, "gazetteer")


def _related(checked: Checked, label: str, related: Related, name: str) -> Iterator[Complaint]:
    """What a value belongs to: a public property, one relationship away, under a kind that documents have."""
    path = ("parameters", name, "gazetteer", "related")
    yield from _public_property(checked, related, *path)
    pair = {label, related.label}
    joining = [one.type for one in checked.pack.schema_.relationships if {one.start, one.end} == pair]
    if related.label in checked.pack.schema_.labels and len(joining) != 1:
        message = f"{label} and {related.label} must be joined by one relationship, not {len(joining)}"
        yield checked.complaint(QUERIES, message, *path, "label")
    kinds = {parameter.entity_kind for parameter in checked.pack.queries.parameters.values()} - {None}
    if related.kind not in kinds:
        message = f"{related.kind!r} is no parameter type's entity_kind{hint(related.kind, filter(None, kinds))}"
        yield checked.complaint(QUERIES, message, *path, "kind")


def _public_property(checked: Checked, named: Gazetteer | Related, *path: str) -> Iterator[Complaint]:
    schema = checked.pack.schema_
    label = schema.labels.get(named.label)
    if label is None:
        message = f"label {named.label!r} is not declared{hint(named.label, schema.labels)}"
        yield checked.complaint(QUERIES, message, *path, "label")
    elif named.property not in label.properties:
        message = f"{named.label} has no property {named.property!r}{hint(named.property, label.properties)}"
        yield checked.complaint(QUERIES, message, *path, "property")
    elif named.label not in schema.public_labels:
        # What one customer's message is recognised by must not come from another customer's data.
        message = f"{named.label} is not among the public labels; a gazetteer may list public values only"
        yield checked.complaint(QUERIES, message, *path, "label")


def _choices(checked: Checked, parameter: ParameterType, name: str) -> Iterator[Complaint]:
    if parameter.choices is None:
        return
    path = ("parameters", name, "choices")
    queries = {query.name: query for query in checked.pack.queries.queries}
    query = queries.get(parameter.choices)
    if query is None:
        message = f"there is no query {parameter.choices!r}{hint(parameter.choices, queries)}"
        yield checked.complaint(QUERIES, message, *path)
    elif query.parameters:
        yield checked.complaint(QUERIES, f"query {query.name!r} needs {', '.join(query.parameters)} itself", *path)
    elif name not in query.entities.values():
        message = f"query {query.name!r} has no column for it; add one to its `entities`"
        yield checked.complaint(QUERIES, message, *path)
