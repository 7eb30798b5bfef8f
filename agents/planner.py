"""From what was read to tasks: which tool answers each clause, with which arguments, in which order.

No clause is dropped: each has a task, a missing slot, a general reply, a handover, or is named as not
handled with the reason. :func:`validate` holds every plan to that before anything runs.
"""

from collections.abc import Iterable, Mapping

from agents.fit import BY_RULE, DOCUMENTS, HUMAN, IMAGE, Judged, action_named, general_named, judge_intents, query_named
from agents.language import all_of, load_language, words
from agents.lexicon import typed
from agents.waves import waves
from agents.whose import names_another_account, names_somebody
from configs.packs.types import Pack, ParameterType, PredefinedQuery
from contracts.base import Value
from contracts.errors import BadRequestError
from contracts.graph import Audience, PropertyType
from contracts.principal import Principal, PrincipalKind
from contracts.turns import (
    Clause,
    Entity,
    MissingSlot,
    NotHandled,
    NotHandledReason,
    Plan,
    RouteDecision,
    Task,
    TaskInput,
    TaskType,
)

#: Tool tasks (queries and document searches) of one turn. The rest is named and offered next.
MAX_TOOL_TASKS = 3
#: The name of the tool that searches the documents.
DOCUMENTS_TOOL = "documents"


