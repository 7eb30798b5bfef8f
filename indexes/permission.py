"""Which documents a search may return at all. One rule, used inside both halves of the search."""

from collections.abc import Collection

from contracts.documents import DocumentGovernance, DocumentStatus, EntityRef, SearchFilter


def permitted(document: DocumentGovernance, allowed: SearchFilter) -> bool:
    """Whether ``document`` may be shown: approved, valid on the day, for this audience, desk and language.

    A document that names no desk is for all; one that names some is for these alone. With entities in the
    filter, only documents that :func:`concerns` finds to fit are left.
    """
    return (
        document.status is DocumentStatus.APPROVED
        and document.audience in allowed.audiences
        and document.valid_from <= allowed.on
        and (document.valid_to is None or allowed.on <= document.valid_to)
        and (not document.desks or allowed.desk in document.desks)
        and (allowed.language is None or document.language == allowed.language)
        and concerns(document, allowed.entities)
    )


def concerns(document: DocumentGovernance, entities: Collection[EntityRef]) -> bool:
    """Whether a document can say something about ``entities``: it is about one of them, or about nothing in particular.

    Of each kind that both name they must share a value. So a question about a thing and its group (one entity of
    each kind) finds what is filed under that thing or that group, but not what is filed under another thing of it.
    """
    if not entities or not document.entities:
        return True
    shared = {entity.kind for entity in document.entities if entity in entities}
    common = {entity.kind for entity in document.entities} & {entity.kind for entity in entities}
    return bool(shared) and shared == common
