from datetime import UTC, date, datetime

from agents.memory import MAX_ENTITIES, MAX_HISTORY, remember
from configs.packs.types import Gazetteer, Pack, Queries, Related
from contracts.base import Row
from contracts.documents import EntityRef
from contracts.sessions import OfferedValue, OpenOffer, OpenQuestion, SessionState
from contracts.turns import (
    Clause,
    Entity,
    MissingSlot,
    NotHandled,
    NotHandledReason,
    Plan,
    Reason,
    Reply,
    RouteDecision,
    RouteName,
    Task,
    TaskStatus,
    TaskType,
    ToolResult,
)

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
STATE = SessionState(session_id="s", owner="customer:r1", created_at=NOW, updated_at=NOW)
BOOKING = Entity(slot="booking", value=4711, text="4711", start=9, end=13)
TASK = Task(
    task_id="t1",
    task_type=TaskType.PREDEFINED_QUERY,
    tool="booking_state",
    clause_id="c1",
    arguments={"number": 4711},
)


def after(
    pack: Pack,
    state: SessionState = STATE,
    *,
    entities: tuple[Entity, ...] = (BOOKING,),
    plan: Plan = Plan(),  # noqa: B008 - frozen
    rows: tuple[Row, ...] = (),
    turn_id: str = "turn",
) -> SessionState:
    clause = Clause(clause_id="c1", text="state of 4711", masked="state of booking 1234", entities=entities)
    result = ToolResult(
        task_id="t1",
        task_type=TaskType.PREDEFINED_QUERY,
        tool="booking_state",
        status=TaskStatus.SUCCESS,
        reason=Reason.OK if rows else Reason.EMPTY,
        rows=rows,
    )
    return remember(
        state,
        turn_id=turn_id,
        message="state of 4711",
        decision=RouteDecision(route=RouteName.KNOWLEDGE, confidence=1, language="pt", clauses=(clause,)),
        plan=plan,
        results={"t1": result} if plan.tasks else {},
        reply=Reply(text="Confirmed.", language="pt", sentences=()),
        now=NOW,
        pack=pack,
    )


def test_the_exchange_and_the_language_are_kept(pack: Pack) -> None:
    state = after(pack)
    assert [(one.message, one.reply) for one in state.history] == [("state of 4711", "Confirmed.")]
    assert (state.locale, state.updated_at) == ("pt", NOW)


def test_history_holds_the_last_exchanges_alone(pack: Pack) -> None:
    state = STATE
    for number in range(MAX_HISTORY + 3):
        state = after(pack, state, turn_id=f"turn{number}")
    assert len(state.history) == MAX_HISTORY
    assert state.history[-1].turn_id == f"turn{MAX_HISTORY + 2}"


def test_values_spoken_of_are_kept_once_latest_first(pack: Pack) -> None:
    other = BOOKING.model_copy(update={"value": 4712})
    state = after(pack, after(pack, after(pack), entities=(other,)))
    assert [entity.value for entity in state.entities] == [4711, 4712]
    assert {(entity.origin, entity.start, entity.end) for entity in state.entities} == {("session", 0, 0)}


def test_values_kept_are_bounded(pack: Pack) -> None:
    many = tuple(BOOKING.model_copy(update={"value": number}) for number in range(MAX_ENTITIES * 2))
    assert len(after(pack, entities=many).entities) == MAX_ENTITIES


def test_what_an_answer_names_alone_is_spoken_of_too(pack: Pack) -> None:
    plan = Plan(tasks=(TASK,))
    rows: tuple[Row, ...] = ({"number": 4711, "bike": "Wren Folding"}, {"number": 4711, "bike": None})
    state = after(pack, plan=plan, rows=rows)
    assert {(entity.slot, entity.value) for entity in state.entities} == {("booking", 4711), ("bike", "Wren Folding")}


def test_what_an_answer_names_belongs_to_what_stands_beside_it_in_the_row(pack: Pack) -> None:
    types = dict(pack.queries.parameters)
    related = Related(label="Station", property="name", kind="station")
    types["bike"] = types["bike"].model_copy(
        update={"gazetteer": Gazetteer(label="Bike", property="name", related=related)}
    )
    types["station"] = types["station"].model_copy(update={"entity_kind": "station"})
    queries = tuple(
        query.model_copy(update={"entities": query.entities | {"station": "station"}}) for query in pack.queries.queries
    )
    pack = pack.model_copy(update={"queries": Queries(parameters=types, queries=queries)})
    rows: tuple[Row, ...] = ({"number": 4711, "bike": "Wren Folding", "station": "North"},)
    found = {entity.slot: entity.related for entity in after(pack, plan=Plan(tasks=(TASK,)), rows=rows).entities}
    assert found["bike"] == (EntityRef(kind="station", value="North"),)
    assert found["station"] == ()


def test_what_an_answer_names_among_others_is_not(pack: Pack) -> None:
    rows: tuple[Row, ...] = ({"bike": "Wren Folding"}, {"bike": "Falcon City 7"})
    state = after(pack, plan=Plan(tasks=(TASK,)), rows=rows)
    assert {entity.slot for entity in state.entities} == {"booking"}


