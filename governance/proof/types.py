"""The types of expressions, as far as a text settles them."""

from dataclasses import dataclass, replace

from contracts.graph import PropertyType


@dataclass(frozen=True, slots=True)
class Type:
    """``kind``: a property type's name, ``node``, ``relationship``, ``list``, ``map``, ``null``, ``any`` or ``mixed``.

    ``any`` is what the text leaves open: a parameter nobody compared yet, the parts of an empty list.
    ``label`` is a node's or relationship's; ``owned``: the node was reached by ownership flow, so it is the
    customer's own (the type travels with the value, through WITH, lists and UNWIND). ``element`` is a list's,
    ``fields`` are a map's, where they are known. ``matched``: the value is a node that a MATCH bound to its variable,
    and so is there; one of an OPTIONAL MATCH, or taken from a list, may be null. ``unordered``: a list whose order
    is the store's own.
    """

    kind: str
    label: str = ""
    owned: bool = False
    matched: bool = False
    unordered: bool = False
    element: "Type | None" = None
    fields: tuple[tuple[str, "Type"], ...] | None = None

    def __str__(self) -> str:
        match self.kind:
            case "node" | "relationship":
                return f"{self.kind} {self.label}"
            case "list":
                return f"list of {self.element}" if self.element and self.element != ANY else "list"
            case "any":
                return "value"
            case kind:
                return kind


ANY = Type("any")
NULL = Type("null")
STRING, INTEGER, FLOAT, BOOLEAN = (Type(kind) for kind in ("string", "integer", "float", "boolean"))
DATE, DATETIME, DURATION, POINT = (Type(kind) for kind in ("date", "datetime", "duration", "point"))
MAP = Type("map")
#: Values of several types: it may be returned, and nothing else be done with it.
VARIED = Type("varied")
#: A node or relationship or something else: nothing may be done with it.
MIXED = Type("mixed")

NUMBERS = frozenset({"integer", "float"})
TEMPORAL = frozenset({"date", "datetime"})
#: Kinds that a row may hold as one value, in an order that both engines sort alike.
SCALARS = frozenset({"string", "integer", "float", "boolean", "date", "datetime"})
_OPEN = frozenset({"any", "null"})


def node(label: str, *, owned: bool, matched: bool = True) -> Type:
    return Type("node", label=label, owned=owned, matched=matched)


def relationship(type_: str) -> Type:
    return Type("relationship", label=type_)


def list_of(element: Type) -> Type:
    return Type("list", element=unmatched(element))


def unmatched(type_: Type) -> Type:
    """The type of a value that was passed on as a part of another."""
    return replace(type_, matched=False) if type_.matched else type_


def of_property(type_: PropertyType) -> Type:
    return Type(type_.value)


def is_open(type_: Type) -> bool:
    """Whether the text leaves the type open."""
    return type_.kind in _OPEN


def is_number(type_: Type) -> bool:
    return type_.kind in NUMBERS or is_open(type_)


def holds_entity(type_: Type) -> bool:
    """Whether a value of the type is, or holds, a whole node or relationship."""
    if type_.kind in ("node", "relationship", "mixed"):
        return True
    if type_.element is not None and holds_entity(type_.element):
        return True
    return any(holds_entity(field) for _, field in type_.fields or ())


def joined(types: list[Type]) -> Type:
    """The one type of several alternatives: of the items of a list, the branches of a CASE."""
    known = [unmatched(type_) for type_ in types if type_ != NULL]
    if not known:
        return NULL
    first = known[0]
    if all(type_ == first for type_ in known):
        return first
    kinds = {type_.kind for type_ in known}
    if kinds <= NUMBERS:
        return FLOAT
    if kinds == {"list"}:
        return list_of(joined([type_.element or ANY for type_ in known]))
    if any(map(holds_entity, known)):
        return MIXED
    if kinds == {"map"}:
        return MAP
    return VARIED


def comparable(left: Type, right: Type) -> bool:
    """Whether ``=`` and ``<>`` between the two can ever be true; whether ``<`` orders them."""
    if is_open(left) or is_open(right) or left.kind == right.kind:
        return True
    return left.kind in NUMBERS and right.kind in NUMBERS
