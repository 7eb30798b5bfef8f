"""What a principal may read, and what one proof has learnt so far."""

from collections.abc import Container
from dataclasses import dataclass, field
from math import prod

from configs.nearest import hint
from contracts.graph import CUSTOMER_PARAMETER, GraphSchema, LabelSchema, PropertySchema, RelationshipSchema
from contracts.principal import Principal, PrincipalKind
from governance.proof import syntax as s
from governance.proof import types as t
from governance.proof.violation import RefusedError

#: What a question may need at most, several times over.
MAX_MATCHES = 16
MAX_RELATIONSHIPS = 24
MAX_PATH = 10
MAX_UNWINDS = 4
#: Parts of a query's patterns that nothing joins: their combinations multiply.
MAX_SEPARATE_PARTS = 3
#: Each prints its divisor twice.
MAX_DIVISIONS = 10
#: Rows that the lists of a query may make of one, multiplied; a list of the graph's is taken for a hundred.
MAX_UNWOUND = 200_000

_STAFF = (PrincipalKind.AGENT, PrincipalKind.ADMIN)
_CUSTOMERS = (PrincipalKind.CUSTOMER, PrincipalKind.SERVICE)


@dataclass(frozen=True)
class Scope:
    """A kind of principal's reach: ``readable`` labels of everybody, and whether ownership flows from an anchor.

    Principals of the same scope get the same verdict, so verdicts are kept by it.
    """

    name: str
    readable: frozenset[str]
    anchored: bool


def scope_of(schema: GraphSchema, principal: Principal) -> Scope:
    """What this principal may read: guests what is public; customers their own as well; staff by role."""
    if principal.kind in _CUSTOMERS:
        return Scope("customer", schema.public_labels, anchored=True)
    if principal.kind not in _STAFF:
        return Scope("guest", schema.public_labels, anchored=False)
    if schema.staff_labels is None:
        return Scope("staff", frozenset(schema.labels), anchored=True)
    labels = set(schema.public_labels)
    for role in {str(principal.kind), *principal.scopes}:
        labels |= schema.staff_labels.get(role, frozenset())
    return Scope("staff", frozenset(labels), anchored=True)


@dataclass
class Proof:
    """The state of one proof: the schema, the scope, what is known of parameters, and what was counted."""

    schema: GraphSchema
    scope: Scope
    parameters: set[str] = field(default_factory=set)
    parameter_types: dict[str, t.Type] = field(default_factory=dict)
    list_parameters: set[str] = field(default_factory=set)
    parameter_values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    matches: int = 0
    relationships: int = 0
    unwinds: int = 0
    unwound: int = 1
    #: Rows that the lists written out have made so far: as many items may stand in a list collected since.
    written: int = 1
    loops: list[int] = field(default_factory=list)
    separate: int = 0
    divisions: set[int] = field(default_factory=set)
    #: Whether a part of the text was moved into a clause of our own: such a print is proven once more.
    rewrote: bool = False
    calls: int = 0
    imported: frozenset[str] = frozenset()
    names: int = 0
    #: Names of the text that look like our own.
    alike: frozenset[str] = frozenset()
    #: How large the columns of the last CALL may be.
    returned_sizes: dict[str, int] = field(default_factory=dict)

    def label(self, name: str) -> LabelSchema:
        """Raises ``RefusedError`` when the schema has no such label."""
        found = self.schema.labels.get(name)
        if found is None:
            raise RefusedError("label", f"There is no label {name!r} in the schema{hint(name, self.schema.labels)}.")
        return found

    def relationship_types(self, name: str) -> tuple[RelationshipSchema, ...]:
        """Every declaration of a type. Raises ``RefusedError`` when there is none."""
        found = tuple(item for item in self.schema.relationships if item.type == name)
        if not found:
            known = {item.type for item in self.schema.relationships}
            raise RefusedError("relationship", f"There is no relationship {name!r} in the schema{hint(name, known)}.")
        return found

    def property_of(self, owner: str, name: str, *, of_relationship: bool = False) -> PropertySchema:
        """A property of a label or a relationship type. Raises ``RefusedError`` when it isn't declared."""
        if of_relationship:
            properties: dict[str, PropertySchema] = {}
            for declared in self.relationship_types(owner):
                properties |= declared.properties
        else:
            properties = self.label(owner).properties
        found = properties.get(name)
        if found is None:
            raise RefusedError("property", f"{owner} has no property {name!r}{hint(name, properties)}.")
        return found

    def use_parameter(self, name: str) -> None:
        if name == CUSTOMER_PARAMETER and not self.scope.anchored:
            raise RefusedError("scope", f"${CUSTOMER_PARAMETER} is for signed-in customers; ask for what is public.")
        self.parameters.add(name)

    def settle(self, name: str, type_: t.Type, *, many: bool = False) -> None:
        """What the text tells of a parameter's type. Raises ``RefusedError`` where it tells two different ones."""
        if many:
            self.list_parameters.add(name)
        if type_.kind not in t.SCALARS | {"duration", "point"}:
            return
        known = self.parameter_types.setdefault(name, type_)
        if known == type_:
            return
        if {known.kind, type_.kind} <= t.NUMBERS:
            self.parameter_types[name] = t.FLOAT
        else:
            raise RefusedError("parameter", f"${name} is used as a {known} and as a {type_}; use two parameters.")

    def new_name(self, taken: Container[str]) -> str:
        """A variable of our own, unlike those that are taken."""
        while True:
            self.names += 1
            if (name := f"_n{self.names}") not in taken and name not in self.alike:
                return name

    def count_division(self, division: object) -> None:
        self.divisions.add(id(division))
        if len(self.divisions) > MAX_DIVISIONS:
            raise RefusedError("work", f"A query may divide or round {MAX_DIVISIONS} times at most.")

    def count_separate(self, parts: int) -> None:
        self.separate += parts
        if self.separate > MAX_SEPARATE_PARTS:
            raise RefusedError("work", f"The patterns have {self.separate} parts that nothing joins; join them.")

    def begin_loop(self, items: int) -> None:
        """Inside of a comprehension over so many items; those around it multiply."""
        self.loops.append(max(1, items))
        if prod(self.loops) > MAX_UNWOUND:
            raise RefusedError("work", "Comprehensions inside of one another go through too many items.")

    def end_loop(self) -> None:
        self.loops.pop()

    def count_unwind(self, rows: int, *, written: bool) -> None:
        self.unwinds += 1
        self.written *= max(1, rows) if written else 1
        self.unwound *= max(1, rows)
        if self.unwinds > MAX_UNWINDS or self.unwound > MAX_UNWOUND:
            raise RefusedError(
                "work", f"A query may UNWIND {MAX_UNWINDS} lists, and {MAX_UNWOUND:,} rows of lists, at most."
            )

    def count_match(self, paths: list[s.Path]) -> None:
        lengths = [len(path.relationships) for path in paths]
        self.matches += 1
        self.relationships += sum(lengths)
        if self.matches > MAX_MATCHES or self.relationships > MAX_RELATIONSHIPS or max(lengths) > MAX_PATH:
            raise RefusedError(
                "work",
                f"A query may have at most {MAX_MATCHES} patterns and {MAX_RELATIONSHIPS} relationships,"
                f" {MAX_PATH} of them in a row; ask for less.",
            )
