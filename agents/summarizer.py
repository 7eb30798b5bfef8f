"""One reply from what the tasks brought: every clause gets a sentence, every fact its source.

Answers stand first, those of one category together and dependent ones after what they depend on; then what
is missing, not possible or left out, each said as it is. Nothing is claimed that no result says.
"""

import logging
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from agents.documents import quote, source
from agents.fit import IMAGE, action_named, general_named, query_named
from agents.templates import RenderError, clean, currency_of, harmless, localized, phrase, render
from agents.waves import waves
from configs.packs.types import Pack
from contracts.principal import Principal, PrincipalKind
from contracts.records import Handover, HandoverStatus
from contracts.turns import (
    Clause,
    MissingSlot,
    NotHandled,
    NotHandledReason,
    Part,
    Plan,
    Reason,
    Reply,
    RouteDecision,
    Sentence,
    Source,
    Task,
    TaskStatus,
    TaskType,
    ToolResult,
)

_log = logging.getLogger(__name__)

#: A customer's words are repeated up to here.
_MAX_QUESTION_CHARACTERS = 80
#: Quotations of one documents task.
_MAX_QUOTES = 2


def compose(
    decision: RouteDecision,
    plan: Plan,
    results: Mapping[str, ToolResult],
    *,
    pack: Pack,
    principal: Principal,
    today: date,
    handover: Handover | None = None,
    turn_id: str | None = None,
) -> Reply:
    """The reply in the decision's language.

    ``results`` hold one result per task id, and may hold those of choices queries under any other id.
    ``handover`` is the one read back from the records, or ``None`` where there is none to name; one of another turn
    than ``turn_id`` is told as open already.
    """
    return _Composer(decision, plan, results, pack, principal, today, handover, turn_id).reply()


