import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from configs.packs.canonical import canonical
from configs.packs.loader import load_pack
from configs.settings import ROOT
from contracts.graph import Audience, GraphSchema, ProvenQuery, Violations
from contracts.principal import Principal, PrincipalKind
from governance.prover import MAX_TEXT_CHARACTERS, audiences, parameters, prove

GUEST = Principal(kind=PrincipalKind.GUEST, subject="g")
CUSTOMER = Principal(kind=PrincipalKind.CUSTOMER, subject="c1", customer_id="C1")
SERVICE = Principal(kind=PrincipalKind.SERVICE, subject="crm", customer_id="C1")
AGENT = Principal(kind=PrincipalKind.AGENT, subject="ann")
ADMIN = Principal(kind=PrincipalKind.ADMIN, subject="root")

OWN = "MATCH (c:Person {key: $customer_id})-[:HAS]->(t:Thing {number: $number}) RETURN t.name AS name ORDER BY name"
OPEN = "MATCH (t:Thing) WHERE t.kind = 'two  words $x' RETURN t.name AS name"
INSIDE = "MATCH (t:Thing) RETURN t.cost AS cost"

SCHEMA = GraphSchema(
    customer_label="Person",
    customer_key="key",
    labels={},
    relationships=(),
    public_labels=frozenset(),
    predefined={
        canonical(OWN): Audience.CUSTOMER,
        canonical(OPEN): Audience.PUBLIC,
        canonical(INSIDE): Audience.STAFF,
    },
)


def rules(text: str, principal: Principal = CUSTOMER) -> list[str]:
    verdict = prove(text, SCHEMA, principal)
    assert isinstance(verdict, Violations)
    return [item.rule for item in verdict.items]


def test_a_text_of_the_pack_is_proven_for_the_principal_who_asked() -> None:
    proven = prove(OWN, SCHEMA, CUSTOMER)
    assert proven == ProvenQuery(text=OWN, parameters=frozenset({"customer_id", "number"}), principal=CUSTOMER)


@pytest.mark.parametrize(
    "text",
    [
        OWN.replace(" ", "\n   "),
        OWN.replace(" RETURN", "\t\r\nRETURN"),
        f"  {OWN} ;\n",
        OWN.replace(" RETURN", " // what it is called\nRETURN"),
        OWN.replace(" RETURN", " /* called */ RETURN"),
    ],
)
def test_another_layout_is_the_same_text_and_the_canonical_print_is_what_runs(text: str) -> None:
    proven = prove(text, SCHEMA, CUSTOMER)
    assert isinstance(proven, ProvenQuery)
    assert proven.text == OWN


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (t:Thing) RETURN t.name AS name",
        OWN.replace("$customer_id", "'C2'"),
        OWN.replace("{key: $customer_id}", ""),
        OWN.replace("RETURN", "return"),
        OWN + " LIMIT 1",
        OWN + "; MATCH (n) DETACH DELETE n",
        OWN + " UNION " + OWN,
        OWN.replace(" RETURN", "\u00a0RETURN"),
        OWN.replace(" RETURN", "\u2028RETURN"),
        OWN.replace("MATCH", "\uff2d\uff21\uff34\uff23\uff28", 1),
        OWN.replace("t.name", "t./**/name"),
        "",
        ";",
    ],
)
def test_any_other_text_is_refused(text: str) -> None:
    assert rules(text) == ["unknown-text"]


@pytest.mark.parametrize(
    "text",
    [
        OPEN.replace("two  words", "two words"),
        OPEN.replace("two  words", "two\nwords"),
        OPEN.replace("'two  words $x'", '"two  words $x"'),
        OPEN.replace("two  words", "two /* */ words"),
    ],
)
def test_what_stands_in_quotes_is_compared_to_the_letter(text: str) -> None:
    assert rules(text) == ["unknown-text"]