class _Draft:
    """A plan in the making."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.missing: list[MissingSlot] = []
        self.not_handled: list[NotHandled] = []
        self.general: dict[str, str] = {}
        self.human: list[str] = []

    def next_id(self) -> str:
        return f"t{len(self.tasks) + 1}"

    def room(self) -> int:
        """How many tool tasks may still be added."""
        return MAX_TOOL_TASKS - tool_tasks(self.tasks)

    def refuse(self, clause: Clause, reason: NotHandledReason, text: str | None = None) -> None:
        self.not_handled.append(NotHandled(clause_id=clause.clause_id, text=text or clause.text, reason=reason))

    def finished(self) -> Plan:
        return Plan(
            tasks=tuple(self.tasks),
            missing=tuple(self.missing),
            not_handled=tuple(self.not_handled),
            general=self.general,
            human=tuple(self.human),
        )


def tool_tasks(tasks: Iterable[Task]) -> int:
    """How many of the tasks call a tool (actions are answered without one)."""
    return sum(task.task_type is not TaskType.ACTION for task in tasks)


def may_run(query: PredefinedQuery, principal: Principal) -> bool:
    """Whether this principal may ask this query at all. Whose rows come back is the proof's matter, not this one's."""
    match query.audience:
        case Audience.PUBLIC:
            return True
        case Audience.CUSTOMER:
            return principal.customer_id is not None
        case Audience.STAFF:
            return principal.kind in (PrincipalKind.AGENT, PrincipalKind.ADMIN)


def plan(decision: RouteDecision, *, principal: Principal, pack: Pack, known: tuple[Entity, ...]) -> Plan:
    """A valid plan for the decision. ``known`` are the values the session spoke of, latest first."""
    draft = _Draft()
    for clause in decision.clauses:
        _plan_clause(draft, clause, principal, pack, known)
    made = draft.finished()
    validate(made, decision=decision, principal=principal, pack=pack)
    return made


def _plan_clause(draft: _Draft, clause: Clause, principal: Principal, pack: Pack, known: tuple[Entity, ...]) -> None:
    own = tuple(entity for entity in clause.entities if entity.origin != "clause")
    carried = tuple(entity for entity in clause.entities if entity.origin == "clause")
    judged = judge_intents(clause.intents, own, (*carried, *known), pack)
    if not judged or not judged[0].is_sure:
        if _asks_of_another(clause, judged, principal, pack):
            draft.refuse(clause, NotHandledReason.OTHERS_DATA)
            return
        out_of_scope = bool(judged) and judged[0].name == NotHandledReason.OUT_OF_SCOPE.value
        draft.refuse(clause, NotHandledReason.OUT_OF_SCOPE if out_of_scope else NotHandledReason.UNSUPPORTED)
        return
    best = judged[0]
    name = best.name.partition(":")[2]
    match best.kind:
        case "query":
            _plan_query(draft, clause, best, principal, pack, known)
        case "action":
            arguments = {entity.slot: entity.value for entity in reversed(clause.entities)}
            draft.tasks.append(
                Task(
                    task_id=draft.next_id(),
                    task_type=TaskType.ACTION,
                    tool=name,
                    clause_id=clause.clause_id,
                    arguments=arguments,
                )
            )
        case "general":
            draft.general[clause.clause_id] = name
        case kind if kind == DOCUMENTS:
            _plan_documents(draft, clause, pack, known)
        case kind if kind == HUMAN:
            draft.human.append(clause.clause_id)
        case kind if kind == IMAGE:
            draft.refuse(clause, NotHandledReason.UNSUPPORTED)
        case kind if kind in BY_RULE:
            draft.refuse(clause, NotHandledReason(kind))
        case kind:
            raise AssertionError(f"judge_intents let through {kind}")


def _plan_query(
    draft: _Draft, clause: Clause, best: Judged, principal: Principal, pack: Pack, known: tuple[Entity, ...]
) -> None:
    query = query_named(best.name.partition(":")[2], pack)
    assert query is not None  # judge_intents keeps only what the pack has
    if not may_run(query, principal):
        draft.refuse(clause, NotHandledReason.DENIED)
        return
    if query.audience is Audience.CUSTOMER and (
        names_another_account(clause, principal, pack) or names_somebody(clause, pack)
    ):
        draft.refuse(clause, NotHandledReason.OTHERS_DATA)
        return
    if best.missing:
        _ask(draft, clause, query, best.missing[0], principal, pack)
        return
    cost = 1 + (query.follow is not None)
    asked = _arguments(query, (*clause.entities, *known))
    left_out: list[str] = []
    for arguments, said in asked:
        if draft.room() < cost:
            left_out.append(said)
            continue
        task = Task(
            task_id=draft.next_id(),
            task_type=TaskType.PREDEFINED_QUERY,
            tool=query.name,
            clause_id=clause.clause_id,
            arguments=arguments,
        )
        draft.tasks.append(task)
        if query.follow is not None:
            draft.tasks.append(
                Task(
                    task_id=draft.next_id(),
                    task_type=TaskType.DOCUMENTS,
                    tool=DOCUMENTS_TOOL,
                    clause_id=clause.clause_id,
                    arguments={"question": clause.text, "entity_kind": query.follow.entity_kind},
                    inputs={"entities": TaskInput(task_id=task.task_id, column=query.follow.column)},
                    dependencies=(task.task_id,),
                )
            )
    if left_out:
        named = clause.text if len(left_out) == len(asked) else ", ".join(left_out)
        draft.refuse(clause, NotHandledReason.OVER_LIMIT, named)


def _asks_of_another(clause: Clause, judged: Iterable[Judged], principal: Principal, pack: Pack) -> bool:
    """Whether a clause that nothing answers names another account, or sounds a little like a question for a
    customer's data and names somebody."""
    if principal.customer_id is None:
        return False
    if names_another_account(clause, principal, pack):
        return True
    queries = (query_named(found.name.partition(":")[2], pack) for found in judged if found.kind == "query")
    return any(query and query.audience is Audience.CUSTOMER for query in queries) and names_somebody(clause, pack)


def _ask(draft: _Draft, clause: Clause, query: PredefinedQuery, slot: str, principal: Principal, pack: Pack) -> None:
    """Ask back for the slot, naming the query that lists what there is to choose from, where this caller may run it."""
    choices = query_named(pack.queries.parameters[slot].choices or "", pack)
    if choices is not None and (choices.parameters or not may_run(choices, principal)):
        choices = None
    draft.missing.append(
        MissingSlot(
            clause_id=clause.clause_id,
            tool=query.name,
            slot=slot,
            choices_query=choices.name if choices else None,
        )
    )


