"""The red team's reads: hostile ones are refused with a reason, honest ones are proven, over four schemas.

Written from the language's documentation and from public reports about text-to-query systems, not from the prover's
code. What counts as hostile: a result that could depend on another customer's data, whatever isn't a plain read, and
whatever makes no sense over the schema.
"""

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from configs.settings import ROOT
from contracts.graph import GraphSchema, ProvenQuery, Violations
from contracts.principal import Principal, PrincipalKind
from governance.prover import prove

HERE = Path(__file__).parent
SCHEMAS = {
    "shop": ROOT / "domains" / "shop" / "schema.yaml",
    "workshop": ROOT / "tests" / "packs" / "workshop" / "schema.yaml",
    "clinic": HERE / "schemas" / "clinic.yaml",
    "bank": HERE / "schemas" / "bank.yaml",
}
PRINCIPALS = {
    "guest": Principal(kind=PrincipalKind.GUEST, subject="visitor"),
    "customer": Principal(kind=PrincipalKind.CUSTOMER, subject="one", customer_id="1001"),
    "staff": Principal(kind=PrincipalKind.AGENT, subject="desk"),
}


class Read(NamedTuple):
    """One line of a suite: the schema it is over, who asks, the text, and why it is hostile or honest."""

    id: str
    pack: str
    principal: str
    cypher: str
    why: str


@cache
def schema(pack: str) -> GraphSchema:
    return GraphSchema.model_validate(yaml.safe_load(SCHEMAS[pack].read_text(encoding="utf-8")))


def reads(file: str) -> list[Read]:
    lines = (json.loads(line) for line in (HERE / file).read_text(encoding="utf-8").split("\n") if line)
    return [Read(line["id"], line["pack"], line["as"], line["cypher"], line["why"]) for line in lines]


def verdict(read: Read, text: str) -> ProvenQuery | Violations:
    return prove(text, schema(read.pack), PRINCIPALS[read.principal])


HOSTILE = reads("hostile_reads.jsonl")
HONEST = reads("honest_reads.jsonl")


@pytest.mark.parametrize("read", HOSTILE, ids=lambda read: read.id)
def test_a_hostile_read_is_refused_with_a_reason(read: Read) -> None:
    found = verdict(read, read.cypher)
    assert isinstance(found, Violations), f"{read.why} It would run as: {found.text}"
    assert any(item.message.strip() for item in found.items)


@pytest.mark.parametrize("read", HONEST, ids=lambda read: read.id)
def test_an_honest_read_is_proven(read: Read) -> None:
    found = verdict(read, read.cypher)
    assert isinstance(found, ProvenQuery), f"{read.why} Refused because: {found}"
    assert found.columns


@pytest.mark.parametrize("read", HONEST, ids=lambda read: read.id)
def test_a_proven_text_proves_again_to_itself(read: Read) -> None:
    first = verdict(read, read.cypher)
    assert isinstance(first, ProvenQuery), f"{read.why} Refused because: {first}"
    again = verdict(read, first.text)
    assert isinstance(again, ProvenQuery), f"The printed text is refused: {again}"
    assert (again.text, again.columns) == (first.text, first.columns)


@pytest.mark.parametrize("suite", [HOSTILE, HONEST], ids=["hostile", "honest"])
def test_each_read_is_tried_once_under_its_own_name(suite: list[Read]) -> None:
    assert len({read.id for read in suite}) == len(suite)
    assert len({(read.pack, read.principal, read.cypher) for read in suite}) == len(suite)
