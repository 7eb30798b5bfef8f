"""What a change may do: it reads first, under the rules of every read, and then changes what is the customer's own.

Targets are reached by ownership flow, properties are declared and of their type, keys stay as they are. Nothing is
read after the first change, so that a precondition that fails leaves nothing half done: no row, no change.
"""

from dataclasses import dataclass, field

from contracts.graph import PropertySchema, RelationshipSchema
from governance.proof import syntax as s
from governance.proof import types as t
from governance.proof.clauses import Rows, check_reading, check_return
from governance.proof.expressions import Names, infer
from governance.proof.growth import growth
from governance.proof.patterns import places_of
from governance.proof.render import render_clauses
from governance.proof.scope import Proof
from governance.proof.violation import RefusedError
from governance.proof.walk import has_aggregate, parts_of, variables_of

#: A property of our own that locks a node for the time of one transaction, in engines that need it.
LOCK = "_lock"


@dataclass
class _State:
    """Where the check of one statement stands."""

    rows: Rows
    #: Nodes that may be missing in a row: a relationship to nothing can't be made.
    missing: set[str] = field(default_factory=set)
    #: Lists that hold no nulls.
    whole: set[str] = field(default_factory=set)
    #: Nodes created by this change, and those of them that have no key yet.
    created: dict[str, str] = field(default_factory=dict)
    unkeyed: set[str] = field(default_factory=set)
    #: Relationship variables of which an end is the customer's own.
    owned_relationships: set[str] = field(default_factory=set)


def check_write(proof: Proof, query: s.Query) -> tuple[list[str], str]:
    """The columns of a change, and the text that takes its locks. Raises ``RefusedError``."""
    if not proof.scope.anchored:
        raise RefusedError("scope", "Guests change nothing; sign in.")
    if len(query.branches) != 1:
        raise RefusedError("union", "A change can't be joined by UNION; make two.")
    (clauses,) = query.branches
    first = next((position for position, clause in enumerate(clauses) if isinstance(clause, s.WRITES)), None)
    if first is None:
        raise RefusedError("write", "This text changes nothing; it is a read.")
    state = _State(Rows({}, {}))
    for clause in clauses[:first]:
        _read(proof, clause, state)
    lock_text = _lock_text(proof, clauses[:first], state)
    written: list[s.Clause] = []
    columns: list[str] = []
    for position, clause in enumerate(clauses[first:], first):
        if state.unkeyed and not isinstance(clause, s.WRITES):
            _refuse_unkeyed(state)
        match clause:
            case s.Return(projection=projection):
                if position != len(clauses) - 1:
                    raise RefusedError("clause", "RETURN must be the last clause.")
                columns = [name for name, _ in check_return(proof, projection, state.rows, inner=False)]
                written.append(clause)
            case s.With(where=None, projection=s.Projection(distinct=False, skip=None, limit=None)) | s.Unwind():
                _read(proof, clause, state)
                written.append(clause)
            case s.Set() | s.Create() | s.Merge() | s.Delete():
                written.extend(_write(proof, clause, state))
            case _:
                raise RefusedError(
                    "order", "Read first, then change: a condition behind a change could leave it half done."
                )
    if state.unkeyed:
        _refuse_unkeyed(state)
    if isinstance(clauses[-1], s.With | s.Unwind):
        raise RefusedError("clause", "A change ends with a change or with RETURN.")
    clauses[first:] = written
    return columns, lock_text


def _refuse_unkeyed(state: _State) -> None:
    label = state.created[min(state.unkeyed)]
    raise RefusedError("write", f"A new {label} needs its key; give it as a parameter.")


