from collections.abc import Callable
from pathlib import Path

import pytest

from authoring.check import check_pack


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def line_of(path: Path, text: str) -> int:
    return path.read_text(encoding="utf-8").split(text)[0].count("\n") + 1


def found(folder: Path) -> list[str]:
    return [str(complaint) for complaint in check_pack(folder)]


@pytest.fixture
def told(workshop: Path) -> Callable[..., None]:
    """Break ``file`` by putting ``new`` for ``old``; the only complaint must be ``message`` on ``at``'s line."""

    def check(file: str, old: str, new: str, at: str, message: str, told_in: str | None = None) -> None:
        edit(workshop / file, old, new)
        place = told_in or file
        assert found(workshop) == [f"{place}:{line_of(workshop / place, at)}: {message}"]

    return check


Told = Callable[..., None]


def test_a_sound_pack_has_no_complaint(workshop: Path) -> None:
    assert found(workshop) == []


def test_files_that_cannot_be_read_are_told_first(workshop: Path) -> None:
    (workshop / "data" / "mapping.yaml").unlink()
    assert found(workshop) == ["data/mapping.yaml:1: the file is missing; a pack needs it"]


# domain.yaml


def test_exactly_one_desk_is_the_default(told: Told) -> None:
    message = "desks: 0 desks say `default: true`; exactly one must"
    told("domain.yaml", "default: true", "default: false", "desks:", message)


def test_an_opening_time_must_be_one(told: Told) -> None:
    message = "hours.weekly.mon[1]: '18:00-14:00' is no opening time; write it like '09:00-17:30'"
    told("domain.yaml", "14:00-18:00", "18:00-14:00", "mon:", message)


def test_a_time_zone_must_exist(told: Told) -> None:
    message = "hours.timezone: 'Europe/Atlantis' is no time zone; write one such as 'Europe/Lisbon'"
    told("domain.yaml", "Europe/Lisbon", "Europe/Atlantis", "timezone:", message)


def test_every_text_stands_in_every_language(workshop: Path) -> None:
    edit(workshop / "domain.yaml", "languages: [en]", "languages: [en, pt]")
    complaints = found(workshop)
    # scope, sign_off, one desk; two questions, three replies, three for no rows; one greeting; one action.
    assert len(complaints) == 13
    assert all(complaint.endswith("has no text in 'pt'; add it") for complaint in complaints)
    assert f"queries.yaml:{line_of(workshop / 'queries.yaml', '    ask:')}: parameters.job.ask" in complaints[3]


def test_a_text_in_a_language_that_the_pack_does_not_have_is_told(told: Told) -> None:
    message = "actions[0].title.fr: 'fr' is none of the pack's languages (en)"
    told("actions.yaml", "    title:\n", "    title:\n      fr: prendre\n", "      fr:", message)


def test_an_overridden_phrase_is_one_that_there_is(workshop: Path) -> None:
    with (workshop / "domain.yaml").open("a", encoding="utf-8") as file:
        file.write("phrases:\n  no_such_phrase: {en: Hi}\n")
    (complaint,) = found(workshop)
    line = line_of(workshop / "domain.yaml", "  no_such_phrase")
    assert complaint.startswith(f"domain.yaml:{line}: phrases.no_such_phrase: is no common phrase")


# schema.yaml


def test_a_relationship_ends_at_a_declared_label(workshop: Path) -> None:
    schema = workshop / "schema.yaml"
    edit(schema, "start: Repair, end: Part", "start: Repair, end: Prat")
    assert found(workshop)[0] == (
        f"schema.yaml:{line_of(schema, 'type: USES')}: relationships[1].end: "
        "label 'Prat' is not declared; did you mean 'Part'?"
    )


def test_the_customer_key_must_be_unique(workshop: Path) -> None:
    edit(workshop / "schema.yaml", "rider_id: {type: string, unique: true}", "rider_id: {type: string}")
    assert found(workshop)[0] == "schema.yaml:2: customer_key: Rider.rider_id must be declared `unique: true`"


def test_a_customer_belongs_to_no_other(workshop: Path) -> None:
    schema = workshop / "schema.yaml"
    edit(schema, "relationships:\n", "relationships:\n  - {type: INVITED, start: Rider, end: Rider, owning: true}\n")
    assert found(workshop)[0].endswith(
        "relationships[0].owning: owns Rider: a customer belongs to no other; leave `owning` out"
    )


