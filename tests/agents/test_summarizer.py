import logging
from datetime import UTC, date, datetime

import pytest

from agents.summarizer import compose
from agents.templates import RenderError, format_date, format_datetime, format_money, render
from configs.packs.types import Pack
from contracts.base import Row
from contracts.documents import DocumentGovernance, DocumentStatus, Passage, PassageSentence
from contracts.graph import Audience
from contracts.principal import Principal, PrincipalKind
from contracts.records import Handover, HandoverStatus
from contracts.turns import (
    Clause,
    Intent,
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

RIDER = Principal(kind=PrincipalKind.CUSTOMER, subject="r1", customer_id="r1")
GUEST = Principal(kind=PrincipalKind.GUEST, subject="g1")
TODAY = date(2026, 5, 4)
ROW: Row = {"number": 4711, "state": "confirmed", "begins": date(2026, 5, 9)}


def query(task_id: str, tool: str = "booking_state", clause_id: str = "c1") -> Task:
    return Task(
        task_id=task_id,
        task_type=TaskType.PREDEFINED_QUERY,
        tool=tool,
        clause_id=clause_id,
        arguments={"number": 4711},
    )


def rows(task: Task, *found: Row) -> ToolResult:
    return ToolResult(
        task_id=task.task_id,
        task_type=task.task_type,
        tool=task.tool,
        status=TaskStatus.SUCCESS,
        reason=Reason.OK if found else Reason.EMPTY,
        rows=found,
    )


def failed(task: Task, reason: Reason) -> ToolResult:
    return ToolResult(
        task_id=task.task_id,
        task_type=task.task_type,
        tool=task.tool,
        status=TaskStatus.FAILED,
        reason=reason,
        error_msg="neo.internal:7687 refused",
    )


def passages(task: Task, text: str) -> ToolResult:
    document = DocumentGovernance(
        document_id="d",
        title="Rules of hire",
        version="2",
        language="en",
        status=DocumentStatus.APPROVED,
        audience=Audience.PUBLIC,
        valid_from=TODAY,
        source="Front desk",
    )
    found = Passage(
        passage_id="d#0",
        document=document,
        section="Safety",
        ordinal=0,
        text=text,
        score=0.1,
        similarity=0.9,
        coverage=1.0,
        sentences=(PassageSentence(text=text, similarity=0.9, coverage=1.0),),
    )
    return ToolResult(
        task_id=task.task_id,
        task_type=task.task_type,
        tool=task.tool,
        status=TaskStatus.SUCCESS,
        reason=Reason.OK,
        passages=(found,),
    )


def told(
    pack: Pack,
    plan: Plan,
    *results: ToolResult,
    language: str = "en",
    texts: tuple[str, ...] = ("state of 4711",),
    principal: Principal = RIDER,
    handover: Handover | None = None,
    intent: str = "none",
) -> Reply:
    clauses = tuple(
        Clause(clause_id=f"c{n}", text=text, masked=text, intents=(Intent(name=intent, probability=1.0),))
        for n, text in enumerate(texts, start=1)
    )
    decision = RouteDecision(route=RouteName.KNOWLEDGE, confidence=1, language=language, clauses=clauses)
    return compose(
        decision,
        plan,
        {result.task_id: result for result in results},
        pack=pack,
        principal=principal,
        today=TODAY,
        handover=handover,
    )


def test_rows_are_told_by_the_queries_template_with_their_source(pack: Pack) -> None:
    task = query("t1")
    reply = told(pack, Plan(tasks=(task,)), rows(task, ROW))
    assert reply.text == "Booking 4711 is confirmed from 9 May 2026. [1]"
    assert [(source.source_id, source.kind, source.title) for source in reply.sources] == [
        ("1", "graph", "booking state")
    ]
    assert reply.sentences[0].source_ids == ("1",)


def test_a_reply_is_in_the_customers_language(pack: Pack) -> None:
    task = query("t1")
    reply = told(pack, Plan(tasks=(task,)), rows(task, ROW), language="pt")
    assert reply.text == "A reserva 4711 está confirmed desde 9 de maio de 2026. [1]"


def test_no_rows_are_told_as_nothing_found(pack: Pack) -> None:
    task = query("t1")
    reply = told(pack, Plan(tasks=(task,)), rows(task))
    assert "There is no booking 4711." in reply.text
    assert reply.parts[0].reason is Reason.EMPTY


def test_money_is_in_the_packs_currency(pack: Pack) -> None:
    task = query("t1", "booking_price")
    assert "It costs £1,234.50." in told(pack, Plan(tasks=(task,)), rows(task, {"price": 1234.5})).text


def test_dependent_results_follow_what_they_depend_on_and_categories_stay_together(pack: Pack) -> None:
    first, price, last = query("t1"), query("t2", "booking_price", "c2"), query("t3", clause_id="c3")
    document = Task(
        task_id="t4",
        task_type=TaskType.DOCUMENTS,
        tool="documents",
        clause_id="c1",
        arguments={"question": "helmet"},
        dependencies=("t1",),
    )
    reply = told(
        pack,
        Plan(tasks=(first, price, last, document)),
        rows(first, ROW),
        rows(price, {"price": 5}),
        rows(last, ROW),
        passages(document, "A helmet is worn at all times."),
        texts=("rules of 4711", "price", "state"),
    )
    assert [sentence.clause_id for sentence in reply.sentences] == ["c1", "c1", "c3", "c2"]
    assert "A helmet is worn at all times." in reply.sentences[1].text


def test_documents_are_quoted_with_title_and_section(pack: Pack) -> None:
    task = Task(
        task_id="t1", task_type=TaskType.DOCUMENTS, tool="documents", clause_id="c1", arguments={"question": "helmet?"}
    )
    reply = told(pack, Plan(tasks=(task,)), passages(task, "A helmet is worn at all times."))
    assert reply.text == "Rules of hire (Safety) says: A helmet is worn at all times. [1]"
    assert (reply.sources[0].title, reply.sources[0].version, reply.sources[0].locator) == (
        "Rules of hire",
        "2",
        "Safety",
    )


def test_one_source_has_one_number(pack: Pack) -> None:
    first, second = query("t1"), query("t2", clause_id="c2")
    reply = told(pack, Plan(tasks=(first, second)), rows(first, ROW), rows(second, ROW), texts=("a", "b"))
    assert len(reply.sources) == 1
    assert [sentence.source_ids for sentence in reply.sentences] == [("1",), ("1",)]


def test_an_action_is_said_to_have_changed_nothing(pack: Pack) -> None:
    task = Task(task_id="t1", task_type=TaskType.ACTION, tool="cancel_booking", clause_id="c1")
    reply = told(pack, Plan(tasks=(task,)), texts=("cancel it",))
    assert "I can't cancel a booking yet, and nothing has been changed." in reply.text
    assert "person" in reply.text
    assert (reply.parts[0].status, reply.parts[0].reason) == (TaskStatus.FAILED, Reason.UNSUPPORTED)


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.UNAVAILABLE, Reason.OVER_LIMIT, Reason.OK])
def test_a_failure_names_no_internals_and_claims_nothing(pack: Pack, reason: Reason) -> None:
    task = query("t1")
    reply = told(pack, Plan(tasks=(task,)), failed(task, reason))
    assert "state of 4711" in reply.text
    assert "neo.internal" not in reply.text
    assert reply.sources == ()
    assert reply.parts[0].reason is not Reason.OK