def _read(proof: Proof, clause: s.Clause, state: _State) -> None:
    before = state.rows
    state.rows = check_reading(proof, clause, before)
    match clause:
        case s.Match(optional=optional, paths=paths):
            new = state.rows.names.keys() - before.names.keys()
            if optional:
                state.missing |= new
            for path in paths:
                ends = zip(path.relationships, path.nodes, path.nodes[1:], strict=False)
                for relationship, left, right in ends:
                    name = relationship.variable
                    if name is not None and (_is_owned(left, state.rows.names) or _is_owned(right, state.rows.names)):
                        state.owned_relationships.add(name)
        case s.With(projection=projection):
            items = {item.alias: item.expression for item in projection.items}
            names = {alias: part.name for alias, part in items.items() if isinstance(part, s.Variable)}
            missing = {alias for alias in items if names.get(alias) in state.missing or alias not in names}
            collected = {alias for alias, part in items.items() if isinstance(part, s.Call) and part.name == "collect"}
            owned = {alias for alias, name in names.items() if name in state.owned_relationships}
            kept = {alias for alias, name in names.items() if name in state.whole}
            state.missing, state.whole, state.owned_relationships = missing, collected | kept, owned
            state.created = {alias: state.created[name] for alias, name in names.items() if name in state.created}
        case s.Unwind(source=source, variable=variable):
            if not (isinstance(source, s.Variable) and source.name in state.whole):
                state.missing.add(variable)
        case s.CallSubquery():
            state.missing |= state.rows.names.keys() - before.names.keys()


def _is_owned(node: s.NodePattern, names: Names) -> bool:
    return node.variable is not None and names[node.variable].owned


def _lock_text(proof: Proof, reading: list[s.Clause], state: _State) -> str:
    """The reading part, and behind it a lock on every node that it found: of the public ones, only those whose
    properties it asks for."""
    asked: set[str] = set()
    for clause in reading:
        where = clause.where if isinstance(clause, s.Match | s.With) else None
        if where is not None:
            asked |= variables_of(where)
    names = [
        name for name, type_ in state.rows.names.items() if type_.kind == "node" and (type_.owned or name in asked)
    ]
    if not names:
        return ""
    locked = [s.SetProperty(name, LOCK, s.Literal(True)) for name in names]
    freed = [s.SetProperty(name, LOCK, s.Literal(None)) for name in names]
    return render_clauses([*reading, s.Set(locked), s.Set(freed)])


def _write(proof: Proof, clause: s.Set | s.Create | s.Merge | s.Delete, state: _State) -> list[s.Clause]:
    """The clause as it is printed."""
    match clause:
        case s.Set(items=items):
            before = _taken_before(proof, items, state)
            _check_sets(proof, items, state)
            return [before, clause] if before is not None else [clause]
        case s.Create(paths=paths):
            return _create(proof, paths, state)
        case s.Merge():
            _check_merge(proof, clause, state)
            return [clause]
        case s.Delete(variables=variables):
            for variable in variables:
                _check_delete(proof, variable, state)
            nodes = [variable for variable in variables if state.rows.names[variable].kind == "node"]
            others = [variable for variable in variables if variable not in nodes]
            names = {name: type_ for name, type_ in state.rows.names.items() if name not in variables}
            state.rows = Rows(names, state.rows.sizes)
            gone = set(variables)
            state.missing |= gone  # whatever takes such a name later is no node that a MATCH has found
            state.whole -= gone
            state.owned_relationships -= gone
            state.created = {name: label for name, label in state.created.items() if name not in gone}
            # A node of the customer's always hangs on its owner, so it can't go without that relationship.
            parts = [s.Delete(others, detach=False), s.Delete(nodes, detach=True)]
            return [part for part in parts if part.variables]


# ------------------------------------------------------------------------------------------ SET, REMOVE


def _check_sets(proof: Proof, items: list[s.SetProperty], state: _State) -> None:
    targets = [(item.variable, item.name) for item in items]
    for item in items:
        if targets.count((item.variable, item.name)) > 1:
            raise RefusedError("write", f"{item.variable}.{item.name} is set twice; set it once.")
        declared, owner = _target(proof, item, state)
        if declared.unique:
            if item.variable not in state.created or item.value == s.Literal(None):
                raise RefusedError("write", f"{owner}.{item.name} identifies its node and can't be changed.")
            _require_given_key(owner, item.name, item.value)
            state.unkeyed.discard(item.variable)
        if _reads_others(item, targets):
            raise RefusedError("write", f"{owner}.{item.name} is set from what is set with it; take that into a WITH.")
        item.value = _value(proof, owner, item.name, declared, item.value, state.rows)


