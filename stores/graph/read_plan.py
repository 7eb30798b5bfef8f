"""Whether a plan that Neo4j has made for a text reads the graph, or changes it, and does nothing else.

The proof says so already; this is the server's own word on the same text, from another parser. Closed by default:
an operator that none of our texts needs is refused, so ``LOAD CSV`` and procedures are, whatever they do.
"""

from collections.abc import Iterator, Mapping
from typing import Any

#: ``summary.query_type`` of a text that only reads.
READ_ONLY = "r"

#: Operators as the server's plan names them, less the database behind ``@`` and the variant in parentheses.
_OPERATORS = frozenset(
    {
        "Anti", "AntiConditionalApply", "Apply", "Argument", "AssertSameNode", "AssertSameRelationship",
        "CacheProperties", "CartesianProduct", "ConditionalApply", "Distinct", "Eager", "EagerAggregation", "EmptyRow",
        "ExhaustiveLimit", "Expand", "Filter", "Limit", "NodeCountFromCountStore", "Optional", "OptionalExpand",
        "OrderedAggregation", "OrderedDistinct", "OrderedUnion", "PartialSort", "PartialTop", "PreserveOrder",
        "ProduceResults", "ProjectEndpoints", "Projection", "RelationshipCountFromCountStore", "RemoteBatchProperties",
        "RemoteBatchPropertiesWithFilter", "RollUpApply", "Skip", "Sort", "Top", "TriadicBuild", "TriadicFilter",
        "TriadicSelection", "Union", "Unwind", "PartitionedUnwind",
    }
)  # fmt: skip
#: Families of operators: scans of labels, types and indexes, seeks in indexes, joins, and EXISTS in its variants.
_FAMILIES = ("Scan", "Seek", "SeekByRange", "HashJoin", "SemiApply")


#: What a change needs besides.
_CHANGES = frozenset(
    {
        "Create", "Delete", "DetachDelete", "EmptyResult", "LockingMerge", "Merge", "RemoveLabels", "SetLabels",
        "SetNodePropertiesFromMap", "SetNodeProperty", "SetNodeProperties", "SetPropertiesFromMap", "SetProperties",
        "SetProperty", "SetRelationshipProperties", "SetRelationshipPropertiesFromMap", "SetRelationshipProperty",
    }
)  # fmt: skip


def foreign_operators(plan: Mapping[str, Any] | None, *, changes: bool) -> list[str]:
    """The names of the plan's operators that a read, or one of our changes, doesn't need, sorted."""
    if not plan:
        return ["no plan"]
    return sorted({name for name in _operators(plan) if not (_reads(name) or (changes and name in _CHANGES))})


def _reads(operator: str) -> bool:
    return operator in _OPERATORS or operator.endswith(_FAMILIES)


def _operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield str(plan["operatorType"]).split("@")[0].split("(")[0]
    for child in plan.get("children", ()):
        yield from _operators(child)