def test_a_role_of_staff_reads_declared_labels(workshop: Path) -> None:
    edit(workshop / "schema.yaml", "public_labels:", "staff_labels: {agent: [Repiar]}\npublic_labels:")
    assert "staff_labels.agent: label 'Repiar' is not declared; did you mean 'Repair'?" in found(workshop)[0]


def test_customers_cannot_be_public(workshop: Path) -> None:
    edit(workshop / "schema.yaml", "[Part]", "[Part, Rider]")
    assert found(workshop)[0].startswith("schema.yaml:3: public_labels: Rider is the customer label")


# queries.yaml, parameters


def test_a_pattern_must_be_a_regular_expression(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, r"'(?<!\w)#(\d{3,6})\b'", r"'#(\d{3,6}'")
    line = line_of(queries, r"'#(\d{3,6}'")
    (complaint,) = found(workshop)
    assert complaint.startswith(f"queries.yaml:{line}: parameters.job.patterns[1]: is no regular expression: missing )")


def test_a_pattern_that_matches_nothing_at_all_is_refused(told: Told) -> None:
    message = "parameters.job.patterns[1]: matches the empty text; it would find a value everywhere"
    told("queries.yaml", r"'(?<!\w)#(\d{3,6})\b'", r"'\d*'", r"'\d*'", message)