def _reads_others(item: s.SetProperty, targets: list[tuple[str, str]]) -> bool:
    return any(one in targets for one in _properties_read(item.value) - {(item.variable, item.name)})


def _taken_before(proof: Proof, items: list[s.SetProperty], state: _State) -> s.With | None:
    """A WITH of our own that takes values which read what the same SET sets: the engines order that differently."""
    targets = [(item.variable, item.name) for item in items]
    names = state.rows.names
    taken = []
    for item in items:
        if _reads_others(item, targets):
            value, item.value = item.value, s.Variable(proof.new_name(names))
            taken.append(s.Item(value, item.value.name, named=True))
    if not taken:
        return None
    if state.unkeyed:
        _refuse_unkeyed(state)
    proof.rewrote = True
    kept = [s.Item(s.Variable(name), name, named=True) for name in sorted(names)]
    clause = s.With(s.Projection(False, False, [*kept, *taken], [], None, None), None)
    _read(proof, clause, state)
    return clause


def _target(proof: Proof, item: s.SetProperty, state: _State) -> tuple[PropertySchema, str]:
    """The declared property that is set, and whose it is. Raises ``RefusedError`` where that isn't the customer's."""
    type_ = state.rows.names.get(item.variable)
    if type_ is None:
        raise RefusedError("variable", f"There is no variable {item.variable!r} here.")
    if type_.kind == "relationship":
        if item.variable not in state.owned_relationships:
            raise RefusedError("scope", f"{item.variable!r} joins nothing of the customer's own; it can't be changed.")
        return proof.property_of(type_.label, item.name, of_relationship=True), type_.label
    if type_.kind != "node":
        raise RefusedError("write", f"{item.variable!r} is a {type_}; only nodes and relationships have properties.")
    if not type_.owned:
        raise RefusedError("scope", f"{item.variable!r} is not the customer's own {type_.label}; it can't be changed.")
    return proof.property_of(type_.label, item.name), type_.label


def _properties_read(expression: s.Expression) -> set[tuple[str, str]]:
    found = set()
    if isinstance(expression, s.Property) and isinstance(expression.subject, s.Variable):
        found.add((expression.subject.name, expression.name))
    for part in parts_of(expression):
        found |= _properties_read(part)
    return found


def _value(
    proof: Proof, owner: str, name: str, declared: PropertySchema, value: s.Expression, rows: Rows
) -> s.Expression:
    """The value as it is stored: of the property's type, of its values where they are counted."""
    expected = t.of_property(declared.type)
    if has_aggregate(value):
        raise RefusedError("aggregate", "A change can't aggregate; do it in a WITH before.")
    if declared.values:
        _check_enumerated(proof, owner, name, declared, value)
    if isinstance(value, s.Parameter):
        proof.use_parameter(value.name)
        proof.settle(value.name, expected)
        return value
    given = infer(proof, value, rows.names)
    growth(value, rows.sizes)
    if given == t.INTEGER and expected == t.FLOAT and isinstance(value, s.Literal) and isinstance(value.value, int):
        return s.Literal(float(value.value))
    if given.kind == "integer" and expected == t.FLOAT:
        return s.Call("toFloat", [value])
    if given == t.NULL or given.kind == expected.kind:
        return value
    raise RefusedError("type", f"{owner}.{name} is a {expected}, and the value a {given}.")