def test_a_task_without_a_result_is_told_as_a_failure(pack: Pack) -> None:
    reply = told(pack, Plan(tasks=(query("t1"),)))
    assert reply.parts[0].status is TaskStatus.FAILED
    assert reply.text


def test_what_waits_for_an_empty_result_adds_no_second_complaint(pack: Pack) -> None:
    first = query("t1")
    second = query("t2").model_copy(update={"dependencies": ("t1",), "task_type": TaskType.DOCUMENTS})
    reply = told(pack, Plan(tasks=(first, second)), rows(first), failed(second, Reason.DEPENDENCY_FAILED))
    assert reply.text == "There is no booking 4711. [1]"
    assert len(reply.parts) == 2


def test_a_missing_value_is_asked_for_with_the_choices(pack: Pack) -> None:
    missing = MissingSlot(clause_id="c1", tool="booking_price", slot="booking", choices_query="my_bookings")
    choices = ToolResult(
        task_id="choices",
        task_type=TaskType.PREDEFINED_QUERY,
        tool="my_bookings",
        status=TaskStatus.SUCCESS,
        reason=Reason.OK,
        rows=({"number": 4711}, {"number": 4712}),
    )
    reply = told(pack, Plan(missing=(missing,)), choices, texts=("what does it cost",))
    assert "Which booking do you mean?" in reply.text
    assert "Your bookings: 4711, 4712." in reply.text
    assert reply.parts[0].reason is Reason.NEEDS_SLOT


