from datetime import date
from pathlib import Path

import pytest

from authoring.graph_rows import graph_rows
from configs.packs.loader import load_pack
from contracts.errors import PackError


def test_cells_become_values_of_the_declared_types(workshop: Path) -> None:
    nodes, _ = graph_rows(load_pack(workshop))
    repairs = next(group for group in nodes if group.label == "Repair")
    assert repairs.key == "job_number"
    assert repairs.rows[0] == {
        "job_number": 101,
        "bicycle": "red city bike",
        "status": "ready",
        "brought_on": date(2026, 4, 28),
        "ready_on": date(2026, 5, 2),
        "price_eur": 48.5,
    }


def test_an_empty_cell_is_null(workshop: Path) -> None:
    nodes, _ = graph_rows(load_pack(workshop))
    tandem = next(group for group in nodes if group.label == "Repair").rows[1]
    assert (tandem["ready_on"], tandem["price_eur"]) == (None, None)


def test_a_cell_may_have_several_lines_and_any_letters(workshop: Path) -> None:
    nodes, _ = graph_rows(load_pack(workshop))
    rows = {group.label: group.rows for group in nodes}
    assert rows["Repair"][2]["bicycle"] == "folding bike,\nwith basket"
    assert rows["Rider"][0]["full_name"] == "Zoë O'Neill-Ďurič"


def test_relationships_are_pairs_of_typed_keys(workshop: Path) -> None:
    _, edges = graph_rows(load_pack(workshop))
    brought, uses = edges
    assert (brought.type, brought.start_label, brought.end_key) == ("BROUGHT", "Rider", "job_number")
    assert brought.pairs == [("R-1", 101), ("R-2", 102), ("R-1", 103)]
    assert uses.pairs == [(101, "P-10"), (102, "P-11"), (102, "P-10")]


def test_a_row_without_its_foreign_key_makes_no_relationship(workshop: Path) -> None:
    path = workshop / "data" / "repairs.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("102,R-2", "102,"), encoding="utf-8")
    _, edges = graph_rows(load_pack(workshop))
    assert edges[0].pairs == [("R-1", 101), ("R-1", 103)]


def test_columns_that_nothing_names_are_for_readers(workshop: Path) -> None:
    path = workshop / "data" / "riders.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0] + ",note", *(line + ",x" for line in lines[1:])]), encoding="utf-8")
    nodes, _ = graph_rows(load_pack(workshop))
    assert "note" not in next(group for group in nodes if group.label == "Rider").rows[0]


def test_bad_data_is_refused_with_all_its_lines(workshop: Path) -> None:
    path = workshop / "data" / "repairs.csv"
    text = path.read_text(encoding="utf-8").replace("48.50", "much").replace("2026-05-04", "tomorrow")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PackError) as caught:
        graph_rows(load_pack(workshop))
    assert caught.value.detail.splitlines() == [
        "data/repairs.csv:2: price_eur: 'much' is no number",
        "data/repairs.csv:4: brought_on: 'tomorrow' is no date (YYYY-MM-DD)",
    ]


def with_amounts(workshop: Path, *amounts: str) -> None:
    """Give USES a property and its file a column for it."""
    schema = workshop / "schema.yaml"
    declared = "{type: USES, start: Repair, end: Part}"
    text = schema.read_text(encoding="utf-8")
    assert declared in text
    more = "{type: USES, start: Repair, end: Part, properties: {amount: {type: integer}}}"
    schema.write_text(text.replace(declared, more), encoding="utf-8")
    path = workshop / "data" / "repair_parts.csv"
    header, *lines = path.read_text(encoding="utf-8").split()
    rows = [f"{line},{amount}" for line, amount in zip(lines, amounts, strict=True)]
    path.write_text("\n".join([f"{header},amount", *rows, ""]), encoding="utf-8")


def test_a_relationships_properties_are_columns_of_its_file(workshop: Path) -> None:
    with_amounts(workshop, "2", "", "1")
    _, (brought, uses) = graph_rows(load_pack(workshop))
    assert uses.pairs == [(101, "P-10"), (102, "P-11"), (102, "P-10")]
    assert uses.properties == [{"amount": 2}, {"amount": None}, {"amount": 1}]
    assert brought.properties == []


def test_a_relationships_cells_are_checked_like_a_nodes(workshop: Path) -> None:
    with_amounts(workshop, "2", "many", "1")
    with pytest.raises(PackError, match=r"repair_parts\.csv:3: amount: 'many' is no whole number"):
        graph_rows(load_pack(workshop))


def test_one_pair_with_two_contents_is_refused(workshop: Path) -> None:
    path = workshop / "data" / "repair_parts.csv"
    text = path.read_text(encoding="utf-8").rstrip("\n")
    path.write_text(f"{text}\n101,P-10\n", encoding="utf-8")
    with_amounts(workshop, "2", "", "1", "3")
    with pytest.raises(PackError, match=r"repair_parts\.csv:5: USES from 101 to 'P-10' stands above already"):
        graph_rows(load_pack(workshop))
