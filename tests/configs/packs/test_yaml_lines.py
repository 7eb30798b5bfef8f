from configs.packs.yaml_lines import read_yaml

TEXT = """\
queries:
  - name: first
    cypher: |
      MATCH (n)
      RETURN n
  -
    name: second
    phrasings: [one,
      two]
no: yes
"""


def test_each_value_has_the_line_of_its_key_or_its_item() -> None:
    read = read_yaml("queries.yaml", TEXT)
    assert read.line("queries", 0, "cypher") == 3
    assert read.line("queries", 1) == 7
    assert read.line("queries", 1, "phrasings", 1) == 9


def test_a_value_that_is_not_there_has_the_line_of_its_nearest_ancestor() -> None:
    assert read_yaml("queries.yaml", TEXT).line("queries", 0, "reply", "en") == 2


def test_a_key_is_always_text() -> None:
    assert read_yaml("queries.yaml", TEXT).data["no"] is True


def test_a_key_given_twice_is_told_on_the_line_of_the_second() -> None:
    (complaint,) = read_yaml("a.yaml", "a:\n  b: 1\n  c: 2\n  b: 3\n").complaints
    assert str(complaint) == "a.yaml:4: a.b: given twice, first on line 2; remove one"


def test_a_syntax_error_is_told_with_its_line() -> None:
    read = read_yaml("a.yaml", "a: 1\nb: [2\nc: 3\n")
    assert read.data is None
    assert [complaint.line for complaint in read.complaints] == [3]


def test_a_date_that_does_not_exist_is_told_with_its_line() -> None:
    (complaint,) = read_yaml("a.yaml", "a: 1\nb: 2026-13-01\n").complaints
    assert (complaint.line, complaint.message.startswith("b: '2026-13-01' can't be read")) == (2, True)


def test_a_control_character_is_told() -> None:
    assert "control characters" in str(read_yaml("a.yaml", "a: \x07").complaints[0])


def test_a_reference_has_the_value_of_its_anchor_and_its_own_line() -> None:
    read = read_yaml("a.yaml", "a: &same {en: Hi}\nb: *same\n")
    assert read.data["b"] == {"en": "Hi"}
    assert read.line("b", "en") == 2


def test_a_value_that_contains_itself_is_refused() -> None:
    (complaint,) = read_yaml("a.yaml", "x: 1\na: &a [*a]\n").complaints
    assert str(complaint) == "a.yaml:2: a[0]: contains itself"


def test_lines_count_from_where_the_text_begins_in_its_file() -> None:
    assert read_yaml("a.md", "a: 1\nb: 2\n", first_line=2).line("b") == 3
