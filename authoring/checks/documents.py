"""``documents/``: unique, within their dates, and about things that there are."""

from collections.abc import Iterator

from authoring.checks.checked import Checked
from authoring.graph_rows import GraphReading
from configs.nearest import hint
from configs.packs.complaint import Complaint
from configs.packs.types import Pack, SourceDocument


def document_complaints(checked: Checked, graph: GraphReading) -> Iterator[Complaint]:
    """Everything wrong with the documents' governance."""
    kinds = entity_kinds(checked.pack)
    languages = checked.pack.domain.languages
    desks = {desk.name for desk in checked.pack.domain.desks}
    ids: dict[str, str] = {}
    titles: dict[str, str] = {}
    for document in checked.pack.documents:
        head = document.governance
        for name, value, known in (("document_id", head.document_id, ids), ("title", head.title, titles)):
            if value in known:
                message = f"{value!r} is taken by {known[value]}; choose another"
                yield checked.complaint(document.path, message, name)
            known.setdefault(value, document.path)
        if head.language not in languages:
            message = f"{head.language!r} is none of the pack's languages{hint(head.language, languages)}"
            yield checked.complaint(document.path, message, "language")
        if head.valid_to is not None and head.valid_to < head.valid_from:
            yield checked.complaint(document.path, f"lies before valid_from ({head.valid_from})", "valid_to")
        for position, desk in enumerate(head.desks):
            if desk not in desks:
                message = f"there is no desk {desk!r}{hint(desk, desks)}"
                yield checked.complaint(document.path, message, "desks", position)
        if not document.body.strip():
            yield Complaint(file=document.path, line=document.body_line, message="has no text after its governance")
        yield from _entities(checked, graph, document, kinds)


def entity_kinds(pack: Pack) -> dict[str, list[tuple[str, str]]]:
    """The kinds under which documents may be filed, each with the properties (label, name) that list its values."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for parameter in pack.queries.parameters.values():
        if parameter.entity_kind:
            properties = kinds.setdefault(parameter.entity_kind, [])
            if parameter.gazetteer:
                properties.append((parameter.gazetteer.label, parameter.gazetteer.property))
    for query in pack.queries.queries:
        if query.follow:
            kinds.setdefault(query.follow.entity_kind, [])
    return kinds


def _entities(
    checked: Checked, graph: GraphReading, document: SourceDocument, kinds: dict[str, list[tuple[str, str]]]
) -> Iterator[Complaint]:
    for position, entity in enumerate(document.governance.entities):
        path = ("entities", position)
        if entity.kind not in kinds:
            message = f"{entity.kind!r} is no parameter type's entity_kind{hint(entity.kind, kinds)}"
            yield checked.complaint(document.path, message, *path, "kind")
            continue
        values = {str(value) for known in kinds[entity.kind] for value in graph.values.get(known, ())}
        if values and entity.value not in values:
            message = f"the data has no {entity.kind} {entity.value!r}{hint(entity.value, values)}"
            yield checked.complaint(document.path, message, *path, "value")
