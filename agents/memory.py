"""What a session keeps of a turn: the exchange, what was spoken of, and the question that is open."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime

from agents.fit import query_named
from agents.lexicon import typed
from agents.summarizer import answered_by_rows
from agents.templates import format_date
from configs.packs.types import Pack
from contracts.base import Cell, Value
from contracts.documents import EntityRef
from contracts.sessions import Exchange, OfferedValue, OpenOffer, OpenQuestion, SessionState
from contracts.turns import (
    Clause,
    Entity,
    MissingSlot,
    NotHandledReason,
    Plan,
    Reason,
    Reply,
    RouteDecision,
    Task,
    TaskType,
    ToolResult,
)

#: Exchanges that a session remembers.
MAX_HISTORY = 10
#: Values spoken of that a session remembers.
MAX_ENTITIES = 20
#: Values to choose from that an open question remembers.
MAX_OFFERED = 60


def remember(
    state: SessionState,
    *,
    turn_id: str,
    message: str,
    decision: RouteDecision,
    plan: Plan,
    results: Mapping[str, ToolResult],
    reply: Reply,
    now: datetime,
    pack: Pack,
) -> SessionState:
    """The session after this turn. ``entities`` are kept latest first, each value once.

    A value that a query found nothing for is not kept: the next "it" should not mean what doesn't exist.
    """
    exchange = Exchange(turn_id=turn_id, at=now, message=message, reply=reply.text)
    unknown = _found_nothing(plan, results, pack)
    said = [
        entity
        for clause in reversed(decision.clauses)
        for entity in clause.entities
        if (entity.slot, entity.value) not in unknown
    ]
    handover_id = reply.handover_id or state.handover_id
    return state.model_copy(
        update={
            "updated_at": now,
            "locale": decision.language,
            "history": (*state.history, exchange)[-MAX_HISTORY:],
            "entities": _latest([*said, *_from_rows(plan, results, pack), *state.entities]),
            "open_question": _open_question(decision, plan, results, pack),
            "open_offers": _open_offers(message, decision, plan, results),
            "latest": _latest_request(decision, plan, pack) if plan.tasks else state.latest,
            "handover_id": handover_id,
        }
    )


def _latest(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Each value once, at its first place, as remembered from the session."""
    kept: dict[tuple[str, Value], Entity] = {}
    for entity in entities:
        remembered = entity.model_copy(update={"start": 0, "end": 0, "origin": "session"})
        kept.setdefault((entity.slot, entity.value), remembered)
    return tuple(kept.values())[:MAX_ENTITIES]


def _from_rows(plan: Plan, results: Mapping[str, ToolResult], pack: Pack) -> list[Entity]:
    """What the answers named: a column's value where all rows agree on it."""
    found: list[Entity] = []
    for task in reversed(plan.tasks):
        result = results.get(task.task_id)
        query = query_named(task.tool, pack) if task.task_type is TaskType.PREDEFINED_QUERY else None
        if result is None or query is None:
            continue
        agreed = {column: cell for column in query.entities if (cell := _agreed(column, result)) is not None}
        for column, value in agreed.items():
            slot = query.entities[column]
            parameter = pack.queries.parameters[slot]
            related = parameter.gazetteer.related if parameter.gazetteer else None
            others = {pack.queries.parameters[query.entities[other]].entity_kind: agreed[other] for other in agreed}
            group = others.get(related.kind) if related else None
            try:
                entity = Entity(
                    slot=slot,
                    value=typed(str(value), parameter.type),
                    text=str(value),
                    related=(EntityRef(kind=related.kind, value=str(group)),) if related and group is not None else (),
                )
            except ValueError:
                continue
            found.append(entity)
    return found


def _agreed(column: str, result: ToolResult) -> Value:
    """The column's value where all rows that have one agree on it."""
    cells = {cell for row in result.rows if not isinstance(cell := row.get(column), list | dict) and cell is not None}
    return cells.pop() if len(cells) == 1 else None


def _found_nothing(plan: Plan, results: Mapping[str, ToolResult], pack: Pack) -> set[tuple[str, Value]]:
    """Slots and values that were asked for and brought nothing."""
    found: set[tuple[str, Value]] = set()
    for task in plan.tasks:
        result = results.get(task.task_id)
        query = query_named(task.tool, pack) if task.task_type is TaskType.PREDEFINED_QUERY else None
        if query is not None and result is not None and result.reason is Reason.EMPTY:
            found |= {(query.parameters[name], value) for name, value in task.arguments.items()}
    return found