def _arguments(query: PredefinedQuery, entities: tuple[Entity, ...]) -> list[tuple[dict[str, Value], str]]:
    """One set of arguments for each thing asked about, with the words that named it.

    Only values of the clause itself multiply ("10012 and 10015"); a carried or remembered one fills in.
    """
    by_slot: dict[str, list[Entity]] = {}
    for entity in entities:
        held = by_slot.setdefault(entity.slot, [])
        is_own = entity.origin in ("pattern", "gazetteer")
        may_join = not held or (is_own and held[0].origin in ("pattern", "gazetteer"))
        if may_join and all(entity.value != other.value for other in held):
            held.append(entity)
    slots = list(query.parameters.values())
    several = next((slot for slot in slots if slots.count(slot) == 1 and len(by_slot[slot]) > 1), None)
    sets: list[tuple[dict[str, Value], str]] = []
    for one in by_slot[several] if several else [None]:
        arguments: dict[str, Value] = {}
        used: dict[str, int] = {}
        for parameter, slot in query.parameters.items():
            if one is not None and slot == several:
                arguments[parameter] = one.value
                continue
            # Two parameters of one type take the values in the order they were said.
            at = min(used.get(slot, 0), len(by_slot[slot]) - 1)
            used[slot] = at + 1
            arguments[parameter] = by_slot[slot][at].value
        sets.append((arguments, one.text if one is not None else ""))
    return sets


def _plan_documents(draft: _Draft, clause: Clause, pack: Pack, known: tuple[Entity, ...]) -> None:
    several = _compared(clause, pack)
    left_out: list[str] = []
    subjects: list[Entity | None] = [*several] or [_document_entity(clause, pack, known)]
    for about in subjects:
        if draft.room():
            _search_documents(draft, clause, about, pack)
        else:
            left_out.append(about.text if several and about else clause.text)
    if left_out:
        named = clause.text if len(left_out) == len(several) else ", ".join(left_out)
        draft.refuse(clause, NotHandledReason.OVER_LIMIT, named)


def _search_documents(draft: _Draft, clause: Clause, about: Entity | None, pack: Pack) -> None:
    arguments: dict[str, Value] = {"question": clause.text}
    if about is not None:
        arguments["entity_kind"] = pack.queries.parameters[about.slot].entity_kind
        arguments["entity"] = str(about.value)
        names = [str(about.value), *(entity.value for entity in about.related)]
        unsaid = [name for name in names if name.casefold() not in clause.text.casefold()]
        if unsaid:
            arguments["question"] = f"{clause.text} ({', '.join(unsaid)})"
    draft.tasks.append(
        Task(
            task_id=draft.next_id(),
            task_type=TaskType.DOCUMENTS,
            tool=DOCUMENTS_TOOL,
            clause_id=clause.clause_id,
            arguments=arguments,
            related=about.related if about is not None else (),
        )
    )


def _compared(clause: Clause, pack: Pack) -> list[Entity]:
    """The things of one kind that the clause itself names, where documents are filed for each; else none."""
    by_slot: dict[str, dict[Value, Entity]] = {}
    for entity in clause.entities:
        if entity.origin in ("pattern", "gazetteer") and pack.queries.parameters[entity.slot].entity_kind:
            by_slot.setdefault(entity.slot, {}).setdefault(entity.value, entity)
    return next((list(named.values()) for named in by_slot.values() if len(named) > 1), [])


def _document_entity(clause: Clause, pack: Pack, known: tuple[Entity, ...]) -> Entity | None:
    """What the question is about, as documents are filed: named, carried over, or, for an "it", remembered."""

    def filed(entities: Iterable[Entity]) -> Entity | None:
        return next((entity for entity in entities if pack.queries.parameters[entity.slot].entity_kind), None)

    named = filed(clause.entities)
    if named is not None or clause.entities:
        return named
    pronouns = all_of(map(load_language, pack.domain.languages), "pronouns")
    return filed(known) if pronouns.intersection(words(clause.text)) else None


