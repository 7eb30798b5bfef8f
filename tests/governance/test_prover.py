import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from configs.packs.loader import load_pack
from configs.settings import ROOT
from contracts.graph import (
    Audience,
    GraphSchema,
    LabelSchema,
    PropertySchema,
    PropertyType,
    ProvenQuery,
    RelationshipSchema,
    Violations,
)
from contracts.principal import Principal, PrincipalKind
from governance.prover import prove, prove_write

GUEST = Principal(kind=PrincipalKind.GUEST, subject="g")
MEMBER = Principal(kind=PrincipalKind.CUSTOMER, subject="m1", customer_id="M1")
SERVICE = Principal(kind=PrincipalKind.SERVICE, subject="crm", customer_id="M1")
AGENT = Principal(kind=PrincipalKind.AGENT, subject="ann")
SUPERVISOR = Principal(kind=PrincipalKind.AGENT, subject="bo", scopes=frozenset({"supervisor"}))

_STRING, _INTEGER, _FLOAT, _DATE = (
    PropertySchema(type=type_)
    for type_ in (PropertyType.STRING, PropertyType.INTEGER, PropertyType.FLOAT, PropertyType.DATE)
)
_KEY = PropertySchema(type=PropertyType.STRING, unique=True)

#: A music school: members take lessons; lessons are about public courses, and given by teachers who are neither.
SCHEMA = GraphSchema(
    customer_label="Member",
    customer_key="member_id",
    labels={
        "Member": LabelSchema(properties={"member_id": _KEY, "name": _STRING, "points": _INTEGER}),
        "Lesson": LabelSchema(
            properties={
                "lesson_id": _KEY,
                "state": PropertySchema(type=PropertyType.STRING, values=("booked", "held", "cancelled")),
                "on": _DATE,
                "fee": _FLOAT,
                "note": _STRING,
            }
        ),
        "Recording": LabelSchema(properties={"recording_id": _KEY, "runtime": _INTEGER}),
        "Course": LabelSchema(properties={"course_id": _KEY, "name": _STRING, "price": _FLOAT}),
        "Teacher": LabelSchema(properties={"teacher_id": _KEY, "name": _STRING}),
    },
    relationships=(
        RelationshipSchema(type="TAKES", start="Member", end="Lesson", owning=True, properties={"since": _DATE}),
        RelationshipSchema(type="HAS", start="Lesson", end="Recording", owning=True),
        RelationshipSchema(type="ABOUT", start="Lesson", end="Course"),
        RelationshipSchema(type="GIVEN_BY", start="Lesson", end="Teacher"),
        RelationshipSchema(type="FOLLOWS", start="Course", end="Course"),
        RelationshipSchema(type="KNOWS", start="Member", end="Member"),
    ),
    public_labels=frozenset({"Course"}),
    staff_labels={"agent": frozenset({"Lesson"}), "supervisor": frozenset({"Member", "Lesson", "Teacher"})},
)
MY_LESSONS = "MATCH (m:Member {member_id: $customer_id})-[:TAKES]->(l:Lesson)"


def proven(text: str, principal: Principal = MEMBER) -> ProvenQuery:
    verdict = prove(text, SCHEMA, principal)
    assert isinstance(verdict, ProvenQuery), str(verdict)
    return verdict


def refusal(text: str, principal: Principal = MEMBER) -> str:
    verdict = prove(text, SCHEMA, principal)
    assert isinstance(verdict, Violations), verdict.text
    return str(verdict)


# Whose data


def test_what_is_reached_from_the_customer_downward_is_the_customers() -> None:
    assert proven(f"{MY_LESSONS}-[:HAS]->(r:Recording) RETURN r.runtime AS runtime").principal == MEMBER
    assert proven(f"{MY_LESSONS} RETURN l.state AS state", SERVICE).principal == SERVICE


def test_ownership_is_found_whatever_way_round_the_pattern_is_written() -> None:
    text = "MATCH (r:Recording)<-[:HAS]-(l:Lesson)<-[:TAKES]-(m:Member {member_id: $customer_id}) RETURN r.runtime AS s"
    assert proven(text).columns == ("s",)


