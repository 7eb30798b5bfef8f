"""Whether the passages found hold an answer, and the sentences of them to quote.

A search always brings something. Two small fitted rules, in ``evidence.json`` and fitted by ``evals/evidence.py`` on
labelled questions of which a part has no answer in the documents, decide about it: a linear score says which
sentence of all that were brought answers best, and a logistic rule says whether that one is evidence at all.
What gives a question away that nothing answers is mostly one rare word of it that the passage lacks, and a
sentence elsewhere that fits about as well.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from agents.language import load_language, words
from contracts.base import Frozen
from contracts.documents import EntityRef, Passage, PassageSentence
from contracts.turns import Reason, Source, Task, TaskStatus, TaskType, ToolResult
from indexes.permission import concerns

#: Sentences quoted from one passage, and characters they may have together.
MAX_SENTENCES = 3
MAX_CHARACTERS = 420
#: The lead where there is no other passage, and the most that a lead counts.
_WHOLE_LEAD = 3.0
#: A second passage is quoted as well where its best sentence scores this near to the best of all.
_NEARLY = 0.3

#: What a sentence's score weighs: see :func:`sentence_features`.
SENTENCE_FEATURES = ("similarity", "passage_similarity", "coverage", "fused_rank")
#: What the rule about evidence weighs: see :func:`features`.
FEATURES = (
    "similarity",
    "passage_similarity",
    "lead",
    "similarity_lead",
    "missing",
    "heading_coverage",
    "about_unnamed",
    "names_number",
    "asks_person",
    "asks_whether",
)

#: The fitted rules, written by ``evals/evidence.py --fit`` from its training questions.
RULE_FILE = Path(__file__).parent / "evidence.json"


class Quote(Frozen):
    """Consecutive sentences of a passage, in its words, less Markdown's marks. ``score`` is its best sentence's."""

    passage: Passage
    text: str
    score: float


class Evidence(Frozen):
    """The judgement over a search: ``reason`` is ``ok``, ``insufficient_evidence`` or ``empty``.

    ``probability`` (0..1) is the rule's that the first quotation answers; ``quotes`` are best first, and
    empty unless the reason is ``ok``.
    """

    reason: Reason
    probability: float
    quotes: tuple[Quote, ...] = ()


class EvidenceRule(Frozen):
    """Weights of a sentence's score over :data:`SENTENCE_FEATURES`, of the logistic rule over :data:`FEATURES`,
    and the probability from which evidence is enough."""

    sentence: dict[str, float]
    intercept: float
    weights: dict[str, float]
    threshold: float

    def score(self, sentence: PassageSentence, passage: Passage) -> float:
        """How well the sentence answers, against other sentences for the same question."""
        found = sentence_features(sentence, passage)
        return sum(self.sentence[name] * found[name] for name in SENTENCE_FEATURES)

    def probability(self, found: dict[str, float]) -> float:
        """How likely the best sentence answers, from its features."""
        total = self.intercept + sum(self.weights[name] * found[name] for name in FEATURES)
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@cache
def evidence_rule() -> EvidenceRule:
    """The fitted rules beside this module."""
    return EvidenceRule.model_validate_json(RULE_FILE.read_text(encoding="utf-8"))


def judge(task: Task, question: str, passages: Sequence[Passage], entities: Iterable[EntityRef] = ()) -> ToolResult:
    """The documents task's result: the passages that answer, best first, or the reason why none does."""
    about = tuple(entities)
    if task.inputs:
        # A search that follows rows is about what the rows named; a general document is beside the point.
        passages = [passage for passage in passages if set(about).intersection(passage.document.entities)]
    found = weigh(question, passages, about)
    quoted = tuple(quoted.passage for quoted in found.quotes)
    return ToolResult(
        task_id=task.task_id,
        task_type=TaskType.DOCUMENTS,
        tool=task.tool,
        status=TaskStatus.SUCCESS,
        reason=found.reason,
        passages=quoted,
        evidence=tuple(source(passage) for passage in quoted),
    )


def source(passage: Passage) -> Source:
    """What a sentence that quotes the passage rests on."""
    document = passage.document
    return Source(
        source_id=f"document:{passage.passage_id}",
        kind="document",
        title=document.title,
        version=document.version,
        locator=passage.section or None,
        origin=document.source,
    )


