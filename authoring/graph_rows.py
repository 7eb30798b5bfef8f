"""From a pack's CSV files to the rows of its graph, typed by the schema."""

from dataclasses import dataclass, field
from pathlib import Path

from authoring.cells import cell_value
from authoring.tables import DATA, Table, read_table
from configs.nearest import hint
from configs.packs.complaint import Complaint
from configs.packs.loader import MAPPING
from configs.packs.types import EdgeMapping, NodeMapping, Pack
from configs.packs.yaml_lines import YamlFile
from contracts.base import Value
from contracts.errors import PackError
from contracts.graph import GraphEdges, GraphNodes, LabelSchema, PropertySchema


@dataclass
class GraphReading:
    """The rows as far as they could be read, and what is wrong with the rest.

    ``values`` maps a label and one of its properties to the values that its nodes have.
    """

    nodes: list[GraphNodes] = field(default_factory=list)
    edges: list[GraphEdges] = field(default_factory=list)
    values: dict[tuple[str, str], set[Value]] = field(default_factory=dict)
    complaints: list[Complaint] = field(default_factory=list)


def graph_rows(pack: Pack) -> tuple[list[GraphNodes], list[GraphEdges]]:
    """The nodes and relationships of the pack's data, in the order of its mapping.

    Raises ``PackError`` that lists every complaint about the data.
    """
    reading = read_graph(pack)
    if reading.complaints:
        raise PackError("\n".join(map(str, reading.complaints)))
    return reading.nodes, reading.edges


def read_graph(pack: Pack, mapping: YamlFile | None = None) -> GraphReading:
    """Read all data of the pack and collect what is wrong with it. ``mapping`` gives the mapping's lines."""
    return _Reader(pack, mapping or YamlFile(MAPPING)).read()


