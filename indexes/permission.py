"""Which documents a search may return at all. One rule, used inside both halves of the search."""

from contracts.documents import DocumentGovernance, DocumentStatus, SearchFilter


def permitted(document: DocumentGovernance, allowed: SearchFilter) -> bool:
    """Whether ``document`` may be shown: approved, valid on the day, for this audience, desk and language.

    A document that names no desk is for all; one that names some is for these alone. With entities in the
    filter, only documents about one of them, or about nothing in particular, are left.
    """
    return (
        document.status is DocumentStatus.APPROVED
        and document.audience in allowed.audiences
        and document.valid_from <= allowed.on
        and (document.valid_to is None or allowed.on <= document.valid_to)
        and (not document.desks or allowed.desk in document.desks)
        and (allowed.language is None or document.language == allowed.language)
        and (not allowed.entities or not document.entities or not set(document.entities).isdisjoint(allowed.entities))
    )
