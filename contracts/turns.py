"""A turn's words: what was read in the message, the plan, the results, the reply."""

from enum import StrEnum
from typing import Any, Literal

from contracts.base import Frozen, Row, Value
from contracts.documents import EntityRef, Passage


class RouteName(StrEnum):
    GENERAL = "general"
    CLARIFY = "clarify"
    IMAGE = "image"
    KNOWLEDGE = "knowledge"
    ACTION = "action"
    HUMAN = "human"


class Entity(Frozen):
    """A slot value found in a clause or carried over.

    ``slot`` is the parameter type of the pack that recognised it; ``start`` and ``end`` are the
    character span in the clause (both 0 where it was carried over); ``related`` is what the value belongs to,
    as documents are filed.
    """

    slot: str
    value: Value
    text: str
    start: int = 0
    end: int = 0
    origin: Literal["pattern", "gazetteer", "session", "clause"] = "pattern"
    related: tuple[EntityRef, ...] = ()


class Intent(Frozen):
    """A leaf of the intent head with its calibrated probability, for one clause.

    ``name`` is namespaced by kind: ``query:order_status``, ``documents``, ``action:cancel_order``,
    ``general:greeting``, ``human``, ``image``, ``out_of_scope``, ``none``. Rules of the language add ``not_wanted``,
    ``offer_declined`` and ``nothing_asked``.
    """

    name: str
    probability: float


class Clause(Frozen):
    """One request inside a message. ``masked`` is the text with slot values replaced by their kind;
    ``vector`` its embedding (float32, little-endian); ``intents`` the most probable, best first."""

    clause_id: str
    text: str
    masked: str
    entities: tuple[Entity, ...] = ()
    intents: tuple[Intent, ...] = ()
    vector: bytes = b""


class RouteDecision(Frozen):
    """Where a message goes, how sure that is (0..1), and what was read in it. Never without a clause.

    ``earlier_message`` is the one that this one takes up by accepting an offer, if it does.
    """

    route: RouteName
    confidence: float
    language: str
    clauses: tuple[Clause, ...]
    earlier_message: str | None = None


class TaskType(StrEnum):
    PREDEFINED_QUERY = "predefined_query"
    DOCUMENTS = "documents"
    ACTION = "action"


class TaskInput(Frozen):
    """An argument that comes from an earlier task's rows: all values of one column."""

    task_id: str
    column: str


class Task(Frozen):
    """One unit of work. ``tool`` is a query's, an action's or the ``documents`` tool's name.

    ``arguments`` are known values; ``inputs`` are read from the results of ``dependencies``; ``related`` is what a
    search may be about besides the entity in its arguments.
    """

    task_id: str
    task_type: TaskType
    tool: str
    clause_id: str
    arguments: dict[str, Value] = {}
    inputs: dict[str, TaskInput] = {}
    dependencies: tuple[str, ...] = ()
    related: tuple[EntityRef, ...] = ()


class MissingSlot(Frozen):
    """A required value that nobody has said yet. ``choices_query`` names a query that lists candidates."""

    clause_id: str
    tool: str
    slot: str
    choices_query: str | None = None


class NotHandledReason(StrEnum):
    OVER_LIMIT = "over_limit"
    UNSUPPORTED = "unsupported"
    OUT_OF_SCOPE = "out_of_scope"
    DENIED = "denied"
    OTHERS_DATA = "others_data"
    NOT_WANTED = "not_wanted"
    OFFER_DECLINED = "offer_declined"
    NOTHING_ASKED = "nothing_asked"


class NotHandled(Frozen):
    """A clause that no task covers: it is named in the reply, never dropped.

    ``others_data``: it is about somebody else. ``not_wanted``: it says what shall *not* be done.
    ``offer_declined``: no to an offer. ``nothing_asked``: it has no words.
    """

    clause_id: str
    text: str
    reason: NotHandledReason


class Plan(Frozen):
    """Tasks in an order that respects their dependencies; each clause is in one of the three lists,
    or is small talk answered by ``general`` (clause id to the name of its reply)."""

    tasks: tuple[Task, ...] = ()
    missing: tuple[MissingSlot, ...] = ()
    not_handled: tuple[NotHandled, ...] = ()
    general: dict[str, str] = {}
    human: tuple[str, ...] = ()


class TaskStatus(StrEnum):
    SUCCESS = "success"
    FAILED = "failed"
    FALLBACK = "fallback"


class Reason(StrEnum):
    OK = "ok"
    EMPTY = "empty"
    NEEDS_SLOT = "needs_slot"
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    DENIED = "denied"
    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"
    DEPENDENCY_FAILED = "dependency_failed"
    UNSUPPORTED = "unsupported"
    OVER_LIMIT = "over_limit"


class Source(Frozen):
    """What a sentence rests on.

    ``kind`` graph: ``title`` is the query's description. ``kind`` document: title, version and the
    path of headings (``locator``) of the passage.
    """

    source_id: str
    kind: Literal["graph", "document"]
    title: str
    version: str | None = None
    locator: str | None = None
    origin: str | None = None


class ToolResult(Frozen):
    """What a task brought. ``error_msg`` is for logs and operators, never for a reply."""

    task_id: str
    task_type: TaskType
    tool: str
    status: TaskStatus
    reason: Reason
    rows: tuple[Row, ...] = ()
    passages: tuple[Passage, ...] = ()
    evidence: tuple[Source, ...] = ()
    error_msg: str | None = None
    latency_ms: float = 0.0


class Sentence(Frozen):
    """A checked piece of the reply: the clause it answers and the sources it rests on."""

    text: str
    clause_id: str | None = None
    source_ids: tuple[str, ...] = ()


class Part(Frozen):
    """How one clause fared: what the reply says of it and why."""

    clause_id: str
    question: str
    tool: str | None
    status: TaskStatus
    reason: Reason


class Reply(Frozen):
    """What the customer gets. ``text`` is the sentences joined; ``parts`` cover every clause."""

    text: str
    language: str
    sentences: tuple[Sentence, ...]
    sources: tuple[Source, ...] = ()
    parts: tuple[Part, ...] = ()
    handover_id: str | None = None


class EventName(StrEnum):
    """The server-sent events of a turn, in the order they first appear."""

    ROUTE = "route"
    PLAN = "plan"
    TASK = "task"
    SENTENCE = "sentence"
    REPLY = "reply"
    ERROR = "error"


class TurnEvent(Frozen):
    """One event of a turn's stream. ``data`` is plain JSON."""

    event: EventName
    data: dict[str, Any]
