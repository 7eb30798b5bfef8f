"""What a message asks: its requests, their values and intents, and the route they take together.

Reading has two halves around one call to the embedder: :meth:`Reader.read` proposes pieces of the message
by rules, :meth:`Reader.decide` lets the trained head judge each piece and picks the cuts that the
judgements bear out.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from agents.answers import Answers
from agents.fit import (
    DOCUMENTS,
    HUMAN,
    IMAGE,
    NONE,
    NOT_WANTED,
    NOTHING_ASKED,
    OFFER_DECLINED,
    OUT_OF_SCOPE,
    Judged,
    judge_intents,
    query_named,
)
from agents.language import Language, all_of, content_words, detect_language, load_language, words
from agents.lexicon import Lexicon
from agents.negation import Negation
from agents.segments import Atom, atoms
from configs.packs.types import Pack
from contracts.base import Frozen
from contracts.sessions import Dialogue
from contracts.turns import Clause, Entity, Intent, RouteDecision, RouteName

#: What a piece must score for a cut to gain by it. Lower cuts more.
PIECE_COST = 0.3
#: What a cut is worth by its strength: 0 before an unknown word, 1 before what begins a request, 2 at a sentence's end.
CUT_BONUS = (-0.1, 0.0, 0.05)
#: What it costs a piece to hold, for each, the joint of two requests that both look like one.
JOINED_COST = 0.3
#: The worth of a piece that nothing answers: a request of its own, or a mere remark.
REFUSED_REQUEST = 0.0
REFUSED_REMARK = -0.1
#: A sentence that only tells something is a request of its own when its intent is this likely.
REMARK_SURE = 0.8
#: A sentence that asks nothing and is likely refused ("tell me a joke") is a request, not a remark.
REFUSAL_SURE = 0.5
#: What is left of an action's probability where a state is asked after ("is it cancelled?").
STATE_FACTOR = 0.3
#: A call for a person must be this likely to hand a customer over.
HUMAN_SURE = 0.5
#: How likely an action or a call for a person must be for a sentence to refuse it ("don't …").
REFUSED_AT_LEAST = 0.15
#: In the middle of a dialogue small talk must be this likely: a short word mostly goes on with what was said.
SMALL_TALK_SURE = 0.6


#: What is embedded of a piece, and of all pieces of a message: embedding takes about half a millisecond a
#: character, everybody waits behind it, and no request is as long.
_TELLING_CHARACTERS = 200
_READING_CHARACTERS = 2_000


class Head(Protocol):
    """The trained head: for each masked text and its vector the most probable intents, best first."""

    def predict(self, vectors: Sequence[bytes]) -> list[list[Intent]]: ...


class Piece(Frozen):
    """A candidate request: atoms ``first`` up to ``last`` (exclusive), with its values and masked text.

    ``start`` is its place in the message, ``strength`` that of the cut before it. ``resolved`` is ``masked`` with
    "it" replaced by what was named before, where it was. ``asks``: a question, an imperative or a wish by its
    looks; ``asks_state``: a question that can't be a request to do something; ``is_bare``: nothing but values and
    words of grammar.
    """

    first: int
    last: int
    start: int
    text: str
    masked: str
    entities: tuple[Entity, ...]
    strength: int
    asks: bool
    asks_state: bool
    is_bare: bool
    resolved: str | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """What to embed of it."""
        return (self.masked,) if self.resolved is None else (self.masked, self.resolved)


class Reading(Frozen):
    """A message, read as far as rules go.

    ``ready`` are the clauses that answer what was said before and need no head; ``pieces`` is what else it says.
    ``earlier_message`` is the one whose offer it accepts.
    """

    message: str
    language: str
    pieces: tuple[Piece, ...]
    ready: tuple[Clause, ...] = ()
    dialogue: Dialogue = Dialogue()
    earlier_message: str | None = None

    @property
    def texts(self) -> list[str]:
        """The distinct masked texts to embed, in order; empty where nothing needs embedding."""
        return list(dict.fromkeys(text for piece in self.pieces for text in piece.texts))


class _Verdict(Frozen):
    """A piece with the head's judgement."""

    piece: Piece
    intents: tuple[Intent, ...]
    vector: bytes
    best: Judged | None

    @property
    def is_remark(self) -> bool:
        """Whether the piece asks nothing by itself: context for its neighbour."""
        if self.best is not None and self.best.kind == "general" and self.best.probability < REMARK_SURE:
            return True
        if self.piece.asks:
            return False
        if self.best is None or (self.piece.is_bare and not self.piece.entities):
            return True
        return self.best.probability < (REFUSAL_SURE if self.best.is_refusal else REMARK_SURE)


