import pytest

from agents.waves import document_entities, document_question, resolve_inputs, waves
from contracts.base import Row
from contracts.documents import EntityRef
from contracts.errors import BadRequestError
from contracts.turns import Plan, Reason, Task, TaskInput, TaskStatus, TaskType, ToolResult


def task(task_id: str, *dependencies: str) -> Task:
    return Task(
        task_id=task_id,
        task_type=TaskType.DOCUMENTS,
        tool="documents",
        clause_id="c1",
        arguments={"question": "q", "entity_kind": "bike"},
        inputs={"entities": TaskInput(task_id=dependencies[0], column="bike")} if dependencies else {},
        dependencies=dependencies,
    )


def result(*rows: Row, status: TaskStatus = TaskStatus.SUCCESS) -> ToolResult:
    return ToolResult(
        task_id="a", task_type=TaskType.PREDEFINED_QUERY, tool="q", status=status, reason=Reason.OK, rows=rows
    )


def test_tasks_run_after_what_they_depend_on_and_side_by_side_otherwise() -> None:
    found = waves(Plan(tasks=(task("c", "a", "b"), task("a"), task("b"), task("d", "c"))))
    assert [[one.task_id for one in wave] for wave in found] == [["a", "b"], ["c"], ["d"]]


def test_an_empty_plan_has_no_waves() -> None:
    assert waves(Plan()) == []


def test_a_cycle_and_an_unknown_dependency_are_refused() -> None:
    with pytest.raises(BadRequestError, match="wait for one another"):
        waves(Plan(tasks=(task("a", "b"), task("b", "a"))))
    with pytest.raises(BadRequestError, match="does not have"):
        waves(Plan(tasks=(task("a", "z"),)))


def test_inputs_are_the_distinct_values_of_the_column() -> None:
    rows: tuple[Row, ...] = ({"bike": "B"}, {"bike": None}, {"bike": ["A", "B"]}, {"other": 1})
    assert resolve_inputs(task("x", "a"), {"a": result(*rows)}) == {"entities": ("B", "A")}


@pytest.mark.parametrize(
    "results", [{}, {"a": result()}, {"a": result({"bike": None})}, {"a": result(status=TaskStatus.FAILED)}]
)
def test_without_anything_to_read_the_task_fails_for_its_dependency(results: dict[str, ToolResult]) -> None:
    found = resolve_inputs(task("x", "a"), results)
    assert isinstance(found, ToolResult)
    assert (found.task_id, found.status, found.reason) == ("x", TaskStatus.FAILED, Reason.DEPENDENCY_FAILED)


def test_documents_are_asked_about_the_named_thing_or_those_of_the_rows() -> None:
    following = task("x", "a")
    assert document_entities(following, {"entities": ("A", "B")}) == (
        EntityRef(kind="bike", value="A"),
        EntityRef(kind="bike", value="B"),
    )
    named = following.model_copy(update={"arguments": {"question": "q", "entity_kind": "bike", "entity": "C"}})
    assert document_entities(named, {}) == (EntityRef(kind="bike", value="C"),)
    assert document_entities(following.model_copy(update={"arguments": {"question": "q"}}), {}) == ()


def test_documents_are_asked_about_what_the_named_thing_belongs_to_too() -> None:
    family = EntityRef(kind="family", value="F")
    named = task("x").model_copy(
        update={"arguments": {"question": "q", "entity_kind": "bike", "entity": "C"}, "related": (family,)}
    )
    assert document_entities(named, {}) == (EntityRef(kind="bike", value="C"), family)


def test_a_question_that_follows_rows_says_their_names_but_not_many_and_none_twice() -> None:
    following = task("x", "a").model_copy(update={"arguments": {"question": "is the wren safe", "entity_kind": "bike"}})
    assert document_question(following, {}) == "is the wren safe"
    assert document_question(following, {"entities": ("Wren",)}) == "is the wren safe"
    assert document_question(following, {"entities": ("Wren", "Heron")}) == "is the wren safe (Heron)"
    assert document_question(following, {"entities": tuple("BCDE")}) == "is the wren safe (B, C, D)"
