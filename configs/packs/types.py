"""The types of a domain pack's files. ``docs/domain-packs.md`` tells an author what each is for.

Texts for customers are given per language (``LocalText``); replies are Jinja templates over
``rows``, ``row`` (the first), ``arguments`` and ``today``.
"""

from datetime import date
from typing import Literal

from pydantic import Field

from contracts.base import Frozen, Value
from contracts.documents import DocumentGovernance
from contracts.graph import Audience, GraphSchema, PropertyType

#: A text in each of the pack's languages: language code to text or template.
LocalText = dict[str, str]


class Desk(Frozen):
    """Who answers: the team a handover goes to. Exactly one desk is the default."""

    name: str
    title: LocalText
    default: bool = False


class OpeningHours(Frozen):
    """When people are there: day (mon..sun) to a list of ``HH:MM-HH:MM``, in the named time zone."""

    timezone: str
    weekly: dict[str, list[str]]
    holidays: tuple[date, ...] = ()


class Domain(Frozen):
    """``domain.yaml``. ``today`` fixes the business date for sample data; ``scope`` is what the
    assistant is for, in the customer's words; ``phrases`` overrides the common reply phrases."""

    name: str
    version: str
    company: str
    languages: tuple[str, ...] = Field(min_length=1)
    scope: LocalText
    today: date | None = None
    tone: str = ""
    sign_off: LocalText = {}
    desks: tuple[Desk, ...] = Field(min_length=1)
    hours: OpeningHours | None = None
    phrases: dict[str, LocalText] = {}


class Related(Frozen):
    """What a gazetteer's value belongs to: the ``property`` of the ``label`` that one relationship joins it with.

    Documents filed under it, by ``kind``, are searched too when the value is asked about.
    """

    label: str
    property: str
    kind: str


class Gazetteer(Frozen):
    """Recognise a parameter by the values of one graph property, spelling mistakes allowed."""

    label: str
    property: str
    related: Related | None = None


class ParameterType(Frozen):
    """How a slot is recognised, masked and asked for.

    ``patterns``: regular expressions over the message, case-insensitive; the first group (or the
    whole match) is the value. ``mask`` is the plain word(s) that stand for a value when texts are
    compared. ``ask``: the question when it is missing, ``choices``: a query whose rows are offered.
    ``entity_kind``: the kind under which documents are filed for such a value, if any.
    """

    type: PropertyType
    description: str = ""
    patterns: tuple[str, ...] = ()
    gazetteer: Gazetteer | None = None
    mask: str
    ask: LocalText = {}
    choices: str | None = None
    entity_kind: str | None = None


class Follow(Frozen):
    """After the rows, read documents: about the values of ``column``, filed under ``entity_kind``."""

    column: str
    entity_kind: str


class PredefinedQuery(Frozen):
    """One predefined query.

    ``parameters`` maps the query's parameter names to parameter types. Phrasings name slots in
    braces (``where is {order_number}``). ``entities`` maps a result column to the parameter type
    whose value it becomes for follow-up questions. ``follow`` adds a search in the documents.
    """

    name: str
    description: str
    category: str
    audience: Audience
    parameters: dict[str, str] = {}
    phrasings: tuple[str, ...] = Field(min_length=5)
    cypher: str
    reply: LocalText
    empty: LocalText
    entities: dict[str, str] = {}
    follow: Follow | None = None


class Queries(Frozen):
    """``queries.yaml``."""

    parameters: dict[str, ParameterType]
    queries: tuple[PredefinedQuery, ...]


class GeneralIntent(Frozen):
    """Small talk answered without tools: name, phrasings, reply."""

    name: str
    phrasings: tuple[str, ...] = Field(min_length=3)
    reply: LocalText


class Routes(Frozen):
    """``routes.yaml``: phrasings per route. ``documents`` are questions that documents answer,
    ``out_of_scope`` belong to another business, ``none`` are in the domain but answered by nothing."""

    general: tuple[GeneralIntent, ...]
    documents: tuple[str, ...]
    human: tuple[str, ...]
    image: tuple[str, ...]
    out_of_scope: tuple[str, ...]
    none: tuple[str, ...]


class ActionDefinition(Frozen):
    """One action that customers ask for: ``title`` completes "I can't … yet" in each language."""

    name: str
    description: str
    phrasings: tuple[str, ...] = Field(min_length=5)
    title: LocalText


class Actions(Frozen):
    """``actions.yaml``."""

    actions: tuple[ActionDefinition, ...]


class NodeMapping(Frozen):
    """A label's nodes: one CSV row each. Columns are named like the properties; an empty cell is null."""

    label: str
    file: str
    key: str


class EdgeMapping(Frozen):
    """A relationship type's pairs: for each row with both columns filled, one relationship.

    ``start_column`` holds the start label's key value, ``end_column`` the end label's. The type's properties, where
    the schema declares any, are columns of their names; an empty cell is null.
    """

    type: str
    start: str
    end: str
    file: str
    start_column: str
    end_column: str


class DataMapping(Frozen):
    """``data/mapping.yaml``: how the CSV files become the graph."""

    nodes: tuple[NodeMapping, ...]
    relationships: tuple[EdgeMapping, ...]


class ExpectedRows(Frozen):
    """The rows that must come back (each given cell must be equal; the number of rows too)."""

    query: str
    rows: tuple[dict[str, Value], ...]


class ExpectedPassage(Frozen):
    """The document that must be cited and a text that must stand in the answer."""

    document: str
    contains: str


class PackTest(Frozen):
    """One question of ``tests.yaml`` with what must come of each of its parts."""

    question: str
    customer: str | None = None
    route: Literal["general", "clarify", "image", "knowledge", "action", "human"]
    rows: tuple[ExpectedRows, ...] = ()
    passages: tuple[ExpectedPassage, ...] = ()


class PackTests(Frozen):
    """``tests.yaml``."""

    tests: tuple[PackTest, ...]


class DocumentHead(DocumentGovernance):
    """A document file's head: its governance and, by section, questions that the section answers."""

    questions: dict[str, tuple[str, ...]] = {}


class SourceDocument(Frozen):
    """One file of ``documents/``: its governance head and its Markdown body.

    ``questions`` are examples of what each section answers, by its path of headings (``Care > Cleaning``), or by the
    document's title for the text before the first heading.
    ``body_line`` is the file's line on which the body begins (from 1).
    """

    path: str
    governance: DocumentGovernance
    body: str
    body_line: int
    questions: dict[str, tuple[str, ...]] = {}


class Pack(Frozen):
    """A whole domain pack, loaded and cross-checked. ``digest`` changes with any of its files."""

    folder: str
    digest: str
    domain: Domain
    schema_: GraphSchema
    queries: Queries
    routes: Routes
    actions: Actions
    mapping: DataMapping
    tests: PackTests
    documents: tuple[SourceDocument, ...]