def test_ownership_does_not_flow_upward() -> None:
    text = f"{MY_LESSONS}-[:HAS]->(r:Recording)<-[:HAS]-(other:Lesson) RETURN other.state AS state"
    assert "(other:Lesson) may be another customer's" in refusal(text)


def test_a_relationship_that_owns_nothing_does_not_lead_to_other_customers() -> None:
    text = "MATCH (m:Member {member_id: $customer_id})-[:KNOWS]->(n:Member) RETURN n.name AS name"
    assert "(n:Member) may be another customer; write (member:Member {member_id: $customer_id})." in refusal(text)


def test_what_is_neither_public_nor_owned_stays_closed() -> None:
    assert "(t:Teacher)" in refusal(f"{MY_LESSONS}-[:GIVEN_BY]->(t:Teacher) RETURN t.name AS name")


def test_no_schema_makes_another_customer_or_what_is_public_the_customers_own() -> None:
    schema = SCHEMA.model_copy(
        update={
            "relationships": (
                *(one for one in SCHEMA.relationships if one.type not in ("KNOWS", "ABOUT")),
                RelationshipSchema(type="KNOWS", start="Member", end="Member", owning=True),
                RelationshipSchema(type="ABOUT", start="Lesson", end="Course", owning=True),
            )
        }
    )
    friend = "MATCH (m:Member {member_id: $customer_id})-[:KNOWS]->(n:Member) RETURN n.name AS name"
    assert isinstance(prove(friend, schema, MEMBER), Violations)
    course = f"{MY_LESSONS}-[:ABOUT]->(c:Course) SET c.price = 0.0"
    assert isinstance(prove_write(course, schema, MEMBER), Violations)


@pytest.mark.parametrize(
    "anchor",
    [
        "(m:Member)",
        "(m:Member {member_id: 'M1'})",
        "(m:Member {member_id: $member})",
        "(m:Member {name: $customer_id})",
    ],
)
def test_only_the_numbergiven_as_the_parameter_anchors(anchor: str) -> None:
    assert "may be another customer" in refusal(f"MATCH {anchor}-[:TAKES]->(l:Lesson) RETURN l.state AS state")


def test_an_anchor_in_where_is_none() -> None:
    text = "MATCH (m:Member)-[:TAKES]->(l:Lesson) WHERE m.member_id = $customer_id OR true RETURN l.state AS state"
    assert "may be another customer" in refusal(text)


def test_a_name_that_a_with_has_dropped_is_a_new_one() -> None:
    assert "(l:Lesson)" in refusal(f"{MY_LESSONS} WITH m MATCH (l:Lesson) RETURN l.state AS state")


def test_each_part_of_a_union_is_proven_by_itself() -> None:
    text = f"{MY_LESSONS} RETURN l.state AS state UNION MATCH (l:Lesson) RETURN l.state AS state"
    assert "(l:Lesson)" in refusal(text)


def test_guests_read_what_is_public() -> None:
    assert proven("MATCH (c:Course) RETURN c.name AS name", GUEST).columns == ("name",)
    assert "(l:Lesson) is not public; guests read Course." in refusal("MATCH (l:Lesson) RETURN l.state AS s", GUEST)
    assert "(m:Member) is not public" in refusal(f"{MY_LESSONS} RETURN l.state AS state", GUEST)
    assert "is for signed-in customers" in refusal("RETURN $customer_id AS me", GUEST)


def test_staff_read_the_labels_of_their_roles() -> None:
    lessons, members = "MATCH (l:Lesson) RETURN count(*) AS n", "MATCH (m:Member) RETURN count(*) AS n"
    assert proven(lessons, AGENT).columns == ("n",)
    assert "not among the labels of this role" in refusal(members, AGENT)
    assert proven(members, SUPERVISOR).columns == ("n",)


def test_staff_read_everything_where_the_schema_names_no_roles() -> None:
    verdict = prove("MATCH (t:Teacher) RETURN t.name AS name", SCHEMA.model_copy(update={"staff_labels": None}), AGENT)
    assert isinstance(verdict, ProvenQuery)


# What is printed


