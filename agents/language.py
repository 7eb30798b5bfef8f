"""What the reader knows of a language: the words that join, ask, point back and greet. Data, one file a language."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import yaml

from contracts.base import Frozen

_FOLDER = Path(__file__).parent / "languages"
_WORD = re.compile(r"\w+(?:['’.\-/]\w+)*")


class Language(Frozen):
    """The word lists of one language, in lower case. A language without a file has empty ones."""

    code: str
    function_words: frozenset[str] = frozenset()
    connectives: tuple[str, ...] = ()
    question_words: frozenset[str] = frozenset()
    auxiliaries: frozenset[str] = frozenset()
    starters: frozenset[str] = frozenset()
    pronouns: frozenset[str] = frozenset()
    courtesies: tuple[str, ...] = ()
    fillers: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    state_openers: frozenset[str] = frozenset()
    wishes: frozenset[str] = frozenset()
    subjects: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()
    persons: frozenset[str] = frozenset()
    negated_wishes: frozenset[str] = frozenset()
    negated_doings: frozenset[str] = frozenset()
    riddances: frozenset[str] = frozenset()
    negated_commands: frozenset[str] = frozenset()
    negation_exceptions: frozenset[str] = frozenset()
    withouts: frozenset[str] = frozenset()
    refused_things: frozenset[str] = frozenset()
    first_persons: frozenset[str] = frozenset()
    halts: frozenset[str] = frozenset()
    machines: frozenset[str] = frozenset()
    interjections: frozenset[str] = frozenset()
    contrasts: frozenset[str] = frozenset()
    consents: frozenset[str] = frozenset()
    assents: frozenset[str] = frozenset()
    handing_on: frozenset[str] = frozenset()
    declines: frozenset[str] = frozenset()
    ordinals: dict[str, int] = {}
    pointers: frozenset[str] = frozenset()
    follow_ups: frozenset[str] = frozenset()
    possessives: frozenset[str] = frozenset()
    of_names: frozenset[str] = frozenset()
    calendar: frozenset[str] = frozenset()


@cache
def load_language(code: str) -> Language:
    """The language's word lists; without a file for it, empty lists (only sentence ends are then split at)."""
    path = _FOLDER / f"{code.split('-')[0].lower()}.yaml"
    if not path.is_file():
        return Language(code=code)
    # The base loader reads every word as text: "no" and "on" are words here.
    lists = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506 - it builds strings and nothing else
    # Longest first, so that "and also" is seen before "and".
    for ordered in ("connectives", "courtesies"):
        lists[ordered] = sorted(lists[ordered], key=lambda words: (-len(words), words))
    return Language(code=code, **lists)


def words(text: str) -> list[str]:
    """The text's words in lower case, with typographic apostrophes made plain."""
    return [match.group().lower().replace("’", "'") for match in _WORD.finditer(text)]


def fold(text: str) -> str:
    """Lower case without accents, for comparing spellings."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def detect_language(text: str, codes: tuple[str, ...]) -> str:
    """The one of ``codes`` with the most function words in ``text``; the first where none stands out."""
    found = words(text)
    counts = [sum(word in load_language(code).function_words for word in found) for code in codes]
    return codes[counts.index(max(counts))]


def all_of(languages: Iterable[Language], name: str) -> frozenset[str]:
    """The words of one list in all of the languages."""
    return frozenset[str]().union(*(getattr(language, name) for language in languages))


def content_words(text: str, languages: Iterable[Language]) -> list[str]:
    """The words of the text that carry meaning: those that are function words in none of the languages."""
    known = all_of(languages, "function_words")
    return [word for word in words(text) if word not in known]