def _open_question(
    decision: RouteDecision, plan: Plan, results: Mapping[str, ToolResult], pack: Pack
) -> OpenQuestion | None:
    if not plan.missing:
        return None
    missing = plan.missing[0]
    text = _clause(missing.clause_id, decision).text
    offered = _offered(missing, decision.language, results, pack)
    return OpenQuestion(missing=missing, clause_text=text, offered=offered)


def _offered(
    missing: MissingSlot, language: str, results: Mapping[str, ToolResult], pack: Pack
) -> tuple[OfferedValue, ...]:
    """The values that were shown to choose from, each with the words of its row."""
    query = query_named(missing.choices_query or "", pack)
    found = next((result for result in results.values() if query and result.tool == query.name), None)
    column = next((name for name, slot in query.entities.items() if slot == missing.slot), None) if query else None
    if found is None or column is None:
        return ()
    kind = pack.queries.parameters[missing.slot].type
    offered: dict[Value, OfferedValue] = {}
    for row in found.rows:
        cell = row.get(column)
        if cell is None or isinstance(cell, list | dict):
            continue
        try:
            value = typed(str(cell), kind)
        except ValueError:
            continue
        words = " ".join(_in_words(other, language) for name, other in row.items() if name != column)
        offered.setdefault(value, OfferedValue(value=value, described=" ".join(words.split())))
    return tuple(offered.values())[:MAX_OFFERED]


def _in_words(cell: Cell, language: str) -> str:
    if cell is None or isinstance(cell, list | dict):
        return ""
    return format_date(cell, language) if isinstance(cell, date) else str(cell)


def _open_offers(
    message: str, decision: RouteDecision, plan: Plan, results: Mapping[str, ToolResult]
) -> tuple[OpenOffer, ...]:
    """What the reply offers: to look up what was too much for one turn, and to pass on what it could not answer."""
    offers: list[OpenOffer] = []
    over = [left.clause_id for left in plan.not_handled if left.reason is NotHandledReason.OVER_LIMIT]
    if over:
        clauses = tuple(_left_over(_clause(clause_id, decision), plan) for clause_id in dict.fromkeys(over))
        offers.append(OpenOffer(kind="look_up", message=message, clauses=clauses))
    offers_person = any(left.reason is NotHandledReason.UNSUPPORTED for left in plan.not_handled) or any(
        _is_unanswered(task, plan, results) for task in plan.tasks
    )
    if offers_person and not plan.human:
        offers.append(OpenOffer(kind="person", message=decision.earlier_message or message))
    return tuple(offers)


def _is_unanswered(task: Task, plan: Plan, results: Mapping[str, ToolResult]) -> bool:
    """Whether the reply says of the task that it can't be done or that no document answers it."""
    if task.task_type is TaskType.ACTION:
        return True
    result = results.get(task.task_id)
    nothing = (Reason.INSUFFICIENT_EVIDENCE, Reason.EMPTY)
    is_search = task.task_type is TaskType.DOCUMENTS
    return is_search and result is not None and result.reason in nothing and not answered_by_rows(task, plan, results)


def _left_over(clause: Clause, plan: Plan) -> Clause:
    """The clause less the values that its tasks have taken up, and less its vector."""
    used = [task for task in plan.tasks if task.clause_id == clause.clause_id]
    asked = {value for task in used for value in task.arguments.values()}
    left = tuple(entity for entity in clause.entities if entity.value not in asked)
    several = {entity.slot for entity in left}
    # A value that all of them share stays.
    kept = tuple(entity for entity in clause.entities if entity in left or entity.slot not in several)
    return clause.model_copy(update={"entities": kept, "vector": b""})


def _latest_request(decision: RouteDecision, plan: Plan, pack: Pack) -> OpenQuestion | None:
    """The last request that was looked up for one value."""
    for task in reversed(plan.tasks):
        query = query_named(task.tool, pack) if task.task_type is TaskType.PREDEFINED_QUERY else None
        if query is not None and len(query.parameters) == 1:
            (slot,) = query.parameters.values()
            missing = MissingSlot(clause_id=task.clause_id, tool=query.name, slot=slot)
            return OpenQuestion(missing=missing, clause_text=_clause(task.clause_id, decision).text)
    return None


def _clause(clause_id: str, decision: RouteDecision) -> Clause:
    return next(clause for clause in decision.clauses if clause.clause_id == clause_id)
