"""The red team's writes: hostile ones are refused with a reason, honest ones are proven, over three schemas.

Written from the language's documentation and from public reports, not from the prover's code. What counts as hostile:
a change, or a precondition, a value or a read-back of a change, that reaches beyond what its customer owns, whatever
the schema doesn't declare, and whatever isn't one plain change.
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from configs.settings import ROOT
from contracts.graph import GraphSchema, ProvenWrite, Violations
from contracts.principal import Principal, PrincipalKind
from governance.prover import prove, prove_write

HERE = Path(__file__).parent
SCHEMAS = {
    "shop": ROOT / "domains" / "shop" / "schema.yaml",
    "workshop": ROOT / "tests" / "packs" / "workshop" / "schema.yaml",
    "library": HERE / "schemas" / "library.yaml",
}
PRINCIPALS = {
    "guest": Principal(kind=PrincipalKind.GUEST, subject="visitor"),
    "customer": Principal(kind=PrincipalKind.CUSTOMER, subject="one", customer_id="1001"),
    "staff": Principal(kind=PrincipalKind.AGENT, subject="desk"),
}
READS = {
    "shop": [
        "MATCH (c:Customer {customer_id: $customer_id})-[:PLACED]->(o:Order) RETURN o.status AS status ORDER BY status",
        "MATCH (p:Product) RETURN p.name AS name ORDER BY name",
    ],
    "workshop": ["MATCH (r:Rider {rider_id: $customer_id})-[:BROUGHT]->(j:Repair) RETURN j.job_number AS job_number"],
    "library": [
        "MATCH (m:Member {member_id: $customer_id})-[r:RATED]->(t:Title) RETURN t.name AS name, r.stars AS stars"
    ],
}


class Write(NamedTuple):
    """One line of a suite: the schema it is over, who asks, the text, and why it is hostile or honest."""

    id: str
    pack: str
    principal: str
    cypher: str
    why: str


@cache
def schema(pack: str) -> GraphSchema:
    return GraphSchema.model_validate(yaml.safe_load(SCHEMAS[pack].read_text(encoding="utf-8")))


def writes(file: str) -> list[Write]:
    lines = (json.loads(line) for line in (HERE / file).read_text(encoding="utf-8").split("\n") if line)
    return [Write(line["id"], line["pack"], line["as"], line["cypher"], line["why"]) for line in lines]


def verdict(write: Write, text: str) -> ProvenWrite | Violations:
    return prove_write(text, schema(write.pack), PRINCIPALS[write.principal])


HOSTILE = writes("hostile_writes.jsonl")
HONEST = writes("honest_writes.jsonl")


@pytest.mark.parametrize("write", HOSTILE, ids=lambda write: write.id)
def test_a_hostile_write_is_refused_with_a_reason(write: Write) -> None:
    found = verdict(write, write.cypher)
    assert isinstance(found, Violations), f"{write.why}: it would run as {found.text}"
    assert any(item.message.strip() for item in found.items)


@pytest.mark.parametrize("write", HONEST, ids=lambda write: write.id)
def test_an_honest_write_is_proven(write: Write) -> None:
    found = verdict(write, write.cypher)
    assert isinstance(found, ProvenWrite), f"{write.why}: refused because {found}"
    assert "customer_id" in found.parameters


@pytest.mark.parametrize("write", HONEST, ids=lambda write: write.id)
def test_a_proven_write_proves_again_to_itself(write: Write) -> None:
    first = verdict(write, write.cypher)
    assert isinstance(first, ProvenWrite), f"{write.why}: refused because {first}"
    again = verdict(write, first.text)
    assert isinstance(again, ProvenWrite), f"the printed text {first.text} is refused: {again}"
    assert (again.text, again.columns) == (first.text, first.columns)


@pytest.mark.parametrize(
    "write", [write for write in HONEST if write.principal == "customer"], ids=lambda write: write.id
)
def test_a_guest_may_make_no_write_that_a_customer_may(write: Write) -> None:
    assert isinstance(prove_write(write.cypher, schema(write.pack), PRINCIPALS["guest"]), Violations)


@pytest.mark.parametrize("write", [*HOSTILE, *HONEST], ids=lambda write: write.id)
@pytest.mark.parametrize("principal", PRINCIPALS)
def test_a_write_is_never_proven_as_a_read(write: Write, principal: str) -> None:
    found = prove(write.cypher, schema(write.pack), PRINCIPALS[principal])
    assert isinstance(found, Violations), f"it would run as {found.text}"


@pytest.mark.parametrize(("pack", "cypher"), [(pack, text) for pack, texts in READS.items() for text in texts])
def test_a_plain_read_is_no_write(pack: str, cypher: str) -> None:
    assert not isinstance(prove(cypher, schema(pack), PRINCIPALS["customer"]), Violations)
    assert isinstance(prove_write(cypher, schema(pack), PRINCIPALS["customer"]), Violations)


def test_enumerated_parameters_are_held_to_their_values() -> None:
    text = (
        "MATCH (c:Customer {customer_id: $customer_id}) SET c.loyalty_tier = $tier, c.phone = $phone"
        " RETURN c.loyalty_tier AS tier"
    )
    found = prove_write(text, schema("shop"), PRINCIPALS["customer"])
    assert isinstance(found, ProvenWrite), str(found)
    assert set(found.parameter_values["tier"]) == {"basic", "silver", "gold"}
    assert "phone" not in found.parameter_values


@pytest.mark.parametrize("suite", [HOSTILE, HONEST], ids=["hostile", "honest"])
def test_each_write_is_tried_once_under_its_own_name(suite: list[Write]) -> None:
    assert len(suite) >= 75
    assert len({write.id for write in suite}) == len(suite)
    assert len({(write.pack, write.principal, write.cypher) for write in suite}) == len(suite)
