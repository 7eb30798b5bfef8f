from collections.abc import Callable

import pytest

from agents.planner import MAX_TOOL_TASKS, plan, validate
from agents.waves import document_entities
from configs.packs.types import Pack
from contracts.documents import EntityRef
from contracts.errors import BadRequestError
from contracts.principal import Principal, PrincipalKind
from contracts.turns import (
    Clause,
    Entity,
    Intent,
    NotHandledReason,
    Plan,
    RouteDecision,
    RouteName,
    Task,
    TaskInput,
    TaskType,
)

RIDER = Principal(kind=PrincipalKind.CUSTOMER, subject="r1", customer_id="r1")
GUEST = Principal(kind=PrincipalKind.GUEST, subject="g1")
AGENT = Principal(kind=PrincipalKind.AGENT, subject="a1")

BOOKING = Entity(slot="booking", value=4711, text="4711")
OTHER = Entity(slot="booking", value=4712, text="4712")
BIKE = Entity(slot="bike", value="Wren Folding", text="wren", origin="gazetteer")


def decided(*clauses: tuple[str, tuple[Entity, ...], list[tuple[str, float]]]) -> RouteDecision:
    return RouteDecision(
        route=RouteName.KNOWLEDGE,
        confidence=1.0,
        language="en",
        clauses=tuple(
            Clause(
                clause_id=f"c{number}",
                text=text,
                masked=text,
                entities=entities,
                intents=tuple(Intent(name=name, probability=probability) for name, probability in intents),
            )
            for number, (text, entities, intents) in enumerate(clauses, start=1)
        ),
    )


def test_a_query_gets_its_own_value(pack: Pack) -> None:
    made = plan(
        decided(("state of 4711", (BOOKING,), [("query:booking_state", 0.9)])), principal=RIDER, pack=pack, known=()
    )
    (task,) = made.tasks
    assert (task.tool, task.arguments, task.clause_id) == ("booking_state", {"number": 4711}, "c1")


def test_a_value_the_session_knows_fills_in_latest_first(pack: Pack) -> None:
    known = (OTHER.model_copy(update={"origin": "session"}), BOOKING.model_copy(update={"origin": "session"}))
    made = plan(
        decided(("what does it cost", (), [("query:booking_price", 0.9)])), principal=RIDER, pack=pack, known=known
    )
    assert [task.arguments for task in made.tasks] == [{"number": 4712}]


def test_two_values_in_one_clause_are_two_tasks(pack: Pack) -> None:
    made = plan(
        decided(("state of 4711 and 4712", (BOOKING, OTHER), [("query:booking_state", 0.9)])),
        principal=RIDER,
        pack=pack,
        known=(),
    )
    assert [task.arguments["number"] for task in made.tasks] == [4711, 4712]


def test_a_missing_value_is_asked_for_with_what_there_is_to_choose_from(pack: Pack) -> None:
    made = plan(
        decided(("what does it cost", (), [("query:booking_price", 0.9)])), principal=RIDER, pack=pack, known=()
    )
    (missing,) = made.missing
    assert (missing.tool, missing.slot, missing.choices_query) == ("booking_price", "booking", "my_bookings")
    assert made.tasks == ()


def test_the_second_intent_is_taken_where_the_first_lacks_its_value(pack: Pack) -> None:
    made = plan(
        decided(("my booking", (), [("query:booking_state", 0.55), ("query:my_bookings", 0.35)])),
        principal=RIDER,
        pack=pack,
        known=(),
    )
    assert [task.tool for task in made.tasks] == ["my_bookings"]


def test_a_follow_up_is_about_what_was_spoken_of_although_another_intent_sounds_likelier(pack: Pack) -> None:
    clause = ("and what did it cost?", (), [("query:bike_weight", 0.79), ("query:booking_price", 0.18)])
    spoken_of = (BOOKING.model_copy(update={"origin": "session"}),)

    assert [task.tool for task in plan(decided(clause), principal=RIDER, pack=pack, known=spoken_of).tasks] == [
        "booking_price"
    ]
    assert [missing.tool for missing in plan(decided(clause), principal=RIDER, pack=pack, known=()).missing] == [
        "bike_weight"
    ]


def test_documents_that_follow_rows_wait_for_them(pack: Pack) -> None:
    made = plan(
        decided(("rules of 4711", (BOOKING,), [("query:booking_rules", 0.9)])), principal=RIDER, pack=pack, known=()
    )
    first, second = made.tasks
    assert second.task_type is TaskType.DOCUMENTS
    assert second.dependencies == (first.task_id,)
    assert second.inputs == {"entities": TaskInput(task_id=first.task_id, column="bike")}
    assert second.arguments == {"question": "rules of 4711", "entity_kind": "bike"}