def _check_enumerated(proof: Proof, owner: str, name: str, declared: PropertySchema, value: s.Expression) -> None:
    match value:
        case s.Literal(value=given):
            if given is not None and given not in declared.values:
                raise RefusedError("value", f"{owner}.{name} is one of {', '.join(declared.values)}; not {given!r}.")
        case s.Parameter(name=parameter):
            known = proof.parameter_values.get(parameter, declared.values)
            proof.parameter_values[parameter] = tuple(one for one in known if one in declared.values)
        case s.Case(alternatives=alternatives, default=default):
            for result in (*(then for _, then in alternatives), *([default] if default is not None else [])):
                _check_enumerated(proof, owner, name, declared, result)
        case _:
            raise RefusedError(
                "value", f"{owner}.{name} is one of {', '.join(declared.values)}; give one of them, or a parameter."
            )


# -------------------------------------------------------------------------------------- CREATE and MERGE


def _create(proof: Proof, paths: list[s.Path], state: _State) -> list[s.Clause]:
    """New nodes hang on what is owned, by an owning relationship of the same CREATE."""
    names = state.rows.names
    _require_known_once(paths, names)
    places, ends = places_of(proof, paths, names)
    proof.count_match(paths)
    sets: list[s.SetProperty] = []
    new = [place for place in places if not place.bound]
    for place in new:
        if place.label is None:
            raise RefusedError("label", "Give the label of the new node: (name:Label {…}).")
        if place.label == proof.schema.customer_label or place.label in proof.schema.public_labels:
            raise RefusedError("scope", f"A {place.label} can't be created by a customer's change.")
        place.pattern.variable = place.pattern.variable or proof.new_name(names)
        sets += _moved_properties(proof, place.pattern.variable, place.label, place.pattern.properties, state.rows)
        keys = [name for name, _ in place.pattern.properties if proof.property_of(place.label, name).unique]
        state.created[place.pattern.variable] = place.label
        if not keys:
            state.unkeyed.add(place.pattern.variable)
        place.pattern.properties = []
    for place in places:
        if place.bound and place.pattern.variable in state.missing:
            raise RefusedError(
                "write", f"{place.pattern.variable!r} may be missing; find it by MATCH, not by OPTIONAL MATCH."
            )
    owning_ends = []
    for relationship, left, right in ends:
        declared = _declared(proof, relationship, left.label, right.label)
        start, end = (left, right) if relationship.direction == ">" else (right, left)
        owning_ends.append((declared, start, end))
        if relationship.properties:
            relationship.variable = relationship.variable or proof.new_name(names)
            sets += _moved_properties(
                proof, relationship.variable, declared.type, relationship.properties, state.rows, of_relationship=True
            )
            relationship.properties = []
    changed = True
    while changed:
        changed = False
        for declared, start, end in owning_ends:
            if declared.owning and start.owned and not end.bound and not end.owned:
                end.owned = changed = True
    for place in new:
        if not place.owned:
            raise RefusedError(
                "scope",
                f"The new {place.label} hangs on nothing of the customer's; create what owns it too.",
            )
    for declared, start, end in owning_ends:
        if not (start.owned or end.owned):
            raise RefusedError("scope", f"{declared.type} would join two nodes that aren't the customer's own.")
    after = dict(names)
    for place in new:
        after[place.pattern.variable or ""] = t.node(place.label or "", owned=True)
    for relationship, _, _ in ends:
        if relationship.variable is not None:
            after[relationship.variable] = t.relationship(relationship.types[0])
            state.owned_relationships.add(relationship.variable)
    state.rows = Rows(after, state.rows.sizes)
    return [s.Create(paths), s.Set(sets)] if sets else [s.Create(paths)]


def _require_known_once(paths: list[s.Path], names: Names) -> None:
    for path in paths:
        for node in path.nodes:
            if node.variable in names and (node.label is not None or node.properties):
                raise RefusedError("write", f"{node.variable!r} is there already; write its name alone.")


def _moved_properties(
    proof: Proof,
    variable: str,
    owner: str,
    properties: list[tuple[str, s.Expression]],
    rows: Rows,
    *,
    of_relationship: bool = False,
) -> list[s.SetProperty]:
    """The properties as a SET behind the CREATE: one engine refuses those in a CREATE that no node has had yet."""
    sets = []
    for name, value in properties:
        declared = proof.property_of(owner, name, of_relationship=of_relationship)
        if value == s.Literal(None):
            continue
        if declared.unique:
            _require_given_key(owner, name, value)
        sets.append(s.SetProperty(variable, name, _value(proof, owner, name, declared, value, rows)))
    return sets


