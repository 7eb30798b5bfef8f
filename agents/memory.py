"""What a session keeps of a turn: the exchange, what was spoken of, and the question that is open."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from agents.fit import query_named
from agents.lexicon import typed
from configs.packs.types import Pack
from contracts.base import Value
from contracts.documents import EntityRef
from contracts.sessions import Exchange, OpenQuestion, SessionState
from contracts.turns import Entity, Plan, Reason, Reply, RouteDecision, TaskType, ToolResult

#: Exchanges that a session remembers.
MAX_HISTORY = 10
#: Values spoken of that a session remembers.
MAX_ENTITIES = 20


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
            "open_question": _open_question(decision, plan),
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
    cells = {cell for row in result.rows if not isinstance(cell := row.get(column), list) and cell is not None}
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


def _open_question(decision: RouteDecision, plan: Plan) -> OpenQuestion | None:
    if not plan.missing:
        return None
    missing = plan.missing[0]
    text = next(clause.text for clause in decision.clauses if clause.clause_id == missing.clause_id)
    return OpenQuestion(missing=missing, clause_text=text)
