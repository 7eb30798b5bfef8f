"""The half of the search that compares words: BM25 in tantivy, a field a language.

A query is built from terms, never parsed, so nothing in a customer's text has a meaning of its own.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
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

    def coverage(self, question: str, text: str, language: str) -> float:
        """The share (0..1) of the question's informative words that the text has, rare words weighing more.

        0 for a question without one. Weights are BM25's inverse document frequencies over the passages of
        ``language``; a word that no passage has weighs most.
        """
        terms = question_terms(question, language)
        weights = {term: self._weight(term, language) for term in terms}
        total = sum(weights.values())
        if not total:
            return 0.0
        present = set(analyzer(language).analyze(text))
        return sum(weight for term, weight in weights.items() if term in present) / total

    def _weight(self, term: str, language: str) -> float:
        passages = self._passages[base_language(language)]
        having = self._searcher.doc_freq(_field(language), term) if passages else 0
        return math.log(1 + (passages - having + 0.5) / (having + 0.5))


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
