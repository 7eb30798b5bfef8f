"""Patterns: labels and directions are completed from the schema, and every node must be in the caller's reach.

A node is in reach when its label is readable to the caller, or when it is the customer's own: the anchor, or
reached from something owned over relationships that the schema declares owning, from parent to child. Ownership
never flows upward: what a customer's child hangs on besides may be somebody else's.
"""

from dataclasses import dataclass

from contracts.graph import CUSTOMER_PARAMETER, RelationshipSchema
from governance.proof import syntax as s
from governance.proof import types as t
from governance.proof.expressions import Names, infer
from governance.proof.failing import check_total
from governance.proof.growth import growth
from governance.proof.scope import Proof
from governance.proof.violation import RefusedError
from governance.proof.walk import has_aggregate


@dataclass
class _Place:
    """A node of the pattern, however often its variable stands in it."""

    pattern: s.NodePattern
    label: str | None
    owned: bool = False
    bound: bool = False


def match_paths(
    proof: Proof, paths: list[s.Path], names: Names, *, optional: bool = False, nested: bool = False
) -> Names:
    """The names in scope after the pattern; the pattern is completed in place. ``nested``: it is a subquery's.

    Raises ``RefusedError``.
    """
    proof.count_match(paths)
    places, ends = places_of(proof, paths, names)
    _infer_labels(proof, ends)
    _flow(proof, places, ends)
    after = dict(names)
    for place in places:
        after.update(_bound(place, optional=optional))
    for relationship, _, _ in ends:
        if relationship.variable is not None:
            after[relationship.variable] = t.relationship("|".join(relationship.types))
    for properties, owner, of_relationship in _inline(places, ends):
        for name, value in properties:
            check_property_value(proof, owner, name, value, after, of_relationship=of_relationship)
            check_total(proof, value, after)
            growth(value, {})
    _count_separate_parts(proof, places, ends, nested=nested)
    return after


Ends = list[tuple[s.RelationshipPattern, _Place, _Place]]


def places_of(proof: Proof, paths: list[s.Path], names: Names) -> tuple[list[_Place], Ends]:
    """The distinct nodes of a pattern, and its relationships with the nodes at their left and right."""
    by_name: dict[str, _Place] = {}
    places: list[_Place] = []
    ends: Ends = []
    relationship_names: set[str] = set()
    for path in paths:
        nodes = [_place(proof, pattern, names, by_name, places) for pattern in path.nodes]
        for relationship, left, right in zip(path.relationships, nodes, nodes[1:], strict=False):
            name = relationship.variable
            if name is not None and (name in names or name in relationship_names):
                raise RefusedError("pattern", f"The relationship {name!r} stands in a pattern already; name it anew.")
            if name is not None:
                relationship_names.add(name)
            ends.append((relationship, left, right))
    if both := relationship_names & by_name.keys():
        raise RefusedError("pattern", f"{min(both)!r} can't be a node and a relationship.")
    return places, ends


def _place(
    proof: Proof, pattern: s.NodePattern, names: Names, by_name: dict[str, _Place], places: list[_Place]
) -> _Place:
    if pattern.label is not None:
        proof.label(pattern.label)
    name = pattern.variable
    if name is not None and name in by_name:
        place = by_name[name]
        if pattern.label is not None and place.label not in (None, pattern.label):
            raise RefusedError("label", f"{name!r} can't be a {place.label} and a {pattern.label}.")
        place.label = place.label or pattern.label
        if pattern.properties:
            place.pattern.properties.extend(pattern.properties)
            pattern.properties = []
            keys = [key for key, _ in place.pattern.properties]
            if len(set(keys)) < len(keys):
                raise RefusedError("pattern", f"{name!r} has the same property twice; say it once.")
        return place
    place = _Place(pattern, pattern.label)
    if name is not None and name in names:
        known = names[name]
        if known.kind != "node":
            raise RefusedError("pattern", f"{name!r} is a {known}, and no node.")
        if pattern.label not in (None, known.label):
            raise RefusedError("label", f"{name!r} is a {known.label}, and no {pattern.label}.")
        place = _Place(pattern, known.label, owned=known.owned, bound=True)
    if name is not None and not place.bound and name in proof.imported:
        raise RefusedError("variable", f"{name!r} is imported by CALL; use another name.")
    if name is not None:
        by_name[name] = place
    places.append(place)
    return place


