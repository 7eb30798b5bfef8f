"""The yardstick: what a proven text returns, or does, may not depend on anybody else's data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from contracts.base import Value
from contracts.graph import GraphSchema, PropertyType, ProvenQuery, ProvenWrite
from contracts.principal import Principal, PrincipalKind
from governance.prover import prove, prove_write
from tests.governance.noninterference.engines import Arguments, Change, Dump, Engine, Outcome, plain
from tests.governance.noninterference.graphs import DAYS, MOMENTS, owned_labels, pool, variants


@dataclass(frozen=True)
class Trial:
    """What became of one text: whether it was allowed, and how many rows it returned in all runs together."""

    allowed: bool
    rows: int = 0
    changes: int = 0
    raised: int = 0


class World:
    """A schema, its graph variants, and the customer whose data is equal in all of them."""

    def __init__(self, schema: GraphSchema, seed: int) -> None:
        self.schema = schema
        self.graphs = variants(schema, seed)
        #: A token says who the customer is as text; a schema may keep the key as a number.
        self.customer_id = self.graphs[0].customer_id
        self.principal = Principal(kind=PrincipalKind.CUSTOMER, subject="own", customer_id=str(self.customer_id))

    def unique_values(self) -> dict[tuple[str, str], list[Value]]:
        """Values of unique properties in the first variant, the customer's own three times as often."""
        values: dict[tuple[str, str], list[Value]] = {}
        for node in self.graphs[0].nodes:
            for name, value in node.properties.items():
                if self.schema.labels[node.label].properties[name].unique:
                    values.setdefault((node.label, name), []).extend([value] * (3 if node.owner == "m" else 1))
        return values

    def arguments(self, proven: ProvenQuery | ProvenWrite, whose: str) -> dict[str, Any]:
        """A value for each parameter: ``whose`` unique values are the customer's own or another's ("own", "other").

        "fresh" are the customer's own, but nobody's yet where something new is created with them; a number after it
        turns to further ones of the customer's, and to further values of what isn't unique.
        """
        created_with = proven.text.partition(" CREATE ")[2]
        values: dict[str, Any] = {}
        for name in sorted(proven.parameters - {"customer_id"}):
            is_new = re.search(rf"\.\S+ = \${name}\b", created_with) is not None
            kind, _, turn = whose.partition(" ")
            of_whom = "own" if kind == "fresh" and not is_new else kind
            values[name] = self._argument(name, proven, of_whom, int(turn or 0))
        return values

    def _argument(self, name: str, proven: ProvenQuery | ProvenWrite, whose: str, turn: int) -> Any:
        value = self._one(name, proven, whose, turn)
        return [value] if name in proven.list_parameters else value

    def _one(self, name: str, proven: ProvenQuery | ProvenWrite, whose: str, turn: int) -> Value:
        """An enumeration's member, a value of the property of that name, or that the text compares it with, or any."""
        kind = proven.parameter_types.get(name)
        if isinstance(proven, ProvenWrite) and (allowed := proven.parameter_values.get(name)):
            return allowed[turn % len(allowed)]
        compared = re.findall(rf"(\w+)`?(?::| =| <>| <=| >=| <| >| IN) \${name}\b", proven.text)
        for property_name in (name, name.removesuffix("s"), *compared):
            for label, declared in self.schema.labels.items():
                if property_name in declared.properties and kind in (None, declared.properties[property_name].type):
                    return self._example(label, property_name, whose, turn)
        return _EXAMPLES[kind or PropertyType.STRING]

    def _example(self, label: str, name: str, whose: str, turn: int) -> Value:
        prop = self.schema.labels[label].properties[name]
        if prop.unique:
            nodes = [node for node in self.graphs[0].nodes if node.label == label]
            mine = [node for node in nodes if node.owner == "m"]
            others = [node for node in nodes if node.owner not in ("m", None)]
            if whose == "fresh" and label not in self.schema.public_labels:
                return 987_654 if prop.type is PropertyType.INTEGER else "fresh"
            chosen = (others if whose == "other" else mine) or nodes
            if chosen:
                return chosen[turn % len(chosen)].properties[name]
        return pool(prop)[turn % len(pool(prop))]


_EXAMPLES: dict[PropertyType, Value] = {
    PropertyType.STRING: "2024-01-31",  # a text that may be made a date, too
    PropertyType.INTEGER: 1,
    PropertyType.FLOAT: 1.5,
    PropertyType.BOOLEAN: True,
    PropertyType.DATE: DAYS[1],
    PropertyType.DATETIME: MOMENTS[1],
}


def try_read(text: str, world: World, engines: Sequence[Engine]) -> Trial:
    """Prove the text and, if allowed, run it on all variants. Raises ``AssertionError`` when their rows differ."""
    proven = prove(text, world.schema, world.principal)
    if not isinstance(proven, ProvenQuery):
        return Trial(allowed=False)
    rows = raised = 0
    for whose in ("own", "other"):
        arguments = world.arguments(proven, whose)
        outcomes = [engine.read(proven, arguments) for engine in engines]
        for number, outcome in enumerate(outcomes[1:], start=1):
            if outcome != outcomes[0]:
                raise AssertionError(_difference(text, proven, arguments, number, outcomes[0], outcome))
        rows += len(outcomes[0].rows)
        raised += outcomes[0].raised
        if proven.parameters <= {"customer_id"}:
            break
    return Trial(allowed=True, rows=rows, raised=raised)