def test_a_pattern_that_one_message_can_keep_busy_is_refused(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    slow = r"'\bjob\s+(?:number)?\s*#?\s*(\d{3,6})\b'"  # blanks may be shared out among three repetitions
    edit(queries, r"'(?<!\w)#(\d{3,6})\b'", slow)
    (complaint,) = found(workshop)
    assert complaint.startswith(f"queries.yaml:{line_of(queries, slow)}: parameters.job.patterns[1]: takes ")
    assert "such as 'job   " in complaint


def test_choices_name_a_query_that_needs_nothing(told: Told) -> None:
    message = "parameters.job.choices: there is no query 'my_repair'; did you mean 'my_repairs'?"
    told("queries.yaml", "choices: my_repairs", "choices: my_repair", "choices:", message)


def test_the_offered_choices_have_a_column_for_the_value(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    text = queries.read_text(encoding="utf-8")
    before, after = text.split("      en: You have no repairs with us.\n    entities: {job_number: job}\n")
    queries.write_text(before + "      en: You have no repairs with us.\n" + after, encoding="utf-8")
    line = line_of(queries, "choices:")
    message = "parameters.job.choices: query 'my_repairs' has no column for it; add one to its `entities`"
    assert found(workshop) == [f"queries.yaml:{line}: {message}"]


def test_a_gazetteer_lists_public_values_only(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "{label: Part, property: name}", "{label: Rider, property: full_name}")
    assert found(workshop)[0].startswith(
        f"queries.yaml:{line_of(queries, 'gazetteer:')}: parameters.part.gazetteer.label: "
        "Rider is not among the public labels"
    )


@pytest.mark.parametrize(
    ("related", "complaint"),
    [
        ("{label: Parts, property: name, kind: part}", "label: label 'Parts' is not declared; did you mean 'Part'?"),
        ("{label: Part, property: nam, kind: part}", "property: Part has no property 'nam'; did you mean 'name'?"),
        ("{label: Repair, property: status, kind: part}", "label: Repair is not among the public labels"),
        ("{label: Part, property: name, kind: part}", "label: Part and Part must be joined by one relationship, not 0"),
        ("{label: Part, property: name, kind: parts}", "kind: 'parts' is no parameter type's entity_kind"),
    ],
)
def test_what_a_value_belongs_to_is_public_one_relationship_away_and_of_a_kind_of_documents(
    workshop: Path, related: str, complaint: str
) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "{label: Part, property: name}", f"{{label: Part, property: name, related: {related}}}")
    path = "parameters.part.gazetteer.related."
    assert any(path + complaint in told for told in found(workshop))


# queries.yaml, queries


def test_two_queries_of_one_name_are_told(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "name: part_price", "name: repair_status")
    line = line_of(queries, "- name: repair_status\n    description: Price")
    message = "queries[2].name: query 'repair_status' exists already (queries[0].name); choose another"
    assert f"queries.yaml:{line}: {message}" in found(workshop)


def test_a_parameter_has_a_declared_type(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "parameters: {job: job}", "parameters: {job: jub}")
    line = line_of(queries, "parameters: {job: jub}")
    message = "queries[0].parameters.job: there is no parameter type 'jub'; did you mean 'job'?"
    assert f"queries.yaml:{line}: {message}" in found(workshop)


def test_a_phrasing_names_no_slot_that_the_query_lacks(told: Told) -> None:
    message = "queries[0].phrasings[1]: {part} is not a parameter of the query; known are job"
    told("queries.yaml", "- is {job} ready", "- is {part} ready", "- is {part} ready", message)


def test_a_parameter_stands_in_at_least_one_phrasing(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    head, tail = queries.read_text(encoding="utf-8").split("      - how far are you with {job}", 1)
    block, rest = ("      - how far are you with {job}" + tail).split("    cypher:", 1)
    queries.write_text(head + block.replace("{job}", "it") + "    cypher:" + rest, encoding="utf-8")
    line = line_of(queries, "    phrasings:")
    message = "queries[0].phrasings: parameter 'job' stands in no phrasing; write {job} in at least one"
    assert found(workshop) == [f"queries.yaml:{line}: {message}"]


def test_a_parameter_of_the_text_is_declared(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "{name: $part}", "{name: $prat}")
    line = line_of(queries, "    cypher: |-\n      MATCH (p:Part")
    assert (
        f"queries.yaml:{line}: queries[2].cypher: uses $prat, which is not among the query's parameters"
        in (found(workshop)[1])
    )


def test_a_declared_parameter_is_used(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "{name: $part}", "{name: 'Brake pads $part'}")
    line = line_of(queries, "    parameters: {part: part}")
    message = "queries[2].parameters.part: is declared but $part is not used in the text; use it or remove it"
    assert found(workshop) == [f"queries.yaml:{line}: {message}"]


def test_a_customers_query_is_anchored_at_the_customer(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "(r:Rider {rider_id: $customer_id})", "(r:Rider)")
    line = line_of(queries, "    cypher:")
    message = (
        "is not proven for customers: (r:Rider) may be another customer; write (rider:Rider {rider_id: $customer_id})."
    )
    assert found(workshop) == [f"queries.yaml:{line}: queries[0].cypher: {message}"]


def test_an_anchor_in_where_is_none(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(
        queries,
        "(r:Rider {rider_id: $customer_id})-[:BROUGHT]->(j:Repair)\n",
        "(r:Rider)-[:BROUGHT]->(j:Repair)\n      WHERE r.rider_id = $customer_id OR 1 = 1\n",
    )
    (complaint,) = found(workshop)
    assert "(r:Rider) may be another customer" in complaint


def test_the_customer_label_stands_nowhere_without_the_anchor(workshop: Path) -> None:
    edit(workshop / "queries.yaml", "-[:BROUGHT]->(j:Repair)\n", "-[:BROUGHT]->(j:Repair), (other:Rider)\n")
    (complaint,) = found(workshop)
    assert "(other:Rider) may be another customer" in complaint


def test_a_public_query_reads_public_labels_only(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "MATCH (p:Part {name: $part})", "MATCH (p:Part {name: $part})<-[:USES]-(j:Repair)")
    line = line_of(queries, "    cypher: |-\n      MATCH (p:Part")
    message = "queries[2].cypher: is not proven for guests: (j:Repair) is not public; guests read Part."
    assert found(workshop) == [f"queries.yaml:{line}: {message}"]


def test_a_public_query_does_not_know_who_asks(workshop: Path) -> None:
    edit(workshop / "queries.yaml", "{name: $part})", "{name: $part})\n      WHERE p.name <> $customer_id")
    (complaint,) = found(workshop)
    assert "is not proven for guests: $customer_id is for signed-in customers" in complaint


@pytest.mark.parametrize(
    "clause",
    ["SET p.stock = 0", "CALL db.labels() YIELD label", "LOAD CSV FROM 'file:///x' AS line", "DETACH DELETE p"],
)
def test_a_query_only_reads_the_graph(workshop: Path, clause: str) -> None:
    edit(workshop / "queries.yaml", "{name: $part})\n", "{name: $part})\n      " + clause + "\n")
    (complaint,) = found(workshop)
    assert "is not proven for guests" in complaint
    assert "not allowed" in complaint


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "(j:Repair {",
            "(j:Repiar {",
            "is not proven for customers: There is no label 'Repiar' in the schema; did you mean 'Repair'?",
        ),
        (
            "-[:BROUGHT]->",
            "-[:BRINGS]->",
            "is not proven for customers: There is no relationship 'BRINGS' in the schema",
        ),
        ("j.bicycle", "j.bike", "is not proven for customers: Repair has no property 'bike'"),
    ],
)
def test_a_query_names_what_the_schema_declares(workshop: Path, old: str, new: str, message: str) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, old, new)
    (complaint,) = found(workshop)
    assert complaint.startswith(f"queries.yaml:{line_of(queries, '    cypher:')}: queries[0].cypher: {message}")


