"""Proof that a query's text may run for a principal. The only maker of ``ProvenQuery`` and ``ProvenWrite``.

Parse, lower to a small tree, check, print anew: what runs is printed from what was checked. Closed by default:
what the proof doesn't know is a violation. The yardstick is non-interference: what is proven returns equal rows on
two graphs that differ only in another customer's data. ``docs/cypher-subset.md`` tells what passes.
"""

import re
from dataclasses import dataclass
from weakref import finalize

from cachetools import LRUCache

from contracts.graph import GraphSchema, PropertyType, ProvenQuery, ProvenWrite, Violation, Violations
from contracts.principal import Principal
from governance.proof import syntax as s
from governance.proof.clauses import Rows, check_query
from governance.proof.lower import lower
from governance.proof.render import render
from governance.proof.scope import Proof, Scope, scope_of
from governance.proof.source import MAX_TEXT_CHARACTERS, parse
from governance.proof.violation import RefusedError
from governance.proof.writes import check_write
from stores.graph.kglite_names import stored_name

#: Verdicts kept for one schema, by text and scope; refusals too, so that a costly text costs once.
_KEPT_VERDICTS = 4_096
#: The longest text that is printed; what a text says in 4,000 characters is rarely a third longer printed.
_MAX_PRINTED_CHARACTERS = 16_000
_PRINTED_ROOM = 4
_OUR_NAMES = re.compile(r"_n\d+")


def prove(text: str, schema: GraphSchema, principal: Principal) -> ProvenQuery | Violations:
    """The proven read for this principal, or the reasons why the text may not run."""
    verdict = _verdict("read", text, schema, principal)
    if isinstance(verdict, Violations):
        return verdict
    return ProvenQuery(
        text=verdict.text,
        embedded_text=verdict.embedded_text,
        columns=verdict.columns,
        parameters=verdict.parameters,
        parameter_types=verdict.parameter_types,
        list_parameters=verdict.list_parameters,
        principal=principal,
    )


def prove_write(text: str, schema: GraphSchema, principal: Principal) -> ProvenWrite | Violations:
    """The proven change for this principal, or the reasons why the text may not run."""
    verdict = _verdict("write", text, schema, principal)
    if isinstance(verdict, Violations):
        return verdict
    return ProvenWrite(
        text=verdict.text,
        embedded_text=verdict.embedded_text,
        lock_text=verdict.lock_text,
        columns=verdict.columns,
        parameters=verdict.parameters,
        parameter_types=verdict.parameter_types,
        list_parameters=verdict.list_parameters,
        parameter_values=verdict.parameter_values,
        principal=principal,
    )


@dataclass(frozen=True)
class _Verdict:
    """What was proven, for every principal of its scope."""

    text: str
    embedded_text: str | None
    lock_text: str
    columns: tuple[str, ...]
    parameters: frozenset[str]
    parameter_types: dict[str, PropertyType]
    list_parameters: frozenset[str]
    parameter_values: dict[str, tuple[str, ...]]


_Key = tuple[str, str, Scope]
_kept: dict[int, LRUCache[_Key, _Verdict | Violations]] = {}


def _verdict(kind: str, text: str, schema: GraphSchema, principal: Principal) -> _Verdict | Violations:
    kept = _kept.get(id(schema))
    if kept is None:
        # By identity: hashing a schema would cost more than a proof. It goes with its schema.
        kept = _kept[id(schema)] = LRUCache(_KEPT_VERDICTS)
        finalize(schema, _kept.pop, id(schema), None)
    scope = scope_of(schema, principal)
    key = (kind, text, scope)
    verdict = kept.get(key)
    if verdict is None:
        try:
            verdict = _proven(kind, text, Proof(schema, scope))
        except RecursionError:
            # Bounds keep it away; how far away depends on how deep the caller stands, so it is not kept.
            return Violations(items=(Violation(rule="depth", message="The query is nested too deeply; split it."),))
        if len(text) <= MAX_TEXT_CHARACTERS:
            kept[key] = verdict
    return verdict


def _proven(kind: str, text: str, proof: Proof) -> _Verdict | Violations:
    try:
        query, columns, lock_text = _checked(kind, text, proof)
        printed = render(query)
        if len(printed) > _MAX_PRINTED_CHARACTERS:
            raise RefusedError("length", "The query is too long once it is written out; shorten it.")
        if proof.rewrote:
            _require_same(kind, printed, Proof(proof.schema, proof.scope))
    except RefusedError as refused:
        return Violations(items=(refused.violation,))
    embedded = render(query, stored_name)
    return _Verdict(
        text=printed,
        embedded_text=embedded if embedded != printed else None,
        lock_text=lock_text,
        columns=tuple(columns),
        parameters=frozenset(proof.parameters),
        parameter_types={name: PropertyType(type_.kind) for name, type_ in proof.parameter_types.items()},
        list_parameters=frozenset(proof.list_parameters),
        parameter_values=proof.parameter_values,
    )


def _checked(kind: str, text: str, proof: Proof, *, room: int = 1) -> tuple[s.Query, list[str], str]:
    """The checked tree of the text, its columns, and for a change the text that takes its locks."""
    query = lower(parse(text, room=room))
    proof.alike = frozenset(_OUR_NAMES.findall(text))
    if kind == "read":
        return query, _check_read(proof, query), ""
    columns, lock_text = check_write(proof, query)
    return query, columns, lock_text


def _require_same(kind: str, printed: str, proof: Proof) -> None:
    """Prove the print of a text that was rewritten: should a name mean something else in it, that shows here."""
    query, _, _ = _checked(kind, printed, proof, room=_PRINTED_ROOM)
    if render(query) != printed:
        raise RefusedError("rewriting", "This can't be proven in the form in which it would run; write it more simply.")


def _check_read(proof: Proof, query: s.Query) -> list[str]:
    for branch in query.branches:
        for clause in branch:
            if isinstance(clause, s.WRITES):
                raise RefusedError(
                    "read-only", "This query may only read; CREATE, MERGE, SET, REMOVE and DELETE are not allowed."
                )
    return [name for name, _ in check_query(proof, query, Rows({}, {}), inner=False)]