def test_what_does_not_exist_is_not_spoken_of_again(pack: Pack) -> None:
    assert after(pack, plan=Plan(tasks=(TASK,))).entities == ()


def test_a_question_stays_open_until_the_next_turn(pack: Pack) -> None:
    missing = MissingSlot(clause_id="c1", tool="booking_price", slot="booking")
    asked = after(pack, plan=Plan(missing=(missing,)))
    assert asked.open_question == OpenQuestion(missing=missing, clause_text="state of 4711")
    assert after(pack, asked).open_question is None


def test_what_was_shown_to_choose_from_is_remembered_with_its_words(pack: Pack) -> None:
    missing = MissingSlot(clause_id="c1", tool="booking_price", slot="booking", choices_query="my_bookings")
    queries = tuple(
        query.model_copy(update={"entities": {"number": "booking"}}) if query.name == "my_bookings" else query
        for query in pack.queries.queries
    )
    pack = pack.model_copy(update={"queries": Queries(parameters=pack.queries.parameters, queries=queries)})
    choices = ToolResult(
        task_id="choices:my_bookings",
        task_type=TaskType.PREDEFINED_QUERY,
        tool="my_bookings",
        status=TaskStatus.SUCCESS,
        reason=Reason.OK,
        rows=({"number": 4711, "begins": date(2026, 5, 9), "state": "confirmed"}, {"number": None}),
    )
    question = ended(pack, Plan(missing=(missing,)), {choices.task_id: choices}).open_question
    assert question is not None
    assert question.offered == (OfferedValue(value=4711, described="9 May 2026 confirmed"),)


def ended(pack: Pack, plan: Plan, results: dict[str, ToolResult], *clauses: Clause) -> SessionState:
    clause = Clause(clause_id="c1", text="state of 4711", masked="state of booking 1234")
    return remember(
        STATE,
        turn_id="turn",
        message="the message",
        decision=RouteDecision(route=RouteName.KNOWLEDGE, confidence=1, language="en", clauses=clauses or (clause,)),
        plan=plan,
        results=results,
        reply=Reply(text="Well.", language="en", sentences=()),
        now=NOW,
        pack=pack,
    )


def test_a_person_offered_is_an_open_offer_about_the_message(pack: Pack) -> None:
    action = Task(task_id="t1", task_type=TaskType.ACTION, tool="cancel_booking", clause_id="c1")
    left = NotHandled(clause_id="c1", text="hm", reason=NotHandledReason.UNSUPPORTED)
    for plan in (Plan(tasks=(action,)), Plan(not_handled=(left,))):
        assert ended(pack, plan, {}).open_offers == (OpenOffer(kind="person", message="the message"),)
    assert ended(pack, Plan(not_handled=(left,), human=("c1",)), {}).open_offers == ()


def test_a_search_that_found_nothing_beside_an_answer_offers_nobody(pack: Pack) -> None:
    search = Task(task_id="t2", task_type=TaskType.DOCUMENTS, tool="documents", clause_id="c1")
    nothing = ToolResult(
        task_id="t2",
        task_type=TaskType.DOCUMENTS,
        tool="documents",
        status=TaskStatus.SUCCESS,
        reason=Reason.INSUFFICIENT_EVIDENCE,
    )
    rows = nothing.model_copy(
        update={"task_id": "t1", "tool": "booking_state", "reason": Reason.OK, "rows": ({"number": 4711},)}
    )
    assert [offer.kind for offer in ended(pack, Plan(tasks=(search,)), {"t2": nothing}).open_offers] == ["person"]
    assert ended(pack, Plan(tasks=(TASK, search)), {"t1": rows, "t2": nothing}).open_offers == ()


def test_what_was_too_much_for_one_turn_is_offered_with_the_values_left(pack: Pack) -> None:
    entities = tuple(BOOKING.model_copy(update={"value": number}) for number in (4711, 4712, 4713))
    clause = Clause(clause_id="c1", text="state of all", masked="state of all", entities=entities, vector=b"1234")
    left = NotHandled(clause_id="c1", text="4712, 4713", reason=NotHandledReason.OVER_LIMIT)
    (offer,) = ended(pack, Plan(tasks=(TASK,), not_handled=(left,)), {}, clause).open_offers
    assert offer.kind == "look_up"
    assert [entity.value for entity in offer.clauses[0].entities] == [4712, 4713]
    assert offer.clauses[0].vector == b""


def test_the_latest_request_about_one_value_is_kept_through_small_talk(pack: Pack) -> None:
    asked = after(pack, plan=Plan(tasks=(TASK,)), rows=({"number": 4711},))
    assert asked.latest is not None
    assert (asked.latest.missing.tool, asked.latest.missing.slot) == ("booking_state", "booking")
    assert after(pack, asked, plan=Plan(general={"c1": "greeting"})).latest == asked.latest
