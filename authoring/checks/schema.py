"""``schema.yaml``: its names refer to one another, and its keys are keys."""

import re
from collections.abc import Iterator

from authoring.checks.checked import Checked
from configs.nearest import hint
from configs.packs.complaint import Complaint
from configs.packs.loader import SCHEMA
from contracts.graph import PropertyType

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def schema_complaints(checked: Checked) -> Iterator[Complaint]:
    """Everything wrong with the labels, properties and relationships."""
    schema = checked.pack.schema_
    customer = schema.labels.get(schema.customer_label)
    if customer is None:
        message = f"label {schema.customer_label!r} is not declared{hint(schema.customer_label, schema.labels)}"
        yield checked.complaint(SCHEMA, message, "customer_label")
    elif schema.customer_key not in customer.properties:
        message = f"{schema.customer_label} has no property {schema.customer_key!r}"
        yield checked.complaint(SCHEMA, message + hint(schema.customer_key, customer.properties), "customer_key")
    elif not customer.properties[schema.customer_key].unique:
        message = f"{schema.customer_label}.{schema.customer_key} must be declared `unique: true`"
        yield checked.complaint(SCHEMA, message, "customer_key")
    for label in sorted(schema.public_labels):
        if label not in schema.labels:
            yield checked.complaint(
                SCHEMA, f"label {label!r} is not declared{hint(label, schema.labels)}", "public_labels"
            )
        elif label == schema.customer_label:
            yield checked.complaint(
                SCHEMA, f"{label} is the customer label and can't be public; remove it", "public_labels"
            )
    for role, labels in (schema.staff_labels or {}).items():
        for label in sorted(labels - schema.labels.keys()):
            message = f"label {label!r} is not declared{hint(label, schema.labels)}"
            yield checked.complaint(SCHEMA, message, "staff_labels", role)
    yield from _labels(checked)
    yield from _relationships(checked)


def _labels(checked: Checked) -> Iterator[Complaint]:
    for label, declared in checked.pack.schema_.labels.items():
        if not _NAME.fullmatch(label):
            yield checked.complaint(SCHEMA, "a label is letters, digits and _, a letter first", "labels", label)
        for name, property_ in declared.properties.items():
            path = ("labels", label, "properties", name)
            if not _NAME.fullmatch(name):
                yield checked.complaint(SCHEMA, "a property is letters, digits and _, a letter first", *path)
            if property_.values and property_.type is not PropertyType.STRING:
                message = f"`values` are for type string; this is {property_.type}"
                yield checked.complaint(SCHEMA, message, *path)


def _relationships(checked: Checked) -> Iterator[Complaint]:
    schema = checked.pack.schema_
    names = []
    for position, relationship in enumerate(schema.relationships):
        path = ("relationships", position)
        if not _NAME.fullmatch(relationship.type):
            yield checked.complaint(SCHEMA, "a type is letters, digits and _, a letter first", *path, "type")
        for end, label in (("start", relationship.start), ("end", relationship.end)):
            if label not in schema.labels:
                message = f"label {label!r} is not declared{hint(label, schema.labels)}"
                yield checked.complaint(SCHEMA, message, *path, end)
        if relationship.owning and relationship.end in schema.public_labels:
            message = f"owns {relationship.end}, which is public: what is everyone's belongs to no customer"
            yield checked.complaint(SCHEMA, message, *path, "owning")
        if relationship.owning and relationship.end == schema.customer_label:
            message = f"owns {relationship.end}: a customer belongs to no other; leave `owning` out"
            yield checked.complaint(SCHEMA, message, *path, "owning")
        for name in relationship.properties:
            if not _NAME.fullmatch(name):
                message = "a property is letters, digits and _, a letter first"
                yield checked.complaint(SCHEMA, message, *path, "properties", name)
        names.append((f"({relationship.start})-[{relationship.type}]->({relationship.end})", path))
    yield from checked.duplicates(SCHEMA, names, "relationship")
