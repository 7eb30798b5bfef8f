"""Hybrid search: vectors, words and example questions, each within what is permitted, fused by reciprocal rank.

Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009) needs no common scale of scores: a passage
gets ``weight / (10 + rank)`` from each ranking that found it. Meaning weighs twice what words do: measured by
``evals.retrieval`` on 60 questions to tune with, that puts the right passage first for 0.78 of them, against
0.67 with equal weights and 0.75 without words. A question is nearer to a question than to the text that answers
it: with example questions, whose words count as the passage's own, it is 0.85.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contracts.base import Frozen
from contracts.documents import DocumentGovernance, Passage, PassageSentence, SearchFilter
from indexes.dense import DenseIndex
from indexes.lexical import LexicalIndex, QuestionTerms
from indexes.permission import permitted

#: The constant of the fusion: small, for lists that are good at the top and short.
FUSION_CONSTANT = 10
MEANING_WEIGHT = 2.0
WORDS_WEIGHT = 1.0
ASKED_WEIGHT = 1.0
#: How deep each half is read before fusing, at least.
DEPTH = 50
#: How many filters' document sets are remembered.
_REMEMBERED_FILTERS = 256

#: What a search is ranked by: one half or both.
Half = Literal["dense", "lexical", "fused"]


class StoredPassage(Frozen):
    """A chunk as the snapshot keeps it, with its readable sentences and the example questions of its section."""

    document_id: str
    section: str
    ordinal: int
    offset: int
    text: str
    sentences: tuple[str, ...]
    questions: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Scope:
    """What one filter leaves: a flag a passage, a flag an example question, and the documents' numbers."""

    passages: NDArray[np.bool_]
    questions: NDArray[np.bool_]
    documents: list[int]


class _Question:
    """A question among the passages, the sentences and the example questions, its words read once a language.

    ``names`` are those of the things it is about, by which documents are chosen: a passage need not repeat them.
    """

    def __init__(
        self,
        text: str,
        names: str,
        among_passages: NDArray[np.float32],
        among_sentences: NDArray[np.float32],
        among_questions: NDArray[np.float32],
    ) -> None:
        self.names = names
        self.among_passages = among_passages
        self.among_sentences = among_sentences
        self.among_questions = among_questions
        self._text = text
        self._terms: dict[str, QuestionTerms] = {}

    def terms(self, lexical: LexicalIndex, language: str) -> QuestionTerms:
        if language not in self._terms:
            self._terms[language] = lexical.read(self._text, language)
        return self._terms[language]


