import re

import pytest

from authoring.checks.pattern_time import slowest


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


@pytest.mark.parametrize(
    "pattern",
    [
        # Cubic: three runs of white space share the same blanks.
        r"\border\s+(?:number)?\s*[:#]?\s*(\d{3,8})\b",
        r"\s*#?\s*#?\s*(\d+)x",
        r"\bticket\s*\W?\s*\W?\s*(\d{4})\b",
        # Exponential: this would not end within a lifetime on 4,000 letters.
        r"((?:a+)+)b",
        # Quadratic: each place reads to the text's end.
        r"(\d[\w\s]*;)",
    ],
)
def test_a_pattern_that_backtracks_is_slow_on_some_text(pattern: str) -> None:
    assert slowest(_compiled(pattern)) is not None


@pytest.mark.parametrize(
    "pattern",
    [
        r"\border\s{0,2}(?:number)?\s{0,2}[:#]?\s{0,2}(\d{3,8})\b",
        r"\b(T-\d{3,6})\b",
        r"(?<![\w.+-])([\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,100})",
        r"\bjob\s+(\d{3})\b",
    ],
)
def test_a_pattern_with_bounded_repetitions_is_fast_on_all(pattern: str) -> None:
    assert slowest(_compiled(pattern)) is None


def test_the_slow_text_names_its_beginning_and_length() -> None:
    slow = slowest(_compiled(r"\border\s+(?:number)?\s*[:#]?\s*(\d{3,8})\b"))
    assert slow is not None
    assert slow.beginning.startswith("order  ")
    assert slow.characters <= 4000
