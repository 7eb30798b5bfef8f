import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.packs.canonical import canonical


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("MATCH (n)\n  RETURN\tn.name AS name", "MATCH (n) RETURN n.name AS name"),
        ("  RETURN 1 AS one ;\n", "RETURN 1 AS one"),
        ("RETURN 1 AS one // the first\n, 2 AS two", "RETURN 1 AS one , 2 AS two"),
        ("RETURN /* a\n comment */ 1 AS one", "RETURN 1 AS one"),
    ],
)
def test_layout_and_comments_become_one_blank(text: str, printed: str) -> None:
    assert canonical(text) == printed


@pytest.mark.parametrize(
    "text",
    [
        "RETURN 'two  blanks' AS a",
        'RETURN "a // no comment" AS a',
        r"RETURN 'it\'s  one' AS a",
        "RETURN `odd  name` AS a",
        "RETURN 'ends in ;' AS a",
    ],
)
def test_what_stands_in_quotes_is_untouched(text: str) -> None:
    assert canonical(text) == text


def test_white_space_beyond_ascii_is_no_layout() -> None:
    assert canonical("RETURN\u00a01 AS one") != canonical("RETURN 1 AS one")


@given(st.text(alphabet=" \n\t'\"`\\/*;aA$", max_size=40))
def test_printing_twice_changes_nothing_more(text: str) -> None:
    once = canonical(text)
    assert canonical(once) == once
