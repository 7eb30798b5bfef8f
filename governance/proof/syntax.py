"""The syntax tree of what can be proven at all. What has no place in it can't be printed, and so never runs.

The tree belongs to one proof: the check fills in what the text left open (labels, directions, column names),
and the printer prints what the check has seen.
"""

from dataclasses import dataclass, field

from contracts.base import Value

# ------------------------------------------------------------------------------------------- expressions


@dataclass(slots=True, eq=False)
class Literal:
    """Equal to a literal of the same value and type: 1, 1.0 and true are three."""

    value: Value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and type(self.value) is type(other.value) and self.value == other.value

    __hash__ = None  # type: ignore[assignment]  # like all parts of the tree, which the check changes


@dataclass(slots=True)
class Parameter:
    name: str


@dataclass(slots=True)
class Variable:
    name: str


@dataclass(slots=True)
class Property:
    """``subject.name``: of a node or relationship (``of_entity``, the check tells), a map, or a part of a date."""

    subject: "Expression"
    name: str
    of_entity: bool = field(default=False, compare=False)


@dataclass(slots=True)
class Index:
    subject: "Expression"
    index: "Expression"


@dataclass(slots=True)
class Slice:
    subject: "Expression"
    start: "Expression | None"
    end: "Expression | None"


@dataclass(slots=True)
class ListOf:
    items: "list[Expression]"


@dataclass(slots=True)
class MapOf:
    entries: "list[tuple[str, Expression]]"


@dataclass(slots=True)
class Unary:
    """``NOT`` or ``-``."""

    operator: str
    operand: "Expression"


@dataclass(slots=True)
class Binary:
    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(slots=True)
class IsNull:
    operand: "Expression"
    negated: bool


@dataclass(slots=True)
class Call:
    """A function, its name as the language spells it (``date.truncate``)."""

    name: str
    arguments: "list[Expression]"
    distinct: bool = False


@dataclass(slots=True)
class CountRows:
    """``count(*)``."""


@dataclass(slots=True)
class Case:
    subject: "Expression | None"
    alternatives: "list[tuple[Expression, Expression]]"
    default: "Expression | None"


@dataclass(slots=True)
class ListComprehension:
    variable: str
    source: "Expression"
    where: "Expression | None"
    result: "Expression | None"


@dataclass(slots=True)
class Quantifier:
    """``all``, ``any``, ``none`` or ``single``."""

    kind: str
    variable: str
    source: "Expression"
    where: "Expression"


@dataclass(slots=True)
class PatternComprehension:
    path: "Path"
    where: "Expression | None"
    result: "Expression"


@dataclass(slots=True)
class MapProjection:
    """``variable {.name, key: expression}``; ``every`` is ``.*``, which the check writes out.

    ``may_be_null``: the check doesn't know that there is a node in every row.
    """

    variable: str
    entries: "list[tuple[str, Expression]]"
    every: bool = False
    may_be_null: bool = True


@dataclass(slots=True)
class Subquery:
    """``EXISTS { … }`` or ``COUNT { … }`` over matches alone; a pattern in a WHERE is an ``EXISTS`` too."""

    kind: str
    matches: "list[Match]"
    #: What an EXISTS returns: checked, and not printed, because it counts for nothing.
    returned: "list[Expression]" = field(default_factory=list, compare=False)


Expression = (
    Literal
    | Parameter
    | Variable
    | Property
    | Index
    | Slice
    | ListOf
    | MapOf
    | Unary
    | Binary
    | IsNull
    | Call
    | CountRows
    | Case
    | ListComprehension
    | Quantifier
    | PatternComprehension
    | MapProjection
    | Subquery
)

# ---------------------------------------------------------------------------------------------- patterns


@dataclass(slots=True)
class NodePattern:
    variable: str | None
    label: str | None
    properties: list[tuple[str, Expression]] = field(default_factory=list)


@dataclass(slots=True)
class RelationshipPattern:
    """``direction`` is ``>``, ``<``, or empty where the text leaves it to the schema."""

    variable: str | None
    types: list[str]
    direction: str
    properties: list[tuple[str, Expression]] = field(default_factory=list)


@dataclass(slots=True)
class Path:
    """``nodes[0] relationships[0] nodes[1] …``: one node more than relationships."""

    nodes: list[NodePattern]
    relationships: list[RelationshipPattern]


# ----------------------------------------------------------------------------------------------- clauses


@dataclass(slots=True)
class Match:
    optional: bool
    paths: list[Path]
    where: Expression | None


@dataclass(slots=True)
class Unwind:
    source: Expression
    variable: str


@dataclass(slots=True)
class Item:
    """One column: ``alias`` is its name, or where the text gives none, the text itself."""

    expression: Expression
    alias: str
    named: bool


@dataclass(slots=True)
class Sort:
    expression: Expression
    descending: bool


@dataclass(slots=True)
class Projection:
    """What a WITH or RETURN makes of the rows. ``before`` are WITHs of our own in front of it; ``grouped``: it
    aggregates, or the last of them does."""

    distinct: bool
    every: bool
    items: list[Item]
    order: list[Sort]
    skip: Expression | None
    limit: Expression | None
    before: "list[Projection]" = field(default_factory=list)
    grouped: bool = False


@dataclass(slots=True)
class With:
    projection: Projection
    where: Expression | None


@dataclass(slots=True)
class Return:
    projection: Projection


@dataclass(slots=True)
class CallSubquery:
    """``CALL (imports) { query }``; ``imports`` is ``None`` for ``(*)``, all variables in scope."""

    imports: list[str] | None
    query: "Query"


@dataclass(slots=True)
class SetProperty:
    """``SET variable.name = value``, and ``REMOVE`` as a value of null."""

    variable: str
    name: str
    value: Expression


@dataclass(slots=True)
class Set:
    items: list[SetProperty]


@dataclass(slots=True)
class Create:
    paths: list[Path]


@dataclass(slots=True)
class Merge:
    path: Path
    on_create: list[SetProperty]
    on_match: list[SetProperty]


@dataclass(slots=True)
class Delete:
    variables: list[str]
    detach: bool


Clause = Match | Unwind | With | Return | CallSubquery | Set | Create | Merge | Delete
WRITES = (Set, Create, Merge, Delete)


@dataclass(slots=True)
class Query:
    """One or more branches of clauses, joined by UNION (``distinct``) or UNION ALL."""

    branches: list[list[Clause]]
    distinct: bool = False
