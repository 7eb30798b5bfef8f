"""Runs a plan's tasks, wave by wave. Each task ends in a result, whatever happens to it."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from agents.documents import judge
from agents.planner import MAX_TOOL_TASKS, tool_tasks
from agents.waves import document_entities, document_question, resolve_inputs, waves
from contracts.base import Value
from contracts.clock import Deadline
from contracts.errors import DeniedError, FrontlineError, OutOfTimeError, OverLimitError
from contracts.turns import Plan, Reason, Source, Task, TaskStatus, TaskType, ToolResult
from serve_app.workflow.state import TurnContext

_log = logging.getLogger(__name__)

#: Which error becomes which reason; any other of our family is ``unavailable``.
_REASONS: dict[type[FrontlineError], Reason] = {
    DeniedError: Reason.DENIED,
    OutOfTimeError: Reason.TIMEOUT,
    OverLimitError: Reason.OVER_LIMIT,
}

Report = Callable[[ToolResult], Awaitable[None]]


def with_choices(plan: Plan) -> Plan:
    """The plan, as far as there is room, with the queries that list what its questions back can be answered with."""
    names = dict.fromkeys(missing.choices_query for missing in plan.missing if missing.choices_query is not None)
    clauses = {missing.choices_query: missing.clause_id for missing in plan.missing}
    choices = [
        Task(task_id=f"choices:{name}", task_type=TaskType.PREDEFINED_QUERY, tool=name, clause_id=clauses[name])
        for name in names
    ]
    room = max(0, MAX_TOOL_TASKS - tool_tasks(plan.tasks))
    return plan.model_copy(update={"tasks": (*plan.tasks, *choices[:room])})


async def run_tasks(plan: Plan, turn: TurnContext, deadline: Deadline, report: Report) -> dict[str, ToolResult]:
    """Results of all tasks by id. Those of a wave run side by side; each is reported when it ends."""
    results: dict[str, ToolResult] = {}
    for wave in waves(plan):
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(_run(task, results, turn, deadline, report)) for task in wave]
        results |= {result.task_id: result for result in (task.result() for task in running)}
    return results


async def _run(
    task: Task, results: Mapping[str, ToolResult], turn: TurnContext, deadline: Deadline, report: Report
) -> ToolResult:
    started = time.perf_counter()
    try:
        result = await _attempt(task, results, turn, deadline)
    except FrontlineError as error:
        _log.warning("task %s (%s) failed: %s", task.task_id, task.tool, error.detail)
        reasons = (reason for kind, reason in _REASONS.items() if isinstance(error, kind))
        result = _failed(task, next(reasons, Reason.UNAVAILABLE), error.detail)
    except Exception as error:
        _log.exception("task %s (%s) failed", task.task_id, task.tool)
        result = _failed(task, Reason.UNAVAILABLE, repr(error))
    result = result.model_copy(update={"latency_ms": round((time.perf_counter() - started) * 1000, 2)})
    await report(result)
    return result


async def _attempt(task: Task, results: Mapping[str, ToolResult], turn: TurnContext, deadline: Deadline) -> ToolResult:
    inputs = resolve_inputs(task, results)
    if isinstance(inputs, ToolResult):
        return inputs
    match task.task_type:
        case TaskType.PREDEFINED_QUERY:
            return await _query(task, turn, deadline)
        case TaskType.DOCUMENTS:
            return await _documents(task, inputs, turn, deadline)
        case TaskType.ACTION:
            return _failed(task, Reason.UNSUPPORTED, "no action can be carried out")


async def _query(task: Task, turn: TurnContext, deadline: Deadline) -> ToolResult:
    query = turn.queries[task.tool]
    rows = await turn.parts.query(turn.call, deadline, query.cypher, task.arguments)
    return ToolResult(
        task_id=task.task_id,
        task_type=task.task_type,
        tool=task.tool,
        status=TaskStatus.SUCCESS,
        reason=Reason.OK if rows else Reason.EMPTY,
        rows=rows,
        evidence=(Source(source_id=f"graph:{task.task_id}", kind="graph", title=query.description),),
    )


async def _documents(
    task: Task, inputs: Mapping[str, tuple[Value, ...]], turn: TurnContext, deadline: Deadline
) -> ToolResult:
    question = document_question(task, inputs)
    entities = document_entities(task, inputs)
    passages = await turn.parts.search(turn.call, deadline, question, entities)
    return judge(task, question, passages, entities)


def _failed(task: Task, reason: Reason, error_msg: str) -> ToolResult:
    return ToolResult(
        task_id=task.task_id,
        task_type=task.task_type,
        tool=task.tool,
        status=TaskStatus.FAILED,
        reason=reason,
        error_msg=error_msg,
    )