def try_write(text: str, world: World, engines: Sequence[Engine]) -> Trial:
    """Prove the text and, if allowed, run it on all variants.

    Raises ``AssertionError`` when anything changed that isn't the customer's, a new node isn't below the customer,
    or what was returned differs between variants.
    """
    proven = prove_write(text, world.schema, world.principal)
    if not isinstance(proven, ProvenWrite):
        return Trial(allowed=False)
    rows = changes = raised = 0
    for whose in ("fresh", "fresh 1", "fresh 2", "own", "other"):
        arguments = world.arguments(proven, whose)
        outcomes = []
        for engine in engines:
            change = engine.try_write(proven, arguments)
            outcomes.append(change.outcome)
            if fault := fault_of(world, change):
                raise AssertionError(f"{fault}\ntext: {text}\nproven: {_ran(proven)}\narguments: {arguments}")
            changes += change.after != change.before
        for number, outcome in enumerate(outcomes[1:], start=1):
            # A key that another has already taken is refused by the engine's constraint, whoever asks: keys of what
            # is new are parameters, which code fills.
            taken = whose == "other" and (outcome.raised or outcomes[0].raised)
            if outcome != outcomes[0] and not taken:
                raise AssertionError(_difference(text, proven, arguments, number, outcomes[0], outcome))
        rows += len(outcomes[0].rows)
        raised += outcomes[0].raised
        if proven.parameters <= {"customer_id"}:
            break
    return Trial(allowed=True, rows=rows, changes=changes, raised=raised)


def fault_of(world: World, change: Change) -> str | None:
    """What is wrong with what a change did, in words; ``None`` when nothing is."""
    if change.outcome.raised and change.after != change.before:
        return f"something changed although {change.outcome.error}"
    return trespass(world, change.before, change.after)


def trespass(world: World, before: Dump, after: Dump) -> str | None:
    """What changed that isn't the customer's, in words; ``None`` when nothing did."""
    schema = world.schema
    own_before = _own(world, before)
    for identity, state in before.nodes.items():
        if identity not in own_before and after.nodes.get(identity) != state:
            return f"a node that isn't the customer's changed from {state} to {after.nodes.get(identity)}"
    customers = (f":{schema.customer_label}",)
    created = after.nodes.keys() - before.nodes.keys()
    for identity in created:
        label = after.nodes[identity][0].removeprefix(":")
        if label not in owned_labels(schema):
            return f"a new node is a {label}"
    for identity in own_before & after.nodes.keys():
        if after.nodes[identity][0] != before.nodes[identity][0]:
            return f"the labels {before.nodes[identity][0]} became {after.nodes[identity][0]}"
    missing = {identity for identity in own_before if before.nodes[identity][0] in customers} - after.nodes.keys()
    if missing:
        return "the customer was deleted"
    mine = own_before | created
    foreign = [edge for edge in before.edges if not {edge[0], edge[2]} & mine]
    if foreign != [edge for edge in after.edges if not {edge[0], edge[2]} & mine]:
        return "a relationship without an end that is the customer's was made, changed or deleted"
    strangers = before.nodes.keys() - own_before - _public(world, before)
    if [edge for edge in before.edges if {edge[0], edge[2]} & strangers] != [
        edge for edge in after.edges if {edge[0], edge[2]} & strangers
    ]:
        return "a relationship with somebody else's node was made, changed or deleted"
    deleted_edges = len([edge for edge in before.edges if edge not in after.edges])
    if not deleted_edges and created - _own(world, after):
        return f"new nodes are not below the customer: {[after.nodes[i] for i in created - _own(world, after)]}"
    return None


def _public(world: World, dump: Dump) -> set[int]:
    return {i for i, (label, _) in dump.nodes.items() if label.removeprefix(":") in world.schema.public_labels}


def _own(world: World, dump: Dump) -> set[int]:
    """Ids of what hangs below the customer by owning relationships, the customer too."""
    key, label = world.schema.customer_key, world.schema.customer_label
    wanted = f"{key}: {plain(world.customer_id)}"
    owning = {(item.type, item.start, item.end) for item in world.schema.relationships if item.owning}
    own = {
        identity
        for identity, (name, values) in dump.nodes.items()
        if name == f":{label}" and re.search(rf"[{{ ]{re.escape(wanted)}[,}}]", values)
    }
    edges = [
        (start, end)
        for start, kind, end, _ in dump.edges
        if (kind, dump.nodes[start][0].removeprefix(":"), dump.nodes[end][0].removeprefix(":")) in owning
    ]
    grown = True
    while grown:
        below = {end for start, end in edges if start in own} - own
        own |= below
        grown = bool(below)
    return own


def _ran(proven: ProvenQuery | ProvenWrite) -> str:
    return proven.text if proven.embedded_text is None else f"{proven.text}\nembedded: {proven.embedded_text}"


def _difference(
    text: str,
    proven: ProvenQuery | ProvenWrite,
    arguments: Arguments | Mapping[str, Any],
    number: int,
    first: Outcome,
    other: Outcome,
) -> str:
    """The text and both row sets, so that whoever reads the failure needs nothing else."""
    lines = [
        "the outcome depends on other people's data",
        f"text: {text}",
        f"proven: {_ran(proven)}",
        f"arguments: {dict(arguments)}",
        f"variant 0: {first.error or f'{len(first.rows)} rows, {first.changes} changes'}",
        f"variant {number}: {other.error or f'{len(other.rows)} rows, {other.changes} changes'}",
    ]
    for left, right in zip_longest(first.rows[:20], other.rows[:20]):
        lines.append(f"  {'=' if left == right else '!'} {left}  |  {right}")
    return "\n".join(lines)
