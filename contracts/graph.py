"""The business graph: its schema, proven queries, and the Protocol of a store."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from contracts.base import Frozen, Row, Value
from contracts.principal import Principal


class PropertyType(StrEnum):
    """Types that both graph engines keep alike."""

    STRING = "string"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"


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
    """A relationship type between two labels, in its one direction.

    ``owning``: what belongs to the start node's customer belongs, over it, to the same customer.
    """

    type: str
    start: str
    end: str
    owning: bool = False


class GraphSchema(Frozen):
    """Everything a query may name, and the pack's own query texts with who may run each.

    ``predefined`` maps a query's text, as :func:`governance.prover.canonical` prints it, to its audience.
    """

    customer_label: str
    customer_key: str
    labels: dict[str, LabelSchema]
    relationships: tuple[RelationshipSchema, ...]
    public_labels: frozenset[str]
    predefined: dict[str, Audience] = {}


class ProvenQuery(Frozen):
    """A read that may run, for this principal alone. Made by ``governance.prover.prove`` only."""

    text: str
    parameters: frozenset[str]
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


class GraphStore(Protocol):
    """A graph engine. Reads take a ``ProvenQuery`` and nothing else."""

    async def read(self, query: ProvenQuery, arguments: Mapping[str, Value], limits: ReadLimits) -> tuple[Row, ...]:
        """Rows of a proven query, in its order.

        ``$customer_id`` is filled from ``query.principal`` here, never from ``arguments``.
        Raises ``BadRequestError`` (a parameter missing, unknown or mistyped), ``OutOfTimeError``,
        ``OverLimitError`` or ``StoreError``.
        """
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
    """Relationships of one type for a bulk load: pairs of (start key value, end key value)."""

    type: str
    start_label: str
    start_key: str
    end_label: str
    end_key: str
    pairs: Sequence[tuple[Value, Value]]