def candidates(
    proof: Proof, type_: str, direction: str, left: _Place, right: _Place
) -> list[tuple[RelationshipSchema, str]]:
    """The declarations of ``type_`` that fit the labels known so far, each with the direction in which it fits."""
    found = []
    for declared in proof.relationship_types(type_):
        for arrow in direction or "><":
            start, end = (left, right) if arrow == ">" else (right, left)
            if start.label in (None, declared.start) and end.label in (None, declared.end):
                found.append((declared, arrow))
    return found


def _infer_labels(proof: Proof, ends: Ends) -> None:
    """Complete labels, types and directions from the schema until nothing more follows."""
    changed = True
    while changed:
        changed = False
        for relationship, left, right in ends:
            if not relationship.types:
                continue
            fitting = _fitting(proof, relationship, left, right)
            for place, side in ((left, ">"), (right, "<")):
                if place.label is None:
                    labels = {one.start if arrow == side else one.end for group in fitting for one, arrow in group}
                    if len(labels) == 1:
                        place.label = labels.pop()
                        changed = True
    for relationship, left, right in ends:
        for place in (left, right):
            if place.label is None:
                _refuse_unlabelled(place)
        if not relationship.types:
            relationship.types = _only_type(proof, relationship, left, right)
        fitting = _fitting(proof, relationship, left, right)
        arrows = {arrow for group in fitting for _, arrow in group}
        if len(arrows) == 1:
            relationship.direction = arrows.pop()


def _fitting(
    proof: Proof, relationship: s.RelationshipPattern, left: _Place, right: _Place
) -> list[list[tuple[RelationshipSchema, str]]]:
    """For each type of the relationship its fitting declarations, none of them empty."""
    groups = []
    for type_ in relationship.types:
        group = candidates(proof, type_, relationship.direction, left, right)
        if not group:
            declared = "; ".join(f"({d.start})-[:{d.type}]->({d.end})" for d in proof.relationship_types(type_))
            raise RefusedError(
                "relationship",
                f"{_shown(left)} and {_shown(right)} are not joined by {type_} in this direction;"
                f" the schema has {declared}.",
            )
        groups.append(group)
    return groups


def _only_type(proof: Proof, relationship: s.RelationshipPattern, left: _Place, right: _Place) -> list[str]:
    types = {
        declared.type
        for declared in proof.schema.relationships
        if candidates(proof, declared.type, relationship.direction, left, right)
    }
    if len(types) != 1:
        known = f"; the schema has {', '.join(sorted(types))}" if types else ""
        raise RefusedError(
            "relationship", f"Give the type of the relationship between {_shown(left)} and {_shown(right)}{known}."
        )
    return sorted(types)


def _shown(place: _Place) -> str:
    return f"({place.pattern.variable or ''}{':' + place.label if place.label else ''})"


def _refuse_unlabelled(place: _Place) -> None:
    raise RefusedError("label", f"Give the label of {_shown(place)}: (name:Label).")


def _flow(proof: Proof, places: list[_Place], ends: Ends) -> None:
    """Let ownership flow from the anchors and from what is owned already; refuse what stays out of reach."""
    for place in places:
        if place.label is None:
            _refuse_unlabelled(place)
        if is_anchor(proof, place.pattern, place.label or ""):
            place.owned = True
    changed = True
    while changed:
        changed = False
        for relationship, left, right in ends:
            start, end = (left, right) if relationship.direction == ">" else (right, left)
            if relationship.direction and start.owned and not end.owned and owning(proof, relationship, start, end):
                end.owned = changed = True
    for place in places:
        in_reach = place.label in proof.scope.readable or (place.owned and proof.scope.name == "customer")
        if not place.bound and not in_reach:
            _refuse_out_of_reach(proof, place)


