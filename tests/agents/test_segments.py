import pytest

from agents.language import detect_language, load_language
from agents.segments import MAX_ATOMS, atoms, strip_courtesies
from contracts.turns import Entity

ENGLISH = (load_language("en"),)
PORTUGUESE = (load_language("pt"),)


def pieces(text: str, openers: frozenset[str] = frozenset({"cancel", "list"})) -> list[str]:
    return [text[atom.start : atom.end] for atom in atoms(text, (), ENGLISH, openers)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is it? Cancel the other.", ["Where is it?", "Cancel the other."]),
        ("where is it and what does it cost", ["where is it", "what does it cost"]),
        ("where is it, and also cancel the other one", ["where is it", "cancel the other one"]),
        ("where is it, its colour, list the rest", ["where is it", "its colour", "list the rest"]),
        ("is it black and white", ["is it black and white"]),
        ("Mr. Smith paid 3.50 for it", ["Mr. Smith paid 3.50 for it"]),
        ("Hello, where is it? Thanks!", ["where is it?"]),
        ("hello", ["hello"]),
        ("one line\nwhere is it", ["one line", "where is it"]),
        ("", [""]),
        ("?!", ["?!"]),
    ],
)
def test_a_message_is_cut_where_a_request_may_begin(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_no_cut_goes_through_a_value() -> None:
    text = "the Salt, and what Pepper bike"
    value = Entity(slot="bike", value="x", text=text, start=4, end=len(text))
    assert len(atoms(text, [value], ENGLISH, frozenset())) == 1


def test_a_long_message_has_a_bounded_number_of_pieces_that_cover_it() -> None:
    text = "where is it? " * 300
    found = atoms(text, (), ENGLISH, frozenset())
    assert len(found) == MAX_ATOMS
    assert found[0].start == 0
    assert text[found[-1].end :].strip() == ""


def test_portuguese_is_cut_by_its_own_words() -> None:
    text = "Bom dia, onde está a reserva e também quanto custa?"
    found = [text[a.start : a.end] for a in atoms(text, (), PORTUGUESE, frozenset())]
    assert found == ["onde está a reserva", "quanto custa?"]


def test_thanks_alone_are_kept() -> None:
    start, end = strip_courtesies("thank you!", ENGLISH)
    assert "thank you!"[start:end] == "thank you!"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where is my bike?", "en"),
        ("Onde está a minha bicicleta?", "pt"),
        ("Wo ist mein Fahrrad", "en"),
        ("4711", "en"),
    ],
)
def test_a_message_is_in_one_of_the_packs_languages(text: str, language: str) -> None:
    assert detect_language(text, ("en", "pt")) == language


def test_a_language_without_word_lists_is_cut_at_sentences() -> None:
    text = "Wo ist es? Und was kostet es?"
    found = [text[a.start : a.end] for a in atoms(text, (), (load_language("de"),), frozenset())]
    assert found == ["Wo ist es?", "Und was kostet es?"]
