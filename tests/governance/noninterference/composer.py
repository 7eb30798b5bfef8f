"""Composes Cypher over a schema by chance: what people write, and what an intruder would.

Knows the language and the schema's names, nothing of what is allowed. ``wildness`` is the share of choices that leave
the ways from a customer to what is below: upwards, sideways, unanchored, unlabelled, undirected.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from random import Random
from typing import TypeVar

from contracts.base import Value
from contracts.graph import GraphSchema, PropertySchema, PropertyType, RelationshipSchema
from tests.governance.noninterference.graphs import key_property, owned_labels, pool

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Composed:
    """A text, and whether it begins at the anchored customer and took no wild turn."""

    text: str
    anchored: bool
    tame: bool


@dataclass
class _Scope:
    """Names in scope: nodes with their label, relationships with their type, values with their type, lists."""

    nodes: dict[str, str] = field(default_factory=dict)
    relationships: dict[str, RelationshipSchema] = field(default_factory=dict)
    values: dict[str, PropertyType | None] = field(default_factory=dict)

    def copy(self) -> "_Scope":
        return _Scope(dict(self.nodes), dict(self.relationships), dict(self.values))

    def names(self) -> list[str]:
        return [*self.nodes, *self.relationships, *self.values]


class Composer:
    """One text after another from one source of chance."""

    def __init__(self, schema: GraphSchema, chance: Random, unique_values: dict[tuple[str, str], list[Value]]) -> None:
        self.schema = schema
        self.chance = chance
        self.unique_values = unique_values
        self.owned = owned_labels(schema)
        self.wildness = 0.0
        self._wild_turns = 0
        self._fresh = 0

    def read(self) -> Composed:
        self.wildness = self._choose((0.0, 0.0, 0.0, 0.0, 0.05, 0.2))
        self._wild_turns = self._fresh = 0
        anchored = self._likely(0.85)
        kinds = self._columns_kinds()
        text = self._single(anchored, kinds)
        if self._likely(0.1):
            both = anchored if not self._wild(0.5) else not anchored
            text += f" {self._choose(('UNION', 'UNION ALL'))} " + self._single(both, kinds)
            anchored = anchored and both
        return Composed(text, anchored, self._wild_turns == 0)

    def write(self) -> Composed:
        self.wildness = self._choose((0.0, 0.0, 0.0, 0.1, 0.3))
        self._wild_turns = self._fresh = 0
        scope = _Scope()
        anchored = self._likely(0.9)
        clauses = self._reading(scope, anchored, most=2)
        for _ in range(self._choose((1, 1, 2, 3))):
            clauses.append(self._change(scope))
        if self._likely(0.7):
            clauses.append(self._projection("RETURN", scope, self._columns_kinds()))
        return Composed(" ".join(clauses), anchored, self._wild_turns == 0)

    # The parts of a read

    def _single(self, anchored: bool, kinds: list[str]) -> str:
        scope = _Scope()
        clauses = self._reading(scope, anchored, most=3)
        clauses.append(self._projection("RETURN", scope, kinds))
        return " ".join(clauses)

    def _reading(self, scope: _Scope, anchored: bool, most: int) -> list[str]:
        optional = "OPTIONAL " if self._likely(0.05) else ""
        clauses = [f"{optional}MATCH " + self._first_pattern(scope, anchored)]
        if self._likely(0.35):
            clauses.append("WHERE " + self._predicate(scope))
        for _ in range(self.chance.randint(0, most)):
            make = self._choose(
                (
                    self._match,
                    self._match,
                    self._optional,
                    self._optional,
                    self._with,
                    self._with,
                    self._unwind,
                    self._call,
                    self._handed_on,
                )
            )
            clauses.append(make(scope))
        return clauses

    def _first_pattern(self, scope: _Scope, anchored: bool) -> str:
        if anchored:
            name = self._name()
            scope.nodes[name] = self.schema.customer_label
            node = f"({name}:{self.schema.customer_label} {{{self.schema.customer_key}: $customer_id}})"
            path = node + self._hops(scope, self.schema.customer_label, self._choose((0, 1, 1, 2, 2, 3)))
            if self._likely(0.1):
                path += ", " + self._node(scope, self._choose(sorted(self.schema.public_labels)))
            return path
        labels = sorted(self.schema.public_labels)
        if self._wild(0.5):
            labels = [self.schema.customer_label, *self.owned]
        label = self._choose(labels)
        return self._node(scope, label) + self._hops(scope, label, self._choose((0, 0, 1, 2)))

    def _match(self, scope: _Scope) -> str:
        text = "MATCH " + self._pattern(scope)
        return text + (" WHERE " + self._predicate(scope) if self._likely(0.4) else "")

    def _optional(self, scope: _Scope) -> str:
        return "OPTIONAL " + self._match(scope)

    def _pattern(self, scope: _Scope) -> str:
        """A path from something in scope, or one that begins at a public node or, wildly, anywhere."""
        if self._wild(0.3):
            label = self._choose((self.schema.customer_label, *self.owned))
            return self._node(scope, label) + self._hops(scope, label, self._choose((0, 1)))
        if not scope.nodes or self._likely(0.12):
            label = self._choose(sorted(self.schema.public_labels))
            return self._node(scope, label) + self._hops(scope, label, self._choose((0, 1)))
        name = self._choose(list(scope.nodes))
        label = scope.nodes[name]
        return f"({name})" + self._hops(scope, label, self._choose((1, 1, 2)))

    def _hops(self, scope: _Scope, label: str, count: int) -> str:
        text = ""
        for _ in range(count):
            hop = self._hop(scope, label)
            if hop is None:
                break
            step, label = hop
            text += step
        return text

    def _hop(self, scope: _Scope | None, label: str) -> tuple[str, str] | None:
        """One relationship and the node at its other end; without a scope nothing is named."""
        down = [
            item
            for item in self.schema.relationships
            if item.start == label and (item.owning or item.end in self.schema.public_labels)
        ]
        if self.chance.random() < 0.7:
            down = [item for item in down if item.owning] or down
        if self._wild(0.5) or not down:
            around = [item for item in self.schema.relationships if label in (item.start, item.end)]
            if not down and not self._wild(0.5):
                return None
            if not around:
                return None
            relationship = self._choose(around)
        else:
            relationship = self._choose(down)
        forward = relationship.start == label
        other = relationship.end if forward else relationship.start
        name = ""
        if scope is not None and self._likely(0.15):
            name = self._name()
            scope.relationships[name] = relationship
        kind = f":{relationship.type}"
        if self._wild(0.05):
            kind = self._choose(("", f"{kind}*1..2", f"{kind}|{self._choose(self.schema.relationships).type}"))
        inside = f"[{name}{kind}]"
        arrow = f"-{inside}->" if forward else f"<-{inside}-"
        if self._wild(0.1):
            arrow = f"-{inside}-"
        return arrow + (self._node(scope, other) if scope is not None else f"(:{other})"), other

    def _node(self, scope: _Scope, label: str) -> str:
        name = ""
        if not self._likely(0.15):
            name = self._name()
            scope.nodes[name] = label
        shown = "" if self._wild(0.1) or self._likely(0.05) else f":{label}"
        values = ""
        if self._likely(0.08):
            prop, declared = self._property(label)
            values = f" {{{prop}: {self._literal(label, prop, declared)}}}"
        return f"({name}{shown}{values})"

    def _with(self, scope: _Scope) -> str:
        distinct = "DISTINCT " if self._likely(0.15) else ""
        items: list[str] = []
        after = _Scope()
        for name in scope.names():
            if self._likely(0.3):
                continue
            alias = self._name() if self._likely(0.15) else name
            items.append(name if alias == name else f"{name} AS {alias}")
            _carry(scope, name, after, alias)
        for _ in range(self._choose((0, 0, 1, 1, 2))):
            alias = self._name()
            text, kind = self._value(scope) if self._likely(0.4) else self._aggregate(scope)
            items.append(f"{text} AS {alias}")
            after.values[alias] = kind
        if self._likely(0.06):
            items.insert(0, "*")
            after = _merged(scope, after)
        if not items:
            items.append("count(*) AS n")
            after.values["n"] = PropertyType.INTEGER
        scope.nodes, scope.relationships, scope.values = after.nodes, after.relationships, after.values
        text = f"WITH {distinct}" + ", ".join(items) + self._tail(scope)
        return text + (" WHERE " + self._predicate(scope) if self._likely(0.3) else "")

    def _unwind(self, scope: _Scope) -> str:
        if scope.nodes and self._likely(0.6):
            name, alias, many = self._choose(list(scope.nodes)), self._name(), self._name()
            label = scope.nodes[name]
            scope.nodes = {alias: label}
            scope.relationships, scope.values = {}, {}
            order = f"{name} ORDER BY {name}.{self._property(label)[0]}" if self._likely(0.3) else name
            return f"WITH {order} WITH collect({name}) AS {many} UNWIND {many} AS {alias}"
        label = self._choose((*self.owned, *sorted(self.schema.public_labels)))
        prop, declared = self._property(label)
        alias = self._name()
        scope.values[alias] = declared.type
        items = ", ".join(self._literal(label, prop, declared) for _ in range(self._choose((1, 2, 3))))
        return f"UNWIND [{items}] AS {alias}"

    def _handed_on(self, scope: _Scope) -> str:
        """A WITH that hands a node on in a roundabout way: through a list, a choice, another's name."""
        if not scope.nodes:
            return self._match(scope)
        names = list(scope.nodes)
        name, other = self._choose(names), self._choose(names)
        label, alias = scope.nodes[name], self._name()
        same = [candidate for candidate in names if scope.nodes[candidate] == label]
        second = self._choose(same if not self._wild(0.5) else names)
        text = self._choose(
            (
                f"WITH head(collect({name})) AS {alias}",
                f"WITH collect({name})[0] AS {alias}",
                f"WITH CASE WHEN {self._predicate(scope)} THEN {name} ELSE {second} END AS {alias}",
                f"WITH coalesce({name}, {second}) AS {alias}",
                f"WITH [{name}, {second}] AS l UNWIND l AS {alias}",
                f"WITH [x IN collect({name}) WHERE x.{self._property(label)[0]} IS NOT NULL] AS l UNWIND l AS {alias}",
                f"WITH collect({name}) + collect({second}) AS l UNWIND l AS {alias}",
                f"WITH {{a: {name}}} AS m WITH m.a AS {alias}",
            )
        )
        if other != name and self._likely(0.3):
            text = f"WITH {name} AS {other}, {other} AS {name}"
            scope.nodes = {other: label, name: scope.nodes[other]}
        else:
            scope.nodes = {alias: label}
        scope.relationships, scope.values = {}, {}
        return text

    def _call(self, scope: _Scope) -> str:
        if not scope.nodes:
            return self._match(scope)
        handed = self._choose(list(scope.nodes))
        inner = _Scope(nodes={handed: scope.nodes[handed]})
        match = self._optional(inner) if self._likely(0.6) else self._match(inner)
        alias = self._name()
        if self._likely(0.2):
            match += " " + self._choose((self._with, self._call, self._handed_on))(inner)
        if inner.nodes and self._likely(0.25):
            found = self._choose(list(inner.nodes))
            scope.nodes[alias] = inner.nodes[found]
            limit = f" ORDER BY {found}.{self._property(inner.nodes[found])[0]} LIMIT 1" if self._likely(0.4) else ""
            return f"CALL ({handed}) {{ {match} RETURN {found} AS {alias}{limit} }}"
        text, kind = self._aggregate(inner) if self._likely(0.7) else self._value(inner)
        scope.values[alias] = kind
        if self._likely(0.15):
            other = _Scope(nodes={handed: scope.nodes[handed]})
            second = self._match(other)
            return (
                f"CALL ({handed}) {{ {match} RETURN {text} AS {alias}"
                f" UNION {second} RETURN {self._aggregate(other)[0]} AS {alias} }}"
            )
        return f"CALL ({handed}) {{ {match} RETURN {text} AS {alias} }}"

    # Projections

    def _columns_kinds(self) -> list[str]:
        return [
            self._choose(("value", "value", "value", "aggregate", "node")) for _ in range(self._choose((1, 2, 2, 3)))
        ]

    def _projection(self, word: str, scope: _Scope, kinds: list[str]) -> str:
        distinct = "DISTINCT " if self._likely(0.2) else ""
        items, after = [], scope.copy()
        for number, kind in enumerate(kinds):
            alias = f"c{number}"
            if kind == "node" and scope.nodes:
                text: str = self._choose(list(scope.nodes))
                value: PropertyType | None = None
            elif kind == "aggregate":
                text, value = self._aggregate(scope)
            else:
                text, value = self._value(scope)
            items.append(f"{text} AS {alias}")
            after.values[alias] = value
        return f"{word} {distinct}" + ", ".join(items) + self._tail(after, [f"c{n}" for n in range(len(kinds))])

    def _tail(self, scope: _Scope, columns: list[str] | None = None) -> str:
        text = ""
        if self._likely(0.35):
            names = columns or scope.names()
            if names:
                name = self._choose(names)
                if name in scope.nodes:
                    name = f"{name}.{self._property(scope.nodes[name])[0]}"
                text += f" ORDER BY {name}" + self._choose(("", "", " DESC"))
        if self._likely(0.06):
            text += " SKIP 1"
        if self._likely(0.2):
            text += f" LIMIT {self._choose((1, 2, 3))}"
        return text

    def _value(self, scope: _Scope) -> tuple[str, PropertyType | None]:
        if scope.values and self._likely(0.2):
            name = self._choose(list(scope.values))
            return name, scope.values[name]
        if scope.relationships and self._likely(0.2):
            name = self._choose(list(scope.relationships))
            declared = scope.relationships[name].properties
            if declared and self._likely(0.7):
                prop = self._choose(list(declared))
                return f"{name}.{prop}", declared[prop].type
            return f"type({name})", PropertyType.STRING
        if not scope.nodes:
            return self._choose(("1", "'x'", "$customer_id")), PropertyType.STRING
        name = self._choose(list(scope.nodes))
        label = scope.nodes[name]
        prop, declared_property = self._property(label)
        plain = f"{name}.{prop}"
        pattern = self._hop(None, label)
        hop = pattern[0] if pattern else ""
        choice = self._choose(("plain",) * 12 + ("case", "coalesce", "exists", "count", "comprehension", "text", "map"))
        if choice == "case":
            return f"CASE WHEN {self._predicate(scope)} THEN {plain} ELSE null END", declared_property.type
        if choice == "coalesce":
            literal = self._literal(label, prop, declared_property)
            return f"coalesce({plain}, {literal})", declared_property.type
        if choice == "exists" and hop:
            return f"EXISTS {{ ({name}){hop} }}", PropertyType.BOOLEAN
        if choice == "count" and hop:
            return f"COUNT {{ ({name}){hop} }}", PropertyType.INTEGER
        if choice == "comprehension" and pattern:
            other = self._name()
            end = pattern[1]
            path = hop.replace(f"(:{end})", f"({other}:{end})")
            listed = f"[({name}){path} | {other}.{self._property(end)[0]}]"
            return (f"size({listed})", PropertyType.INTEGER) if self._likely(0.5) else (listed, None)
        if choice == "text":
            return f"toString({plain})", PropertyType.STRING
        if choice == "map" and hop and self._likely(0.5):
            return f"{name} {{.{prop}, many: [({name}){hop} | 1], any: EXISTS {{ ({name}){hop} }}}}", None
        if choice == "map":
            return f"{name} {{.{prop}}}", None
        return plain, declared_property.type

    def _aggregate(self, scope: _Scope) -> tuple[str, PropertyType | None]:
        distinct = "DISTINCT " if self._likely(0.2) else ""
        if scope.nodes and self._likely(0.4):
            name = self._choose(list(scope.nodes))
            return self._choose(
                ((f"count({distinct}{name})", PropertyType.INTEGER), ("count(*)", PropertyType.INTEGER))
            )
        text, kind = self._value(scope)
        if kind in (PropertyType.INTEGER, PropertyType.FLOAT) and self._likely(0.6):
            return f"{self._choose(('sum', 'avg', 'min', 'max'))}({distinct}{text})", PropertyType.FLOAT
        function = self._choose(("collect", "collect", "min", "max", "count"))
        if function == "collect":
            many = f"collect({distinct}{text})"
            return self._choose(((many, None), (f"size({many})", PropertyType.INTEGER), (f"head({many})", kind)))
        return f"{function}({distinct}{text})", PropertyType.INTEGER if function == "count" else kind

    # Conditions

    def _predicate(self, scope: _Scope, depth: int = 0) -> str:
        if depth < 2 and self._likely(0.3):
            left, right = self._predicate(scope, depth + 1), self._predicate(scope, depth + 1)
            return f"({left} {self._choose(('AND', 'AND', 'OR', 'XOR'))} {right})"
        if self._likely(0.1):
            return f"NOT {self._predicate(scope, depth + 1)}"
        if scope.nodes and self._likely(0.25):
            return self._pattern_condition(scope)
        if scope.values and self._likely(0.25):
            name = self._choose(list(scope.values))
            kind = scope.values[name]
            if kind is not None:
                return self._comparison(name, "", "", PropertySchema(type=kind))
        if not scope.nodes:
            return "true"
        name = self._choose(list(scope.nodes))
        prop, declared = self._property(scope.nodes[name])
        if self._likely(0.08) and len(scope.nodes) > 1:
            other = self._choose(list(scope.nodes))
            if declared_twice := [key for key in self.schema.labels[scope.nodes[other]].properties if key == prop]:
                return f"{name}.{prop} = {other}.{declared_twice[0]}"
        return self._comparison(f"{name}.{prop}", scope.nodes[name], prop, declared)

    def _comparison(self, text: str, label: str, prop: str, declared: PropertySchema) -> str:
        literal = self._literal(label, prop, declared)
        forms = [f"{text} = {literal}", f"{text} <> {literal}", f"{text} IS NULL", f"{text} IS NOT NULL"]
        forms.append(f"{text} IN [{literal}, {self._literal(label, prop, declared)}]")
        if declared.type is PropertyType.STRING:
            forms += [f"{text} STARTS WITH 'a'", f"toLower({text}) CONTAINS 'b'", f"{text} =~ '[a-m].*'"]
        elif declared.type is not PropertyType.BOOLEAN:
            forms += [f"{text} {self._choose(('<', '<=', '>', '>='))} {literal}"] * 3
        return self._choose(forms)

    def _pattern_condition(self, scope: _Scope) -> str:
        name = self._choose(list(scope.nodes))
        inner = _Scope(nodes=dict(scope.nodes))
        hop = self._hop(None, scope.nodes[name])
        bare = f"({name}){hop[0]}" if hop else ""
        if self._wild(0.1):
            label = self._choose((self.schema.customer_label, *self.owned))
            prop, declared = self._property(label)
            bare = f"(:{label} {{{prop}: {self._literal(label, prop, declared)}}})"
            return self._choose((f"EXISTS {{ {bare} }}", f"COUNT {{ {bare} }} > 1"))
        if not hop:
            return f"{name} IS NOT NULL"
        path = f"({name})" + self._hops(inner, scope.nodes[name], 1)
        where = f" WHERE {self._predicate(inner, 2)}" if self._likely(0.4) else ""
        forms = [f"EXISTS {{ {path}{where} }}", f"EXISTS {{ MATCH {path}{where} }}"]
        forms.append(f"COUNT {{ {path}{where} }} {self._choose(('=', '>', '<'))} {self._choose((0, 1, 2))}")
        return self._choose([*forms, bare, f"NOT {bare}"])

    # Changes

    def _change(self, scope: _Scope) -> str:
        if not scope.nodes:
            return self._free_creation()
        makers = (self._set, self._set, self._set, self._remove, self._delete, self._create, self._create, self._merge)
        return self._choose(makers)(scope) if not self._wild(0.15) else self._free_creation()

    def _target(self, scope: _Scope) -> tuple[str, str]:
        mine = [name for name, label in scope.nodes.items() if label not in self.schema.public_labels]
        name = self._choose(mine if mine and not self._wild(0.3) else list(scope.nodes))
        return name, scope.nodes[name]

    def _settable(self, label: str) -> tuple[str, PropertySchema]:
        declared = self.schema.labels[label].properties
        plain = [item for item in declared.items() if not item[1].unique]
        return self._choose(plain if plain and not self._wild(0.2) else list(declared.items()))

    def _set(self, scope: _Scope) -> str:
        name, label = self._target(scope)
        prop, declared = self._settable(label)
        value = self._literal(label, prop, declared)
        if self._likely(0.2):
            text, kind = self._value(scope)
            value = text if kind is declared.type and not declared.values else value
        forms = [f"SET {name}.{prop} = {value}"] * 4 + [f"SET {name} += {{{prop}: {value}}}"]
        if self._wild(0.3):
            other = self._choose(list(scope.nodes))
            forms = [f"SET {name} = {other}", f"SET {name} += properties({other})", f"SET {name} = {{{prop}: {value}}}"]
            forms += [f"SET {name}:{self._choose(list(self.schema.labels))}"]
        return self._choose(forms)

    def _remove(self, scope: _Scope) -> str:
        name, label = self._target(scope)
        if self._wild(0.2):
            return f"REMOVE {name}:{label}"
        return f"REMOVE {name}.{self._settable(label)[0]}"

    def _delete(self, scope: _Scope) -> str:
        if scope.relationships and self._likely(0.6):
            name = self._choose(list(scope.relationships))
            scope.relationships.pop(name)
            return f"DELETE {name}"
        name, _ = self._target(scope)
        scope.nodes.pop(name)
        return f"{self._choose(('DETACH DELETE', 'DETACH DELETE', 'DELETE'))} {name}"

    def _create(self, scope: _Scope) -> str:
        return "CREATE " + self._new_pattern(scope)

    def _merge(self, scope: _Scope) -> str:
        text = "MERGE " + self._new_pattern(scope)
        if self._likely(0.4):
            text += f" {self._choose(('ON CREATE', 'ON MATCH'))} {self._set(scope)}"
        return text

    def _new_pattern(self, scope: _Scope) -> str:
        start, label = self._target(scope)
        out = [item for item in self.schema.relationships if item.start == label]
        if self._wild(0.2):
            out = [item for item in self.schema.relationships if label in (item.start, item.end)]
        if not out:
            return self._new_node(scope, label)
        relationship = self._choose(out)
        forward = relationship.start == label
        end_label = relationship.end if forward else relationship.start
        bound = [name for name, other in scope.nodes.items() if other == end_label and name != start]
        reused = bound and self._likely(0.5)
        end = f"({self._choose(bound)})" if reused else self._new_node(scope, end_label)
        inside = f"[:{relationship.type}]"
        return f"({start})" + (f"-{inside}->{end}" if forward else f"<-{inside}-{end}")

    def _new_node(self, scope: _Scope, label: str) -> str:
        name = self._name()
        declared = self.schema.labels[label].properties
        key = key_property(self.schema, label)
        fresh = str(self.chance.randint(70_000, 99_999))
        values = [f"{key}: {fresh if declared[key].type is PropertyType.INTEGER else repr('new-' + fresh)}"]
        if self._likely(0.6):
            values = []  # several rows may each make one: with a key, all but the first would be refused
        elif self._wild(0.3):
            values = [f"{key}: {self._literal(label, key, declared[key])}"]
        if self._likely(0.6):
            prop, kind = self._settable(label)
            values += [f"{prop}: {self._literal(label, prop, kind)}"] if prop != key else []
        scope.nodes[name] = label
        return f"({name}:{label} {{{', '.join(values)}}})" if values else f"({name}:{label})"

    def _free_creation(self) -> str:
        label = self._choose((self.schema.customer_label, *self.owned, *sorted(self.schema.public_labels)))
        return f"{self._choose(('CREATE', 'MERGE'))} " + self._new_node(_Scope(), label)

    # Chance

    def _property(self, label: str) -> tuple[str, PropertySchema]:
        return self._choose(list(self.schema.labels[label].properties.items()))

    def _literal(self, label: str, prop: str, declared: PropertySchema) -> str:
        if declared.unique and (label, prop) in self.unique_values and self._likely(0.9):
            return literal(self._choose(self.unique_values[label, prop]))
        if label and self._likely(0.05):
            return f"${prop}"
        return literal(self._choose(pool(declared)))

    def _name(self) -> str:
        if self._fresh and self._likely(0.03):
            return f"n{self.chance.randint(1, self._fresh)}"  # one that may be taken already
        self._fresh += 1
        return f"n{self._fresh}"

    def _likely(self, share: float) -> bool:
        return self.chance.random() < share

    def _wild(self, share: float) -> bool:
        """Whether to take a wild turn here, where every ``share``-th text of full wildness would."""
        turn = self.wildness > 0 and self.chance.random() < share * self.wildness * 2
        self._wild_turns += turn
        return turn

    def _choose(self, items: "tuple[_Item, ...] | list[_Item]") -> _Item:
        return items[self.chance.randrange(len(items))]


def literal(value: Value) -> str:
    """The value as Cypher writes it."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case datetime():
            return f"datetime('{value.isoformat().replace('+00:00', 'Z')}')"
        case date():
            return f"date('{value.isoformat()}')"
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case _:
            return str(value)


def _carry(scope: _Scope, name: str, after: _Scope, alias: str) -> None:
    if name in scope.nodes:
        after.nodes[alias] = scope.nodes[name]
    elif name in scope.relationships:
        after.relationships[alias] = scope.relationships[name]
    else:
        after.values[alias] = scope.values[name]


def _merged(first: _Scope, second: _Scope) -> _Scope:
    return _Scope(first.nodes | second.nodes, first.relationships | second.relationships, first.values | second.values)