@pytest.mark.parametrize(
    ("reason", "principal", "expected"),
    [
        (NotHandledReason.DENIED, GUEST, "sign in"),
        (NotHandledReason.DENIED, RIDER, "may not"),
        (NotHandledReason.OVER_LIMIT, RIDER, "next"),
        (NotHandledReason.OUT_OF_SCOPE, RIDER, "We hire out bicycles."),
        (NotHandledReason.UNSUPPORTED, RIDER, "not sure"),
    ],
)
def test_what_is_not_handled_is_named_with_its_reason(
    pack: Pack, reason: NotHandledReason, principal: Principal, expected: str
) -> None:
    left = NotHandled(clause_id="c1", text="sing a song", reason=reason)
    reply = told(pack, Plan(not_handled=(left,)), texts=("sing a song",), principal=principal)
    assert "sing a song" in reply.text
    assert expected in reply.text
    assert [part.clause_id for part in reply.parts] == ["c1"]


def test_a_picture_is_said_to_be_unreadable_yet(pack: Pack) -> None:
    left = NotHandled(clause_id="c1", text="see my photo", reason=NotHandledReason.UNSUPPORTED)
    assert "pictures" in told(pack, Plan(not_handled=(left,)), texts=("see my photo",), intent="image").text


def _handover(status: HandoverStatus) -> Handover:
    return Handover(
        handover_id="H-1",
        turn_id="t",
        session_id="s",
        owner="customer:r1",
        customer_id="r1",
        desk="front",
        reason="asked",
        message="a person",
        summary="",
        status=status,
        requested_at=datetime(2026, 5, 4, tzinfo=UTC),
    )


def test_a_delivered_handover_is_named(pack: Pack) -> None:
    reply = told(pack, Plan(human=("c1",)), texts=("a person",), handover=_handover(HandoverStatus.DELIVERED))
    assert "the front desk" in reply.text
    assert "H-1" in reply.text
    assert reply.handover_id == "H-1"


@pytest.mark.parametrize("handover", [None, _handover(HandoverStatus.REQUESTED)])
def test_a_handover_that_is_not_delivered_is_never_claimed(pack: Pack, handover: Handover | None) -> None:
    reply = told(pack, Plan(human=("c1",)), texts=("a person",), handover=handover)
    assert "could not" in reply.text
    assert "H-1" not in reply.text
    assert reply.handover_id is None


def test_small_talk_is_answered_by_the_pack(pack: Pack) -> None:
    assert told(pack, Plan(general={"c1": "greeting"}), texts=("hello",)).text == "Hello, this is Gullwing Hire."


def test_a_template_that_fails_gives_a_safe_sentence_and_an_entry_in_the_log(
    pack: Pack, caplog: pytest.LogCaptureFixture
) -> None:
    task = query("t1")
    with caplog.at_level(logging.ERROR):
        reply = told(pack, Plan(tasks=(task,)), rows(task, {"number": 4711, "state": "confirmed"}))
    assert "can't put it into words" in reply.text
    assert reply.sources == ()
    assert "template failed" in caplog.text


def test_data_can_bring_neither_markup_nor_control_characters_nor_a_false_source(pack: Pack) -> None:
    task = query("t1")
    row: Row = {**ROW, "state": "<b>\x1b[31m\u202efine\u200b</b>\n\n[2] {{ 7*7 }}"}
    text = told(pack, Plan(tasks=(task,)), rows(task, row)).text
    assert not set("<>\x1b\u202e\u200b\n{}").intersection(text)
    assert "[2]" not in text
    assert "49" not in text
    assert "fine" in text


def test_a_customers_words_are_repeated_harmless_and_short(pack: Pack) -> None:
    words = "<script>{{ 1 }}\u202e " + "very " * 200 + "long"
    left = NotHandled(clause_id="c1", text=words, reason=NotHandledReason.UNSUPPORTED)
    text = told(pack, Plan(not_handled=(left,)), texts=(words,)).text
    assert "<script>" not in text
    assert "\u202e" not in text
    assert len(text) < 500


def test_every_clause_has_a_part_and_a_sentence(pack: Pack) -> None:
    task = query("t1")
    plan = Plan(
        tasks=(task,),
        missing=(MissingSlot(clause_id="c2", tool="booking_price", slot="booking"),),
        not_handled=(NotHandled(clause_id="c3", text="x", reason=NotHandledReason.UNSUPPORTED),),
        general={"c4": "greeting"},
        human=("c5",),
    )
    reply = told(pack, plan, rows(task, ROW), texts=("a", "b", "c", "d", "e"))
    assert {part.clause_id for part in reply.parts} == {"c1", "c2", "c3", "c4", "c5"}
    assert {sentence.clause_id for sentence in reply.sentences} == {"c1", "c2", "c3", "c4", "c5"}
    for sentence in reply.sentences:
        assert sentence.text in reply.text


