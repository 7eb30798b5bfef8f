"""Whether the passages found hold an answer, and the sentences of them to quote.

A search always brings something. Two small fitted rules, in ``evidence.json`` and fitted by ``evals/evidence.py`` on
labelled questions of which a part has no answer in the documents, decide about it: a linear score says which
sentence of all that were brought answers best, and a logistic rule says whether that one is evidence at all.
What gives a question away that nothing answers is mostly one rare word of it that the passage lacks, and a
sentence elsewhere that fits about as well. Where documents give example questions, these weigh in too; both
rules are fitted with them and without.
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
MAX_SENTENCES = 4
MAX_CHARACTERS = 420
#: The lead where there is no other passage, and the most that a lead counts.
_WHOLE_LEAD = 3.0
#: A second passage is quoted as well where its best sentence scores this near to the best of all.
_NEARLY = 0.3

#: What a sentence's score weighs: see :func:`sentence_features`.
SENTENCE_FEATURES = ("similarity", "passage_similarity", "coverage", "fused_rank", "asked")
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
    "asked",
    "asked_lead",
)

#: The fitted rules, written by ``evals/evidence.py --fit`` from its training questions.
#: From this similarity on a question is an example question in other letters: of 202 labelled questions that the
#: sample business's documents don't answer, the nearest to any example had 0.82.
_SAME_QUESTION = 0.85

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


class EvidenceRules(Frozen):
    """What :data:`RULE_FILE` holds: the rule for documents with example questions, and for those without."""

    asked: EvidenceRule
    unasked: EvidenceRule


@cache
def evidence_rule(*, asked: bool) -> EvidenceRule:
    """The fitted rule beside this module, for passages some of which have example questions, or none of which have."""
    rules = EvidenceRules.model_validate_json(RULE_FILE.read_text(encoding="utf-8"))
    return rules.asked if asked else rules.unasked


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
    rule = rule or _fitting_rule(passages)
    quotes = candidates(passages, about, rule)
    if not quotes:
        return Evidence(reason=Reason.INSUFFICIENT_EVIDENCE if passages else Reason.EMPTY, probability=0.0)
    quotes.sort(key=lambda quoted: -_asked_alike(quoted.passage))
    probability = max(rule.probability(features(question, quotes, about)), _asked_alike(quotes[0].passage))
    if probability < rule.threshold:
        return Evidence(reason=Reason.INSUFFICIENT_EVIDENCE, probability=probability)
    is_told = _asked_alike(quotes[0].passage) > 0
    near = () if is_told else tuple(quoted for quoted in quotes[1:2] if quoted.score >= quotes[0].score - _NEARLY)
    return Evidence(reason=Reason.OK, probability=probability, quotes=(quotes[0], *near))


def _asked_alike(passage: Passage) -> float:
    """How alike the question is to an example question of the passage, where it is that question in other letters.

    Then its author has said that this passage answers it, and the rule need not be asked. 0 otherwise.
    """
    return passage.asked if passage.asked is not None and passage.asked >= _SAME_QUESTION else 0.0


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
        # In shares of what a passage scores that is first by meaning and by words, 2/11 and 1/11.
        "fused_rank": passage.score * 11 / 3,
        "asked": passage.asked or 0.0,
    }


def features(question: str, quotes: Sequence[Quote], about: Sequence[EntityRef]) -> dict[str, float]:
    """What the rule about evidence weighs: the best quotation, against the others where it says "lead".

    ``missing``: how rare the rarest word of the question is that the passage lacks. ``about_unnamed``: the document
    is about something in particular, the question names nothing. ``names_number``: the question holds a number or
    a code (not in the name of what it is about), which must be met exactly. A question for a person or for yes or
    no is answered by fewer sentences. ``asked``: the nearest of the passage's example questions; 0 without any.
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
        "asked": passage.asked or 0.0,
        "asked_lead": (passage.asked or 0.0) - max((other.asked or 0.0 for other in others), default=0.0),
    }


def quote(passage: Passage, *, rule: EvidenceRule | None = None) -> Quote | None:
    """The sentence of the passage that answers best, with its neighbours; ``None`` for a passage without sentences.

    Up to ``MAX_SENTENCES`` in all: on the side that scores higher first, what follows before what precedes where they
    are equal. Of a rule and its exception a customer must see both.
    """
    rule = rule or _fitting_rule([passage])
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


def _fitting_rule(passages: Iterable[Passage]) -> EvidenceRule:
    return evidence_rule(asked=any(passage.asked is not None for passage in passages))


def _joined(sentences: Sequence[PassageSentence], first: int, last: int) -> str:
    return " ".join(sentence.text for sentence in sentences[first : last + 1])
