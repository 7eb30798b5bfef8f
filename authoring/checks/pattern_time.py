"""How long a pattern may search: a regular expression that backtracks lets one message stop the service."""

import re
import time
from collections.abc import Iterator
from typing import NamedTuple

#: As many characters as a message may have.
_CHARACTERS = 4000
#: CPU time in seconds that searching so many may take. Patterns without backtracking need a hundredth of it.
_SECONDS = 0.02
#: Lengths grow in such steps that a text just too slow is met before one that never ends.
_FIRST_LENGTH = 8
_SMALL_STEP = 4
_SMALL_UP_TO = 64
_GROWTH = 2
#: What repetitions run over. Letters in both cases count alike: patterns ignore case.
_FILLERS = (" ", "\t", "\n", "1", "a", "1a", "1 ", "a ", ".", "-", "_", "#", ":", ",", "a.", "a-", ": ")


class Slow(NamedTuple):
    """A text that a pattern is slow on: its beginning and length, and the CPU time of one search, in seconds."""

    beginning: str
    characters: int
    seconds: float


def slowest(pattern: re.Pattern[str]) -> Slow | None:
    """The first hostile text found on which ``pattern`` is too slow; ``None`` where it is fast on all of them.

    Runs of one or two characters are tried, bare and after each of the pattern's own words, and runs of these words.
    """
    for prefix, filler in _runs(pattern.pattern):
        # A run ends in what doesn't belong to it, so that a match which needs more fails there.
        end = "!" if filler[-1].isalnum() else "x"
        for length in _lengths():
            text = prefix + filler * ((length - len(prefix) - len(end)) // len(filler)) + end
            if _seconds(pattern, text) <= _SECONDS:
                continue
            # Once more: the first time may have paid for something else.
            seconds = _seconds(pattern, text)
            if seconds > _SECONDS:
                return Slow(text[:20], len(text), seconds)
    return None


def _runs(pattern: str) -> Iterator[tuple[str, str]]:
    """Pairs of a beginning and what is repeated after it."""
    # Escapes such as \b and names of groups are no words that a text must hold.
    plain = re.sub(r"\\.|\(\?P[<=]\w+[>)]?|\[[^\]]*\]", " ", pattern)
    said = dict.fromkeys(re.findall(r"[^\W\d_]+", plain))
    for prefix in ("", *said):
        for filler in _FILLERS:
            yield prefix, filler
    for word in said:
        yield "", word
        yield "", f"{word} "


def _lengths() -> Iterator[int]:
    length = _FIRST_LENGTH
    while length < _CHARACTERS:
        yield length
        length = length + _SMALL_STEP if length < _SMALL_UP_TO else length * _GROWTH
    yield _CHARACTERS


def _seconds(pattern: re.Pattern[str], text: str) -> float:
    """CPU time of finding all matches: what a busy machine does besides doesn't count."""
    before = time.thread_time()
    for _ in pattern.finditer(text):
        pass
    return time.thread_time() - before