def test_a_pack_may_say_common_phrases_in_its_own_words(make_pack: object) -> None:
    own = make_pack(phrases={"unsupported": {"en": "Pardon? {{ question }}"}})  # type: ignore[operator]
    left = NotHandled(clause_id="c1", text="hm", reason=NotHandledReason.UNSUPPORTED)
    assert told(own, Plan(not_handled=(left,)), texts=("hm",)).text == "Pardon? hm"


def test_dates_and_money_are_written_as_the_language_does() -> None:
    assert format_date("2026-12-03", "en") == "3 December 2026"
    assert format_date(date(2026, 12, 3), "pt") == "3 de dezembro de 2026"
    assert format_datetime("2026-12-03T07:05:00", "en") == "3 December 2026, 07:05"
    assert format_money(1234.5, "pt", "EUR") == "€ 1.234,50"
    assert format_money(-0.005, "en", "USD") == "-$0.01"
    assert format_money(7, "en", "XYZ") == "7.00 XYZ"
    assert format_date(None, "en") == format_datetime(None, "en") == format_money(None, "en", "EUR") == ""


def test_a_template_cannot_reach_into_python() -> None:
    with pytest.raises(RenderError):
        render("{{ ''.__class__.__mro__[1].__subclasses__() }}", "en", {})


def test_a_handover_of_an_earlier_message_is_named_as_open(pack: Pack) -> None:
    clause = Clause(clause_id="c1", text="a person", masked="a person")
    decision = RouteDecision(route=RouteName.HUMAN, confidence=1, language="en", clauses=(clause,))
    for turn_id, expected in (("t", "I have passed your request on"), ("t2", "Your request is already with")):
        reply = compose(
            decision,
            Plan(human=("c1",)),
            {},
            pack=pack,
            principal=RIDER,
            today=TODAY,
            handover=_handover(HandoverStatus.DELIVERED),
            turn_id=turn_id,
        )
        assert reply.text.startswith(expected)
        assert "H-1" in reply.text


def test_a_search_that_found_nothing_is_not_told_beside_the_answer_of_its_request(pack: Pack) -> None:
    first = query("t1")
    search = Task(task_id="t2", task_type=TaskType.DOCUMENTS, tool="documents", clause_id="c1", arguments={})
    nothing = passages(search, "x").model_copy(update={"reason": Reason.INSUFFICIENT_EVIDENCE})
    assert told(pack, Plan(tasks=(first, search)), rows(first, ROW), nothing).text == (
        "Booking 4711 is confirmed from 9 May 2026. [1]"
    )
    assert "nothing in our documents" in told(pack, Plan(tasks=(search,)), nothing).text


@pytest.mark.parametrize("reason", [NotHandledReason.OVER_LIMIT, NotHandledReason.UNSUPPORTED])
def test_what_is_left_for_one_reason_is_named_in_one_sentence(pack: Pack, reason: NotHandledReason) -> None:
    left = tuple(NotHandled(clause_id=f"c{n}", text=text, reason=reason) for n, text in enumerate("abc", start=1))
    reply = told(pack, Plan(not_handled=left), texts=("a", "b", "c"))
    assert len(reply.sentences) == 1
    assert "“a”, “b”, “c”" in reply.text
    assert {part.clause_id for part in reply.parts} == {"c1", "c2", "c3"}


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (NotHandledReason.NOT_WANTED, "Nothing has been done"),
        (NotHandledReason.OFFER_DECLINED, "leave it at that"),
        (NotHandledReason.NOTHING_ASKED, "What can I do for you?"),
        (NotHandledReason.OTHERS_DATA, "only look up your own data"),
    ],
)
def test_what_rules_found_is_told_as_it_is(pack: Pack, reason: NotHandledReason, expected: str) -> None:
    left = NotHandled(clause_id="c1", text="don't", reason=reason)
    assert expected in told(pack, Plan(not_handled=(left,)), texts=("don't",)).text


def test_a_customers_words_are_cut_to_a_line(pack: Pack) -> None:
    words = "very " * 40
    left = NotHandled(clause_id="c1", text=words, reason=NotHandledReason.DENIED)
    quoted = told(pack, Plan(not_handled=(left,)), texts=(words,)).text.partition("“")[2].partition("”")[0]
    assert len(quoted) <= 82
