"""Whether a request is about somebody else's data, as far as it says so.

Whose rows come back is the proof's matter: a caller never gets another's. This is for the reply, which must not
give the caller's own data for an answer to a question about somebody else.
"""

import re
from collections.abc import Iterable, Sequence

from agents.language import Language, all_of, fold, load_language, words
from agents.lexicon import common_words
from configs.packs.types import Pack
from contracts.principal import Principal
from contracts.turns import Clause, Entity

_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_NAME = r"[^\W\d_a-zà-öø-ÿ][^\W\d_]+(?:[ '’-][^\W\d_a-zà-öø-ÿ][^\W\d_]+)*"
_POSSESSIVE = re.compile(rf"\b({_NAME})['’]s\b")


def names_another_account(clause: Clause, principal: Principal, pack: Pack) -> bool:
    """Whether the clause names an e-mail address or a customer's key that isn't the caller's.

    What calls something the caller's own ("my …") is about the caller, whoever else is named.
    """
    if _is_own(clause, pack):
        return False
    own = principal.customer_id
    # A key of digits alone looks like any number: only one that is nothing else counts.
    text = _without(clause.text, clause.entities) if own is None or own.isdigit() else clause.text
    return bool(_EMAIL.search(clause.text)) or _names_key(text, own)


def names_somebody(clause: Clause, pack: Pack) -> bool:
    """Whether the clause asks for what is somebody's, by a name that nothing in this business explains."""
    if _is_own(clause, pack):
        return False
    languages = tuple(load_language(code) for code in pack.domain.languages)
    unexplained = _without(clause.text, clause.entities)
    return any(not _is_explained(name, pack) for name in _names(unexplained, languages))


def _is_own(clause: Clause, pack: Pack) -> bool:
    own = all_of((load_language(code) for code in pack.domain.languages), "possessives")
    return not own.isdisjoint(words(clause.text))


def _without(text: str, entities: Iterable[Entity]) -> str:
    """The text with a mark in place of each value that was found in it."""
    for entity in sorted(entities, key=lambda entity: -entity.start):
        if entity.end > entity.start:
            text = f"{text[: entity.start]}…{text[entity.end :]}"
    return text


def _names_key(text: str, own: str | None) -> bool:
    """Whether a word has the shape of the caller's key, letters as they are and digits for digits, and isn't it."""
    if own is None or not any(character.isdigit() for character in own):
        return False
    shape = re.sub(r"\d", r"\\d", re.escape(own))
    found = re.findall(rf"(?<![\w-]){shape}(?![\w-])", text, re.IGNORECASE)
    return any(key.casefold() != own.casefold() for key in found)


def _names(text: str, languages: Sequence[Language]) -> list[str]:
    """What looks like a name by its capital: before "'s", or after "of" and the like."""
    if text.isupper():
        return []
    joins = "|".join(sorted(map(re.escape, all_of(languages, "of_names"))))
    after = re.compile(rf"\b(?:{joins or '(?!)'}) ({_NAME})(?![\w'’-])")
    return [*_POSSESSIVE.findall(text), *after.findall(text)]


def _is_explained(name: str, pack: Pack) -> bool:
    """Whether a word of it is said in this business or written with a capital anyway."""
    languages = tuple(load_language(code) for code in pack.domain.languages)
    lists = ("question_words", "auxiliaries", "starters", "subjects", "pronouns", "calendar")
    ordinary = {fold(word) for name_of_list in lists for word in all_of(languages, name_of_list)}
    ordinary |= {fold(word) for word in words(pack.domain.company)} | common_words(pack)
    return not ordinary.isdisjoint(fold(word) for word in re.split(r"[ '’-]", name))
