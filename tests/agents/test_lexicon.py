import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.lexicon import Lexicon, mask_phrasing, typed
from configs.packs.types import Pack
from contracts.documents import EntityRef
from contracts.errors import PackError
from contracts.graph import PropertyType


def values(lexicon: Lexicon, text: str) -> list[tuple[str, object]]:
    return [(entity.slot, entity.value) for entity in lexicon.find(text)]


def test_a_pattern_gives_a_typed_value_and_where_it_stands(lexicon: Lexicon) -> None:
    (found,) = lexicon.find("is booking 4711 fine?")
    assert (found.slot, found.value, found.origin) == ("booking", 4711, "pattern")
    assert "is booking 4711 fine?"[found.start : found.end] == found.text == "booking 4711"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("how heavy is the Falcon City 7", "Falcon City 7"),
        ("how heavy is the falcon city7", "Falcon City 7"),
        ("how heavy is the Falcn City 7", "Falcon City 7"),
        ("the herón tandem t20", "Heron Tandem T20"),
        ("is the T20 free", "Heron Tandem T20"),
        ("is the cargo xl free", "Falcon Cargo XL"),
        ("I saw a Wren there", "Wren Folding"),
    ],
)
def test_a_name_is_found_misspelled_or_in_part(lexicon: Lexicon, said: str, meant: str) -> None:
    assert values(lexicon, said) == [("bike", meant)]


@pytest.mark.parametrize(
    "said",
    [
        "is the Falcon free",  # two bicycles are Falcons
        "is the T30 free",  # another number is another thing
        "I saw a wren there",  # an ordinary word without a capital
        "the city of bridges",
    ],
)
def test_what_does_not_name_one_thing_is_no_value(lexicon: Lexicon, said: str) -> None:
    assert values(lexicon, said) == []


def test_the_longest_value_wins_and_none_overlap(lexicon: Lexicon, make_pack: Callable[..., Pack]) -> None:
    both = Lexicon.build(make_pack(), {"bike": ["Gate", "Gate Runner"], "station": ["Northern Gate Runner"]})
    assert values(both, "a Northern Gate Runner and a gate") == [("station", "Northern Gate Runner"), ("bike", "Gate")]


def test_a_match_that_violates_its_type_is_no_value() -> None:
    with pytest.raises(ValueError):
        typed("99999999999999999999", PropertyType.INTEGER)
    with pytest.raises(ValueError):
        typed("2026-02-30", PropertyType.DATE)


def test_masking_says_the_mask_once_and_keeps_the_rest(lexicon: Lexicon) -> None:
    text = "Is the booking 4711 with the Falcon City 7 at Mill Bridge?"
    assert lexicon.mask(text, lexicon.find(text)) == "Is the booking 1234 with the bicycle at station?"


def test_several_values_of_one_kind_are_masked_as_one(lexicon: Lexicon) -> None:
    text = "where are bookings 4711 and 4712"
    assert lexicon.mask(text, lexicon.find(text)) == "where are booking 1234"


def test_a_phrasing_is_masked_like_a_message(lexicon: Lexicon, pack: Pack) -> None:
    message = "what does booking 4711 cost"
    assert mask_phrasing("what does booking {number} cost", pack, {"number": "booking"}) == lexicon.mask(
        message, lexicon.find(message)
    )


def test_a_phrasing_with_an_unknown_slot_is_refused(pack: Pack) -> None:
    with pytest.raises(PackError, match="colour"):
        mask_phrasing("is the {colour} one free", pack)


def test_a_saved_lexicon_finds_the_same(lexicon: Lexicon, tmp_path: Path) -> None:
    lexicon.save(tmp_path / "lexicon.json")
    again = Lexicon.load(tmp_path / "lexicon.json")
    text = "booking 4711, the T20 and Old Harbour"
    assert again.find(text) == lexicon.find(text) != []


def test_a_file_that_is_no_lexicon_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lexicon.json"
    path.write_text(json.dumps({"forms": {"x": {}}}))
    with pytest.raises(PackError):
        Lexicon.load(path)


def test_every_value_lies_where_it_says_in_odd_texts(lexicon: Lexicon) -> None:
    for text in ("", "İİİ booking 4711", "ﬁ T20 ﬁ", "\x00 4711 \u202e", "T20" * 1300, "4711 " * 800):
        for entity in lexicon.find(text):
            assert text[entity.start : entity.end] == entity.text


def test_a_value_says_what_it_belongs_to_also_after_it_was_saved(
    make_pack: Callable[..., Pack], tmp_path: Path
) -> None:
    family = EntityRef(kind="family", value="Folding bicycles")
    Lexicon.build(make_pack(), {"bike": ["Gate Runner", "Wren Folding"]}, {"bike": {"Wren Folding": (family,)}}).save(
        tmp_path / "lexicon.json"
    )
    lexicon = Lexicon.load(tmp_path / "lexicon.json")
    assert [entity.related for entity in lexicon.find("is the wren folding or the gate runner lighter")] == [
        (family,),
        (),
    ]
