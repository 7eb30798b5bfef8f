"""The schema of a pack, read alone: for a proof a folder with nothing but ``schema.yaml`` is enough."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from configs.packs.complaint import Complaint
from configs.packs.loader import SCHEMA
from configs.packs.plain_words import in_plain_words
from configs.packs.yaml_lines import YamlFile, read_yaml
from contracts.errors import PackError
from contracts.graph import GraphSchema


def pack_schema(folder: Path) -> GraphSchema:
    """The schema in ``folder``. Raises ``PackError`` with every complaint about it, one a line."""
    path = folder / SCHEMA
    if not folder.is_dir():
        raise PackError(f"There is no folder {str(folder)!r}; name the one that holds {SCHEMA}.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise PackError(f"There is no {SCHEMA} in {str(folder)!r}; a pack needs one.") from error
    except UnicodeDecodeError as error:
        raise PackError(f"{path} is not UTF-8 text; save it as UTF-8.") from error
    except OSError as error:
        raise PackError(f"{path} can't be read: {error.strerror}.") from error
    source = read_yaml(SCHEMA, text)
    complaints = list(source.complaints)
    if source.data is None and not complaints:
        raise PackError(f"{path} is empty; it must name the labels and the relationships of the graph.")
    if not complaints:
        try:
            schema = GraphSchema.model_validate(source.data)
        except ValidationError as error:
            complaints = in_plain_words(error, source, GraphSchema)
        else:
            complaints = list(_dangling(schema, source))
            if not complaints:
                return schema
    raise PackError("\n".join(map(str, complaints)))


def _dangling(schema: GraphSchema, source: YamlFile) -> Iterator[Complaint]:
    """Names that the schema uses and does not declare: a proof over them would mean nothing."""
    customer = schema.labels.get(schema.customer_label)
    if customer is None:
        yield source.complaint(f"label {schema.customer_label!r} is not declared", "customer_label")
    elif schema.customer_key not in customer.properties:
        message = f"{schema.customer_label} has no property {schema.customer_key!r}"
        yield source.complaint(message, "customer_key")
    for label in sorted(schema.public_labels - schema.labels.keys()):
        yield source.complaint(f"label {label!r} is not declared", "public_labels")
    if schema.customer_label in schema.public_labels:
        message = f"{schema.customer_label} is the customer label and can't be public; remove it"
        yield source.complaint(message, "public_labels")
    for role, labels in (schema.staff_labels or {}).items():
        for label in sorted(labels - schema.labels.keys()):
            yield source.complaint(f"label {label!r} is not declared", "staff_labels", role)
    for position, relationship in enumerate(schema.relationships):
        for end, label in (("start", relationship.start), ("end", relationship.end)):
            if label not in schema.labels:
                yield source.complaint(f"label {label!r} is not declared", "relationships", position, end)
