from collections.abc import Callable, Sequence

import pytest

from agents.planner import plan
from agents.reader import Reader
from configs.packs.types import Pack
from contracts.principal import Principal, PrincipalKind
from contracts.sessions import Dialogue, OfferedValue, OpenOffer, OpenQuestion
from contracts.turns import Clause, Entity, Intent, MissingSlot, RouteDecision, RouteName
from tests.agents.conftest import word_vectors

RIDER = Principal(kind=PrincipalKind.CUSTOMER, subject="r1", customer_id="r1")

OPEN = OpenQuestion(
    missing=MissingSlot(clause_id="c1", tool="booking_price", slot="booking", choices_query="my_bookings"),
    clause_text="what does my booking cost",
    offered=(
        OfferedValue(value=4711, described="confirmed 9 May 2026"),
        OfferedValue(value=4712, described="ended 3 January 2025"),
        OfferedValue(value=8815, described="ended 20 January 2025"),
    ),
)
PERSON = OpenOffer(kind="person", message="cancel booking 4711")
LOOK_UP = OpenOffer(
    kind="look_up",
    message="how heavy are they all",
    clauses=(
        Clause(
            clause_id="c4",
            text="how heavy is the Wren Folding",
            masked="how heavy is the bicycle",
            entities=(Entity(slot="bike", value="Wren Folding", text="Wren Folding", origin="gazetteer"),),
            intents=(Intent(name="query:bike_weight", probability=0.9),),
        ),
    ),
)

Say = Callable[..., RouteDecision]


@pytest.fixture
def say(reader: Reader) -> Say:
    def said(message: str, **dialogue: object) -> RouteDecision:
        reading = reader.read(message, Dialogue.model_validate({"is_under_way": True, **dialogue}))
        return reader.decide(reading, word_vectors(reading.texts))

    return said


def intents(decision: RouteDecision) -> Sequence[str]:
    return [clause.intents[0].name if clause.intents else "" for clause in decision.clauses]


@pytest.mark.parametrize(
    "yes", ["yes", "Yes please!", "yes, pass it on", "sure, do that", "to a person please", "sim, por favor"]
)
def test_a_clear_yes_takes_the_offer_of_a_person_for_the_earlier_message(say: Say, yes: str) -> None:
    decision = say(yes, open_offers=(PERSON,))
    assert (decision.route, decision.earlier_message) == (RouteName.HUMAN, "cancel booking 4711")
    assert [clause.text for clause in decision.clauses] == ["cancel booking 4711"]


@pytest.mark.parametrize("yes", ["yes", "ok", "do that next, thanks"])
def test_a_clear_yes_has_the_rest_looked_up(say: Say, pack: Pack, yes: str) -> None:
    decision = say(yes, open_offers=(LOOK_UP, PERSON))
    assert decision.route is RouteName.KNOWLEDGE
    (task,) = plan(decision, principal=RIDER, pack=pack, known=()).tasks
    assert (task.tool, task.arguments) == ("bike_weight", {"bike": "Wren Folding"})


def test_a_person_is_called_where_the_yes_names_one_of_two_offers(say: Say) -> None:
    assert say("yes, pass it on", open_offers=(LOOK_UP, PERSON)).route is RouteName.HUMAN


@pytest.mark.parametrize(
    "message", ["ok", "thanks", "yes but is booking 4711 confirmed", "yesterday", "how heavy is the T20"]
)
def test_anything_but_a_clear_yes_takes_no_offer(say: Say, message: str) -> None:
    assert say(message, open_offers=(PERSON,)).earlier_message is None


def test_a_yes_without_an_offer_takes_nothing(say: Say) -> None:
    assert say("yes please").route is not RouteName.HUMAN


@pytest.mark.parametrize("no", ["no", "no thanks", "No, leave it.", "não, obrigado"])
def test_a_clear_no_closes_the_offer(say: Say, no: str) -> None:
    assert intents(say(no, open_offers=(PERSON,))) == ["offer_declined"]


def test_a_yes_and_a_question_are_both_heard(say: Say) -> None:
    decision = say("Yes please. How heavy is the T20?", open_offers=(PERSON,))
    assert intents(decision) == ["human", "query:bike_weight"]
    assert [clause.clause_id for clause in decision.clauses] == ["c1", "c2"]


def test_an_answer_and_a_question_are_both_heard(say: Say) -> None:
    first, second = say("it's 4711 I think, and also what is the state of 4712", open_question=OPEN).clauses
    assert (first.intents[0].name, [entity.value for entity in first.entities]) == ("query:booking_price", [4711])
    assert (second.intents[0].name, [entity.value for entity in second.entities]) == ("query:booking_state", [4712])


def test_an_answer_may_name_several_values(say: Say) -> None:
    (clause,) = say("4711 and 4712", open_question=OPEN).clauses
    assert [entity.value for entity in clause.entities] == [4711, 4712]


@pytest.mark.parametrize(
    ("answer", "value"),
    [("the second one", 4712), ("the one from 20 January", 8815), ("88", 8815), ("the confirmed one please", 4711)],
)
def test_an_answer_is_held_against_what_was_offered(say: Say, answer: str, value: int) -> None:
    (clause,) = say(answer, open_question=OPEN).clauses
    assert (clause.intents[0].name, [entity.value for entity in clause.entities]) == ("query:booking_price", [value])


@pytest.mark.parametrize("answer", ["the last one", "the one from January 2025", "471", "the other one"])
def test_an_answer_that_fits_several_is_asked_again(say: Say, pack: Pack, answer: str) -> None:
    decision = say(answer, open_question=OPEN)
    (missing,) = plan(decision, principal=RIDER, pack=pack, known=()).missing
    assert (missing.tool, missing.slot) == ("booking_price", "booking")


@pytest.mark.parametrize("message", ["no, 4712 I mean", "and 4712?", "what about booking 4712"])
def test_a_value_alone_asks_the_latest_request_of_it(say: Say, message: str) -> None:
    latest = OpenQuestion(
        missing=MissingSlot(clause_id="c1", tool="booking_price", slot="booking"),
        clause_text="what does booking 4711 cost",
    )
    (clause,) = say(message, latest=latest).clauses
    assert clause.intents[0].name == "query:booking_price"
    assert [entity.value for entity in clause.entities] == [4712]
    assert "4711" not in clause.text


def test_a_value_with_a_question_of_its_own_is_that_question(say: Say) -> None:
    latest = OpenQuestion(
        missing=MissingSlot(clause_id="c1", tool="booking_price", slot="booking"), clause_text="price of booking 4711"
    )
    assert intents(say("is booking 4712 confirmed", latest=latest)) == ["query:booking_state"]


@pytest.mark.parametrize("message", ["\N{THUMBS UP SIGN}", "???", " ... ", ""])
def test_a_message_without_words_is_asked_what_it_wants(say: Say, message: str) -> None:
    decision = say(message)
    assert (decision.route, intents(decision)) == (RouteName.CLARIFY, ["nothing_asked"])


def test_a_short_word_in_the_middle_of_a_dialogue_is_no_small_talk(say: Say) -> None:
    assert say("and the other one?").route is not RouteName.GENERAL
