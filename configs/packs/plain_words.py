"""A type's complaints about a file, in words that tell its author what to do."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from configs.packs.complaint import Complaint
from configs.packs.yaml_lines import Path, YamlFile, dotted

_EXPECTED = {
    "string_type": "must be a text; put it in quotes",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "date_type": "must be a date, YYYY-MM-DD",
    "date_parsing": "must be a date, YYYY-MM-DD",
    "date_from_datetime_parsing": "must be a date, YYYY-MM-DD",
    "tuple_type": "must be a list",
    "frozen_set_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a mapping of names to values",
    "model_type": "must be a mapping of names to values",
    "model_attributes_type": "must be a mapping of names to values",
}


def in_plain_words(error: ValidationError, source: YamlFile, model: type[BaseModel]) -> list[Complaint]:
    """One complaint per place of ``source`` at which it is no ``model``, in the order of its lines.

    Where a value may be of several types, the library reports each; they become one. Places that
    ``source.complaints`` already speak of are left out.
    """
    told = {complaint.line for complaint in source.complaints}
    found: dict[Path, Complaint] = {}
    for item in error.errors(include_url=False):
        # Beyond what the file has, a location names types that were tried, or the missing field.
        place = source.known(item["loc"])
        several = place in found
        if item["type"] == "missing":
            place = (*place, item["loc"][-1])
        line = source.line(*place)
        if line in told and item["type"] != "missing":
            continue
        words = "has a value of a type that isn't allowed here" if several else _words(item, _fields(model))
        found[place] = Complaint(file=source.file, line=line, message=f"{dotted(place) or 'the file'}: {words}")
    return sorted(found.values(), key=lambda complaint: complaint.line)


def _words(item: Any, fields: set[str]) -> str:
    kind, context = item["type"], item.get("ctx", {})
    if kind == "missing":
        return "is missing; add it"
    if kind == "extra_forbidden":
        near = get_close_matches(str(item["loc"][-1]), fields, n=1)
        return "is not a known field; " + (f"did you mean {near[0]!r}?" if near else "remove it")
    if kind == "too_short":
        return f"needs at least {context['min_length']} entries, has {context['actual_length']}; add more"
    if kind in ("enum", "literal_error"):
        return f"{item['input']!r} is not one of {context['expected']}"
    return _EXPECTED.get(kind) or str(item["msg"])


def _fields(model: type[BaseModel]) -> set[str]:
    """The names of all fields of ``model`` and of the models inside it."""
    return set(_names(model.model_json_schema()))


def _names(schema: Any) -> Iterable[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for value in schema.get("$defs", {}).values():
            yield from _names(value)
