from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from authoring.run_tests import Answer, run_tests
from configs.packs.loader import load_pack
from configs.packs.types import Pack
from contracts.base import Row
from contracts.documents import Passage
from contracts.turns import (
    Clause,
    Plan,
    Reason,
    Reply,
    RouteDecision,
    RouteName,
    Source,
    Task,
    TaskStatus,
    TaskType,
    ToolResult,
)

RIGHT_ROW: Row = {"job_number": 101, "bicycle": "red city bike", "status": "ready", "ready_on": date(2026, 5, 2)}
RIGHT_TEXT = "We guarantee our work for six  months from the day you collect the bicycle."


@pytest.fixture
def pack(workshop: Path) -> Pack:
    return load_pack(workshop)


def answering(
    pack: Pack,
    *,
    rows: tuple[Row, ...] = (RIGHT_ROW,),
    text: str = RIGHT_TEXT,
    route: RouteName = RouteName.KNOWLEDGE,
    status: TaskStatus = TaskStatus.SUCCESS,
    cited: bool = True,
    tool: str = "repair_status",
) -> Answer:
    """Answers the workshop's two questions: the first by a query, the second by a document."""
    governance = next(d.governance for d in pack.documents if d.governance.document_id == "guarantee")
    passage = Passage(
        passage_id="1", document=governance, section="", ordinal=0, text=text, score=1, similarity=1, coverage=1
    )

    def answer(question: str, customer: str | None) -> tuple[RouteDecision, Plan, Mapping[str, ToolResult], Reply]:
        clause = Clause(clause_id="c1", text=question, masked=question)
        decision = RouteDecision(route=route, confidence=1, language="en", clauses=(clause,))
        documents = customer is None
        kind = TaskType.DOCUMENTS if documents else TaskType.PREDEFINED_QUERY
        name = "documents" if documents else tool
        result = ToolResult(
            task_id="t1",
            task_type=kind,
            tool=name,
            status=status,
            reason=Reason.OK,
            rows=() if documents else rows,
            passages=(passage,) if documents else (),
        )
        source = Source(source_id="s1", kind="document", title=governance.title)
        reply = Reply(text=text, language="en", sentences=(), sources=(source,) if documents and cited else ())
        plan = Plan(tasks=(Task(task_id="t1", task_type=kind, tool=name, clause_id="c1"),))
        return decision, plan, {"t1": result}, reply

    return answer


def test_right_answers_have_no_complaint(pack: Pack) -> None:
    assert run_tests(pack, answering(pack)) == []


def test_a_wrong_cell_is_told_at_the_expected_rows(pack: Pack) -> None:
    (complaint,) = run_tests(pack, answering(pack, rows=({**RIGHT_ROW, "status": "in work"},)))
    assert str(complaint) == ("tests.yaml:6: 'is job 101 ready?': row 1, status: is 'in work', expected 'ready'")


def test_a_row_too_many_is_told(pack: Pack) -> None:
    (complaint,) = run_tests(pack, answering(pack, rows=(RIGHT_ROW, RIGHT_ROW)))
    assert complaint.message.endswith("query repair_status returned 2 rows, expected 1")


def test_a_query_that_failed_is_told(pack: Pack) -> None:
    complaints = run_tests(pack, answering(pack, status=TaskStatus.FAILED))
    assert complaints[0].message.endswith("query repair_status ended as failed (ok)")


def test_another_query_is_told(pack: Pack) -> None:
    (complaint,) = run_tests(pack, answering(pack, tool="my_repairs"))
    assert complaint.message.endswith("query repair_status is not in the plan (my_repairs)")


def test_another_route_is_told_at_its_line(pack: Pack) -> None:
    complaints = run_tests(pack, answering(pack, route=RouteName.CLARIFY))
    assert [(complaint.line, complaint.message.split(": ")[-1]) for complaint in complaints] == [
        (4, "went the route clarify, expected knowledge"),
        (10, "went the route clarify, expected knowledge"),
    ]


def test_a_document_that_is_not_cited_is_told(pack: Pack) -> None:
    (complaint,) = run_tests(pack, answering(pack, cited=False))
    assert complaint.line == 12
    assert complaint.message.endswith("document guarantee was found but is not cited; cited: none")


def test_an_answer_that_leaves_the_fact_out_is_told(pack: Pack) -> None:
    (complaint,) = run_tests(pack, answering(pack, text="We guarantee our work."))
    assert complaint.message.endswith("the answer does not say 'six months'")
