"""Small graphs of a schema that differ only in what isn't the customer's: seeded, so that a failure comes back.

Each graph holds the same public nodes and the same own data of :data:`CUSTOMER`. What other customers own, whatever
is neither owned nor public, and all relationships that have an end there differ from variant to variant, down to a
graph that has none of it; so does the order in which everything is inserted. Values come from small pools shared by
all, so that comparisons, groups and ties meet other people's rows.
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import TypeVar

from contracts.base import Value
from contracts.graph import GraphSchema, PropertySchema, PropertyType, RelationshipSchema

_Item = TypeVar("_Item")

#: How many other customers each variant has. The first is what the others are compared with.
OTHER_CUSTOMERS = (3, 0, 6)
WORDS = ("amber", "birch", "cedar", "delta", "Amber", "north birch")
DAYS = tuple(date(2024, 1, 1) + timedelta(days=days) for days in (0, 1, 31, 90, 180))
MOMENTS = tuple(datetime(2024, 1, 1, 8, tzinfo=UTC) + timedelta(hours=hours) for hours in (0, 1, 30, 500))
#: Share of properties that a node lacks, and of possible relationships that exist.
MISSING = 0.15
LINKED = 0.75


@dataclass(frozen=True)
class Node:
    label: str
    key: str
    properties: dict[str, Value]
    #: The customer whose it is, ``None`` for public and hidden nodes.
    owner: str | None = None

    @property
    def identity(self) -> tuple[str, Value]:
        return self.label, self.properties[self.key]


@dataclass(frozen=True)
class Edge:
    type: str
    start: Node
    end: Node
    properties: dict[str, Value]


@dataclass
class Graph:
    """Nodes and relationships in the order in which they are inserted."""

    customer_id: Value
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


def key_property(schema: GraphSchema, label: str) -> str:
    """The property that names a node of the label: the customer's key, else its first unique one."""
    if label == schema.customer_label:
        return schema.customer_key
    return next(name for name, prop in schema.labels[label].properties.items() if prop.unique)


def owned_labels(schema: GraphSchema) -> list[str]:
    """Labels that ownership reaches from the customer's, in breadth-first order, without the customer's own."""
    reached = [schema.customer_label]
    for label in reached:
        for relationship in schema.relationships:
            fresh = relationship.end not in reached and relationship.end not in schema.public_labels
            if relationship.owning and relationship.start == label and fresh:
                reached.append(relationship.end)
    return reached[1:]


def variants(schema: GraphSchema, seed: int) -> list[Graph]:
    """One graph for each of :data:`OTHER_CUSTOMERS`, equal in what is public and in what the customer owns."""
    return [_graph(schema, seed, variant, count) for variant, count in enumerate(OTHER_CUSTOMERS)]


def pool(prop: PropertySchema) -> list[Value]:
    """The values that properties of this kind take, unique ones excepted."""
    if prop.values:
        return list(prop.values)
    match prop.type:
        case PropertyType.STRING:
            return list(WORDS)
        case PropertyType.INTEGER:
            return [0, 1, 2, 3, 12]
        case PropertyType.FLOAT:  # halves and quarters: sums are exact in every order
            return [0.0, 0.25, 1.5, 20.0, 99.75]
        case PropertyType.BOOLEAN:
            return [True, False]
        case PropertyType.DATE:
            return list(DAYS)
        case PropertyType.DATETIME:
            return list(MOMENTS)
        case _:
            raise ValueError(f"no schema here has properties of type {prop.type}")


def _graph(schema: GraphSchema, seed: int, variant: int, other_customers: int) -> Graph:
    owned = [schema.customer_label, *owned_labels(schema)]
    hidden = [label for label in schema.labels if label not in owned and label not in schema.public_labels]
    public = _Part(schema, Random(f"{seed} public"), "p")
    for label in schema.labels:
        if label in schema.public_labels:
            public.add_nodes(label, 4, owner=None)
    for relationship in schema.relationships:
        if relationship.start in schema.public_labels and relationship.end in schema.public_labels:
            public.link(relationship, public.of(relationship.start), public.of(relationship.end))

    own = _Part(schema, Random(f"{seed} own"), "own")
    own.add_customer("m", below_customer=(2, 3, 4), below_others=(1, 1, 2))
    own.link_within(public)

    others = _Part(schema, Random(f"{seed} others {variant}"), f"v{variant}")
    for number in range(other_customers):
        others.add_customer("amz"[number % 3] + str(number))
    others.link_within(public)
    if other_customers:
        for label in hidden:
            others.add_nodes(label, 3, owner=None)
        everything = [*public.nodes, *own.nodes, *others.nodes]
        for relationship in schema.relationships:
            others.link_across(relationship, everything, hidden)

    order = Random(f"{seed} order {variant}")
    return Graph(
        customer_id=own.nodes[0].properties[schema.customer_key],
        nodes=_interleaved(order, public.nodes, own.nodes, others.nodes),
        edges=_interleaved(order, public.edges, own.edges, others.edges),
    )