def weigh(
    question: str, passages: Sequence[Passage], entities: Iterable[EntityRef] = (), *, rule: EvidenceRule | None = None
) -> Evidence:
    """Whether the passages (best first) answer the question, and what to quote of them.

    ``entities`` are what the question is about; a passage about something else never counts.
    """
    about = tuple(entities)
    rule = rule or evidence_rule()
    quotes = candidates(passages, about, rule)
    if not quotes:
        return Evidence(reason=Reason.INSUFFICIENT_EVIDENCE if passages else Reason.EMPTY, probability=0.0)
    probability = rule.probability(features(question, quotes, about))
    if probability < rule.threshold:
        return Evidence(reason=Reason.INSUFFICIENT_EVIDENCE, probability=probability)
    near = tuple(quoted for quoted in quotes[1:2] if quoted.score >= quotes[0].score - _NEARLY)
    return Evidence(reason=Reason.OK, probability=probability, quotes=(quotes[0], *near))


def candidates(passages: Iterable[Passage], about: Sequence[EntityRef], rule: EvidenceRule) -> list[Quote]:
    """What could be quoted of each passage that is not about something else, best first."""
    fitting = (passage for passage in passages if concerns(passage.document, about))
    quotes = [quoted for passage in fitting if (quoted := quote(passage, rule=rule)) is not None]
    return sorted(quotes, key=lambda quoted: -quoted.score)


def sentence_features(sentence: PassageSentence, passage: Passage) -> dict[str, float]:
    """What a sentence's score weighs, each about 0..1."""
    return {
        "similarity": sentence.similarity,
        "passage_similarity": passage.similarity,
        "coverage": sentence.coverage,
        # As a share of the best fused score there is: first in both halves of the search, 2/11 and 1/11.
        "fused_rank": passage.score * 11 / 3,
    }


def features(question: str, quotes: Sequence[Quote], about: Sequence[EntityRef]) -> dict[str, float]:
    """What the rule about evidence weighs: the best quotation, against the others where it says "lead".

    ``missing``: how rare the rarest word of the question is that the passage lacks. ``about_unnamed``: the document
    is about something in particular, the question names nothing. ``names_number``: the question holds a number or
    a code (not in the name of what it is about), which must be met exactly. A question for a person or for yes or
    no is answered by fewer sentences.
    """
    best, passage = quotes[0], quotes[0].passage
    others = [quoted.passage for quoted in quotes[1:]]
    similarity = max(sentence.similarity for sentence in passage.sentences)
    elsewhere = [sentence.similarity for other in others for sentence in other.sentences]
    language = load_language(passage.document.language)
    asked = words(question)
    named = {word for entity in about for word in words(entity.value)}
    return {
        "similarity": similarity,
        "passage_similarity": passage.similarity,
        "lead": min(_WHOLE_LEAD, best.score - quotes[1].score) if others else _WHOLE_LEAD,
        "similarity_lead": similarity - max(elsewhere, default=0.0),
        "missing": passage.missing,
        "heading_coverage": passage.heading_coverage,
        "about_unnamed": float(bool(passage.document.entities) and not about),
        "names_number": float(any(character.isdigit() for word in set(asked) - named for character in word)),
        "asks_person": float(asked[:1] != [] and asked[0] in language.persons),
        "asks_whether": float(asked[:1] != [] and asked[0] in language.auxiliaries),
    }


def quote(passage: Passage, *, rule: EvidenceRule | None = None) -> Quote | None:
    """The sentence of the passage that answers best, with its neighbours; ``None`` for a passage without sentences.

    Up to three in all: on the side that scores higher first, what follows before what precedes where they
    are equal. Of a rule and its exception a customer must see both.
    """
    rule = rule or evidence_rule()
    sentences = passage.sentences
    if not sentences:
        return None
    scores = [rule.score(sentence, passage) for sentence in sentences]
    best = max(range(len(sentences)), key=lambda at: (scores[at], -at))
    first, last = best, best
    while last - first + 1 < min(MAX_SENTENCES, len(sentences)):
        before = scores[first - 1] if first > 0 else -math.inf
        after = scores[last + 1] if last + 1 < len(sentences) else -math.inf
        wider = (first, last + 1) if after >= before else (first - 1, last)
        if len(_joined(sentences, *wider)) > MAX_CHARACTERS:
            break
        first, last = wider
    return Quote(passage=passage, text=_joined(sentences, first, last), score=scores[best])


def _joined(sentences: Sequence[PassageSentence], first: int, last: int) -> str:
    return " ".join(sentence.text for sentence in sentences[first : last + 1])