class HybridIndex:
    """A ``PassageIndex`` over a loaded snapshot. Safe to share between threads; nothing in it changes.

    ``dense`` and ``lexical`` number the passages, ``sentences`` all their sentences one after another, ``questions``
    all their example questions.
    """

    def __init__(
        self,
        documents: Sequence[DocumentGovernance],
        passages: Sequence[StoredPassage],
        dense: DenseIndex,
        sentences: DenseIndex,
        questions: DenseIndex,
        lexical: LexicalIndex,
    ) -> None:
        self._dense = dense
        self._sentences = sentences
        self._questions = questions
        self._lexical = lexical
        self._documents = tuple(documents)
        self._passages = tuple(passages)
        numbers = {document.document_id: number for number, document in enumerate(self._documents)}
        self._document_of = np.array([numbers[passage.document_id] for passage in self._passages], dtype=np.int64)
        self._first_sentence = [0, *accumulate(len(passage.sentences) for passage in self._passages)]
        self._first_question = [0, *accumulate(len(passage.questions) for passage in self._passages)]
        self._passage_of_question = np.repeat(np.arange(len(self._passages)), np.diff(self._first_question))
        self._scope_of = lru_cache(maxsize=_REMEMBERED_FILTERS)(self._scope)

    def __len__(self) -> int:
        return len(self._passages)

    def search(
        self,
        question: str,
        vector: bytes,
        allowed: SearchFilter,
        k: int,
        *,
        by: Half = "fused",
    ) -> tuple[Passage, ...]:
        """The best ``k`` permitted passages, best first; fewer only where fewer are permitted.

        ``by`` chooses one half alone, for measurements; words alone find only passages that share one.
        Raises ``BadRequestError`` when ``vector`` isn't of the index's dimensions.
        """
        placed = self._dense.placed(vector)
        among_questions = self._questions.placed(vector)
        scope = self._scope_of(allowed)
        depth = max(k, DEPTH)
        rankings: list[tuple[float, list[int]]] = []
        if by != "lexical":
            rankings.append((MEANING_WEIGHT, self._dense.search(placed, scope.passages, depth)))
        if by != "dense":
            rankings.append((WORDS_WEIGHT, self._lexical.search(question, scope.documents, depth)))
        if by == "fused":
            # Of a passage's several questions the nearest counts.
            nearest = self._questions.search(among_questions, scope.questions, depth)
            passages = dict.fromkeys(int(self._passage_of_question[number]) for number in nearest)
            rankings.append((ASKED_WEIGHT, list(passages)))
        best = fused(rankings)[: max(k, 0)]
        names = "\n".join(entity.value for entity in allowed.entities)
        asked = _Question(question, names, placed, self._sentences.placed(vector), among_questions)
        return tuple(self._passage(number, score, asked) for number, score in best)

    def _passage(self, number: int, score: float, asked: "_Question") -> Passage:
        stored = self._passages[number]
        document = self._documents[self._document_of[number]]
        terms = asked.terms(self._lexical, document.language)
        text = in_context(document, stored)
        words = in_words(document, stored)
        first, count = self._first_sentence[number], len(stored.sentences)
        similarities = self._sentences.similarities(asked.among_sentences, first, count)
        return Passage(
            passage_id=f"{stored.document_id}#{stored.ordinal}",
            document=document,
            section=stored.section,
            ordinal=stored.ordinal,
            text=stored.text,
            score=score,
            similarity=self._dense.similarities(asked.among_passages, number, 1)[0],
            coverage=terms.coverage(text),
            heading_coverage=terms.coverage(f"{document.title}\n{stored.section}"),
            missing=terms.missing(f"{words}\n{asked.names}"),
            asked=self._asked(number, asked),
            sentences=tuple(
                PassageSentence(text=sentence, similarity=similarity, coverage=terms.coverage(sentence))
                for sentence, similarity in zip(stored.sentences, similarities, strict=True)
            ),
        )

    def _asked(self, number: int, asked: "_Question") -> float | None:
        """The best cosine of the question and the passage's example questions."""
        first, count = self._first_question[number], len(self._passages[number].questions)
        return max(self._questions.similarities(asked.among_questions, first, count), default=None)

    def _scope(self, allowed: SearchFilter) -> _Scope:
        flags = np.array([permitted(document, allowed) for document in self._documents], dtype=np.bool_)
        passages = flags[self._document_of]
        return _Scope(passages, passages[self._passage_of_question], np.flatnonzero(flags).tolist())


def in_context(document: DocumentGovernance, passage: StoredPassage) -> str:
    """A passage as it is indexed: under its document's title and its path of headings."""
    return "\n".join(part for part in (document.title, passage.section, passage.text) if part)


def in_words(document: DocumentGovernance, passage: StoredPassage) -> str:
    """A passage as its words are indexed: with the example questions that it answers, which say them differently."""
    return "\n".join((in_context(document, passage), *passage.questions))


def sentence_in_context(document: DocumentGovernance, passage: StoredPassage, sentence: str) -> str:
    """A sentence as it is embedded: under its document's title and its headings, which name what it leaves unsaid."""
    return in_context(document, passage.model_copy(update={"text": sentence}))


def fused(rankings: Sequence[tuple[float, Sequence[int]]]) -> list[tuple[int, float]]:
    """Numbers with their fused scores, best first; equal scores in the order of the numbers.

    ``rankings``: the weight of each and its numbers, best first.
    """
    scores: dict[int, float] = {}
    for weight, ranking in rankings:
        for rank, number in enumerate(ranking, start=1):
            scores[number] = scores.get(number, 0.0) + weight / (FUSION_CONSTANT + rank)
    return sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
