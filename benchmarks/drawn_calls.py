"""Calls of a pack's predefined queries as they happen: callers and arguments drawn from its data."""

import random
import re
from dataclasses import dataclass

from authoring.graph_rows import graph_rows
from configs.packs.types import Pack, PredefinedQuery
from contracts.base import Value
from contracts.graph import Audience, PropertyType
from contracts.principal import Principal, PrincipalKind

#: A node: its label and its key.
_Node = tuple[str, Value]


@dataclass(frozen=True)
class Call:
    """One run of a predefined query: who asks, and with what."""

    query: str
    principal: Principal
    arguments: dict[str, Value]


class Drawing:
    """Draws callers and arguments from the pack's data, the same each time."""

    def __init__(self, pack: Pack) -> None:
        nodes, edges = graph_rows(pack)
        self._pack = pack
        self._random = random.Random(1)
        self._nodes = {item.label: item for item in nodes}
        self._parents: dict[_Node, _Node] = {}
        owning = {(item.type, item.start, item.end) for item in pack.schema_.relationships if item.owning}
        for edge in edges:
            if (edge.type, edge.start_label, edge.end_label) in owning:
                for start, end in edge.pairs:
                    self._parents.setdefault((edge.end_label, end), (edge.start_label, start))

    def call(self, query: PredefinedQuery) -> Call:
        """One run of the query. Its caller is the one whose data its arguments name."""
        arguments: dict[str, Value] = {}
        customer: Value = None
        for name, type_name in query.parameters.items():
            type_ = self._pack.queries.parameters[type_name]
            if type_.gazetteer is not None:
                _, arguments[name] = self._value(type_.gazetteer.label, type_.gazetteer.property)
                continue
            found = self._property(name, query.cypher)
            if found is None:
                arguments[name] = self._number(type_.type)
                continue
            label, property_name = found
            key, arguments[name] = self._value(label, property_name)
            customer = self._owner((label, key)) or customer
        if query.audience is not Audience.CUSTOMER:
            kind = PrincipalKind.GUEST if query.audience is Audience.PUBLIC else PrincipalKind.AGENT
            return Call(query.name, Principal(kind=kind, subject="drawn"), arguments)
        if customer is None:
            customer, _ = self._value(self._pack.schema_.customer_label, self._pack.schema_.customer_key)
        asker = Principal(kind=PrincipalKind.CUSTOMER, subject=str(customer), customer_id=str(customer))
        return Call(query.name, asker, arguments)

    def _property(self, parameter: str, text: str) -> tuple[str, str] | None:
        """The label and property whose values the parameter takes: of its own name, or what it is compared with."""
        compared = re.findall(rf"(\w+)\s*(?::|=|<=|>=|<|>|IN)\s*\${parameter}\b", text)
        for name in (parameter, *compared):
            for label, item in self._pack.schema_.labels.items():
                if name in item.properties:
                    return label, name
        return None

    def _value(self, label: str, name: str) -> tuple[Value, Value]:
        """The key of a node of the label, and its property, which it has."""
        item = self._nodes[label]
        while True:
            row = self._random.choice(item.rows)
            if row.get(name) is not None:
                return row[item.key], row[name]

    def _owner(self, node: _Node) -> Value:
        """The key of the customer to whom the node belongs."""
        while node[0] != self._pack.schema_.customer_label:
            parent = self._parents.get(node)
            if parent is None:
                return None
            node = parent
        return node[1]

    def _number(self, type_: PropertyType) -> Value:
        """A number as one of the public labels has it, for a parameter that is no property (a bound, say)."""
        schema = self._pack.schema_
        numbers = [
            (label, name)
            for label in sorted(schema.public_labels)
            for name, item in schema.labels[label].properties.items()
            if item.type in (PropertyType.FLOAT, PropertyType.INTEGER) and item.unit is not None
        ]
        _, value = self._value(*self._random.choice(numbers))
        number = float(str(value))
        return int(number) if type_ is PropertyType.INTEGER else number
