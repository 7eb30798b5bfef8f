"""``data/``: every file, column and cell fits the mapping and the schema."""

from collections.abc import Iterator

from authoring.checks.checked import Checked
from authoring.graph_rows import GraphReading
from configs.packs.complaint import Complaint
from configs.packs.loader import MAPPING


def data_complaints(checked: Checked, graph: GraphReading) -> Iterator[Complaint]:
    """What reading the data found, and whether the customers are among it."""
    yield from graph.complaints
    customers = checked.pack.schema_.customer_label
    if customers not in {node.label for node in checked.pack.mapping.nodes}:
        yield checked.complaint(MAPPING, f"has no file for the customer label {customers!r}; add it", "nodes")
