"""CSV files with line numbers."""

import csv
from dataclasses import dataclass, field
from pathlib import Path

from configs.packs.complaint import Complaint

#: The folder of a pack that the files of its mapping lie in.
DATA = "data"


@dataclass
class Table:
    """A CSV file: its columns, and for each row its first line in the file and its cells by column."""

    file: str
    columns: tuple[str, ...] = ()
    rows: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    complaints: list[Complaint] = field(default_factory=list)

    def complain(self, line: int, message: str) -> None:
        """Note what is wrong on a line of this file."""
        self.complaints.append(Complaint(file=self.file, line=line, message=message))


def read_table(folder: Path, name: str) -> Table | None:
    """The table ``data/<name>`` of the pack in ``folder``; ``None`` where there is no such file in it."""
    path = folder / DATA / name
    if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        return None
    table = Table(file=f"{DATA}/{name}")
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            _fill(table, lines)
    except UnicodeDecodeError:
        table.complain(1, "not UTF-8 text; save it as UTF-8")
    except csv.Error as error:
        table.complain(1, f"not valid CSV: {error}")
    return table


def _fill(table: Table, lines: object) -> None:
    reader = csv.reader(lines)  # type: ignore[arg-type]
    table.columns = tuple(next(reader, ()))
    for column in sorted({column for column in table.columns if table.columns.count(column) > 1}):
        table.complain(1, f"column {column!r} stands there twice; remove one")
    last = reader.line_num
    for cells in reader:
        first, last = last + 1, reader.line_num
        if not cells:
            continue
        if len(cells) != len(table.columns):
            table.complain(first, f"has {len(cells)} cells, the header has {len(table.columns)}")
            continue
        table.rows.append((first, dict(zip(table.columns, cells, strict=True))))