class _Reader:
    def __init__(self, pack: Pack, lines: YamlFile) -> None:
        self._pack = pack
        self._schema = pack.schema_
        self._lines = lines
        self._tables: dict[str, Table | None] = {}
        self._reading = GraphReading()

    def read(self) -> GraphReading:
        for position, node in enumerate(self._pack.mapping.nodes):
            self._nodes(node, position)
        for position, edge in enumerate(self._pack.mapping.relationships):
            self._edges(edge, position)
        for table in filter(None, self._tables.values()):
            self._reading.complaints.extend(sorted(table.complaints, key=lambda complaint: complaint.line))
        return self._reading

    def _complain(self, message: str, *path: str | int) -> None:
        self._reading.complaints.append(self._lines.complaint(message, *path))

    def _table(self, name: str, columns: list[str], *path: str | int) -> Table | None:
        """The file's table, if it is there with all of ``columns``."""
        if name not in self._tables:
            self._tables[name] = read_table(Path(self._pack.folder), name)
        table = self._tables[name]
        if table is None:
            self._complain(f"there is no file {name!r} in the folder {DATA}/", *path, "file")
            return None
        missing = [column for column in columns if column not in table.columns]
        for absent in missing:
            message = f"{table.file} has no column {absent!r}{hint(absent, table.columns)}"
            self._complain(message, *path, "file")
        return None if missing else table

    def _nodes(self, node: NodeMapping, position: int) -> None:
        path = ("nodes", position)
        label = self._schema.labels.get(node.label)
        if label is None:
            self._complain(
                f"label {node.label!r} is not declared{hint(node.label, self._schema.labels)}", *path, "label"
            )
            return
        if any(nodes.label == node.label for nodes in self._reading.nodes):
            self._complain(f"label {node.label!r} has its nodes already; keep one file", *path, "label")
            return
        if node.key not in label.properties or not label.properties[node.key].unique:
            self._complain(f"{node.label}.{node.key} is no property declared `unique: true`", *path, "key")
            return
        table = self._table(node.file, list(label.properties), *path)
        if table is None:
            return
        rows = self._node_rows(table, node, label)
        self._reading.nodes.append(GraphNodes(label=node.label, key=node.key, rows=rows))

    def _node_rows(self, table: Table, node: NodeMapping, label: LabelSchema) -> list[dict[str, Value]]:
        seen: dict[str, dict[Value, int]] = {name: {} for name in label.properties}
        rows = []
        for line, cells in table.rows:
            row: dict[str, Value] = {}
            for name, property_ in label.properties.items():
                try:
                    value = cell_value(cells[name], property_)
                except ValueError as error:
                    table.complain(line, f"{name}: {error}")
                    continue
                row[name] = value
                if value is None:
                    if name == node.key:
                        table.complain(line, f"{name}: is the key and must not be empty")
                elif property_.unique and value in seen[name]:
                    message = f"{name}: {value!r} stands on line {seen[name][value]} already and must be unique"
                    table.complain(line, message)
                else:
                    seen[name].setdefault(value, line)
            if row.get(node.key) is not None:
                rows.append(row)
        for name, values in seen.items():
            self._reading.values[node.label, name] = set(values)
        return rows

    def _edges(self, edge: EdgeMapping, position: int) -> None:
        path = ("relationships", position)
        declared = {(known.type, known.start, known.end) for known in self._schema.relationships}
        if (edge.type, edge.start, edge.end) not in declared:
            self._complain(f"({edge.start})-[{edge.type}]->({edge.end}) is not declared in the schema", *path)
            return
        mapped = {node.label for node in self._pack.mapping.nodes}
        for side, label in (("start", edge.start), ("end", edge.end)):
            if label not in mapped:
                self._complain(f"label {label!r} has no file among the nodes; add it there", *path, side)
        keys = {nodes.label: nodes.key for nodes in self._reading.nodes}
        if edge.start not in keys or edge.end not in keys:
            return
        properties = self._properties_of(edge)
        table = self._table(edge.file, [edge.start_column, edge.end_column, *properties], *path)
        if table is None:
            return
        pairs: dict[tuple[Value, Value], dict[str, Value]] = {}
        for line, cells in table.rows:
            start = self._end(table, line, cells, edge.start_column, edge.start, keys[edge.start])
            end = self._end(table, line, cells, edge.end_column, edge.end, keys[edge.end])
            if start is None or end is None:
                continue
            own = self._own_properties(table, line, cells, properties)
            if pairs.setdefault((start, end), own) != own:
                table.complain(
                    line, f"{edge.type} from {start!r} to {end!r} stands above already, with other properties"
                )
        self._reading.edges.append(
            GraphEdges(
                type=edge.type,
                start_label=edge.start,
                start_key=keys[edge.start],
                end_label=edge.end,
                end_key=keys[edge.end],
                pairs=list(pairs),
                properties=list(pairs.values()) if properties else [],
            )
        )

    def _properties_of(self, edge: EdgeMapping) -> dict[str, PropertySchema]:
        triple = (edge.type, edge.start, edge.end)
        return next(
            known.properties for known in self._schema.relationships if (known.type, known.start, known.end) == triple
        )

    def _own_properties(
        self, table: Table, line: int, cells: dict[str, str], properties: dict[str, PropertySchema]
    ) -> dict[str, Value]:
        row: dict[str, Value] = {}
        for name, property_ in properties.items():
            try:
                row[name] = cell_value(cells[name], property_)
            except ValueError as error:
                table.complain(line, f"{name}: {error}")
        return row

    def _end(self, table: Table, line: int, cells: dict[str, str], column: str, label: str, key: str) -> Value:
        try:
            value = cell_value(cells[column], self._schema.labels[label].properties[key])
        except ValueError as error:
            # A column that is a property of its row as well has been told of there.
            if not any(told.line == line and told.message.startswith(f"{column}:") for told in table.complaints):
                table.complain(line, f"{column}: {error}")
            return None
        if value is not None and value not in self._reading.values[label, key]:
            table.complain(line, f"{column}: there is no {label} with {key} {value!r}")
        return value
