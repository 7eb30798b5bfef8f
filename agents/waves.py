"""The order in which a plan's tasks run, and what a task reads from earlier ones."""

from collections.abc import Mapping

from contracts.base import Value
from contracts.documents import EntityRef
from contracts.errors import BadRequestError
from contracts.turns import Plan, Reason, Task, TaskStatus, ToolResult

#: Names of rows that a search's question is given at most: more would drown what is asked.
MAX_NAMES = 3


def waves(plan: Plan) -> list[tuple[Task, ...]]:
    """The tasks in waves: those of one wave run side by side, each after all that it depends on.

    Raises ``BadRequestError`` for a dependency that isn't in the plan and for a cycle.
    """
    known = {task.task_id for task in plan.tasks}
    for task in plan.tasks:
        if strange := set(task.dependencies) - known:
            raise BadRequestError(f"Task {task.task_id} depends on {sorted(strange)}, which the plan does not have.")
    ordered: list[tuple[Task, ...]] = []
    done: set[str] = set()
    left = list(plan.tasks)
    while left:
        wave = tuple(task for task in left if done.issuperset(task.dependencies))
        if not wave:
            raise BadRequestError(f"The tasks {sorted(task.task_id for task in left)} wait for one another.")
        ordered.append(wave)
        done.update(task.task_id for task in wave)
        left = [task for task in left if task.task_id not in done]
    return ordered


def resolve_inputs(task: Task, results: Mapping[str, ToolResult]) -> dict[str, tuple[Value, ...]] | ToolResult:
    """The values of the task's ``inputs``, distinct, in the order of the rows.

    Where a dependency brought nothing to read (it failed, or has no row with a value), the task can't
    run: a failed result with reason ``dependency_failed`` is returned in its place.
    """
    for dependency in task.dependencies:
        result = results.get(dependency)
        if result is None or result.status is TaskStatus.FAILED:
            return _dependency_failed(task, f"{dependency} did not succeed")
    values: dict[str, tuple[Value, ...]] = {}
    for name, source in task.inputs.items():
        cells: dict[Value, None] = {}
        for row in results[source.task_id].rows:
            cell = row.get(source.column)
            for value in cell if isinstance(cell, list) else [cell]:
                if value is not None and not isinstance(value, list | dict):
                    cells.setdefault(value)
        if not cells:
            return _dependency_failed(task, f"{source.task_id} brought no {source.column}")
        values[name] = tuple(cells)
    return values


def document_entities(task: Task, inputs: Mapping[str, tuple[Value, ...]]) -> tuple[EntityRef, ...]:
    """What a documents task is about, as documents are filed; empty for a question about nothing in particular."""
    kind = task.arguments.get("entity_kind")
    if not isinstance(kind, str):
        return ()
    named = task.arguments.get("entity")
    values = inputs.get("entities", ()) if named is None else (named,)
    return (*(EntityRef(kind=kind, value=str(value)) for value in values), *task.related)


def document_question(task: Task, inputs: Mapping[str, tuple[Value, ...]]) -> str:
    """What a documents task searches for: its question, with the names that the rows gave where it lacks them."""
    question = str(task.arguments["question"])
    names = [str(value) for value in inputs.get("entities", ()) if str(value).casefold() not in question.casefold()]
    return f"{question} ({', '.join(names[:MAX_NAMES])})" if names else question


def _dependency_failed(task: Task, why: str) -> ToolResult:
    return ToolResult(
        task_id=task.task_id,
        task_type=task.task_type,
        tool=task.tool,
        status=TaskStatus.FAILED,
        reason=Reason.DEPENDENCY_FAILED,
        error_msg=why,
    )