def test_labels_directions_and_types_that_follow_from_the_schema_are_written_out() -> None:
    text = "match (m:Member {member_id: $customer_id})--(l:Lesson)-[:HAS]-(r) return r.runtime as s limit 3"
    assert proven(text).text == (
        "MATCH (m:Member {member_id: $customer_id})-[:TAKES]->(l:Lesson)-[:HAS]->(r:Recording)"
        " RETURN r.runtime AS s ORDER BY s LIMIT 3"
    )


def test_the_order_of_the_rows_is_made_total() -> None:
    text = proven("MATCH (c:Course) RETURN c.name AS name, c.price AS price ORDER BY price DESC LIMIT 2").text
    assert text.endswith("RETURN c.name AS name, c.price AS price ORDER BY price DESC, name LIMIT 2") or text.endswith(
        "RETURN c.`name` AS `name`, c.price AS price ORDER BY price DESC, `name` LIMIT 2"
    )


def test_rows_are_sorted_before_they_are_collected() -> None:
    assert proven("MATCH (c:Course) RETURN collect(c.price) AS prices").text == (
        "MATCH (c:Course) WITH c ORDER BY c.course_id RETURN collect(c.price) AS prices"
    )


def test_an_order_that_the_text_gives_is_kept_before_collecting() -> None:
    text = "MATCH (c:Course) WITH c ORDER BY c.price DESC RETURN collect(c.course_id) AS ids"
    assert "ORDER BY c.price DESC, c.course_id RETURN collect(c.course_id) AS ids" in proven(text).text


def test_a_whole_node_is_returned_as_the_map_of_its_declared_properties() -> None:
    assert "RETURN {recording_id: r.recording_id, runtime: r.runtime} AS r" in (
        proven(f"{MY_LESSONS}-[:HAS]->(r) RETURN r").text
    )


def test_a_node_that_may_be_missing_is_returned_as_null() -> None:
    text = f"{MY_LESSONS} OPTIONAL MATCH (l)-[:HAS]->(r) RETURN l.lesson_id AS id, r"
    assert "CASE WHEN r IS NULL THEN null ELSE {recording_id: r.recording_id, runtime: r.runtime} END AS r" in (
        proven(text).text
    )


def test_a_column_without_a_name_is_named_by_its_text() -> None:
    assert proven("MATCH (c:Course) RETURN c.price  *  2, count( * )").columns == ("c.price * 2", "count( * )")


def test_no_name_ends_its_own_quotes() -> None:
    text = "MATCH (c:Course) RETURN c.price + size('`, 1 AS x //')"
    (column,) = proven(text).columns
    assert column == "c.price + size(', 1 AS x //')"
    assert f"AS `{column}`" in proven(text).text


def test_an_aggregate_inside_of_an_expression_is_computed_in_a_with_of_its_own() -> None:
    text = "MATCH (c:Course) RETURN max(c.price) - min(c.price) AS spread"
    assert proven(text).text == (
        "MATCH (c:Course) WITH max(c.price) AS _n1, min(c.price) AS _n2 RETURN _n1 - _n2 AS spread ORDER BY spread"
    )


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("round(c.price)", "floor(c.price + 0.5)"),
        ("round(c.price, 2)", "sign(c.price) * floor(abs(c.price) * 100.0 + 0.500001) / 100.0"),
        ("c.price / 4", "c.price / 4"),
        ("1 / c.price", "1 / CASE c.price WHEN 0 THEN null ELSE c.price END"),
        ("nullIf(c.price, 1.0)", "CASE WHEN c.price = 1.0 THEN null ELSE c.price END"),
        ("1 < c.price <= 3", "1 < c.price AND c.price <= 3"),
        ("(1 + 2) * 3 - (4 - 5)", "(1 + 2) * 3 - (4 - 5)"),
        ("NOT (true AND false)", "NOT (true AND false)"),
        ("'it''s'[0..2]", None),
        ('"it\'s \\\\ \\n"', "'it\\'s \\\\ \\n'"),
        ("'x' + 1 + -2", "'x' + 1 + -2"),
    ],
)
def test_what_the_engines_run_differently_is_printed_as_what_they_run_alike(written: str, printed: str | None) -> None:
    verdict = prove(f"MATCH (c:Course) RETURN {written} AS x", SCHEMA, GUEST)
    if printed is None:
        assert isinstance(verdict, Violations)
    else:
        assert isinstance(verdict, ProvenQuery), str(verdict)
        assert f"RETURN {printed} AS x" in verdict.text


