from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from configs.packs.types import SourceDocument
from indexes.chunking import MAX_WORDS, Chunk, chunks

Make = Callable[..., SourceDocument]


def _texts(found: list[Chunk]) -> list[tuple[str, str]]:
    return [(chunk.section, chunk.text) for chunk in found]


def test_each_heading_begins_a_chunk_under_its_path(document: Make) -> None:
    body = "Before.\n\n# Rules\nOf all.\n\n## Cats\nMeow.\n\n### Small\nMew.\n\n## Dogs\nBark.\n\n# Rest\nEnd.\n"

    assert _texts(chunks(document("pets", body))) == [
        ("", "Before."),
        ("Rules", "Of all."),
        ("Rules > Cats", "Meow."),
        ("Rules > Cats > Small", "Mew."),
        ("Rules > Dogs", "Bark."),
        ("Rest", "End."),
    ]


def test_a_heading_that_repeats_the_title_is_no_section(document: Make) -> None:
    assert _texts(chunks(document("pets", "# PETS\nHello.\n\n## Cats\nMeow.", title="Pets"))) == [
        ("", "Hello."),
        ("Cats", "Meow."),
    ]


def test_a_heading_in_a_code_block_is_none(document: Make) -> None:
    assert _texts(chunks(document("code", "```\n# no heading\n```\n"))) == [("", "```\n# no heading\n```")]


def test_headings_without_text_make_no_chunk(document: Make) -> None:
    assert chunks(document("empty", "# One\n\n## Two\n\n---\n")) == []
    assert chunks(document("nothing", "")) == []


def test_the_offset_is_where_the_chunk_begins_in_the_body(document: Make) -> None:
    body = "# One\r\n\r\nFirst text.\r\n\r\n## Two\r\nÀ second text.\r\n"

    assert [body[chunk.offset :].split("\r\n")[0] for chunk in chunks(document("d", body))] == [
        "First text.",
        "À second text.",
    ]


def test_a_long_section_is_cut_between_sentences(document: Make) -> None:
    sentences = [f"Sentence number {number} has seven words here." for number in range(60)]

    found = chunks(document("long", " ".join(sentences)))

    assert len(found) == 3  # 420 words
    assert " ".join(chunk.text for chunk in found) == " ".join(sentences)
    assert all(chunk.text.endswith(".") for chunk in found)
    assert [chunk.ordinal for chunk in found] == [0, 1, 2]


def test_a_sentence_longer_than_a_chunk_is_cut_between_words(document: Make) -> None:
    found = chunks(document("endless", "word " * 400))

    assert [len(chunk.text.split()) for chunk in found] == [150, 150, 100]


def test_a_table_that_fits_stays_whole(document: Make) -> None:
    table = "| size | price |\n|---|---|\n" + "\n".join(f"| {n} | {n * 3} |" for n in range(20))
    filler = "Some words stand before it. " * 20

    found = chunks(document("table", f"{filler}\n\n{table}\n"))

    assert found[-1].text == table


def test_a_table_that_does_not_fit_is_cut_between_rows_under_its_repeated_head(document: Make) -> None:
    head = "| size | price |\n|---|---|\n"
    rows = [f"| number {n} is a row of many words | {n * 3} |" for n in range(40)]

    found = chunks(document("table", head + "\n".join(rows)))

    assert len(found) > 1
    assert all(chunk.text.startswith(head) for chunk in found)
    assert [row for chunk in found for row in chunk.text.splitlines()[2:]] == rows


def test_a_long_list_is_cut_between_items(document: Make) -> None:
    items = [f"- item {n} with exactly seven words" for n in range(60)]

    found = chunks(document("list", "\n".join(items)))

    assert [line for chunk in found for line in chunk.text.splitlines() if line] == items
    assert all(len(chunk.text.split()) <= MAX_WORDS for chunk in found)


def test_a_line_that_leads_in_to_a_list_stays_with_it(document: Make) -> None:
    filler = "Some words stand before all of it. " * 17
    items = "\n".join(f"- item {n} of the things" for n in range(10))

    found = chunks(document("list", f"{filler}\n\nYou need these:\n\n{items}\n"))

    assert [chunk.text.splitlines()[0] for chunk in found][-1] == "You need these:"


@settings(max_examples=150, deadline=None)
@given(body=st.text(alphabet=st.sampled_from("ab #-|>`*\n\r\t1.:!é\0<&[]()"), max_size=400))
@pytest.mark.parametrize("prefix", ["", "| a | b |\n|---|---|\n"])
def test_any_text_is_cut_without_losing_its_order_or_its_place(document: Make, prefix: str, body: str) -> None:
    whole = document("any", prefix + body)

    found = chunks(whole)

    assert [chunk.ordinal for chunk in found] == list(range(len(found)))
    assert [chunk.offset for chunk in found] == sorted(chunk.offset for chunk in found)
    for chunk in found:
        assert chunk.text in whole.body or chunk.text.startswith(prefix) or "\n\n" in chunk.text
        assert len(chunk.text.split()) <= MAX_WORDS
