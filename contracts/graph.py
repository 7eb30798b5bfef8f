"""The business graph: its schema, proven queries, and the Protocol of a store."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from contracts.base import Argument, Frozen, Row, Value
from contracts.principal import Principal

#: The parameter that stands for the customer in every text. Callers can't give it.
CUSTOMER_PARAMETER = "customer_id"


class PropertyType(StrEnum):
    """Types that both graph engines keep alike.

    A datetime has its offset from UTC; a point is WGS 84, longitude and latitude. Graphs keep no decimals: those
    are floats.
    """

    STRING = "string"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    DURATION = "duration"
    POINT = "point"


class Audience(StrEnum):
    """Who may see something: everyone, signed-in customers, or staff alone."""

    PUBLIC = "public"
    CUSTOMER = "customer"
    STAFF = "staff"


class PropertySchema(Frozen):
    """One property of a label. ``values`` lists an enumeration's members; ``unit`` is for readers."""

    type: PropertyType
    unique: bool = False
    values: tuple[str, ...] = ()
    unit: str | None = None


class LabelSchema(Frozen):
    description: str = ""
    properties: dict[str, PropertySchema]


class RelationshipSchema(Frozen):
    """A relationship type between two labels, in its one direction, with its own properties where it has any.

    ``owning``: what belongs to the start node's customer belongs, over it, to the same customer.
    """

    type: str
    start: str
    end: str
    owning: bool = False
    properties: dict[str, PropertySchema] = {}


class GraphSchema(Frozen):
    """Everything that a query may name, and what of it belongs to whom.

    ``public_labels`` are everybody's. ``staff_labels`` maps a role of staff (``agent``, ``admin``, or a scope of
    the principal's) to the further labels that it may read, of all customers; without the map, staff read all.
    """

    customer_label: str
    customer_key: str
    labels: dict[str, LabelSchema]
    relationships: tuple[RelationshipSchema, ...]
    public_labels: frozenset[str]
    staff_labels: dict[str, frozenset[str]] | None = None


class ProvenQuery(Frozen):
    """A read that may run, for this principal alone. Made by ``governance.prover.prove`` only.

    ``text`` is printed from what was proven, ``columns`` are its result's. ``parameter_types`` holds those
    parameters whose type the text settles (compared with a property, say); of ``list_parameters`` it is the type
    of the items. ``embedded_text`` is the same query for the embedded graph, which stores some properties under
    other names; ``None`` where it is no other.
    """

    text: str
    embedded_text: str | None = None
    columns: tuple[str, ...]
    parameters: frozenset[str]
    parameter_types: dict[str, PropertyType] = {}
    list_parameters: frozenset[str] = frozenset()
    principal: Principal


class ProvenWrite(Frozen):
    """A change that may run, for this principal alone. Made by ``governance.prover.prove_write`` only.

    ``lock_text`` runs first in the same transaction where an engine checks and writes in two steps: it takes the
    write locks of all nodes that ``text`` reads its preconditions from or changes, so that nothing slips between.
    ``parameter_values`` lists, for parameters that fill an enumerated property, the values allowed.
    """

    text: str
    embedded_text: str | None = None
    lock_text: str
    columns: tuple[str, ...]
    parameters: frozenset[str]
    parameter_types: dict[str, PropertyType] = {}
    list_parameters: frozenset[str] = frozenset()
    parameter_values: dict[str, tuple[str, ...]] = {}
    principal: Principal


class Violation(Frozen):
    """One reason why a text was not proven: a sentence that its author can act on."""

    rule: str
    message: str


class Violations(Frozen):
    """Why a text may not run. Never empty."""

    items: tuple[Violation, ...]

    def __str__(self) -> str:
        return " ".join(item.message for item in self.items)


class ReadLimits(Frozen):
    """Bounds of one read. ``max_rows`` refuses more rows (``OverLimitError``), it never cuts silently."""

    timeout_ms: int = 5_000
    max_rows: int = 500
    max_work_units: int = 5_000_000


class WriteLimits(Frozen):
    """Bounds of one write. One that would change more than ``max_changes`` is rolled back (``OverLimitError``)."""

    timeout_ms: int = 5_000
    max_changes: int = 200


class WriteOutcome(Frozen):
    """What became of a write. ``changes`` counts the nodes and relationships created or deleted; where none was, the
    properties set or removed. (Engines count the properties of what they create differently.)

    No change means refused: the preconditions in the text did not hold. ``replayed``: the key had been used
    already, and this is what was stored then.
    """

    rows: tuple[Row, ...]
    changes: int
    replayed: bool = False


class GraphStore(Protocol):
    """A graph engine. Reads take a ``ProvenQuery`` and nothing else, writes a ``ProvenWrite``."""

    async def read(self, query: ProvenQuery, arguments: Mapping[str, Argument], limits: ReadLimits) -> tuple[Row, ...]:
        """Rows of a proven query, in its order.

        ``$customer_id`` is filled from ``query.principal`` here, never from ``arguments``.
        Raises ``BadRequestError`` (a parameter missing, unknown or mistyped), ``OutOfTimeError``,
        ``OverLimitError`` or ``StoreError``.
        """
        ...

    async def write(
        self,
        write: ProvenWrite,
        arguments: Mapping[str, Argument],
        idempotency_key: str,
        limits: WriteLimits,
    ) -> WriteOutcome:
        """Carry out a proven write once, however often it is asked for under its key.

        The key and the outcome, a refusal too, are stored in the effect's own transaction. Raises as ``read``
        does, and ``ConflictError`` when the key was used for another text, principal or other arguments.
        After ``OutOfTimeError`` or ``StoreError`` the outcome may be unknown: ask :meth:`written`.
        """
        ...

    async def written(self, idempotency_key: str) -> WriteOutcome | None:
        """What was stored under the key, ``None`` when nothing was: then nothing has happened."""
        ...

    async def ready(self) -> bool:
        """Whether the store answers a trivial read."""
        ...

    async def close(self) -> None:
        """Flush and let go of the store; a second call does nothing."""
        ...


class GraphNodes(Frozen):
    """Nodes of one label for a bulk load: each row holds the label's properties, ``key`` among them."""

    label: str
    key: str
    rows: Sequence[dict[str, Value]]


class GraphEdges(Frozen):
    """Relationships of one type for a bulk load: pairs of (start key value, end key value).

    ``properties``, where the type has any: one map a pair, in the same order.
    """

    type: str
    start_label: str
    start_key: str
    end_label: str
    end_key: str
    pairs: Sequence[tuple[Value, Value]]
    properties: Sequence[dict[str, Value]] = ()
