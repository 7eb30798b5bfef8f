from pathlib import Path

import pytest

from configs.packs.loader import load_pack, read_pack
from contracts.errors import PackError


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def line_of(path: Path, text: str) -> int:
    return path.read_text(encoding="utf-8").split(text)[0].count("\n") + 1


def complaints(folder: Path) -> list[str]:
    with pytest.raises(PackError) as caught:
        load_pack(folder)
    return caught.value.detail.splitlines()


def test_a_sound_pack_is_loaded_whole(workshop: Path) -> None:
    pack = load_pack(workshop)
    assert pack.domain.company == "Spoke & Chain"
    assert [query.name for query in pack.queries.queries] == ["repair_status", "my_repairs", "part_price"]
    assert {document.governance.document_id for document in pack.documents} == {"guarantee", "brake-pads"}


def test_a_document_knows_the_line_on_which_its_body_begins(workshop: Path) -> None:
    (document,) = (d for d in load_pack(workshop).documents if d.governance.document_id == "guarantee")
    lines = (workshop / document.path).read_text(encoding="utf-8").split("\n")
    assert lines[document.body_line - 1] == "# Guarantee on repairs"
    assert document.body.startswith("# Guarantee on repairs\n")


def test_a_missing_field_is_told_where_its_owner_begins(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "    category: parts\n", "")
    line = line_of(queries, "  - name: part_price")
    assert complaints(workshop) == [f"queries.yaml:{line}: queries[2].category: is missing; add it"]


def test_a_misspelt_field_is_told_with_the_right_one(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "    entities: {part: part}", "    entitys: {part: part}")
    line = line_of(queries, "    entitys:")
    message = "queries[2].entitys: is not a known field; did you mean 'entities'?"
    assert complaints(workshop) == [f"queries.yaml:{line}: {message}"]


def test_too_few_phrasings_are_told_with_their_number(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "      - list my repairs\n", "")
    line = queries.read_text(encoding="utf-8").split("\n").index("      - what have I left with you")
    assert complaints(workshop) == [
        f"queries.yaml:{line}: queries[1].phrasings: needs at least 5 entries, has 4; add more"
    ]


def test_a_number_for_a_text_is_told_with_what_to_do(workshop: Path) -> None:
    edit(workshop / "domain.yaml", 'version: "1.0"', "version: 1.0")
    assert complaints(workshop) == ["domain.yaml:2: version: must be a text; put it in quotes"]


def test_a_word_outside_of_an_enumeration_is_told_with_its_members(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    edit(queries, "audience: public", "audience: everyone")
    line = line_of(queries, "audience: everyone")
    expected = "'everyone' is not one of 'public', 'customer' or 'staff'"
    assert complaints(workshop) == [f"queries.yaml:{line}: queries[2].audience: {expected}"]


def test_complaints_about_all_files_come_at_once(workshop: Path) -> None:
    (workshop / "tests.yaml").unlink()
    (workshop / "actions.yaml").write_text("", encoding="utf-8")
    (workshop / "routes.yaml").write_bytes(b"general: []\nhuman: [caf\xe9]\n")
    edit(workshop / "schema.yaml", "type: integer, unique", "type: number, unique")
    found = complaints(workshop)
    assert [complaint.split(": ")[0] for complaint in found] == [
        f"schema.yaml:{line_of(workshop / 'schema.yaml', 'type: number')}",
        "routes.yaml:2",
        "actions.yaml:1",
        "tests.yaml:1",
    ]


def test_a_document_without_governance_is_told(workshop: Path) -> None:
    (workshop / "documents" / "loose.md").write_text("# Loose\n", encoding="utf-8")
    (complaint,) = complaints(workshop)
    assert complaint.startswith("documents/loose.md:1: must begin with a line '---'")


def test_a_documents_governance_is_told_with_the_documents_lines(workshop: Path) -> None:
    edit(workshop / "documents" / "guarantee.md", "valid_from: 2026-01-01", "valid_from: soon")
    assert complaints(workshop) == ["documents/guarantee.md:8: valid_from: must be a date, YYYY-MM-DD"]


def test_a_documents_example_questions_are_read_beside_its_governance(workshop: Path) -> None:
    questions = "questions:\n  What is not covered: [are tyres covered, what about chains]\n"
    edit(workshop / "documents" / "guarantee.md", "source:", f"{questions}source:")
    (document,) = (document for document in load_pack(workshop).documents if document.questions)
    assert document.questions == {"What is not covered": ("are tyres covered", "what about chains")}
    assert document.governance.document_id == "guarantee"


def test_example_questions_of_another_type_are_told_by_their_line(workshop: Path) -> None:
    edit(workshop / "documents" / "guarantee.md", "source:", "questions:\n  What is not covered: tyres\nsource:")
    assert complaints(workshop) == ["documents/guarantee.md:10: questions.What is not covered: must be a list"]


def test_a_folder_that_is_not_there_is_a_complaint(tmp_path: Path) -> None:
    (complaint,) = complaints(tmp_path / "nowhere")
    assert "there is no folder" in complaint


def test_the_digest_changes_with_any_file_and_its_name(workshop: Path) -> None:
    digests = [load_pack(workshop).digest]
    edit(workshop / "data" / "parts.csv", "12.50", "12.51")
    digests.append(load_pack(workshop).digest)
    (workshop / "documents" / "guarantee.md").rename(workshop / "documents" / "warranty.md")
    digests.append(load_pack(workshop).digest)
    assert len(set(digests)) == 3


def test_the_digest_ignores_scripts_and_hidden_files(workshop: Path) -> None:
    before = load_pack(workshop).digest
    (workshop / "generate.py").write_text("print()\n", encoding="utf-8")
    (workshop / ".notes").write_text("x", encoding="utf-8")
    (workshop / "__pycache__").mkdir()
    (workshop / "__pycache__" / "generate.pyc").write_bytes(b"x")
    assert load_pack(workshop).digest == before


def test_reading_a_broken_pack_raises_nothing(workshop: Path) -> None:
    (workshop / "queries.yaml").write_text("queries: 7\nparameters: []\n", encoding="utf-8")
    reading = read_pack(workshop)
    assert reading.pack is None
    assert {complaint.line for complaint in reading.complaints} == {1, 2}