class Reader:
    """Reads messages for one pack. Immutable; the embedder is called between its two methods."""

    def __init__(self, lexicon: Lexicon, head: Head, pack: Pack) -> None:
        self._lexicon = lexicon
        self._head = head
        self._pack = pack
        self._languages: tuple[Language, ...] = tuple(load_language(code) for code in pack.domain.languages)
        self._openers = _openers(pack)
        self._asking = all_of(self._languages, "question_words") | all_of(self._languages, "auxiliaries")
        self._states = all_of(self._languages, "state_openers") | all_of(self._languages, "question_words")
        self._imperatives = self._openers - all_of(self._languages, "subjects")
        self._wishes = all_of(self._languages, "wishes")
        self._pronouns = all_of(self._languages, "pronouns")
        references = "|".join(sorted(map(re.escape, all_of(self._languages, "references"))))
        self._interjections = all_of(self._languages, "interjections")
        self._answers = Answers(lexicon, self._languages)
        self._negation = Negation(self._languages, self._asks)
        self._reference = re.compile(rf"\b(?:{references or '(?!)'})\b", re.IGNORECASE)

    def read(self, message: str, dialogue: Dialogue = Dialogue()) -> Reading:  # noqa: B008 - frozen
        """The message's candidate pieces, less what only answers the ``dialogue`` before it."""
        language = detect_language(message, self._pack.domain.languages)
        if not any(character.isalnum() for character in message):
            return Reading(message=message, language=language, pieces=(), ready=(_by_rule(message, NOTHING_ASKED),))
        entities = self._lexicon.find(message)
        cut = atoms(message, entities, self._languages, self._openers)
        ready, earlier_message, answering = self._answering(message, entities, cut, dialogue)
        cut = cut[answering:]
        # The single pieces and the whole are always tried, pairs of neighbours while there is room.
        pieces: dict[tuple[int, int], Piece] = {}
        room = _READING_CHARACTERS
        for width in (1, len(cut), 2) if cut else ():
            for first, last in _windows(len(cut), width):
                span = (cut[first].start, cut[last - 1].end)
                piece = self._piece(message, entities, span, (first, last), cut[first].strength)
                room -= sum(map(len, piece.texts))
                if width != 2 or room >= 0:
                    pieces[first, last] = piece
        ordered = tuple(pieces[span] for span in sorted(pieces))
        return Reading(
            message=message,
            language=language,
            pieces=ordered,
            ready=ready,
            dialogue=dialogue,
            earlier_message=earlier_message,
        )

    def decide(self, reading: Reading, vectors: Sequence[bytes]) -> RouteDecision:
        """The route, with the message's clauses. ``vectors`` belong to ``reading.texts``, in order.

        Raises ``ValueError`` where their numbers differ.
        """
        texts = reading.texts
        if len(texts) != len(vectors):
            raise ValueError(f"{len(texts)} texts but {len(vectors)} vectors")
        clauses = list(reading.ready)
        if reading.pieces:
            intents = dict(zip(texts, self._head.predict(vectors), strict=True))
            vector = dict(zip(texts, vectors, strict=True))
            verdicts = [
                max(
                    (self._verdict(piece, intents[text], vector[text], reading) for text in piece.texts),
                    key=_score,
                )
                for piece in reading.pieces
            ]
            chosen = self._join(_best_cuts(verdicts), reading)
            clauses += self._asked_again(_clauses(chosen), reading)
        numbered = [
            clause.model_copy(update={"clause_id": f"c{number}"}) for number, clause in enumerate(clauses, start=1)
        ]
        decision = self._route(self._carry(numbered), reading.language)
        return decision.model_copy(update={"earlier_message": reading.earlier_message})

    def _answering(
        self, message: str, entities: Sequence[Entity], cut: Sequence[Atom], dialogue: Dialogue
    ) -> tuple[tuple[Clause, ...], str | None, int]:
        """What the message, or its beginning, says to the dialogue: the clauses that this makes, the message whose
        offer it accepts, and how many atoms it takes up."""
        parts = [(message, list(entities), len(cut))]
        if len(cut) > 1 and cut[1].strength:
            start, end, _ = cut[0]
            own = [entity for entity in entities if start <= entity.start and entity.end <= end]
            moved = [e.model_copy(update={"start": e.start - start, "end": e.end - start}) for e in own]
            parts.append((message[start:end], moved, 1))
        question, offers, latest = dialogue.open_question, dialogue.open_offers, dialogue.latest
        for text, found, taken in parts:
            if question and (answer := self._answers.to_question(text, found, question)):
                return (answer,), None, taken
            if question and taken == len(cut) and self._answers.is_vague(text, found, question):
                return (self._answers.again(question),), None, taken
            if accepted := self._answers.accepted(text, offers):
                return self._answers.taking(accepted), accepted.message, taken
            if (question or offers) and self._answers.declined(text):
                # "No. Where is it?": what follows is the answer.
                return ((_by_rule(text, OFFER_DECLINED),) if taken == len(cut) else ()), None, taken
            if latest and taken == len(cut) and (same := self._answers.to_latest(text, found, latest)):
                return (same,), None, taken
        return (), None, 0

    def _asked_again(self, clauses: list[Clause], reading: Reading) -> list[Clause]:
        """The clauses; the open question's own where the message says nothing else that is understood."""
        question = reading.dialogue.open_question
        if question is None or reading.ready or len(clauses) != 1 or clauses[0].entities:
            return clauses
        judged = judge_intents(clauses[0].intents, (), (), self._pack)
        best = judged[0] if judged else None
        if best and ((best.is_sure and not best.is_fallback) or best.name == OUT_OF_SCOPE):
            return clauses
        if "?" in reading.message or any(piece.asks for piece in reading.pieces):
            return clauses
        return [self._answers.again(question)]

    def _piece(
        self,
        message: str,
        entities: Sequence[Entity],
        span: tuple[int, int],
        covered: tuple[int, int],
        strength: int,
    ) -> Piece:
        start, end = span
        own = tuple(
            entity.model_copy(update={"start": entity.start - start, "end": entity.end - start})
            for entity in entities
            if start <= entity.start and entity.end <= end
        )
        text = message[start:end]
        masked = _telling(self._lexicon.mask(text, own))
        said = words(text)
        opening = said[0] if said else ""
        edges = [0, *(edge for entity in own for edge in (entity.start, entity.end)), len(text)]
        unsaid = " ".join(text[left:right] for left, right in zip(edges[::2], edges[1::2], strict=True))
        # Only the smallest pieces are tried with their "it" resolved: each text costs an embedding.
        lonely = not own and covered[1] - covered[0] == 1
        return Piece(
            first=covered[0],
            last=covered[1],
            start=start,
            text=text,
            masked=masked,
            entities=own,
            strength=strength,
            asks="?" in text or (self._asks(said) and not self._negation.wishes_not(said)),
            asks_state=opening in self._states,
            is_bare=not content_words(unsaid, self._languages),
            resolved=self._resolved(masked, [e for e in entities if e.end <= start]) if lonely else None,
        )

    def _asks(self, said: Sequence[str]) -> bool:
        """Whether a sentence with these words asks for something, by its looks."""
        opening = next((word for word in said if word not in self._interjections), "")
        return opening in self._asking or opening in self._imperatives or bool(self._wishes.intersection(said))

    def _resolved(self, masked: str, earlier: Sequence[Entity]) -> str | None:
        """The text with "it" said as what was named last before it; ``None`` where there is no such word or thing."""
        if not earlier or not self._reference.search(masked):
            return None
        named = max(earlier, key=lambda entity: entity.start)
        return self._reference.sub(self._pack.queries.parameters[named.slot].mask, masked, count=1)

    def _verdict(self, piece: Piece, intents: Iterable[Intent], vector: bytes, reading: Reading) -> _Verdict:
        elsewhere = [
            entity
            for other in reading.pieces
            if other.last <= piece.first or other.first >= piece.last
            for entity in other.entities
        ]
        intents = tuple(intents)
        if self._is_refused(piece, intents, reading.message):
            intents = (Intent(name=NOT_WANTED, probability=1.0),)
        elif piece.asks_state:
            intents = _less_actions(intents)
        if reading.dialogue.is_under_way:
            intents = _less_small_talk(intents, is_bare=piece.is_bare and not piece.entities)
        judged = judge_intents(intents, piece.entities, elsewhere, self._pack)
        return _Verdict(piece=piece, intents=intents, vector=vector, best=judged[0] if judged else None)

    def _is_refused(self, piece: Piece, intents: Sequence[Intent], message: str) -> bool:
        """Whether the piece says not to do the thing, or not to call the person, that its words are about."""
        person = sum(intent.probability for intent in intents if intent.name == HUMAN)
        action = sum(intent.probability for intent in intents if intent.name.startswith("action:"))
        # A head that has learned that such a sentence asks nothing says so.
        is_refusal = bool(intents) and intents[0].name in (NONE, OUT_OF_SCOPE)
        is_likely = person + action >= REFUSED_AT_LEAST
        if not (is_likely or is_refusal) or not self._negation.refuses(piece.text, to_person=person > action):
            return False
        # "Don't send it. I don't need it any more": that is a request.
        return person > action or not self._negation.rids(message)

    def _join(self, chosen: list[_Verdict], reading: Reading) -> list[_Verdict]:
        """Neighbours that ask the same joined into one; remarks joined to the request they belong to."""
        joined: list[_Verdict] = []
        for verdict in chosen:
            if joined and self._belong_together(joined[-1], verdict):
                joined[-1] = self._merged(joined[-1], verdict, reading)
            else:
                joined.append(verdict)
        return joined

    def _belong_together(self, before: _Verdict, after: _Verdict) -> bool:
        kinds = {verdict.best.kind for verdict in (before, after) if verdict.best}
        if kinds == {NOT_WANTED, HUMAN}:
            return True
        if before.is_remark or after.is_remark or (after.piece.is_bare and not after.piece.asks):
            return True
        if before.best is None or after.best is None or before.best.name != after.best.name:
            return False
        # The same question about another thing is another request; two document questions are two as well.
        said = {(entity.slot, entity.value) for entity in before.piece.entities}
        new = any((entity.slot, entity.value) not in said for entity in after.piece.entities)
        return not (new and before.piece.entities) and not (
            before.best.name == DOCUMENTS and before.piece.asks and after.piece.asks
        )

    def _merged(self, before: _Verdict, after: _Verdict, reading: Reading) -> _Verdict:
        # The surer half leads; a remark's values come along.
        lead = before if after.is_remark or after.piece.is_bare or _score(before) >= _score(after) else after
        if before.is_remark and not after.is_remark:
            lead = after
        # "I don't want to wait. Get me a person": the person is wanted.
        if NOT_WANTED in {one.best.kind for one in (before, after) if one.best}:
            lead = next((one for one in (before, after) if one.best and one.best.kind == HUMAN), lead)
        first, last = before.piece, after.piece
        start, end = first.start, last.start + len(last.text)
        own = [
            entity.model_copy(update={"start": entity.start + piece.start, "end": entity.end + piece.start})
            for piece in (first, last)
            for entity in piece.entities
        ]
        piece = self._piece(reading.message, own, (start, end), (first.first, last.last), first.strength)
        asks = first.asks or last.asks
        return lead.model_copy(update={"piece": piece.model_copy(update={"asks": asks})})

    def _carry(self, clauses: list[Clause]) -> tuple[Clause, ...]:
        """Each clause with the values that it lacks: from the nearest earlier clause, else from the next later one."""
        done: list[Clause] = []
        for at, clause in enumerate(clauses):
            nearest = [*reversed(done), *clauses[at + 1 :]]
            others = [entity for other in nearest for entity in other.entities]
            wanted = self._wanted_slots(clause, others)
            carried: dict[str, Entity] = {}
            for entity in others:
                if entity.slot in wanted and entity.slot not in carried:
                    carried[entity.slot] = entity.model_copy(update={"start": 0, "end": 0, "origin": "clause"})
            done.append(clause.model_copy(update={"entities": (*clause.entities, *carried.values())}))
        return tuple(done)

    def _wanted_slots(self, clause: Clause, others: list[Entity]) -> set[str]:
        own = {entity.slot for entity in clause.entities}
        judged = judge_intents(clause.intents, clause.entities, others, self._pack)
        if not judged:
            return set()
        query = query_named(judged[0].name.partition(":")[2], self._pack) if judged[0].kind == "query" else None
        if query is not None:
            return set(query.parameters.values()) - own
        if own or not self._pronouns.intersection(words(clause.text)):
            return set()
        # "its …" in a question to the documents, or an action on "it": whatever was spoken of last.
        return {
            entity.slot
            for entity in others
            if judged[0].kind == "action" or self._pack.queries.parameters[entity.slot].entity_kind
        }

    def _route(self, clauses: tuple[Clause, ...], language: str) -> RouteDecision:
        best = [judge_intents(clause.intents, clause.entities, (), self._pack) for clause in clauses]
        leaders = [judged[0] for judged in best if judged]
        sure = [leader for leader in leaders if leader.is_sure]
        kinds = {leader.kind for leader in sure}
        if any(leader.kind == HUMAN and leader.score >= HUMAN_SURE for leader in sure):
            route = RouteName.HUMAN
        elif kinds & {"query", DOCUMENTS}:
            route = RouteName.KNOWLEDGE
        elif "action" in kinds:
            route = RouteName.ACTION
        elif IMAGE in kinds:
            route = RouteName.IMAGE
        elif kinds & {"general", NOT_WANTED, OFFER_DECLINED}:
            route = RouteName.GENERAL
        else:
            route = RouteName.CLARIFY
        confidence = min((leader.score for leader in sure or leaders), default=0.0)
        return RouteDecision(route=route, confidence=min(1.0, confidence), language=language, clauses=clauses)


