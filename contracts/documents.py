"""Documents, passages and search over them."""

from datetime import date
from enum import StrEnum
from typing import Protocol

from contracts.base import Frozen
from contracts.graph import Audience


class DocumentStatus(StrEnum):
    """Only ``approved`` documents are ever searched."""

    DRAFT = "draft"
    APPROVED = "approved"
    WITHDRAWN = "withdrawn"


class EntityRef(Frozen):
    """What a document or a question is about: a kind from the pack and its value.

    For example the kind ``category`` with a category's name. A document without one is general.
    """

    kind: str
    value: str


class DocumentGovernance(Frozen):
    """The head of a document: what it is and who may be shown it, from when until when (inclusive)."""

    document_id: str
    title: str
    version: str
    language: str
    status: DocumentStatus
    audience: Audience
    valid_from: date
    valid_to: date | None = None
    entities: tuple[EntityRef, ...] = ()
    desks: tuple[str, ...] = ()
    source: str


class PassageSentence(Frozen):
    """A readable sentence of a passage, held against the question.

    ``similarity``: the cosine of question and sentence in the sentences' mean-centred space; ``coverage``: the
    share (0..1) of the question's informative words that the sentence itself has.
    """

    text: str
    similarity: float
    coverage: float


class Passage(Frozen):
    """A chunk of a document as found by a search.

    ``section`` is its path of headings, ``ordinal`` its position in the document (from 0), ``score``
    the fused score (higher is better), ``similarity`` the cosine of question and passage in mean-centred
    space, ``coverage`` the share (0..1) of the question's informative words that the passage has, ``heading_coverage``
    the share that its headings have, ``missing`` how rare (0..1; 1: in no passage) the rarest one is that it lacks and
    the filter's entities don't name, ``sentences`` what can be quoted of it, in its order. ``asked`` is the best cosine
    of the question and the example questions of the passage's section, ``None`` where its document gives none.
    """

    passage_id: str
    document: DocumentGovernance
    section: str
    ordinal: int
    text: str
    score: float
    similarity: float
    coverage: float
    heading_coverage: float = 0.0
    missing: float = 0.0
    asked: float | None = None
    sentences: tuple[PassageSentence, ...] = ()


class SearchFilter(Frozen):
    """What a search may return at all: applied inside it, so that k results are k permitted ones.

    ``entities``: with some given, only documents about one of these or general ones; with none, all. Of a kind
    that both the filter and a document name, they must share a value: a question about a thing and its group
    finds the group's documents, but none about another thing of that group.
    """

    audiences: frozenset[Audience]
    on: date
    desk: str | None = None
    language: str | None = None
    entities: tuple[EntityRef, ...] = ()


class PassageIndex(Protocol):
    """Hybrid search over a snapshot: vectors and words, fused by reciprocal rank."""

    def search(self, question: str, vector: bytes, allowed: SearchFilter, k: int) -> tuple[Passage, ...]:
        """The best ``k`` permitted passages, best first. ``vector`` is float32, little-endian."""
        ...


class Embedder(Protocol):
    """Texts to unit vectors. ``vectors`` returns one float32 little-endian ``bytes`` per text, in order."""

    @property
    def model_id(self) -> str:
        """Name and version of the model: what a snapshot's manifest holds against."""
        ...

    @property
    def dimensions(self) -> int: ...

    def vectors(self, texts: list[str], *, is_query: bool) -> list[bytes]:
        """Embed ``texts``; ``is_query`` tells questions from passages. An empty list gives an empty list."""
        ...