def test_a_comment_can_not_hide_the_rest_of_a_text() -> None:
    assert rules(OWN.replace("{key: $customer_id}", "// {key: $customer_id}\n")) == ["unknown-text"]


@pytest.mark.parametrize(
    ("principal", "allowed"),
    [
        (GUEST, {OPEN}),
        (CUSTOMER, {OPEN, OWN}),
        (SERVICE, {OPEN, OWN}),
        (AGENT, {OPEN, INSIDE}),
        (ADMIN, {OPEN, INSIDE}),
    ],
    ids=lambda value: value.kind if isinstance(value, Principal) else None,
)
def test_each_kind_of_caller_runs_the_texts_of_its_audiences_alone(principal: Principal, allowed: set[str]) -> None:
    verdicts = {text: prove(text, SCHEMA, principal) for text in (OWN, OPEN, INSIDE)}
    assert {text for text, verdict in verdicts.items() if isinstance(verdict, ProvenQuery)} == allowed
    assert all(rules(text, principal) == ["audience"] for text in verdicts.keys() - allowed)


def test_every_kind_of_caller_has_audiences_and_sees_what_is_public() -> None:
    for kind in PrincipalKind:
        customer_id = "C1" if kind in (PrincipalKind.CUSTOMER, PrincipalKind.SERVICE) else None
        assert Audience.PUBLIC in audiences(Principal(kind=kind, subject="x", customer_id=customer_id))


def test_a_text_that_is_too_long_is_refused_unread() -> None:
    padding = " " * (MAX_TEXT_CHARACTERS - len(OWN))
    assert isinstance(prove(OWN + padding, SCHEMA, CUSTOMER), ProvenQuery)
    assert rules(OWN + padding + " ") == ["length"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("RETURN $a AS a, $b_2 AS b, $a AS c", {"a", "b_2"}),
        ("RETURN '$a' AS a, \"$b\" AS b, $c AS c", {"c"}),
        (r"RETURN 'it\'s $a' AS a, $b AS b", {"b"}),
        ("RETURN 1 AS one", set()),
    ],
)
def test_the_parameters_of_a_text_are_those_outside_of_quotes(text: str, names: set[str]) -> None:
    assert parameters(text) == names


def test_all_of_the_shops_queries_are_proven_for_their_audience_and_refused_to_guests_beyond_it() -> None:
    pack = load_pack(ROOT / "domains" / "shop")
    callers = {Audience.PUBLIC: GUEST, Audience.CUSTOMER: CUSTOMER, Audience.STAFF: AGENT}
    for query in pack.queries.queries:
        proven = prove(query.cypher, pack.schema_, callers[query.audience])
        assert isinstance(proven, ProvenQuery), query.name
        assert proven.parameters - {"customer_id"} == set(query.parameters), query.name
        assert isinstance(prove(query.cypher, pack.schema_, GUEST), ProvenQuery) == (query.audience is Audience.PUBLIC)


def test_nothing_but_the_prover_makes_a_proven_query() -> None:
    makers = {path.relative_to(ROOT).as_posix() for path in _sources() if _makes_proven_query(path)}
    assert makers == {"governance/prover.py"}


def _sources() -> Iterator[Path]:
    for package in sorted(path.parent for path in ROOT.glob("*/__init__.py")):
        if package.name != "tests":
            yield from package.rglob("*.py")


def _makes_proven_query(path: Path) -> bool:
    """Whether the file calls the class or one of its alternative constructors, under whatever name it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {"ProvenQuery"} | {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == "ProvenQuery" and alias.asname
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Attribute):
            if called.attr == "ProvenQuery":
                return True
            is_constructor = called.attr.startswith(("model_validate", "model_construct", "parse_"))
            called = called.value if is_constructor else called
            if isinstance(called, ast.Attribute) and called.attr == "ProvenQuery":
                return True
        if isinstance(called, ast.Name) and called.id in names:
            return True
    return False