def _score(verdict: _Verdict) -> float:
    if verdict.best is None:
        return -1.0
    return verdict.best.score - verdict.best.is_refusal


def _less_actions(intents: Iterable[Intent]) -> tuple[Intent, ...]:
    """The intents with actions held less likely, best first."""
    weighed = [
        intent.model_copy(update={"probability": intent.probability * STATE_FACTOR})
        if intent.name.startswith("action:")
        else intent
        for intent in intents
    ]
    return tuple(sorted(weighed, key=lambda intent: -intent.probability))


def _less_small_talk(intents: Sequence[Intent], *, is_bare: bool) -> tuple[Intent, ...]:
    """The intents without small talk that isn't sure, best first.

    Words of grammar alone ("and the other one?") are no question to the documents either.
    """
    return tuple(
        intent
        for intent in intents
        if not (intent.name.startswith("general:") and intent.probability < SMALL_TALK_SURE)
        and not (is_bare and intent.name == DOCUMENTS)
    )


def _by_rule(text: str, intent: str) -> Clause:
    return Clause(clause_id="c1", text=text, masked=text, intents=(Intent(name=intent, probability=1.0),))


def _telling(text: str) -> str:
    """The text, of a long one its two ends: people begin or end with what they want."""
    if len(text) <= _TELLING_CHARACTERS:
        return text
    half = _TELLING_CHARACTERS // 2
    return f"{text[:half]} … {text[-half:]}"