def _require_given_key(owner: str, name: str, value: s.Expression) -> None:
    """A key comes from who runs the change. One written out would fail where somebody else has it, and so tell."""
    if not _holds_parameter(value):
        raise RefusedError("write", f"{owner}.{name} identifies the new node; give it as a parameter.")


def _holds_parameter(expression: s.Expression) -> bool:
    return isinstance(expression, s.Parameter | s.Variable) or any(map(_holds_parameter, parts_of(expression)))


def _declared(
    proof: Proof, relationship: s.RelationshipPattern, left: str | None, right: str | None
) -> RelationshipSchema:
    if len(relationship.types) != 1 or not relationship.direction:
        raise RefusedError("relationship", "A new relationship has one type and a direction: -[:TYPE]->.")
    start, end = (left, right) if relationship.direction == ">" else (right, left)
    declared = proof.relationship_types(relationship.types[0])
    for one in declared:
        if (one.start, one.end) == (start, end):
            return one
    known = "; ".join(f"({one.start})-[:{one.type}]->({one.end})" for one in declared)
    raise RefusedError("relationship", f"({start})-[:{relationship.types[0]}]->({end}) is not in the schema: {known}.")


def _check_merge(proof: Proof, merge: s.Merge, state: _State) -> None:
    """MERGE of one relationship between two nodes that were found before: no engine then matches anything else."""
    names = state.rows.names
    _require_known_once([merge.path], names)
    places, ends = places_of(proof, [merge.path], names)
    proof.count_match([merge.path])
    if len(ends) != 1 or not all(place.bound for place in places):
        raise RefusedError("write", "MERGE joins two nodes that a MATCH has found; for a new node write CREATE.")
    ((relationship, left, right),) = ends
    declared = _declared(proof, relationship, left.label, right.label)
    if relationship.properties:
        raise RefusedError("write", "Set a merged relationship's properties by ON CREATE SET.")
    if not (left.owned or right.owned):
        raise RefusedError("scope", f"{declared.type} would join two nodes that aren't the customer's own.")
    for place in places:
        if place.pattern.variable in state.missing:
            raise RefusedError("write", f"{place.pattern.variable!r} may be missing; find it by MATCH.")
    if relationship.variable is not None:
        after = {**names, relationship.variable: t.relationship(declared.type)}
        state.rows = Rows(after, state.rows.sizes)
        state.owned_relationships.add(relationship.variable)
    for items in (merge.on_create, merge.on_match):
        _check_sets(proof, items, state)


# ------------------------------------------------------------------------------------------------ DELETE


def _check_delete(proof: Proof, variable: str, state: _State) -> None:
    type_ = state.rows.names.get(variable)
    if type_ is None:
        raise RefusedError("variable", f"There is no variable {variable!r} here.")
    if type_.kind == "relationship":
        if variable not in state.owned_relationships:
            raise RefusedError("scope", f"{variable!r} joins nothing of the customer's own; it stays.")
        return
    if type_.kind != "node" or not type_.owned or type_.label == proof.schema.customer_label:
        raise RefusedError(
            "scope", f"{variable!r} can't be deleted: it is a {type_}, and not one of the customer's own."
        )
    for declared in proof.schema.relationships:
        if declared.owning and declared.start == type_.label:
            raise RefusedError(
                "write",
                f"Deleting {type_.label} would leave {declared.end} without an owner; mark it by a property instead.",
            )
        touches = type_.label in (declared.start, declared.end)
        other = declared.end if declared.start == type_.label else declared.start
        if touches and not declared.owning and other not in proof.schema.public_labels:
            raise RefusedError(
                "scope",
                f"Deleting {type_.label} may delete somebody else's {declared.type}; mark it by a property instead.",
            )
