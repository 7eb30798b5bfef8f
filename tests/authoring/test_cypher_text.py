import pytest

from authoring import cypher_text


@pytest.mark.parametrize(
    ("text", "named", "unnamed"),
    [
        ("MATCH (n) RETURN n.a AS first, count(n, n.b) AS number ORDER BY first", ["first", "number"], []),
        ("MATCH (n) WITH n.a AS a RETURN DISTINCT a LIMIT 3", ["a"], []),
        ("MATCH (n) RETURN n.a, n.b AS b", ["b"], ["n.a"]),
        ("CALL (n) { MATCH (n)-[:R]->(m) RETURN m.x AS x } RETURN x, [y IN z | y.q] AS qs", ["x", "qs"], []),
        ("RETURN 'a, RETURN b' AS text", ["text"], []),
        ("MATCH (n) RETURN n.a AS a UNION MATCH (m) RETURN m.b AS a", ["a"], []),
    ],
)
def test_columns_are_those_of_the_last_return(text: str, named: list[str], unnamed: list[str]) -> None:
    assert cypher_text.columns(text) == (named, unnamed)


def test_labels_and_types_are_those_of_patterns() -> None:
    text = "MATCH (a:Rider {k: 'x'})-[:BROUGHT]->(:Repair) WHERE a.note = '(b:Secret)' RETURN {map: a.name} AS m"
    assert cypher_text.labels(text) == {"Rider", "Repair"}
    assert cypher_text.relationship_types(text) == {"BROUGHT"}


def test_properties_leave_out_parts_of_dates_functions_and_own_maps() -> None:
    text = (
        "MATCH (a:A) WITH a, {own: 1} AS m "
        "RETURN a.name AS n, a.day_on.year AS y, date.truncate('day') AS d, m.own AS o"
    )
    assert cypher_text.properties(text) == {"name"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("MATCH (n) SET n.a = 1", "SET"),
        ("match (n) delete n", "delete"),
        ("RETURN reduce(s = 0, x IN [1] | s + x) AS s", "reduce"),
        ("MATCH (n:Set) RETURN n.set AS set_, 'CREATE' AS c", None),
        ("CALL (n) { RETURN 1 AS one } RETURN one", None),
    ],
)
def test_the_first_word_that_is_no_read(text: str, word: str | None) -> None:
    assert cypher_text.first_write(text) == word