class _Composer:
    """Collects the sentences, parts and sources of one reply."""

    def __init__(
        self,
        decision: RouteDecision,
        plan: Plan,
        results: Mapping[str, ToolResult],
        pack: Pack,
        principal: Principal,
        today: date,
        handover: Handover | None,
        turn_id: str | None,
    ) -> None:
        self._plan = plan
        self._results = results
        self._pack = pack
        self._principal = principal
        self._today = today
        self._handover = handover
        self._turn_id = turn_id
        self._language = decision.language
        self._currency = currency_of(pack)
        self._clauses = {clause.clause_id: clause for clause in decision.clauses}
        self._sentences: list[Sentence] = []
        self._parts: list[Part] = []
        self._sources: list[Source] = []

    def reply(self) -> Reply:
        for clause_id, name in self._plan.general.items():
            self._say_general(self._clauses[clause_id], name)
        for task in self._in_order():
            match task.task_type:
                case TaskType.PREDEFINED_QUERY:
                    self._say_rows(task)
                case TaskType.DOCUMENTS:
                    self._say_passages(task)
                case TaskType.ACTION:
                    self._say_action(task)
        for missing in self._plan.missing:
            self._say_missing(missing)
        for alike in self._alike():
            self._say_not_handled(alike)
        self._say_handover()
        if not self._sentences:
            self._say("empty_message", None)
        return Reply(
            text=_joined(self._sentences),
            language=self._language,
            sentences=tuple(self._sentences),
            sources=tuple(self._sources),
            parts=tuple(self._parts),
            handover_id=self._named_handover.handover_id if self._named_handover else None,
        )

    def _in_order(self) -> list[Task]:
        """Queries and documents by category, each clause's tasks together and in dependency order; actions last."""
        ordered = [task for wave in waves(self._plan) for task in wave]
        by_clause: dict[str, list[Task]] = {}
        for task in ordered:
            by_clause.setdefault(task.clause_id, []).append(task)
        by_category: dict[str, list[Task]] = {}
        for clause_id in self._clauses:
            for task in by_clause.get(clause_id, ()):
                by_category.setdefault(self._category(by_clause[clause_id][0]), []).append(task)
        tasks = [task for group in by_category.values() for task in _after_dependencies(group)]
        return sorted(tasks, key=lambda task: task.task_type is TaskType.ACTION)

    def _category(self, task: Task) -> str:
        query = query_named(task.tool, self._pack) if task.task_type is TaskType.PREDEFINED_QUERY else None
        return query.category if query else task.task_type.value

    @property
    def _named_handover(self) -> Handover | None:
        """The handover, where it may be told of: not before it is delivered."""
        told = (HandoverStatus.DELIVERED, HandoverStatus.ACKNOWLEDGED)
        return self._handover if self._handover and self._handover.status in told else None

    def _say_general(self, clause: Clause, name: str) -> None:
        general = general_named(name, self._pack)
        text = localized(general.reply, self._language, self._pack) if general else ""
        company = self._pack.domain.company
        self._say_text(text, {"company": company, "scope": self._scope()}, clause)
        self._part(clause, f"general:{name}", TaskStatus.SUCCESS, Reason.OK)

    def _say_rows(self, task: Task) -> None:
        clause = self._clauses[task.clause_id]
        query = query_named(task.tool, self._pack)
        result = self._results.get(task.task_id)
        if query is None or result is None or result.status is TaskStatus.FAILED:
            self._say_failure(task, clause, result)
            return
        is_empty = result.reason is Reason.EMPTY or not result.rows
        template = localized(query.empty if is_empty else query.reply, self._language, self._pack)
        rows = harmless(result.rows)
        context = {
            "rows": rows,
            "row": rows[0] if rows else {},
            "arguments": harmless(task.arguments),
            "today": self._today,
        }
        told = result.evidence or (Source(source_id=f"graph:{task.task_id}", kind="graph", title=query.description),)
        self._say_text(template, context, clause, sources=told)
        self._part(clause, task.tool, result.status, Reason.EMPTY if is_empty else Reason.OK)

    def _say_passages(self, task: Task) -> None:
        clause = self._clauses[task.clause_id]
        result = self._results.get(task.task_id)
        if result is None or result.status is TaskStatus.FAILED:
            self._say_failure(task, clause, result)
            return
        quotes = [quote(passage) for passage in result.passages[:_MAX_QUOTES]]
        told = [quoted for quoted in quotes if quoted is not None]
        if result.reason is not Reason.OK or not told:
            if not answered_by_rows(task, self._plan, self._results):
                name = "no_documents" if result.reason is Reason.EMPTY else "insufficient_evidence"
                self._say_once(name, clause, self._question(task, clause))
            self._part(clause, task.tool, result.status, _unless_ok(result.reason))
            return
        for quoted in told:
            document = quoted.passage.document
            context = {
                "title": clean(document.title),
                "section": clean(quoted.passage.section),
                "quote": clean(quoted.text),
            }
            template = phrase("document_quote", self._language, self._pack)
            self._say_text(template, context, clause, sources=(source(quoted.passage),))
        self._part(clause, task.tool, result.status, Reason.OK)

    def _say_failure(self, task: Task, clause: Clause, result: ToolResult | None) -> None:
        reason = result.reason if result is not None else Reason.TIMEOUT
        if reason is Reason.DEPENDENCY_FAILED:
            # What it depends on has said why already.
            if not any(sentence.clause_id == clause.clause_id for sentence in self._sentences):
                self._say("dependency_failed", clause)
        elif reason is Reason.DENIED:
            self._say(self._denied(), clause)
        else:
            self._say("timeout" if reason is Reason.TIMEOUT else "failed", clause)
        self._part(clause, task.tool, TaskStatus.FAILED, _unless_ok(reason))

    def _say_action(self, task: Task) -> None:
        clause = self._clauses[task.clause_id]
        action = action_named(task.tool, self._pack)
        title = localized(action.title, self._language, self._pack) if action else ""
        self._say("action_unavailable", clause, action=title)
        self._part(clause, task.tool, TaskStatus.FAILED, Reason.UNSUPPORTED)

    def _say_missing(self, missing: MissingSlot) -> None:
        clause = self._clauses[missing.clause_id]
        parameter = self._pack.queries.parameters[missing.slot]
        ask = localized(parameter.ask, self._language, self._pack)
        if not ask:
            slot = parameter.description or missing.slot.replace("_", " ")
            ask = self._rendered(phrase("missing_slot_default", self._language, self._pack), {"slot": slot}) or slot
        self._say("missing_slot", clause, ask=ask)
        self._say_choices(missing, clause)
        self._part(clause, missing.tool, TaskStatus.FAILED, Reason.NEEDS_SLOT)

    def _say_choices(self, missing: MissingSlot, clause: Clause) -> None:
        """What there is to choose from, where its query was run and brought something."""
        query = query_named(missing.choices_query or "", self._pack)
        found = next((result for result in self._results.values() if query and result.tool == query.name), None)
        if query is None or found is None or found.status is TaskStatus.FAILED or not found.rows:
            return
        rows = harmless(found.rows)
        context = {"rows": rows, "row": rows[0], "arguments": {}, "today": self._today}
        template = localized(query.reply, self._language, self._pack)
        told = found.evidence or (Source(source_id=f"graph:{found.task_id}", kind="graph", title=query.description),)
        text = self._rendered(template, context)
        if text is not None:
            self._add(text, clause, told)

    def _question(self, task: Task, clause: Clause) -> str:
        """The clause's words; with what the search was about where the clause has several searches."""
        about = task.arguments.get("entity")
        several = sum(other.clause_id == clause.clause_id and not other.inputs for other in self._plan.tasks) > 1
        return _repeated(f"{about}: {clause.text}" if about and several else clause.text)

    def _alike(self) -> list[list[NotHandled]]:
        """What is not handled, in order, with what is told by one sentence together."""
        groups: dict[str, list[NotHandled]] = {}
        for left in self._plan.not_handled:
            joins = left.reason in (NotHandledReason.OVER_LIMIT, NotHandledReason.UNSUPPORTED)
            alone = self._is_image(left) or not joins
            groups.setdefault(left.clause_id + left.text if alone else left.reason.value, []).append(left)
        return list(groups.values())

    def _is_image(self, left: NotHandled) -> bool:
        intents = self._clauses[left.clause_id].intents
        return bool(intents) and intents[0].name == IMAGE

    def _say_not_handled(self, alike: list[NotHandled]) -> None:
        """One sentence for requests that are left for the same reason."""
        left = alike[0]
        clause = self._clauses[left.clause_id]
        # The phrases put marks around one question; between two of them stand the same.
        question = "”, “".join(dict.fromkeys(_repeated(one.text) for one in alike))
        status = TaskStatus.FAILED
        tool: str | None = None
        match left.reason:
            case NotHandledReason.OVER_LIMIT:
                name, reason = "over_limit", Reason.OVER_LIMIT
            case NotHandledReason.DENIED:
                name, reason = self._denied(), Reason.DENIED
            case NotHandledReason.OUT_OF_SCOPE:
                name, reason = "out_of_scope", Reason.UNSUPPORTED
            case NotHandledReason.UNSUPPORTED:
                is_image = self._is_image(left)
                name, reason = "image_unavailable" if is_image else "unsupported", Reason.UNSUPPORTED
                tool = IMAGE if is_image else None
            case NotHandledReason.OTHERS_DATA:
                name, reason = "others_data", Reason.DENIED
            case NotHandledReason.NOT_WANTED | NotHandledReason.OFFER_DECLINED:
                name, status, reason = left.reason.value, TaskStatus.SUCCESS, Reason.OK
            case NotHandledReason.NOTHING_ASKED:
                name, reason = "nothing_asked", Reason.NEEDS_SLOT
        self._say(name, clause, question=question)
        for one in alike:
            self._part(self._clauses[one.clause_id], tool, status, reason)

    def _say_handover(self) -> None:
        """One sentence for all clauses that ask for a person."""
        clauses = [self._clauses[clause_id] for clause_id in self._plan.human]
        if not clauses and self._named_handover is None:
            return
        first = clauses[0] if clauses else None
        done = self._named_handover
        if done is None:
            self._say("handover_failed", first)
        else:
            desk = next((desk for desk in self._pack.domain.desks if desk.name == done.desk), None)
            title = localized(desk.title, self._language, self._pack) if desk else done.desk
            is_new = self._turn_id is None or done.turn_id == self._turn_id
            name = "handover_done" if is_new else "handover_open"
            self._say(name, first, desk=title, handover_id=done.handover_id)
        for clause in clauses:
            status, reason = (TaskStatus.SUCCESS, Reason.OK) if done else (TaskStatus.FAILED, Reason.UNAVAILABLE)
            self._part(clause, "human", status, reason)

    def _denied(self) -> str:
        return "denied" if self._principal.kind is PrincipalKind.GUEST else "denied_staff"

    def _scope(self) -> str:
        return clean(localized(self._pack.domain.scope, self._language, self._pack))

    def _say_once(self, name: str, clause: Clause, question: str) -> None:
        """A common phrase, unless it has been said of the clause already."""
        before = len(self._sentences)
        self._say(name, clause, question=question)
        said = [(sentence.clause_id, sentence.text) for sentence in self._sentences]
        if said[before:] and said[-1] in said[:before]:
            self._sentences.pop()

    def _say(self, name: str, clause: Clause | None, **context: str) -> None:
        """A common phrase, about the clause's own words unless others are given."""
        question = _repeated(clause.text) if clause else ""
        told = {"question": question, "company": self._pack.domain.company, "scope": self._scope(), **context}
        self._say_text(phrase(name, self._language, self._pack), told, clause)

    def _say_text(
        self, template: str, context: Mapping[str, Any], clause: Clause | None, *, sources: Iterable[Source] = ()
    ) -> None:
        text = self._rendered(template, context)
        if text is None:
            # The safe sentence rests on nothing, so it names no source.
            question = _repeated(clause.text) if clause else ""
            text, sources = self._rendered(phrase("unreadable", self._language, self._pack), {"question": question}), ()
        if text:
            self._add(text, clause, sources)

    def _rendered(self, template: str, context: Mapping[str, Any]) -> str | None:
        """The text, or ``None`` (and an entry in the log) where the template can't be rendered or says nothing."""
        try:
            return render(template, self._language, context, currency=self._currency) or None
        except RenderError as error:
            _log.error("a reply template failed: %s", error, extra={"template": template[:200]})
            return None

    def _add(self, text: str, clause: Clause | None, sources: Iterable[Source]) -> None:
        numbers = [self._numbered(found) for found in sources]
        marks = "".join(f" [{number}]" for number in numbers)
        self._sentences.append(
            Sentence(
                text=text + marks,
                clause_id=clause.clause_id if clause else None,
                source_ids=tuple(str(number) for number in numbers),
            )
        )

    def _numbered(self, found: Source) -> int:
        """The source's number in this reply, from 1; the same source keeps its number."""
        for number, known in enumerate(self._sources, start=1):
            if known.model_copy(update={"source_id": found.source_id}) == found:
                return number
        self._sources.append(found.model_copy(update={"source_id": str(len(self._sources) + 1)}))
        return len(self._sources)

    def _part(self, clause: Clause, tool: str | None, status: TaskStatus, reason: Reason) -> None:
        self._parts.append(
            Part(clause_id=clause.clause_id, question=clause.text, tool=tool, status=status, reason=reason)
        )