def test_a_documents_question_names_what_it_is_about(pack: Pack) -> None:
    made = plan(
        decided(("how do I inflate its tyre", (BIKE.model_copy(update={"origin": "clause"}),), [("documents", 0.9)])),
        principal=GUEST,
        pack=pack,
        known=(),
    )
    assert made.tasks[0].arguments == {
        "question": "how do I inflate its tyre (Wren Folding)",
        "entity_kind": "bike",
        "entity": "Wren Folding",
    }


def test_a_documents_question_is_about_what_the_named_thing_belongs_to_as_well(pack: Pack) -> None:
    family = EntityRef(kind="family", value="Folding bicycles")
    wren = BIKE.model_copy(update={"related": (family,)})
    made = plan(
        decided(("how do I fold the Wren Folding", (wren,), [("documents", 0.9)])), principal=GUEST, pack=pack, known=()
    )
    (task,) = made.tasks
    assert task.arguments["question"] == "how do I fold the Wren Folding (Folding bicycles)"
    assert document_entities(task, {}) == (EntityRef(kind="bike", value="Wren Folding"), family)


def test_what_was_spoken_of_is_not_put_into_an_unrelated_question(pack: Pack) -> None:
    made = plan(
        decided(("do I have to wear a helmet", (), [("documents", 0.9)])), principal=GUEST, pack=pack, known=(BIKE,)
    )
    assert made.tasks[0].arguments == {"question": "do I have to wear a helmet"}


def test_a_guest_is_refused_customer_queries_and_given_public_ones(pack: Pack) -> None:
    made = plan(
        decided(
            ("state of 4711", (BOOKING,), [("query:booking_state", 0.9)]),
            ("how heavy is the wren", (BIKE,), [("query:bike_weight", 0.9)]),
        ),
        principal=GUEST,
        pack=pack,
        known=(),
    )
    assert [(left.clause_id, left.reason) for left in made.not_handled] == [("c1", NotHandledReason.DENIED)]
    assert [task.tool for task in made.tasks] == ["bike_weight"]


def test_an_agent_has_no_customer_whose_rows_could_be_read(pack: Pack) -> None:
    made = plan(
        decided(("state of 4711", (BOOKING,), [("query:booking_state", 0.9)])), principal=AGENT, pack=pack, known=()
    )
    assert made.not_handled[0].reason is NotHandledReason.DENIED


def test_beyond_three_tool_tasks_the_rest_is_named(pack: Pack) -> None:
    clause = ("how heavy is it", (BIKE,), [("query:bike_weight", 0.9)])
    action = ("cancel 4711", (BOOKING,), [("action:cancel_booking", 0.9)])
    made = plan(decided(clause, clause, action, clause, clause), principal=RIDER, pack=pack, known=())
    assert len([task for task in made.tasks if task.task_type is not TaskType.ACTION]) == MAX_TOOL_TASKS
    assert [(left.clause_id, left.reason) for left in made.not_handled] == [("c5", NotHandledReason.OVER_LIMIT)]
    assert [task.clause_id for task in made.tasks if task.task_type is TaskType.ACTION] == ["c3"]


def test_a_query_with_documents_is_not_begun_where_only_one_task_is_left(pack: Pack) -> None:
    weight = ("how heavy is it", (BIKE,), [("query:bike_weight", 0.9)])
    rules = ("rules of 4711", (BOOKING,), [("query:booking_rules", 0.9)])
    made = plan(decided(weight, weight, rules), principal=RIDER, pack=pack, known=())
    assert [left.clause_id for left in made.not_handled] == ["c3"]
    assert len(made.tasks) == 2


@pytest.mark.parametrize(
    ("intents", "reason"),
    [
        ([("none", 0.8)], NotHandledReason.UNSUPPORTED),
        ([("out_of_scope", 0.8)], NotHandledReason.OUT_OF_SCOPE),
        ([("documents", 0.1)], NotHandledReason.UNSUPPORTED),
        ([("image", 0.9)], NotHandledReason.UNSUPPORTED),
        ([("query:of_an_older_head", 0.9)], NotHandledReason.UNSUPPORTED),
        ([], NotHandledReason.UNSUPPORTED),
    ],
)
def test_what_nothing_answers_is_named_with_its_reason(
    pack: Pack, intents: list[tuple[str, float]], reason: NotHandledReason
) -> None:
    made = plan(decided(("hm", (), intents)), principal=RIDER, pack=pack, known=())
    assert [(left.text, left.reason) for left in made.not_handled] == [("hm", reason)]


def test_small_talk_and_a_call_for_a_person_need_no_task(pack: Pack) -> None:
    made = plan(
        decided(("hello", (), [("general:greeting", 0.9)]), ("a person", (), [("human", 0.9)])),
        principal=GUEST,
        pack=pack,
        known=(),
    )
    assert made.general == {"c1": "greeting"}
    assert made.human == ("c2",)
    assert made.tasks == ()