def test_the_embedded_graph_gets_the_names_under_which_it_stores_properties() -> None:
    query = proven("MATCH (c:Course) WITH c.name AS name, {name: c.name} AS m RETURN name, m.name AS again")
    assert query.embedded_text is not None
    assert "c.name_ AS" in query.embedded_text
    assert "m.name_" not in query.embedded_text
    assert proven("MATCH (c:Course) RETURN c.price AS price").embedded_text is None


def test_a_query_tells_its_parameters_and_what_the_text_says_of_their_types() -> None:
    query = proven(
        f"{MY_LESSONS} WHERE l.fee > $fee AND l.state IN $states AND l.on >= date($since) AND $flag"
        " RETURN l.note AS note SKIP $skip"
    )
    assert query.parameters == {"customer_id", "fee", "states", "since", "flag", "skip"}
    assert query.list_parameters == {"states"}
    assert query.parameter_types == {
        "customer_id": PropertyType.STRING,
        "fee": PropertyType.FLOAT,
        "states": PropertyType.STRING,
        "since": PropertyType.DATE,
        "flag": PropertyType.BOOLEAN,
        "skip": PropertyType.INTEGER,
    }


def test_one_parameter_has_one_type() -> None:
    assert "$x is used as a string and as a float" in refusal(
        f"{MY_LESSONS} WHERE l.note = $x AND l.fee = $x RETURN 1 AS one"
    )


