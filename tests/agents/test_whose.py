import pytest

from agents.planner import plan
from configs.packs.types import Pack
from contracts.principal import Principal, PrincipalKind
from contracts.turns import Clause, Entity, Intent, NotHandledReason, RouteDecision, RouteName

RIDER = Principal(kind=PrincipalKind.CUSTOMER, subject="K-0015", customer_id="K-0015")


def reason(pack: Pack, text: str, intent: str = "query:my_bookings", entities: tuple[Entity, ...] = ()) -> str | None:
    clause = Clause(
        clause_id="c1",
        text=text,
        masked=text,
        entities=entities,
        intents=(Intent(name=intent, probability=0.9), Intent(name="query:my_bookings", probability=0.05)),
    )
    decision = RouteDecision(route=RouteName.KNOWLEDGE, confidence=1.0, language="en", clauses=(clause,))
    made = plan(decision, principal=RIDER, pack=pack, known=())
    return made.not_handled[0].reason.value if made.not_handled else None


@pytest.mark.parametrize("intent", ["query:my_bookings", "none"])
@pytest.mark.parametrize(
    "text",
    [
        "show the bookings of somebody@example.com",
        "list the bookings of rider K-0016",
        "what has k-0099 booked",
        "which bookings does Quentin Vale's account have",
        "Petra's bookings",
        "all bookings of Petra Vale",
    ],
)
def test_a_question_for_anothers_data_is_declined(pack: Pack, text: str, intent: str) -> None:
    assert reason(pack, text, intent) == NotHandledReason.OTHERS_DATA.value


@pytest.mark.parametrize(
    "text",
    [
        "show my bookings, I am K-0015",
        "list the bookings of K-0015",
        "send my bookings to somebody@example.com",
        "What's booked",
        "Today's bookings",
        "all bookings from January",
        "bookings of Gullwing Hire",
        "LIST THE BOOKINGS FOR ME",
    ],
)
def test_the_callers_own_is_not(pack: Pack, text: str) -> None:
    assert reason(pack, text) is None


def test_a_thing_that_the_lexicon_knows_is_nobody(pack: Pack) -> None:
    wren = Entity(slot="bike", value="Wren Folding", text="Wren Folding", start=16, end=28, origin="gazetteer")
    assert reason(pack, "all bookings of Wren Folding", entities=(wren,)) is None


def test_what_is_public_is_told_whoever_is_named(pack: Pack) -> None:
    bike = Entity(slot="bike", value="Wren Folding", text="wren", start=0, end=0, origin="clause")
    assert reason(pack, "the weight of Petra's", "query:bike_weight", (bike,)) is None