QUERY = Task(
    task_id="t1",
    task_type=TaskType.PREDEFINED_QUERY,
    tool="booking_state",
    clause_id="c1",
    arguments={"number": 4711},
)
FOLLOWING = Task(
    task_id="t2",
    task_type=TaskType.DOCUMENTS,
    tool="documents",
    clause_id="c1",
    arguments={"question": "rules", "entity_kind": "bike"},
    inputs={"entities": TaskInput(task_id="t1", column="bike")},
    dependencies=("t1",),
)


def changed(task: Task, **update: object) -> Task:
    return task.model_copy(update=update)


@pytest.mark.parametrize(
    ("made", "complaint"),
    [
        (Plan(tasks=(changed(QUERY, tool="drop_all"),)), "unknown query"),
        (Plan(tasks=(changed(QUERY, arguments={}),)), "takes"),
        (Plan(tasks=(changed(QUERY, arguments={"number": 1, "customer_id": "r2"}),)), "takes"),
        (Plan(tasks=(changed(QUERY, arguments={"number": "4711 OR 1=1"}),)), "not of type"),
        (Plan(tasks=(changed(QUERY, arguments={"number": True}),)), "not of type"),
        (Plan(tasks=(changed(QUERY, arguments={"number": None}),)), "not of type"),
        (Plan(tasks=(changed(QUERY, clause_id="c9"),)), "no clause"),
        (Plan(tasks=(QUERY, QUERY)), "same id"),
        (Plan(tasks=(FOLLOWING,)), "depends on"),
        (Plan(tasks=(QUERY, changed(FOLLOWING, dependencies=()))), "does not depend"),
        (Plan(tasks=(changed(QUERY, dependencies=("t2",)), FOLLOWING)), "wait for one another"),
        (Plan(tasks=(changed(QUERY, task_type=TaskType.ACTION, tool="refund_all"),)), "unknown action"),
        (Plan(tasks=(changed(FOLLOWING, inputs={}, dependencies=(), tool="web"),)), "unknown tool"),
        (Plan(tasks=tuple(changed(QUERY, task_id=f"t{n}") for n in range(4))), "more than 3"),
        (Plan(), "does not fit"),
        (Plan(general={"c1": "serenade"}), "unknown general reply"),
    ],
)
def test_a_plan_that_breaks_a_rule_is_refused(pack: Pack, made: Plan, complaint: str) -> None:
    decision = decided(("rules of 4711", (BOOKING,), [("query:booking_rules", 0.9)]))
    with pytest.raises(BadRequestError, match=complaint):
        validate(made, decision=decision, principal=RIDER, pack=pack)


def test_a_plan_for_another_kind_of_caller_is_refused(pack: Pack) -> None:
    decision = decided(("state of 4711", (BOOKING,), [("query:booking_state", 0.9)]))
    with pytest.raises(BadRequestError, match="may not run"):
        validate(Plan(tasks=(QUERY,)), decision=decision, principal=GUEST, pack=pack)


def test_what_was_read_can_be_planned(understand: Callable[[str], RouteDecision], pack: Pack) -> None:
    decision = understand("what is the state of booking 4711, what do its rules say, and cancel it")
    made = plan(decision, principal=RIDER, pack=pack, known=())
    assert [(task.tool, task.task_type) for task in made.tasks] == [
        ("booking_state", TaskType.PREDEFINED_QUERY),
        ("booking_rules", TaskType.PREDEFINED_QUERY),
        ("documents", TaskType.DOCUMENTS),
        ("cancel_booking", TaskType.ACTION),
    ]
    assert [task.arguments.get("number") for task in made.tasks[:2]] == [4711, 4711]


def test_two_things_compared_are_searched_for_each(pack: Pack) -> None:
    other = BIKE.model_copy(update={"value": "Falcon City 7", "text": "falcon"})
    clause = ("may the wren go abroad rather than the falcon", (BIKE, other), [("documents", 0.9)])
    made = plan(decided(clause), principal=RIDER, pack=pack, known=())
    assert [task.arguments["entity"] for task in made.tasks] == ["Wren Folding", "Falcon City 7"]
    assert made.not_handled == ()


def test_things_compared_beyond_the_limit_are_left_for_next(pack: Pack) -> None:
    bikes = tuple(BIKE.model_copy(update={"value": str(n), "text": str(n)}) for n in range(MAX_TOOL_TASKS + 1))
    made = plan(decided(("which of them", bikes, [("documents", 0.9)])), principal=RIDER, pack=pack, known=())
    assert len(made.tasks) == MAX_TOOL_TASKS
    assert [(left.text, left.reason) for left in made.not_handled] == [("3", NotHandledReason.OVER_LIMIT)]


@pytest.mark.parametrize("reason", ["not_wanted", "offer_declined", "nothing_asked"])
def test_what_rules_found_has_no_task(pack: Pack, reason: str) -> None:
    made = plan(decided(("don't", (), [(reason, 1.0)])), principal=RIDER, pack=pack, known=())
    assert made.tasks == ()
    assert [left.reason for left in made.not_handled] == [NotHandledReason(reason)]