def answered_by_rows(task: Task, plan: Plan, results: Mapping[str, ToolResult]) -> bool:
    """Whether a query of the task's own clause has answered, so that a search that found nothing needs no word."""
    answers = (
        results.get(other.task_id)
        for other in plan.tasks
        if other.clause_id == task.clause_id and other.task_type is TaskType.PREDEFINED_QUERY
    )
    return any(found is not None and found.reason is Reason.OK and bool(found.rows) for found in answers)


def _after_dependencies(tasks: list[Task]) -> list[Task]:
    """Each task right after the one it depends on."""
    ordered: list[Task] = []

    def add(task: Task) -> None:
        ordered.append(task)
        for other in tasks:
            if task.task_id in other.dependencies and other not in ordered:
                add(other)

    here = {task.task_id for task in tasks}
    for task in tasks:
        if not here.intersection(task.dependencies):
            add(task)
    return ordered


def _repeated(text: str) -> str:
    """The customer's words as a reply may repeat them: harmless and not too long."""
    plain: str = harmless(text).strip("“”\"' ")
    if len(plain) <= _MAX_QUESTION_CHARACTERS:
        return plain
    return plain[:_MAX_QUESTION_CHARACTERS].rsplit(" ", 1)[0] + " …"


def _unless_ok(reason: Reason) -> Reason:
    """A failure that claims to be in order is told as what it is: not available."""
    return Reason.UNAVAILABLE if reason is Reason.OK else reason


def _joined(sentences: list[Sentence]) -> str:
    """The sentences as one text: a clause a paragraph."""
    parts: list[str] = []
    for number, sentence in enumerate(sentences):
        if number:
            same = sentence.clause_id == sentences[number - 1].clause_id
            parts.append(" " if same and "\n" not in sentences[number - 1].text else "\n\n")
        parts.append(sentence.text)
    return "".join(parts)
