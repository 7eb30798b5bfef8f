"""The whole check of a pack, without running it."""

from pathlib import Path

from authoring.checks.checked import Checked
from authoring.checks.data import data_complaints
from authoring.checks.documents import document_complaints
from authoring.checks.domain import domain_complaints
from authoring.checks.examples import example_complaints
from authoring.checks.expectations import expectation_complaints
from authoring.checks.parameters import parameter_complaints
from authoring.checks.phrasings import phrasing_complaints
from authoring.checks.queries import query_complaints
from authoring.checks.schema import schema_complaints
from authoring.graph_rows import read_graph
from configs.packs.complaint import Complaint
from configs.packs.loader import MAPPING, read_pack

__all__ = ["Complaint", "check_pack"]


def check_pack(folder: Path) -> list[Complaint]:
    """Everything wrong with the pack in ``folder``, by file and line; empty for a sound one.

    Where a file is missing or not of its type, only such complaints come back: the files can be held
    against one another once each can be read.
    """
    reading = read_pack(folder)
    if reading.pack is None:
        return reading.complaints
    checked = Checked(reading.pack, reading.files)
    graph = read_graph(reading.pack, reading.files[MAPPING])
    complaints = [
        *reading.complaints,
        *domain_complaints(checked),
        *schema_complaints(checked),
        *parameter_complaints(checked),
        *query_complaints(checked),
        *phrasing_complaints(checked),
        *data_complaints(checked, graph),
        *document_complaints(checked, graph),
        *example_complaints(checked),
        *expectation_complaints(checked, graph),
    ]
    order = {file: position for position, file in enumerate(reading.files)}
    return sorted(complaints, key=lambda one: (order.get(one.file, len(order)), one.file, one.line))
