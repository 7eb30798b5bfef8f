"""Names of properties that kglite keeps for itself.

It answers them on every node and relationship, with its own numbers or labels where the data have none, and two of
them share one place. So the embedded graph stores a pack's properties of these names under others.
"""

#: Properties of nodes and of relationships alike: one rule is easier to keep than two.
OWN_NAMES = frozenset(
    {"id", "name", "title", "type", "label", "node_type"} | {"start", "end", "start_id", "end_id", "connection_type"}
)


def stored_name(name: str) -> str:
    """The name under which the embedded graph stores the property ``name``.

    >>> stored_name("name"), stored_name("total_eur"), stored_name("name_")
    ('name_', 'total_eur', 'name__')
    """
    return f"{name}_" if name.rstrip("_") in OWN_NAMES else name
