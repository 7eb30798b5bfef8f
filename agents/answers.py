"""What a message says to what was said before: the value that was asked for, yes or no to an offer, "and 4712?"."""

import re
from collections.abc import Iterable, Sequence

from agents.fit import HUMAN
from agents.language import Language, all_of, content_words, fold, words
from agents.lexicon import Lexicon
from agents.negation import begins_with, phrases
from contracts.base import Value
from contracts.sessions import OfferedValue, OpenOffer, OpenQuestion
from contracts.turns import Clause, Entity, Intent

#: An answer to an open question has at most so many words beside the value that mean something.
_MAX_OTHER_WORDS = 1
#: A description of one of the offered values has at most so many.
_MAX_DESCRIBING_WORDS = 5


class Answers:
    """Reads answers by the words of some languages and the values of one lexicon."""

    def __init__(self, lexicon: Lexicon, languages: Sequence[Language]) -> None:
        self._lexicon = lexicon
        self._languages = tuple(languages)
        self._fillers = all_of(languages, "fillers")
        self._follow_ups = all_of(languages, "follow_ups")
        self._pointers = all_of(languages, "pointers")
        self._vague = self._pointers | self._fillers | self._follow_ups | all_of(languages, "function_words")
        self._questions = all_of(languages, "question_words")
        self._ordinals = {word: at for language in languages for word, at in language.ordinals.items()}
        self._consents = phrases(all_of(languages, "consents"))
        self._assents = phrases(all_of(languages, "assents"))
        self._handing_on = phrases(all_of(languages, "handing_on"))
        self._declines = phrases(all_of(languages, "declines"))
        self._courtesies = phrases(phrase for language in languages for phrase in language.courtesies)

    def accepted(self, text: str, offers: Iterable[OpenOffer]) -> OpenOffer | None:
        """The offer that ``text``, nothing but a clear yes, takes: the one it names, else what was asked last."""
        by_kind = {offer.kind: offer for offer in offers}
        said = words(text)
        used = _made_of(
            said,
            {
                "consent": self._consents,
                "handing_on": self._handing_on,
                "assent": self._assents,
                "courtesy": self._courtesies,
            },
        )
        if "handing_on" in used:
            return by_kind.get("person")
        if "look_up" in by_kind and used & {"consent", "assent"} and not used <= {"courtesy"}:
            return by_kind["look_up"]
        return by_kind.get("person") if "consent" in used else None

    def declined(self, text: str) -> bool:
        """Whether ``text`` is nothing but a clear no."""
        return "decline" in _made_of(words(text), {"decline": self._declines, "courtesy": self._courtesies})

    def taking(self, offer: OpenOffer) -> tuple[Clause, ...]:
        """The requests that the offer was about."""
        if offer.kind == "person":
            intents = (Intent(name=HUMAN, probability=1.0),)
            return (Clause(clause_id="c1", text=offer.message, masked=offer.message, intents=intents),)
        return offer.clauses

    def to_question(self, text: str, entities: Sequence[Entity], question: OpenQuestion) -> Clause | None:
        """The waiting clause, completed, where ``text`` is little more than the missing value.

        ``entities`` are the values found in ``text``.
        """
        slot = question.missing.slot
        given = [entity for entity in entities if entity.slot == slot]
        meant = self._meant(text, question.offered)
        if not given or (meant and not _is_offered(given, question)):
            value = meant[0].value if len(meant) == 1 else None if meant or entities else self._parsed(text, slot)
            if value is None:
                return None
            given = [Entity(slot=slot, value=value, text=str(value))]
        else:
            rest = _without(text, given)
            others = [word for word in content_words(rest, self._languages) if word not in self._fillers]
            is_more = len(given) < len(entities) or "?" in rest or self._questions.intersection(words(rest))
            if len(others) > _MAX_OTHER_WORDS or is_more:
                return None
        own = self._lexicon.find(question.clause_text)
        return self._clause(question, question.clause_text, own, given)

    def to_latest(self, text: str, entities: Sequence[Entity], latest: OpenQuestion) -> Clause | None:
        """The latest request about another value, where ``text`` is that value alone ("and 4712?")."""
        slot = latest.missing.slot
        if not entities or any(entity.slot != slot for entity in entities):
            return None
        if not self._fillers.union(self._follow_ups).issuperset(words(_without(text, entities))):
            return None
        said = latest.clause_text
        before = [entity for entity in self._lexicon.find(said) if entity.slot == slot]
        if before:
            said = said[: before[0].start] + entities[0].text + said[before[0].end :]
        own = [entity for entity in self._lexicon.find(said) if entity.slot != slot]
        return self._clause(latest, said, own, entities)

    def again(self, question: OpenQuestion) -> Clause:
        """The clause that still waits, so that its question is asked once more."""
        own = [entity for entity in self._lexicon.find(question.clause_text) if entity.slot != question.missing.slot]
        return self._clause(question, question.clause_text, own, ())

    def is_vague(self, text: str, entities: Sequence[Entity], question: OpenQuestion) -> bool:
        """Whether ``text`` means some of the values to choose from and leaves open which ("the last one")."""
        said = words(text)
        if not entities and self._pointers.intersection(said) and self._vague.issuperset(said):
            return True
        return not _is_offered(entities, question) and len(self._meant(text, question.offered)) > 1

    def _clause(self, question: OpenQuestion, text: str, own: Sequence[Entity], given: Sequence[Entity]) -> Clause:
        unplaced = (entity.model_copy(update={"start": 0, "end": 0}) for entity in given)
        return Clause(
            clause_id="c1",
            text=text,
            masked=self._lexicon.mask(text, tuple(own)),
            entities=(*own, *unplaced),
            intents=(Intent(name=f"query:{question.missing.tool}", probability=1.0),),
        )

    def _parsed(self, text: str, slot: str) -> Value:
        """The one word of ``text`` beside fillers as a value of the slot, if it is one."""
        bare = " ".join(token for token in text.split() if token.strip(".,!:#'\"").lower() not in self._fillers)
        said = bare.strip(" .,!:'\"")
        if len(said.split()) != 1:
            return None
        try:
            value = self._lexicon.parse(slot, said)
        except ValueError:
            return None
        # A free text says yes to every word; only a value with a form of its own is an answer.
        if isinstance(value, str) and not any(character.isdigit() for character in value):
            return None
        return value

    def _meant(self, text: str, offered: Sequence[OfferedValue]) -> list[OfferedValue]:
        """The offered values that ``text`` may mean: by its characters, its place in the list, or what it is like."""
        said = [word for word in words(text) if word not in self._fillers]
        telling = [word for word in said if word in self._ordinals or content_words(word, self._languages)]
        if not telling or len(telling) > _MAX_DESCRIBING_WORDS:
            return []
        code = _code("".join(telling))
        if any(character.isdigit() for character in code):
            for fits in (str.__eq__, str.endswith, str.__contains__):
                if found := [one for one in offered if fits(_code(str(one.value)), code)]:
                    return found
        if len(telling) == 1 and telling[0] in self._ordinals:
            at = self._ordinals[telling[0]]
            return [*offered[at - 1 : at]]
        wanted = set(map(fold, telling))
        return [one for one in offered if wanted <= set(map(fold, words(f"{one.value} {one.described}")))]


def _is_offered(entities: Iterable[Entity], question: OpenQuestion) -> bool:
    """Whether a value found is one to choose from: the year of a date may look like a number."""
    offered = {one.value for one in question.offered}
    return any(entity.slot == question.missing.slot and entity.value in offered for entity in entities)


def _made_of(said: Sequence[str], lists: dict[str, tuple[tuple[str, ...], ...]]) -> set[str]:
    """Which of the ``lists`` the words are made of, phrase by phrase; empty where a word is of none."""
    used: set[str] = set()
    at = 0
    while at < len(said):
        lengths = {name: begins_with(said[at:], known) for name, known in lists.items()}
        name = max(lengths, key=lambda name: lengths[name])
        if not lengths[name]:
            return set()
        used.add(name)
        at += lengths[name]
    return used


def _without(text: str, entities: Iterable[Entity]) -> str:
    for entity in sorted(entities, key=lambda entity: -entity.start):
        text = text[: entity.start] + " " + text[entity.end :]
    return text


def _code(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold(text))