def test_every_column_has_a_name(workshop: Path) -> None:
    edit(workshop / "queries.yaml", "p.stock AS stock", "p.stock AS stock, p.part_number")
    (complaint,) = found(workshop)
    assert complaint.endswith("returns 'p.part_number' without a name; add `AS name`")


def test_a_reply_reads_columns_that_the_query_returns(told: Told) -> None:
    message = "queries[2].reply.en: reads column 'stok', which the query does not return; did you mean 'stock'?"
    told("queries.yaml", "{{ row.stock }}", "{{ row.stok }}", '      en: "{{ row.part }}', message)


def test_a_loop_over_the_rows_reads_columns_that_the_query_returns(told: Told) -> None:
    message = "queries[1].reply.en: reads column 'state', which the query does not return; did you mean 'status'?"
    told("queries.yaml", "{{ repair.status }}", "{{ repair.state }}", '      en: "{% for', message)


def test_a_reply_uses_the_names_that_templates_have(told: Told) -> None:
    message = "queries[2].reply.en: names 'part', which templates don't have; known are arguments, row, rows, today"
    told("queries.yaml", "{{ row.part }}", "{{ part }}", '      en: "{{ part }}', message)


def test_a_reply_must_be_a_template(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "{% endfor %}", "")
    (complaint,) = found(workshop)
    line = line_of(queries, '      en: "{% for')
    assert complaint.startswith(f"queries.yaml:{line}: queries[1].reply.en: is no valid template")


def test_an_argument_in_a_reply_is_the_querys(told: Told) -> None:
    message = "queries[0].empty.en: reads argument 'number', which the query does not have; known are job"
    told("queries.yaml", "{{ arguments.job }}", "{{ arguments.number }}", "      en: I found no job", message)


def test_an_entity_comes_from_a_column(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "entities: {part: part}", "entities: {name: part}")
    line = line_of(queries, "entities: {name: part}")
    message = "queries[2].entities.name: the query returns no column 'name'; known are part, price_eur, stock"
    assert found(workshop) == [f"queries.yaml:{line}: {message}"]


@pytest.mark.parametrize("filter_", ["date", "datetime", "money"])
def test_a_reply_may_use_the_filters_of_replies(workshop: Path, filter_: str) -> None:
    edit(workshop / "queries.yaml", "{{ row.price_eur }}", f"{{{{ row.price_eur|{filter_} }}}}")
    assert found(workshop) == []


def test_a_filter_that_there_is_not_is_told(workshop: Path) -> None:
    edit(workshop / "queries.yaml", "{{ row.price_eur }}", "{{ row.price_eur|currency }}")
    (complaint,) = found(workshop)
    assert "is no valid template: No filter named 'currency'" in complaint


# phrasings


def test_one_phrasing_under_two_intents_is_told(told: Told) -> None:
    message = "human[1]: is the same as 'list my repairs' of query:my_repairs (queries.yaml:50); keep one of them"
    told("routes.yaml", "get me a real person", "List my repairs!", "List my repairs!", message)