# What is refused


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "The query is empty."),
        ("RETURN", "ends too early"),
        ("MATCH (c:Course) RETURN c.name AS a; MATCH (d:Course) RETURN d.name AS b", "one statement"),
        ("EXPLAIN MATCH (c:Course) RETURN c.name AS a", "EXPLAIN is not allowed"),
        ("MATCH (c:Course) DETACH DELETE c", "may only read"),
        ("CALL db.labels() YIELD label RETURN label", "CALL of a procedure"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line", "LOAD CSV is not allowed"),
        ("MATCH (c:Course)-[:FOLLOWS*1..3]->(d:Course) RETURN d.name AS a", "variable length"),
        ("MATCH (c:Course|Teacher) RETURN c.name AS a", "name one label"),
        ("MATCH (c) RETURN c.name AS a", "Give the label of (c)"),
        ("MATCH (c:Course) RETURN elementId(c) AS a", "unique property"),
        ("RETURN reduce(s = 'x', i IN [1] | s + s) AS a", "reduce() is not allowed"),
        ("MATCH (c:Course) WHERE c.\\u006eame = 'x' RETURN 1 AS a", "Escapes like"),
        ("MATCH\u00a0(c:Course) RETURN 1 AS a", "may stand in a text literal only"),
        ("\uff2d\uff21\uff34\uff23\uff28 (c:Course) RETURN 1 AS a", "look like others"),
        ("MATCH (c:Curse) RETURN c.name AS a", "did you mean 'Course'?"),
        ("MATCH (c:Course) RETURN c.nme AS a", "Course has no property 'nme'; did you mean 'name'?"),
        ("MATCH (c:Course) RETURN avg(c.name) AS a", "doesn't take string"),
        ("MATCH (c:Course) RETURN c.price AS a, c.name AS a", "two columns 'a'"),
        ("MATCH (c:Course) RETURN x AS a", "There is no variable 'x' here."),
        ("MATCH (c:Course) WITH c.price RETURN 1 AS a", "AS name"),
        ("MATCH (c:Course) WHERE count(*) > 1 RETURN 1 AS a", "WHERE can't aggregate"),
        ("MATCH (c:Course) RETURN c.price + count(*) AS a", "mixes an aggregate with 'c'"),
        ("MATCH (c:Course) WHERE 1 / (c.price - 5) > 0 RETURN 1 AS a", "number but 0"),
        ("MATCH (c:Course) WHERE c.name =~ '(a+)+b' RETURN 1 AS a", "The pattern"),
        ("MATCH (c:Course) WHERE c.name =~ $p RETURN 1 AS a", "The pattern of =~"),
        ("RETURN 1 AS a UNION RETURN 1 AS b", "same columns"),
        ("MATCH (c:Course) WHERE c.price = 'x' RETURN 1 AS a", "can't be compared"),
        ("MATCH (c:Course) RETURN coalesce(c, 'x') AS a", "whole node"),
        ("MATCH (c:Course) RETURN {course: c} AS a", "whole node"),
        ("WITH 'x' AS s " + "WITH s + s AS s " * 25 + "RETURN s", "grow without bound"),
        (
            "MATCH (c:Course) WHERE "
            + "replace(" * 6
            + "c.name"
            + ", 'a', 'aaaaaaaaaaaaaaaa')" * 6
            + " = 'x' RETURN 1",
            "grow",
        ),
        ("WITH [1, 2] AS l " + "WITH [x IN l | l] AS l " * 8 + "RETURN l", "grow without bound"),
        ("RETURN [x IN range(1, 900) WHERE any(y IN range(1, 900) WHERE y < x)] AS a", "too many items"),
        ("MATCH (c:Course) WHERE abs(c.price * 1000000000) * abs(c.price * 1000000000) > 0 RETURN 1 AS a", "too large"),
        ("MATCH (c:Course) WHERE toUpper([1, 'a'][0]) = 'A' RETURN 1 AS a", "doesn't take varied"),
        ("WITH [1, 2] AS l RETURN [x IN l WHERE size([y IN l WHERE size(l) > 1]) > 0] AS a", "too many items"),
        ("RETURN true = (true = (1 = 1) = true) = true AS a", "only plain values"),
        ("RETURN //\r " + "(" * 40 + "1" + ")" * 40 + " AS a", "nested"),
        ("MATCH (c:Course) WHERE EXISTS { (c)-[:FOLLOWS]->(d) WHERE x } RETURN 1 AS a", "no variable 'x'"),
        ("MATCH (c:Course) WHERE EXISTS { MATCH (c) RETURN nonsense } RETURN 1 AS a", "no variable 'nonsense'"),
    ],
)
def test_a_refusal_says_what_to_do(text: str, reason: str) -> None:
    assert reason in refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (c:Course) WHERE " + " OR ".join(["c.price = 1"] * 300) + " RETURN 1 AS a",
        "RETURN " + "(" * 1500 + "1" + ")" * 1500 + " AS a",
        "RETURN " + "[" * 1500 + "1" + "]" * 1500 + " AS a",
        "RETURN " + "CASE WHEN true THEN " * 120 + "1" + " END" * 120 + " AS a",
        "RETURN " + "NOT " * 900 + "true AS a",
        "RETURN " + "-" * 3500 + "1 AS a",
        "RETURN [" + "1," * 1900 + "1] AS a",
        "MATCH " + ", ".join(["(:Course)-[:FOLLOWS]->(:Course)"] * 100) + " RETURN 1 AS a",
        "RETURN '" + "x" * 5_000 + "' AS a",
    ],
)
def test_a_monster_is_refused_before_it_is_parsed(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def parsed(*_: object) -> object:
        raise AssertionError("the monster was parsed")

    monkeypatch.setattr("governance.proof.source.CommonTokenStream", parsed)
    assert refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "RETURN " + " + ".join(["1"] * 340) + " AS a",
        "RETURN " + " ^ ".join(["1"] * 340) + " AS a",
        "RETURN " + " < ".join(["1"] * 340) + " AS a",
        "WITH {a: 1} AS m RETURN m" + ".a" * 340 + " AS a",
        "WITH [1] AS l RETURN l" + "[0]" * 100 + " AS a",
        "RETURN " + " AND ".join(["true"] * 340) + " AS a",
    ],
)
def test_a_long_chain_is_refused_and_not_a_failure(text: str) -> None:
    assert "in a row" in refusal(text) or "are joined by" in refusal(text)


def test_a_verdict_is_reached_once_for_all_principals_of_one_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    first = proven("MATCH (c:Course) RETURN c.price AS kept")

    def parsed(*_: object) -> object:
        raise AssertionError("it was proven again")

    monkeypatch.setattr("governance.prover.parse", parsed)
    other = Principal(kind=PrincipalKind.CUSTOMER, subject="m2", customer_id="M2")
    second = proven("MATCH (c:Course) RETURN c.price AS kept", other)
    assert (second.text, second.principal) == (first.text, other)


