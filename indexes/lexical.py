"""The half of the search that compares words: BM25 in tantivy, a field a language.

A query is built from terms, never parsed, so nothing in a customer's text has a meaning of its own.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tantivy import Document, Index, Occur, Query, Schema, SchemaBuilder

from indexes.analysis import analyzer, base_language, question_terms

_PASSAGE = "passage"
_DOCUMENT = "document"
_WRITER_BYTES = 64_000_000


class LexicalIndex:
    """Terms of passages. Passages and documents are known by their numbers (from 0)."""

    def __init__(self, index: Index, languages: Iterable[str]) -> None:
        self._schema = index.schema
        self._searcher = index.searcher()
        self._passages = Counter(base_language(language) for language in languages)

    @classmethod
    def build(cls, folder: Path, texts: Sequence[tuple[str, str, int]]) -> None:
        """Write an index into an empty folder. ``texts``: text, language and document number of each passage."""
        languages = {base_language(language) for _, language, _ in texts}
        index = Index(_schema(languages), path=str(folder))
        for language in languages:
            index.register_tokenizer(_field(language), analyzer(language))
        # One thread keeps the passages in one segment and in their order, so that ties are broken alike.
        writer = index.writer(heap_size=_WRITER_BYTES, num_threads=1)
        for number, (text, language, document_number) in enumerate(texts):
            document = Document()
            document.add_text(_field(language), text)
            document.add_integer(_PASSAGE, number)
            document.add_integer(_DOCUMENT, document_number)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()

    @classmethod
    def open(cls, folder: Path, languages: Iterable[str]) -> "LexicalIndex":
        """``languages``: one for each passage. Raises ``ValueError``, as tantivy does, where there is no such index."""
        return cls(Index.open(str(folder)), languages)

    def search(self, question: str, documents: Sequence[int] | None, k: int) -> list[int]:
        """Numbers of the ``k`` best passages of these documents (of all with None) that share a term, best first."""
        words = [
            (Occur.Should, Query.term_query(self._schema, _field(language), term))
            for language in sorted(self._passages)
            for term in question_terms(question, language)
        ]
        if not words or documents == []:
            return []
        query = Query.boolean_query(words)
        if documents is not None:
            within = Query.const_score_query(Query.term_set_query(self._schema, _DOCUMENT, list(documents)), 0.0)
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, within)])
        hits = self._searcher.search(query, limit=k, count=False).hits
        numbers = self._searcher.fast_field_values(_PASSAGE, [address for _, address in hits])
        return [int(number) for number in numbers if number is not None]

    def read(self, question: str, language: str) -> "QuestionTerms":
        """The question's informative words, to be looked for in texts of ``language``.

        Their weights are BM25's inverse document frequencies over the passages of ``language``, as shares (0..1) of
        what a word weighs that no passage has.
        """
        rarest = self._weight(0, language)
        terms = question_terms(question, language)
        having = {term: self._searcher.doc_freq(_field(language), term) if rarest else 0 for term in terms}
        weights = {term: self._weight(count, language) / rarest if rarest else 1.0 for term, count in having.items()}
        return QuestionTerms(language, weights)

    def _weight(self, having: int, language: str) -> float:
        passages = self._passages[base_language(language)]
        return math.log(1 + (passages - having + 0.5) / (having + 0.5)) if passages else 0.0


@dataclass(frozen=True)
class QuestionTerms:
    """A question's informative words with their weights (0..1, rarer is more)."""

    language: str
    weights: dict[str, float]

    def coverage(self, text: str) -> float:
        """The share (0..1) of the words that ``text`` has, by weight; 0 for a question without one."""
        total = sum(self.weights.values())
        return sum(self.weights[term] for term in self._present(text)) / total if total else 0.0

    def missing(self, text: str) -> float:
        """The weight of the rarest word that ``text`` lacks; 0 where it has them all."""
        return max((self.weights[term] for term in self.weights.keys() - self._present(text)), default=0.0)

    def _present(self, text: str) -> set[str]:
        return self.weights.keys() & set(analyzer(self.language).analyze(text))


def _schema(languages: Iterable[str]) -> Schema:
    builder = SchemaBuilder()
    # Integer, not unsigned: the writer's thread dies of a Python int in an unsigned field.
    builder.add_integer_field(_PASSAGE, fast=True)
    builder.add_integer_field(_DOCUMENT, indexed=True)
    for language in sorted(languages):
        builder.add_text_field(_field(language), tokenizer_name=_field(language))
    return builder.build()


def _field(language: str) -> str:
    return f"text_{base_language(language)}"