def test_nearly_the_same_phrasing_under_two_intents_is_told(workshop: Path) -> None:
    edit(workshop / "routes.yaml", "which mechanic worked on my wheel", "show me all my job")
    (complaint,) = found(workshop)
    assert "is nearly the same as 'show me all my jobs' of query:my_repairs" in complaint


def test_a_brace_without_its_partner_is_told(workshop: Path) -> None:
    edit(workshop / "queries.yaml", "      - is {job} ready", "      - is {job ready")
    (complaint,) = found(workshop)
    assert complaint.endswith("has a brace without its partner; slots are {name}")


def test_a_route_needs_some_phrasings(told: Told) -> None:
    told("routes.yaml", "  - write me a poem\n", "", "out_of_scope:", "out_of_scope: has 2 phrasings; give at least 3")


# data


def test_a_date_that_is_none_is_told_with_its_line(told: Told) -> None:
    told("data/repairs.csv", "2026-05-01", "2026-13-01", "102,R-2", "brought_on: '2026-13-01' is no date (YYYY-MM-DD)")


def test_a_row_after_a_cell_of_two_lines_has_its_own_line(workshop: Path) -> None:
    with (workshop / "data" / "repairs.csv").open("a", encoding="utf-8") as file:
        file.write("104,R-1,racer,waiting,2026-05-04,,lots\n")
    assert found(workshop) == ["data/repairs.csv:6: price_eur: 'lots' is no number"]


def test_a_value_outside_of_an_enumeration_is_told(told: Told) -> None:
    message = "status: 'done' is none of waiting, in work, ready, collected"
    told("data/repairs.csv", ",ready,", ",done,", "101,R-1", message)


def test_a_key_twice_is_told_with_both_lines(workshop: Path) -> None:
    edit(workshop / "data" / "parts.csv", "P-11", "P-10")
    edit(workshop / "data" / "repair_parts.csv", "P-11", "P-10")
    assert found(workshop) == ["data/parts.csv:3: part_number: 'P-10' stands on line 2 already and must be unique"]


def test_a_foreign_key_without_its_row_is_told(told: Told) -> None:
    message = "rider_id: there is no Rider with rider_id 'R-9'"
    told("data/repairs.csv", "102,R-2", "102,R-9", "102,R-9", message)


def test_an_empty_key_is_told(workshop: Path) -> None:
    edit(workshop / "data" / "riders.csv", "R-2,Bo", ",Bo")
    edit(workshop / "data" / "repairs.csv", "R-2", "R-1")
    assert found(workshop) == ["data/riders.csv:3: rider_id: is the key and must not be empty"]


def test_a_row_with_a_cell_too_many_is_told(workshop: Path) -> None:
    edit(workshop / "data" / "riders.csv", "R-1,Zoë", "R-1,Prof,Zoë")
    assert "data/riders.csv:2: has 3 cells, the header has 2" in found(workshop)


def test_a_missing_column_is_told_in_the_mapping(told: Told) -> None:
    message = "nodes[1].file: data/parts.csv has no column 'stock'; did you mean 'stok'?"
    told("data/parts.csv", "stock", "stok", "label: Part", message, told_in="data/mapping.yaml")


def test_a_missing_file_is_told_in_the_mapping(told: Told) -> None:
    message = "relationships[1].file: there is no file 'used_parts.csv' in the folder data/"
    told("data/mapping.yaml", "repair_parts.csv", "used_parts.csv", "type: USES", message)


def test_a_file_outside_of_the_pack_is_not_read(workshop: Path) -> None:
    (workshop.parent / "elsewhere.csv").write_text("job_number,part_number\n101,P-10\n", encoding="utf-8")
    edit(workshop / "data" / "mapping.yaml", "repair_parts.csv", "../../elsewhere.csv")
    (complaint,) = found(workshop)
    assert "there is no file '../../elsewhere.csv'" in complaint


# documents


def test_a_document_is_about_something_that_there_is(told: Told) -> None:
    message = "entities[0].value: the data has no part 'Break pads'; did you mean 'Brake pads'?"
    told("documents/brake-pads.md", "value: Brake pads", "value: Break pads", "kind: part", message)


def test_a_documents_kind_is_known(told: Told) -> None:
    message = "entities[0].kind: 'parts' is no parameter type's entity_kind; did you mean 'part'?"
    told("documents/brake-pads.md", "kind: part,", "kind: parts,", "kind: parts", message)


