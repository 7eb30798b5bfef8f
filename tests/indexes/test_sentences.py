import pytest

from indexes.sentences import readable_sentences


def test_markdown_is_read_as_plain_sentences() -> None:
    markdown = (
        "You **need**:\n\n- a `key`\n- a [map](https://example.org/map)\n\n"
        "| bike | deposit |\n|---|---|\n| Wren | 50 |\n\nCall snake_case _now_."
    )
    assert readable_sentences(markdown) == [
        "You need:",
        "a key",
        "a map",
        "bike: Wren; deposit: 50.",
        "Call snake_case now.",
    ]


def test_a_sentence_ends_where_the_next_begins_with_a_capital_or_a_figure() -> None:
    assert readable_sentences("It costs EUR 4.90 a day. 20 pounds are kept.\nLights, e.g. lamps, are free!") == [
        "It costs EUR 4.90 a day.",
        "20 pounds are kept.",
        "Lights, e.g. lamps, are free!",
    ]


@pytest.mark.parametrize("markdown", ["", "|---|", "\x01", "# ", "- \n- ", "***"])
def test_what_holds_no_word_has_no_sentence(markdown: str) -> None:
    assert readable_sentences(markdown) == []
