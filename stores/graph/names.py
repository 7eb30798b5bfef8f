"""Names in the texts that a store writes itself, and the labels of its own records."""

import re

from contracts.errors import BadRequestError
from contracts.graph import GraphSchema

#: Labels of what a store keeps for itself beside the business's data. No label of a schema begins with an
#: underscore, so no proven query can name them.
LOAD_RECORD = "_FrontlineLoad"
WRITE_RECORD = "_FrontlineWrite"
NUMBER_RECORD = "_FrontlineNumber"

#: A name that may stand in a query's text between backticks.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def quoted(name: str) -> str:
    """The name between backticks. Raises ``BadRequestError`` when it could end them or is one of the store's own."""
    if not _NAME.fullmatch(name):
        raise BadRequestError(f"{name!r} can't be the name of a label, a relationship or a property")
    return f"`{name}`"


def require_names(schema: GraphSchema) -> None:
    """Raises ``BadRequestError`` when a name of the schema can't stand in a query's text."""
    for name, label in schema.labels.items():
        for each in (name, *label.properties):
            quoted(each)
    for relationship in schema.relationships:
        for each in (relationship.type, *relationship.properties):
            quoted(each)


def unique_properties(schema: GraphSchema) -> list[tuple[str, str]]:
    """All (label, property) whose values may stand once only."""
    return [
        (label, name)
        for label, declared in schema.labels.items()
        for name, property_ in declared.properties.items()
        if property_.unique
    ]