def test_an_order_by_a_pattern_is_not_carried_to_where_its_names_mean_others() -> None:
    ordered = "WITH l.lesson_id AS number ORDER BY COUNT { (l)-[:HAS]->(:Recording) } DESC"
    text = f"{MY_LESSONS} {ordered} RETURN number LIMIT 1"
    assert proven(text).text == (
        f"{MY_LESSONS} WITH l, m, COUNT {{ MATCH (l:Lesson)-[:HAS]->(:Recording) }} AS _n1"
        " WITH l.lesson_id AS number ORDER BY _n1 DESC, number RETURN number LIMIT 1"
    )


def test_an_order_that_a_with_made_is_kept_and_limited() -> None:
    text = "MATCH (c:Course) WITH c ORDER BY c.price DESC RETURN c.course_id AS number LIMIT 3"
    assert proven(text).text.endswith("RETURN c.course_id AS number ORDER BY c.price DESC, number LIMIT 3")


def test_a_whole_node_is_sorted_before_its_map_takes_its_name() -> None:
    assert proven("MATCH (c:Course) RETURN c ORDER BY c.price LIMIT 2").text.startswith(
        "MATCH (c:Course) WITH c ORDER BY c.price, c.course_id LIMIT 2 RETURN {"
    )


# Writes


def test_a_write_tells_the_values_that_its_parameters_may_have() -> None:
    write = prove_write(
        f"{MY_LESSONS} WHERE l.state = 'booked' SET l.state = $state, l.fee = 3 RETURN l.state AS state", SCHEMA, MEMBER
    )
    assert not isinstance(write, Violations), str(write)
    assert write.parameter_values == {"state": ("booked", "held", "cancelled")}
    assert "SET l.state = $state, l.fee = 3.0 RETURN" in write.text


def test_a_write_locks_what_it_read_before_it_reads_again() -> None:
    write = prove_write(f"{MY_LESSONS} WHERE l.state = 'booked' SET l.note = 'x'", SCHEMA, MEMBER)
    assert not isinstance(write, Violations), str(write)
    assert write.lock_text == (
        "MATCH (m:Member {member_id: $customer_id})-[:TAKES]->(l:Lesson) WHERE l.state = 'booked'"
        " SET m._lock = true, l._lock = true REMOVE m._lock, l._lock"
    )


def test_a_new_node_is_created_bare_and_then_given_its_properties() -> None:
    write = prove_write(
        f"{MY_LESSONS} CREATE (l)-[:HAS]->(r:Recording {{recording_id: $id, runtime: 5}})", SCHEMA, MEMBER
    )
    assert not isinstance(write, Violations), str(write)
    assert write.text.endswith("CREATE (l)-[:HAS]->(r:Recording) SET r.recording_id = $id, r.runtime = 5")


