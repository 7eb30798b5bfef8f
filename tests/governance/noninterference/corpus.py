"""Schemas to compose over, and honest texts over them for the mutations to start from."""

import json
from functools import cache
from pathlib import Path

import yaml

from configs.settings import ROOT
from contracts.graph import GraphSchema

_TESTS = ROOT / "tests" / "governance"
SCHEMAS = {
    "shop": ROOT / "domains" / "shop" / "schema.yaml",
    "workshop": ROOT / "tests" / "packs" / "workshop" / "schema.yaml",
    "library": _TESTS / "writes_redteam" / "schemas" / "library.yaml",
    "bank": _TESTS / "redteam" / "schemas" / "bank.yaml",
    "clinic": _TESTS / "redteam" / "schemas" / "clinic.yaml",
}
_FOUND = Path(__file__).parent / "found.jsonl"


@cache
def schema(pack: str) -> GraphSchema:
    return GraphSchema.model_validate(yaml.safe_load(SCHEMAS[pack].read_text(encoding="utf-8")))


@cache
def honest_reads(pack: str) -> tuple[str, ...]:
    """The pack's predefined queries, where it has any, and the red team's honest reads over its schema."""
    queries = SCHEMAS[pack].with_name("queries.yaml")
    texts = []
    if queries.exists():
        texts = [item["cypher"] for item in yaml.safe_load(queries.read_text(encoding="utf-8"))["queries"]]
    return (*texts, *_lines(_TESTS / "redteam" / "honest_reads.jsonl", pack))


@cache
def honest_writes(pack: str) -> tuple[str, ...]:
    return _lines(_TESTS / "writes_redteam" / "honest_writes.jsonl", pack)


@cache
def found_before(pack: str, *, writes: bool) -> tuple[str, ...]:
    """Texts that once told of others, or that one engine answered wrongly, each as short as it got."""
    lines = (json.loads(line) for line in _FOUND.read_text(encoding="utf-8").split("\n") if line)
    return tuple(line["cypher"] for line in lines if line["pack"] == pack and line["write"] == writes)


@cache
def hostile_texts(pack: str) -> tuple[str, ...]:
    """What is refused as it stands: a mutation may be the step over the fence."""
    reads = _lines(_TESTS / "redteam" / "hostile_reads.jsonl", pack)
    return (*reads, *_lines(_TESTS / "writes_redteam" / "hostile_writes.jsonl", pack))


def _lines(path: Path, pack: str) -> tuple[str, ...]:
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line)
    return tuple(line["cypher"] for line in lines if line["pack"] == pack and line["cypher"].strip())
