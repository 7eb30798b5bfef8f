"""Whether a sentence says what shall *not* be done: "don't …", "I never asked to …", "no …, please".

A trained head hears what is spoken of and misses the "not"; these rules of the languages hear nothing else. They
are narrow: a question, or a sentence that asks for something besides, is never taken as a refusal.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from agents.language import Language, all_of, words

#: A negated wish begins at most so many words after the sentence's beginning ("I really do not want to …").
_WISH_WITHIN = 4
#: A word of riddance ("keep", "any longer") belongs to a wish of so many words.
_RIDDANCE_WITHIN = 12
_ENDS = re.compile(r"[,.;:!\n–—]+")


class Negation:
    """The rules of some languages. ``asks`` tells whether a sentence with these words asks for something."""

    def __init__(self, languages: Iterable[Language], asks: Callable[[Sequence[str]], bool]) -> None:
        spoken = tuple(languages)
        self._asks = asks
        self._wishes = phrases(all_of(spoken, "negated_wishes"))
        self._doings = all_of(spoken, "negated_doings")
        self._riddances = all_of(spoken, "riddances")
        self._commands = phrases(all_of(spoken, "negated_commands"))
        self._exceptions = all_of(spoken, "negation_exceptions")
        self._withouts = all_of(spoken, "withouts")
        self._things = phrases(all_of(spoken, "refused_things"))
        self._halts = tuple(sorted(tuple(text.lower().split()) for text in all_of(spoken, "halts")))
        self._first_persons = all_of(spoken, "first_persons")
        self._machines = all_of(spoken, "machines")
        self._interjections = all_of(spoken, "interjections")
        contrasts = "|".join(sorted(map(re.escape, all_of(spoken, "contrasts")))) or "(?!)"
        self._contrast = re.compile(rf"\b(?:{contrasts})\b", re.IGNORECASE)

    def refuses(self, text: str, *, to_person: bool) -> bool:
        """Whether ``text`` refuses what it speaks of: a person to talk to (``to_person``), or something to be done."""
        if "?" in text:
            return False
        before, *after = self._contrast.split(text, maxsplit=1)
        sentences = _sentences(before)
        if self.rids(before):
            return False
        refused = [self._refuses(said, to_person) for said in sentences]
        others = [said for said, is_refused in zip(sentences, refused, strict=True) if not is_refused]
        others += [said for part in after if (said := words(part))]
        return any(refused) and not after and not any(self._asks(self._plain(said)) for said in others)

    def rids(self, text: str) -> bool:
        """Whether a sentence of ``text`` wishes to be rid of something ("I don't want it any more"): a request."""
        return any(map(self._is_riddance, _sentences(text)))

    def wishes_not(self, said: Sequence[str]) -> bool:
        """Whether a sentence with these words begins with a negated wish, whatever follows."""
        return any(begins_with(said[at:], self._wishes) for at in range(min(_WISH_WITHIN, len(said))))

    def _plain(self, said: list[str]) -> list[str]:
        """The words without what may stand before any request."""
        at = next((at for at, word in enumerate(said) if word not in self._interjections), len(said))
        return said[at:]

    def _refuses(self, said: list[str], to_person: bool) -> bool:
        if to_person and self._machines.intersection(said):
            return False
        plain = self._plain(said)
        # An interjection may itself be the "no" of "no need to".
        starts = [said[at:] for at in range(len(said) - len(plain) + 1)]
        if any(self._negated_wish(start, to_person) or self._negated_command(start) for start in starts):
            return True
        if self._halted(plain):
            return True
        if not to_person:
            return False
        if self._withouts.intersection(said):
            return True
        return any(map(self._refused_thing, starts))

    def _negated_wish(self, said: list[str], to_person: bool) -> bool:
        for at in range(min(_WISH_WITHIN, len(said))):
            length = begins_with(said[at:], self._wishes)
            if not length:
                continue
            rest = said[at + length :]
            return to_person or any(fnmatchcase(word, form) for word in rest[:1] for form in self._doings)
        return False

    def _is_riddance(self, said: list[str]) -> bool:
        return self.wishes_not(said) and not self._riddances.isdisjoint(said[:_RIDDANCE_WITHIN])

    def _negated_command(self, said: list[str]) -> bool:
        length = begins_with(said, self._commands)
        return 0 < length < len(said) and said[length] not in self._exceptions

    def _halted(self, said: list[str]) -> bool:
        return any(len(form) <= len(said) and all(map(fnmatchcase, said, form)) for form in self._halts)

    def _refused_thing(self, said: list[str]) -> bool:
        length = begins_with(said, self._things)
        return 0 < length < len(said) and not self._first_persons.intersection(said[length:])


def _sentences(text: str) -> list[list[str]]:
    return [said for part in _ENDS.split(text) if (said := words(part))]


def phrases(texts: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The phrases as words, longest first."""
    return tuple(sorted((tuple(words(text)) for text in texts), key=lambda said: (-len(said), said)))


def begins_with(said: Sequence[str], known: Iterable[tuple[str, ...]]) -> int:
    """How many words of the first of the ``known`` phrases (longest first) begin ``said``; 0 where none does."""
    return next((len(phrase) for phrase in known if phrase and tuple(said[: len(phrase)]) == phrase), 0)