def test_a_name_of_our_own_is_none_that_the_text_has() -> None:
    created = "(l)-[:HAS]->(_n1:Recording {recording_id: $a}), (l)-[:HAS]->(:Recording {recording_id: $b})"
    text = f"{MY_LESSONS} CREATE {created}"
    write = prove_write(text, SCHEMA, MEMBER)
    assert not isinstance(write, Violations), str(write)
    assert write.text.endswith("SET _n1.recording_id = $a, _n2.recording_id = $b")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{MY_LESSONS} RETURN l.state AS state", "changes nothing"),
        (f"{MY_LESSONS} SET m.member_id = 'M2'", "identifies its node"),
        (
            f"{MY_LESSONS} CREATE (l)-[:HAS]->(r:Recording {{recording_id: $k}}) WITH m AS r SET r.member_id = $other",
            "identifies its node",
        ),
        (f"{MY_LESSONS} CREATE (l)-[:HAS]->(r:Recording {{recording_id: 'R1'}})", "give it as a parameter"),
        (f"{MY_LESSONS} SET l.fee = count(*)", "can't aggregate"),
        (
            f"{MY_LESSONS} WITH l, collect(m) AS ms CREATE (l)-[:HAS]->(r:Recording {{recording_id: $k}}) DELETE r"
            " UNWIND ms AS r SET r.member_id = $other",
            "identifies its node",
        ),
        (f"{MY_LESSONS} SET l.state = 'gone'", "Lesson.state is one of booked, held, cancelled; not 'gone'."),
        (f"{MY_LESSONS} SET l.fee = 'much'", "Lesson.fee is a float, and the value a string."),
        (f"{MY_LESSONS}-[:ABOUT]->(c:Course) SET c.price = 0.0", "is not the customer's own Course"),
        (f"{MY_LESSONS} SET l = {{note: 'x'}}", "set single properties"),
        (f"{MY_LESSONS} SET l:Recording", "set single properties"),
        (f"{MY_LESSONS} SET l.note = 'x' WITH l MATCH (l)-[:HAS]->(r) SET r.runtime = 1", "Read first, then change"),
        (f"{MY_LESSONS} DETACH DELETE l", "would leave Recording without an owner"),
        (f"{MY_LESSONS} DETACH DELETE m", "can't be deleted"),
        ("CREATE (l:Lesson {lesson_id: $id})", "hangs on nothing of the customer's"),
        (f"{MY_LESSONS} CREATE (l)-[:HAS]->(r:Recording)", "A new Recording needs its key"),
        (f"{MY_LESSONS} MERGE (l)-[:HAS]->(r:Recording {{recording_id: $id}})", "for a new node write CREATE"),
        (f"{MY_LESSONS} OPTIONAL MATCH (l)-[:HAS]->(r) CREATE (l)-[:HAS]->(r)", "may be missing"),
        (f"{MY_LESSONS} MATCH (c:Course), (d:Course) CREATE (c)-[:FOLLOWS]->(d)", "aren't the customer's own"),
        (f"{MY_LESSONS} FOREACH (x IN [1] | SET l.note = 'x')", "FOREACH is not allowed"),
    ],
)
def test_a_write_that_is_refused_says_what_to_do(text: str, reason: str) -> None:
    verdict = prove_write(text, SCHEMA, MEMBER)
    assert isinstance(verdict, Violations), verdict.text
    assert reason in str(verdict)


def test_guests_change_nothing() -> None:
    assert "sign in" in str(prove_write("MATCH (c:Course) SET c.price = 0.0", SCHEMA, GUEST))


# The packs, and who makes proofs


@pytest.mark.parametrize(
    "folder", [ROOT / "domains" / "shop", ROOT / "tests" / "packs" / "workshop"], ids=lambda p: p.name
)
def test_every_query_of_a_pack_is_proven_for_its_audience_and_its_print_proves_to_itself(folder: Path) -> None:
    pack = load_pack(folder)
    callers = {Audience.PUBLIC: GUEST, Audience.CUSTOMER: MEMBER, Audience.STAFF: AGENT}
    for query in pack.queries.queries:
        verdict = prove(query.cypher, pack.schema_, callers[query.audience])
        assert isinstance(verdict, ProvenQuery), f"{query.name}: {verdict}"
        assert verdict.parameters - {"customer_id"} == set(query.parameters), query.name
        again = prove(verdict.text, pack.schema_, callers[query.audience])
        assert isinstance(again, ProvenQuery)
        assert again.text == verdict.text, query.name
        assert isinstance(prove(query.cypher, pack.schema_, GUEST), ProvenQuery) == (query.audience is Audience.PUBLIC)


@pytest.mark.parametrize("name", ["ProvenQuery", "ProvenWrite"])
def test_nothing_but_the_prover_makes_a_proof(name: str) -> None:
    makers = {path.relative_to(ROOT).as_posix() for path in _sources() if _makes(name, path)}
    assert makers == {"governance/prover.py"}


def _sources() -> Iterator[Path]:
    for package in sorted(path.parent for path in ROOT.glob("*/__init__.py")):
        if package.name != "tests":
            yield from package.rglob("*.py")


def _makes(name: str, path: Path) -> bool:
    """Whether the file calls the class or one of its alternative constructors, under whatever name it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {name} | {
        alias.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name == name and alias.asname
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Attribute):
            if called.attr == name:
                return True
            is_constructor = called.attr.startswith(("model_validate", "model_construct", "parse_"))
            called = called.value if is_constructor else called
            if isinstance(called, ast.Attribute) and called.attr == name:
                return True
        if isinstance(called, ast.Name) and called.id in names:
            return True
    return False