def test_a_document_id_is_taken_once(workshop: Path) -> None:
    edit(workshop / "documents" / "guarantee.md", "document_id: guarantee", "document_id: brake-pads")
    message = "document_id: 'brake-pads' is taken by documents/brake-pads.md; choose another"
    assert f"documents/guarantee.md:2: {message}" in found(workshop)


def test_a_documents_desk_exists(told: Told) -> None:
    message = "desks[0]: there is no desk 'counters'; did you mean 'counter'?"
    told("documents/guarantee.md", "audience: public\n", "audience: public\ndesks: [counters]\n", "desks:", message)


def test_a_document_does_not_end_before_it_begins(told: Told) -> None:
    message = "valid_to: lies before valid_from (2026-01-01)"
    told(
        "documents/guarantee.md",
        "valid_from: 2026-01-01\n",
        "valid_from: 2026-01-01\nvalid_to: 2025-12-31\n",
        "valid_to:",
        message,
    )


EXAMPLES = "valid_from: 2026-01-01\nquestions:\n"


def _examples(told: Told, written: str, at: str, message: str) -> None:
    told("documents/guarantee.md", "valid_from: 2026-01-01\n", EXAMPLES + written, at, message)


def test_example_questions_stand_under_a_heading_or_under_the_title(workshop: Path) -> None:
    examples = EXAMPLES + "  Guarantee on repairs: [how long is it]\n  What is not covered: [are tyres covered]\n"
    edit(workshop / "documents" / "guarantee.md", "valid_from: 2026-01-01\n", examples)
    assert found(workshop) == []


def test_the_section_of_example_questions_exists(told: Told) -> None:
    name = "What is covered"
    message = f"questions.{name}: the document has no section {name!r}; did you mean 'What is not covered'?"
    _examples(told, f"  {name}: [are tyres covered]\n", f"{name}:", message)


def test_a_section_with_example_questions_has_one(told: Told) -> None:
    message = "questions.What is not covered: has no questions; add some or remove it"
    _examples(told, "  What is not covered: []\n", "What is not covered:", message)


def test_an_example_question_says_something(told: Told) -> None:
    message = "questions.What is not covered[1]: is empty; remove it"
    _examples(told, "  What is not covered:\n    - tyres?\n    - '?'\n", "- '?'", message)


def test_one_example_question_under_two_sections_is_told(told: Told) -> None:
    written = "  Guarantee on repairs:\n    - are tyres covered?\n  What is not covered:\n    - Are tyres covered\n"
    where = "'Guarantee on repairs' already (documents/guarantee.md:11)"
    message = f"questions.What is not covered[0]: stands under {where}; keep one of them"
    _examples(told, written, "- Are tyres covered", message)


def test_one_example_question_may_stand_under_documents_about_different_things(workshop: Path) -> None:
    questions = "questions:\n  {}:\n    - how long does it last\nsource:"
    edit(workshop / "documents" / "brake-pads.md", "source:", questions.format("Brake pads"))
    edit(workshop / "documents" / "guarantee.md", "source:", questions.format("Guarantee on repairs"))
    assert found(workshop) == []


# tests.yaml


def test_a_tests_customer_exists(told: Told) -> None:
    told(
        "tests.yaml", "customer: R-1", "customer: R-7", "customer:", "tests[0].customer: the data has no customer 'R-7'"
    )


def test_a_tests_query_exists(told: Told) -> None:
    message = "tests[0].rows[0].query: there is no query 'repairs_status'; did you mean 'repair_status'?"
    told("tests.yaml", "query: repair_status", "query: repairs_status", "query:", message)


def test_a_tests_column_exists(told: Told) -> None:
    message = "tests[0].rows[0].rows[0].state: query 'repair_status' returns no column 'state'; did you mean 'status'?"
    told("tests.yaml", "status: ready", "state: ready", "state:", message)


def test_a_tests_document_exists(told: Told) -> None:
    message = "tests[1].passages[0].document: there is no document 'warranty'; known are brake-pads, guarantee"
    told("tests.yaml", "document: guarantee", "document: warranty", "document:", message)