class _Part:
    """Nodes and relationships made from one source of chance."""

    def __init__(self, schema: GraphSchema, chance: Random, name: str) -> None:
        self.schema = schema
        self.chance = chance
        self.name = name
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self._numbers: dict[str, int] = {}

    def of(self, label: str) -> list[Node]:
        return [node for node in self.nodes if node.label == label]

    def add_nodes(self, label: str, count: int, owner: str | None) -> list[Node]:
        nodes = [Node(label, key_property(self.schema, label), self._properties(label), owner) for _ in range(count)]
        self.nodes += nodes
        return nodes

    def add_customer(
        self, owner: str, below_customer: tuple[int, ...] = (1, 2, 3), below_others: tuple[int, ...] = (0, 1, 2)
    ) -> None:
        """A customer with everything that hangs below by owning relationships, some of it reached in two ways."""
        schema = self.schema
        mine = {schema.customer_label: self.add_nodes(schema.customer_label, 1, owner)}
        for label in owned_labels(schema):
            first = True
            for relationship in (item for item in schema.relationships if item.owning and item.end == label):
                for parent in list(mine.get(relationship.start, [])):
                    if first or label not in mine:
                        count = self.chance.choice(
                            below_customer if parent.label == schema.customer_label else below_others
                        )
                        children = self.add_nodes(label, count, owner)
                        mine.setdefault(label, []).extend(children)
                    else:
                        count = self.chance.choice((0, 1, 1))
                        children = self.chance.sample(mine[label], min(count, len(mine[label])))
                    self.edges += [self._edge(relationship, parent, child) for child in children]
                first = first and relationship.start not in mine

    def link_within(self, public: "_Part") -> None:
        """What each customer's nodes have to do with public ones and, not owning, with one another."""
        for relationship in self.schema.relationships:
            if relationship.owning:
                continue
            starts, ends = self.of(relationship.start), self.of(relationship.end)
            self.link(relationship, starts, public.of(relationship.end))
            self.link(relationship, public.of(relationship.start), ends)
            for start in starts:
                same = [end for end in ends if end is not start and end.owner == start.owner]
                self.link(relationship, [start], same)

    def link_across(self, relationship: RelationshipSchema, everything: list[Node], hidden: list[str]) -> None:
        """Relationships between customers, not owning, and with what nobody owns."""
        for start in everything:
            ends = [
                end
                for end in everything
                if (start.label, end.label) == (relationship.start, relationship.end)
                and end is not start
                and (start.label in hidden or end.label in hidden or (start.owner != end.owner and start.owner))
                and not (start.label in self.schema.public_labels and end.label in self.schema.public_labels)
                and not (relationship.owning or (end.label in self.schema.public_labels and start.owner))
            ]
            self.link(relationship, [start], ends)

    def link(self, relationship: RelationshipSchema, starts: list[Node], ends: list[Node]) -> None:
        for start in starts:
            if ends and self.chance.random() < LINKED:
                count = min(len(ends), self.chance.choice((1, 1, 2)))
                self.edges += [self._edge(relationship, start, end) for end in self.chance.sample(ends, count)]

    def _edge(self, relationship: RelationshipSchema, start: Node, end: Node) -> Edge:
        return Edge(relationship.type, start, end, self._values(relationship.properties))

    def _properties(self, label: str) -> dict[str, Value]:
        declared = self.schema.labels[label].properties
        number = self._numbers[label] = self._numbers.get(label, 0) + 1
        unique = {name: self._unique(prop, number) for name, prop in declared.items() if prop.unique}
        return unique | self._values({name: prop for name, prop in declared.items() if not prop.unique})

    def _values(self, declared: dict[str, PropertySchema]) -> dict[str, Value]:
        return {
            name: self.chance.choice(pool(prop)) for name, prop in declared.items() if self.chance.random() >= MISSING
        }

    def _unique(self, prop: PropertySchema, number: int) -> Value:
        """Values that nobody else has, one's own between those of others in every ordering."""
        if prop.type is PropertyType.INTEGER:
            spread = {"p": 4, "own": 0}.get(self.name, 1 + int(self.name[1:]) if self.name[1:].isdigit() else 9)
            return 1000 + number * 10 + spread
        return f"{'abc'[number % 3]}{number:02d}-{self.name}"


def _interleaved(chance: Random, *parts: list[_Item]) -> list[_Item]:
    """All items in one list, the items of each part in their order."""
    turns = [index for index, part in enumerate(parts) for _ in part]
    chance.shuffle(turns)
    items = [iter(part) for part in parts]
    return [next(items[turn]) for turn in turns]
