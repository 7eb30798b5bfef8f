"""Whether the passages found hold an answer, and the sentences of them to quote.

A search always brings something. A small logistic rule, fitted on labelled questions of which a part has no
answer in the documents, says whether what it brought is evidence; its weights stand in ``evidence.json``,
fitted by ``evals/evidence.py``.
"""

import math
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from agents.language import Language, fold, load_language, words
from contracts.base import Frozen
from contracts.documents import EntityRef, Passage
from contracts.turns import Reason, Source, Task, TaskStatus, TaskType, ToolResult

#: Sentences quoted from one passage, and characters they may have together.
MAX_SENTENCES = 3
MAX_CHARACTERS = 420
#: A second passage is quoted as well where it answers nearly as likely as the first.
_NEARLY = 0.8
#: Passages considered for a quotation.
CONSIDERED = 4
#: Words are compared by their beginnings: inflections differ at the end.
_STEM_LETTERS = 5

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'“(]?[A-ZÀ-Ý0-9])")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
_MARKS = re.compile(r"(\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w))|!?\[([^\]]*)\]\([^)]*\)|^#+\s*")

#: What the rule weighs; see :func:`features`.
FEATURES = ("similarity", "coverage", "fused_rank")

#: The fitted rule, written by ``evals/evidence.py --fit`` from its training questions.
RULE_FILE = Path(__file__).parent / "evidence.json"


class Quote(Frozen):
    """Consecutive sentences of a passage, in its words, less Markdown's marks."""

    passage: Passage
    text: str
    score: float


class Evidence(Frozen):
    """The judgement over a search: ``reason`` is ``ok``, ``insufficient_evidence`` or ``empty``.

    ``probability`` (0..1) is the rule's that the quoted passage answers; ``quotes`` are best first, and
    empty unless the reason is ``ok``.
    """

    reason: Reason
    probability: float
    quotes: tuple[Quote, ...] = ()


class EvidenceRule(Frozen):
    """Weights of the logistic rule over :func:`features`, and the probability from which evidence is enough."""

    intercept: float
    weights: dict[str, float]
    threshold: float

    def probability(self, found: dict[str, float]) -> float:
        """How likely the passage answers, from its features."""
        total = self.intercept + sum(self.weights[name] * found[name] for name in FEATURES)
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


@cache
def evidence_rule() -> EvidenceRule:
    """The fitted rule beside this module."""
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
    fitting = [passage for passage in passages if _fits(passage, about)]
    if not fitting:
        return Evidence(reason=Reason.EMPTY if not passages else Reason.INSUFFICIENT_EVIDENCE, probability=0.0)
    rule = rule or evidence_rule()
    judged: list[tuple[float, Quote]] = []
    for passage in fitting[:CONSIDERED]:
        quoted = quote(question, passage)
        if quoted is not None:
            judged.append((rule.probability(features(passage)), quoted))
    if not judged:
        return Evidence(reason=Reason.INSUFFICIENT_EVIDENCE, probability=0.0)
    judged.sort(key=lambda found: -found[0])
    probability, best = judged[0]
    if probability < rule.threshold:
        return Evidence(reason=Reason.INSUFFICIENT_EVIDENCE, probability=probability)
    enough = max(rule.threshold, _NEARLY * probability)
    quotes = (best, *(quoted for chance, quoted in judged[1:2] if chance >= enough))
    return Evidence(reason=Reason.OK, probability=probability, quotes=quotes)


def features(passage: Passage) -> dict[str, float]:
    """What the rule weighs, each about 0..1. More of them (a lead over the next passage, whether the document is
    filed under what is asked about, the best sentence's words) made no measurable difference."""
    return {
        "similarity": passage.similarity,
        "coverage": passage.coverage,
        # The best fused score there is: first in both halves of the search, 1/11 each.
        "fused_rank": passage.score * 11 / 2,
    }


def quote(question: str, passage: Passage) -> Quote | None:
    """The one to three sentences of the passage that share most with the question; ``None`` for an empty one."""
    language = load_language(passage.document.language)
    wanted = _stems(question, language)
    sentences = readable_sentences(passage.text)
    if not sentences:
        return None
    found = [_stems(sentence, language) for sentence in sentences]
    heading = _stems(f"{passage.document.title} {passage.section}", language)
    # What the heading says already distinguishes no sentence under it.
    telling = (wanted - heading) or wanted
    scores = [_overlap(telling, stems) for stems in found]
    best = max(range(len(sentences)), key=lambda at: (scores[at], -at))
    first, last = best, best
    while last - first + 1 < min(MAX_SENTENCES, len(sentences)):
        before = scores[first - 1] if first > 0 else -1.0
        after = scores[last + 1] if last + 1 < len(sentences) else -1.0
        # What follows explains more often than what goes before.
        grow_after = after >= before
        longer = sentences[first : last + 2] if grow_after else sentences[first - 1 : last + 1]
        if len(" ".join(longer)) > MAX_CHARACTERS:
            break
        first, last = (first, last + 1) if grow_after else (first - 1, last)
    together = set[str]().union(*found[first : last + 1]) | heading
    text = " ".join(sentences[first : last + 1])
    return Quote(passage=passage, text=text, score=_overlap(wanted, together))


def readable_sentences(markdown: str) -> list[str]:
    """The sentences of a Markdown passage as plain text: a list's items and a table's rows are one each."""
    sentences: list[str] = []
    header: list[str] = []
    for paragraph in re.split(r"\n\s*\n", markdown):
        lines: list[str] = []
        for line in paragraph.splitlines():
            if _RULE.match(line) and "-" in line:
                continue
            if line.lstrip().startswith("|"):
                cells = [_plain(cell) for cell in line.strip().strip("|").split("|")]
                if not header:
                    header = cells
                else:
                    sentences.append(_row(header, cells))
            elif _BULLET.match(line):
                sentences += _split(lines)
                lines = [_BULLET.sub("", line)]
            else:
                header = []
                lines.append(line)
        sentences += _split(lines)
    return [sentence for sentence in sentences if words(sentence)]


def _row(header: list[str], cells: list[str]) -> str:
    pairs = [f"{name}: {cell}" if name else cell for name, cell in zip(header, cells, strict=False) if cell]
    return "; ".join(pairs) + "."


def _split(lines: list[str]) -> list[str]:
    text = _plain(" ".join(lines))
    return [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]


def _plain(markdown: str) -> str:
    return " ".join(_MARKS.sub(lambda match: match.group(2) or "", markdown).split())


def _stems(text: str, language: Language) -> set[str]:
    return {fold(word)[:_STEM_LETTERS] for word in words(text) if word not in language.function_words}


def _overlap(wanted: set[str], found: set[str]) -> float:
    """The share (0..1) of the wanted words that are found."""
    return len(wanted & found) / len(wanted) if wanted else 0.0


def _fits(passage: Passage, about: tuple[EntityRef, ...]) -> bool:
    filed = passage.document.entities
    return not about or not filed or any(entity in filed for entity in about)