def validate(made: Plan, *, decision: RouteDecision, principal: Principal, pack: Pack) -> None:
    """Hold a plan to its rules, whoever made it.

    Known tools, typed and complete arguments, inputs from dependencies, no cycle, no more than
    ``MAX_TOOL_TASKS``, allowed for this principal, every clause covered. Raises ``BadRequestError``.
    """
    clause_ids = {clause.clause_id for clause in decision.clauses}
    by_id = {task.task_id: task for task in made.tasks}
    if len(by_id) != len(made.tasks):
        raise BadRequestError("Two tasks of the plan have the same id.")
    if tool_tasks(made.tasks) > MAX_TOOL_TASKS:
        raise BadRequestError(f"The plan has more than {MAX_TOOL_TASKS} tool tasks.")
    waves(made)  # raises on an unknown dependency and on a cycle
    for task in made.tasks:
        if task.clause_id not in clause_ids:
            raise BadRequestError(f"Task {task.task_id} belongs to no clause of the message.")
        for source in task.inputs.values():
            if source.task_id not in task.dependencies:
                raise BadRequestError(f"Task {task.task_id} reads from {source.task_id} but does not depend on it.")
        _validate_tool(task, by_id, principal, pack)
    covered = {task.clause_id for task in made.tasks}
    covered |= {missing.clause_id for missing in made.missing} | {left.clause_id for left in made.not_handled}
    covered |= set(made.general) | set(made.human)
    if covered != clause_ids:
        raise BadRequestError(f"The plan does not fit the message's clauses: {sorted(covered ^ clause_ids)}.")
    for name in made.general.values():
        if general_named(name, pack) is None:
            raise BadRequestError(f"The plan names an unknown general reply, {name}.")


def _validate_tool(task: Task, by_id: Mapping[str, Task], principal: Principal, pack: Pack) -> None:
    match task.task_type:
        case TaskType.PREDEFINED_QUERY:
            query = query_named(task.tool, pack)
            if query is None:
                raise BadRequestError(f"Task {task.task_id} names an unknown query, {task.tool}.")
            if not may_run(query, principal):
                raise BadRequestError(f"Task {task.task_id}: this caller may not run {task.tool}.")
            if set(task.arguments) != set(query.parameters) or task.inputs:
                raise BadRequestError(f"Task {task.task_id}: {task.tool} takes {sorted(query.parameters)}.")
            for parameter, slot in query.parameters.items():
                if not _is_of_type(task.arguments[parameter], pack.queries.parameters[slot]):
                    raise BadRequestError(f"Task {task.task_id}: {parameter} is not of type {slot}.")
        case TaskType.DOCUMENTS:
            if task.tool != DOCUMENTS_TOOL:
                raise BadRequestError(f"Task {task.task_id} names an unknown tool, {task.tool}.")
            question = task.arguments.get("question")
            if not isinstance(question, str) or not question.strip():
                raise BadRequestError(f"Task {task.task_id} asks the documents nothing.")
            if not set(task.arguments) <= {"question", "entity_kind", "entity"} or not set(task.inputs) <= {"entities"}:
                raise BadRequestError(f"Task {task.task_id}: unknown argument of the documents tool.")
            if ("entity" in task.arguments or task.inputs) and not isinstance(task.arguments.get("entity_kind"), str):
                raise BadRequestError(f"Task {task.task_id} names an entity without its kind.")
            for source in task.inputs.values():
                if source.task_id not in by_id or by_id[source.task_id].task_type is not TaskType.PREDEFINED_QUERY:
                    raise BadRequestError(f"Task {task.task_id} reads from {source.task_id}, which gives no rows.")
        case TaskType.ACTION:
            if action_named(task.tool, pack) is None:
                raise BadRequestError(f"Task {task.task_id} names an unknown action, {task.tool}.")


def _is_of_type(value: Value, parameter: ParameterType) -> bool:
    if value is None:
        return False
    if parameter.type is PropertyType.BOOLEAN or isinstance(value, bool):
        return parameter.type is PropertyType.BOOLEAN and isinstance(value, bool)
    if parameter.type is PropertyType.STRING:
        return isinstance(value, str) and bool(value)
    try:
        return typed(str(value), parameter.type) == value
    except ValueError:
        return False
