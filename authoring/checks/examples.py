"""Example questions of documents: each under a section that there is, none under two that are shown together."""

import re
from collections.abc import Iterator

from authoring.checks.checked import Checked
from configs.nearest import hint
from configs.packs.complaint import Complaint
from configs.packs.types import SourceDocument
from contracts.documents import DocumentGovernance
from indexes.chunking import chunks, heading
from indexes.permission import concerns


def example_complaints(checked: Checked) -> Iterator[Complaint]:
    """Everything wrong with the documents' ``questions``."""
    first: dict[str, list[tuple[SourceDocument, str, int]]] = {}
    for document in checked.pack.documents:
        headings = {heading(document, chunk.section) for chunk in chunks(document)}
        for section, questions in document.questions.items():
            if section not in headings:
                message = f"the document has no section {section!r}{hint(section, headings)}"
                yield checked.complaint(document.path, message, "questions", section)
            if not questions:
                yield checked.complaint(document.path, "has no questions; add some or remove it", "questions", section)
            for position, question in enumerate(questions):
                path = ("questions", section, position)
                words = " ".join(re.findall(r"\w+", question.casefold()))
                if not words:
                    yield checked.complaint(document.path, "is empty; remove it", *path)
                    continue
                earlier = first.setdefault(words, [])
                for other, its_section, its_position in earlier:
                    if _meet(document.governance, other.governance):
                        line = checked.files[other.path].line("questions", its_section, its_position)
                        message = f"stands under {its_section!r} already ({other.path}:{line}); keep one of them"
                        yield checked.complaint(document.path, message, *path)
                        break
                earlier.append((document, section, position))


def _meet(one: DocumentGovernance, other: DocumentGovernance) -> bool:
    """Whether a search about what ``one`` is about may bring both: then they are about the same, at the same time."""
    lasts = one.valid_to is None or other.valid_from <= one.valid_to
    lasted = other.valid_to is None or one.valid_from <= other.valid_to
    alike = (one.status, one.language) == (other.status, other.language)
    return alike and lasts and lasted and bool(one.entities) == bool(other.entities) and concerns(one, other.entities)