def _windows(count: int, width: int) -> list[tuple[int, int]]:
    return [(first, first + width) for first in range(count - width + 1)]


def _worth(verdict: _Verdict, joints: Sequence[int]) -> float:
    """What a piece adds to a way of cutting the message. ``joints``: the atoms that begin another request."""
    bonus = CUT_BONUS[verdict.piece.strength] if verdict.piece.first else 0.0
    bonus -= JOINED_COST * sum(verdict.piece.first < at < verdict.piece.last for at in joints)
    if verdict.best is None or not verdict.best.is_sure or verdict.is_remark:
        return bonus + (REFUSED_REQUEST if verdict.piece.asks else REFUSED_REMARK)
    return bonus + verdict.best.score - PIECE_COST


def _best_cuts(verdicts: list[_Verdict]) -> list[_Verdict]:
    """The pieces, in order and without gap, whose worth adds up highest (dynamic programming over atoms)."""
    count = max(verdict.piece.last for verdict in verdicts)
    single = {
        verdict.piece.first: verdict.piece for verdict in verdicts if verdict.piece.last - verdict.piece.first == 1
    }
    joints = [at for at in range(1, count) if single[at - 1].asks and single[at].asks and single[at].strength]
    best: list[tuple[float, list[_Verdict]] | None] = [(0.0, []), *[None] * count]
    for verdict in sorted(verdicts, key=lambda verdict: (verdict.piece.last, verdict.piece.first)):
        before = best[verdict.piece.first]
        if before is None:
            continue
        total = before[0] + _worth(verdict, joints)
        held = best[verdict.piece.last]
        if held is None or total > held[0]:
            best[verdict.piece.last] = (total, [*before[1], verdict])
    whole = best[count]
    return whole[1] if whole else verdicts[:1]


def _clauses(chosen: list[_Verdict]) -> list[Clause]:
    return [
        Clause(
            clause_id=f"c{number}",
            text=verdict.piece.text,
            masked=verdict.piece.masked,
            entities=verdict.piece.entities,
            intents=verdict.intents,
            vector=verdict.vector,
        )
        for number, verdict in enumerate(chosen, start=1)
    ]


def _openers(pack: Pack) -> frozenset[str]:
    """The first words of the pack's requests: with them a second request may begin as well."""
    phrasings = [
        *(phrasing for query in pack.queries.queries for phrasing in query.phrasings),
        *(phrasing for action in pack.actions.actions for phrasing in action.phrasings),
        *pack.routes.documents,
        *pack.routes.human,
    ]
    return frozenset(words(phrasing)[0] for phrasing in phrasings if words(phrasing) and phrasing[0] != "{")
