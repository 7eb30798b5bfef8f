"""The shop's own data, cut down to its catalogue and a few customers."""

from typing import Any

from authoring.graph_rows import graph_rows
from configs.packs.loader import load_pack
from configs.settings import ROOT
from contracts.graph import GraphEdges, GraphNodes, GraphSchema

CUSTOMERS = ("C0182", "C0376", "C0246", "C0001")


def shop_load(schema: GraphSchema) -> tuple[list[GraphNodes], list[GraphEdges]]:
    """What a store loads: public nodes, and what belongs to :data:`CUSTOMERS` by the owning relationships."""
    nodes, edges = graph_rows(load_pack(ROOT / "domains" / "shop"))
    kept: dict[str, set[Any]] = {
        item.label: {row[item.key] for row in item.rows} for item in nodes if item.label in schema.public_labels
    }
    kept[schema.customer_label] = set(CUSTOMERS)
    owning = {(item.type, item.start, item.end) for item in schema.relationships if item.owning}
    for _ in schema.labels:  # no chain of owners is longer than there are labels
        for edge in edges:
            if (edge.type, edge.start_label, edge.end_label) in owning:
                owned = {end for start, end in edge.pairs if start in kept.get(edge.start_label, ())}
                kept.setdefault(edge.end_label, set()).update(owned)
    return (
        [
            item.model_copy(update={"rows": [row for row in item.rows if row[item.key] in kept.get(item.label, ())]})
            for item in nodes
        ],
        [
            edge.model_copy(
                update={
                    "pairs": [
                        pair
                        for pair in edge.pairs
                        if pair[0] in kept.get(edge.start_label, ()) and pair[1] in kept.get(edge.end_label, ())
                    ]
                }
            )
            for edge in edges
        ],
    )