def owning(proof: Proof, relationship: s.RelationshipPattern, start: _Place, end: _Place) -> bool:
    """Whether ownership flows over every type that the relationship may have.

    Whatever the schema says, it never flows to what is public, nor to another customer.
    """
    if end.label in proof.schema.public_labels or end.label == proof.schema.customer_label:
        return False
    return all(
        any(
            declared.owning and declared.start == start.label and declared.end == end.label
            for declared in proof.relationship_types(type_)
        )
        and all(
            declared.owning
            for declared in proof.relationship_types(type_)
            if declared.start == start.label and declared.end == end.label
        )
        for type_ in relationship.types
    )


def is_anchor(proof: Proof, pattern: s.NodePattern, label: str) -> bool:
    """Whether the node is the customer: its inline map gives the customer's key as exactly the parameter."""
    return (
        proof.scope.anchored
        and label == proof.schema.customer_label
        and any(
            key == proof.schema.customer_key and isinstance(value, s.Parameter) and value.name == CUSTOMER_PARAMETER
            for key, value in pattern.properties
        )
    )


def _refuse_out_of_reach(proof: Proof, place: _Place) -> None:
    schema = proof.schema
    if proof.scope.name == "guest":
        raise RefusedError("scope", f"{_shown(place)} is not public; guests read {_listed(schema.public_labels)}.")
    if proof.scope.name == "staff":
        raise RefusedError("scope", f"{_shown(place)} is not among the labels of this role.")
    anchor = f"({schema.customer_label.lower()}:{schema.customer_label} {{{schema.customer_key}: $customer_id}})"
    if place.label == schema.customer_label:
        raise RefusedError("scope", f"{_shown(place)} may be another customer; write {anchor}.")
    raise RefusedError(
        "scope",
        f"{_shown(place)} may be another customer's; reach it in the same MATCH from {anchor},"
        " from parent to child over the owning relationships.",
    )


def _listed(labels: frozenset[str]) -> str:
    return ", ".join(sorted(labels)) or "nothing here"


def _bound(place: _Place, *, optional: bool) -> Names:
    place.pattern.label = place.label
    if place.pattern.variable is None or (place.bound and optional):
        return {}
    return {place.pattern.variable: t.node(place.label or "", owned=place.owned, matched=not optional)}


def _inline(places: list[_Place], ends: Ends) -> list[tuple[list[tuple[str, s.Expression]], str, bool]]:
    nodes = [(place.pattern.properties, place.label or "", False) for place in places]
    return nodes + [(one.properties, one.types[0], True) for one, _, _ in ends if one.properties]


def check_property_value(
    proof: Proof, owner: str, name: str, value: s.Expression, names: Names, *, of_relationship: bool = False
) -> None:
    """Refuse a value that its property can never have; a parameter learns its type."""
    declared = proof.property_of(owner, name, of_relationship=of_relationship)
    expected = t.of_property(declared.type)
    if has_aggregate(value):
        raise RefusedError("aggregate", "A pattern can't aggregate; do it in a WITH before.")
    if isinstance(value, s.Parameter):
        proof.use_parameter(value.name)
        proof.settle(value.name, expected)
        return
    given = infer(proof, value, names)
    if not t.comparable(given, expected):
        raise RefusedError("type", f"{owner}.{name} is a {expected}, and the value a {given}.")


def _count_separate_parts(proof: Proof, places: list[_Place], ends: Ends, *, nested: bool) -> None:
    """Count the parts of a pattern that neither a relationship, an earlier name nor the anchor holds together."""
    group = {id(place): position for position, place in enumerate(places)}
    for _, left, right in ends:
        old, new = group[id(right)], group[id(left)]
        for key, value in group.items():
            if value == old:
                group[key] = new
    held = {group[id(place)] for place in places if place.bound or is_anchor(proof, place.pattern, place.label or "")}
    separate = len(set(group.values()) - held)
    if nested and separate > 1:
        raise RefusedError("work", "The parts of a subquery's pattern must be joined.")
    proof.count_separate(separate)
