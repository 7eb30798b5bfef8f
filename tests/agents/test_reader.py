from collections.abc import Callable

import pytest

from agents.reader import Reader
from contracts.sessions import Dialogue, OpenQuestion
from contracts.turns import MissingSlot, RouteDecision, RouteName

Understand = Callable[[str], RouteDecision]


def intents(decision: RouteDecision) -> list[str]:
    return [clause.intents[0].name for clause in decision.clauses]


@pytest.mark.parametrize(
    ("message", "route", "expected"),
    [
        ("what is the state of booking 4711", RouteName.KNOWLEDGE, ["query:booking_state"]),
        ("cancel booking 4711", RouteName.ACTION, ["action:cancel_booking"]),
        ("do I have to wear a helmet", RouteName.KNOWLEDGE, ["documents"]),
        ("let me speak to a person", RouteName.HUMAN, ["human"]),
        ("here is a photo", RouteName.IMAGE, ["image"]),
        ("hello", RouteName.GENERAL, ["general:greeting"]),
        ("tell me a joke", RouteName.CLARIFY, ["out_of_scope"]),
        (
            "what is the state of booking 4711 and what does it cost",
            RouteName.KNOWLEDGE,
            ["query:booking_state", "query:booking_price"],
        ),
        (
            "Status of booking 4711? Cancel it.",
            RouteName.KNOWLEDGE,
            ["query:booking_state", "action:cancel_booking"],
        ),
    ],
)
def test_a_message_is_taken_apart_and_routed(
    understand: Understand, message: str, route: RouteName, expected: list[str]
) -> None:
    decision = understand(message)
    assert decision.route is route
    assert intents(decision) == expected


def test_a_question_after_a_state_is_no_action(understand: Understand) -> None:
    assert understand("is booking 4711 cancelled").route is RouteName.KNOWLEDGE


def test_a_later_request_takes_the_value_it_lacks_from_an_earlier_one(understand: Understand) -> None:
    first, second = understand("what is the state of booking 4711 and what does it cost").clauses
    (own,), (carried,) = first.entities, second.entities
    assert own.origin == "pattern"
    assert (carried.slot, carried.value, carried.origin) == ("booking", 4711, "clause")
    assert (carried.start, carried.end) == (0, 0)


def test_the_same_question_about_two_things_is_one_clause_with_both(understand: Understand) -> None:
    (clause,) = understand("what is the state of booking 4711 and 4712").clauses
    assert [entity.value for entity in clause.entities] == [4711, 4712]


def test_values_lie_where_the_clause_says(understand: Understand) -> None:
    for clause in understand("Hello, how heavy is the T20? And what is the state of booking 4711?").clauses:
        for entity in clause.entities:
            if entity.origin != "clause":
                assert clause.text[entity.start : entity.end] == entity.text


def test_texts_to_embed_are_masked_and_distinct(reader: Reader) -> None:
    texts = reader.read("status of booking 4711? status of booking 4712?").texts
    assert len(texts) == len(set(texts))
    assert not any("4711" in text for text in texts)


def test_a_single_request_costs_one_embedding(reader: Reader) -> None:
    assert len(reader.read("how heavy is the Heron Tandem T20").texts) == 1


def test_vectors_that_do_not_belong_to_the_reading_are_refused(reader: Reader) -> None:
    with pytest.raises(ValueError, match="1 texts but 0 vectors"):
        reader.decide(reader.read("hello"), [])


OPEN = OpenQuestion(
    missing=MissingSlot(clause_id="c1", tool="booking_price", slot="booking"), clause_text="what does my booking cost"
)


@pytest.mark.parametrize("answer", ["4711", "it's 4711, thanks", "booking 4711.", "the number is 4711"])
def test_a_bare_value_answers_the_open_question_without_embedding(reader: Reader, answer: str) -> None:
    reading = reader.read(answer, Dialogue(open_question=OPEN))
    assert reading.texts == []
    (clause,) = reader.decide(reading, []).clauses
    assert clause.text == "what does my booking cost"
    assert clause.intents[0].name == "query:booking_price"
    assert [entity.value for entity in clause.entities] == [4711]


@pytest.mark.parametrize("message", ["hello", "is booking 4711 confirmed?", "T20", "yes"])
def test_anything_else_is_read_as_a_message_of_its_own(reader: Reader, message: str) -> None:
    assert reader.read(message, Dialogue(open_question=OPEN)).texts != []


@pytest.mark.parametrize("message", ["", "   ", "?", "\x00\x01", "and and and", ", , ,", "a" * 4000, "where? " * 500])
def test_any_text_ends_in_a_decision_with_a_clause(understand: Understand, message: str) -> None:
    assert understand(message).clauses


def test_a_long_message_costs_no_more_to_embed_than_its_ends(reader: Reader) -> None:
    reading = reader.read("my booking and " + "so on and so forth " * 200 + "where is it?")

    assert max(len(text) for text in reading.texts) <= 203


def test_a_message_of_many_long_parts_costs_no_more_to_embed_than_a_page(reader: Reader) -> None:
    part = "where is my booking, the one that " + "goes on " * 50 + "? "

    assert sum(len(text) for text in reader.read(part * 9).texts) <= 2_100
