from collections.abc import Callable

import pytest

from agents.language import load_language
from agents.negation import Negation
from contracts.turns import RouteDecision, RouteName

Understand = Callable[[str], RouteDecision]


def _asks(said: object) -> bool:
    return bool(said) and said[0] in ("give", "where", "cancel", "can")  # type: ignore[index]


NEGATION = Negation((load_language("en"), load_language("pt")), _asks)


@pytest.mark.parametrize(
    "text",
    [
        "no person please",
        "not with an operator",
        "I really don't want to be connected with anybody",
        "don't hand me over",
        "without anybody from your staff",
        "quit passing me around",
        "no need to fetch anybody",
        "não quero falar com ninguém",
    ],
)
def test_a_person_is_refused(text: str) -> None:
    assert NEGATION.refuses(text, to_person=True)


@pytest.mark.parametrize(
    "text",
    [
        "please don't call off booking 4711",
        "I never asked to change the booking",
        "we did not ask for another bicycle",
        "do not touch my booking, it is for my son",
        "I don't want you to change anything",
        "não quero cancelar a reserva",
        "não cancele a reserva",
    ],
)
def test_something_to_be_done_is_refused(text: str) -> None:
    assert NEGATION.refuses(text, to_person=False)


@pytest.mark.parametrize(
    ("text", "to_person"),
    [
        ("I don't want to talk to a robot", True),
        ("no more bots", True),
        ("no, give me a person", True),
        ("no get me a person", True),
        ("I don't want excuses. Give me a person", True),
        ("I don't want to wait any longer", True),
        ("don't you have people there", True),
        ("can't I talk to somebody?", True),
        ("I don't want the bicycle", False),
        ("I don't want to keep it", False),
        ("don't send it, I don't need it any more", False),
        ("don't know why, cancel it", False),
        ("don't change it but cancel it", False),
        ("why don't you cancel it?", False),
        ("não recebi a bicicleta", False),
    ],
)
def test_a_negation_of_something_else_is_no_refusal(text: str, to_person: bool) -> None:
    assert not NEGATION.refuses(text, to_person=to_person)


@pytest.mark.parametrize(
    "message", ["don't cancel booking 4711", "please no human", "I don't want to cancel booking 4711"]
)
def test_what_is_refused_is_neither_done_nor_handed_over(understand: Understand, message: str) -> None:
    decision = understand(message)
    assert decision.route is RouteName.GENERAL
    assert [clause.intents[0].name for clause in decision.clauses] == ["not_wanted"]


def test_what_else_is_asked_is_answered(understand: Understand) -> None:
    decision = understand("Don't cancel booking 4711. How heavy is the T20?")
    assert [clause.intents[0].name for clause in decision.clauses] == ["not_wanted", "query:bike_weight"]


def test_who_wants_to_be_rid_of_it_asks_for_something(understand: Understand) -> None:
    decision = understand("please don't cancel booking 4711, I don't need it any more")
    assert "not_wanted" not in [clause.intents[0].name for clause in decision.clauses]
