"""From a folder to a :class:`~configs.packs.types.Pack`.

What is held here is what every reader of a pack relies on: each file is there and of its type.
What the files promise one another is held by ``authoring.check``.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from configs.packs.complaint import Complaint
from configs.packs.digest import pack_digest
from configs.packs.front_matter import read_document
from configs.packs.plain_words import in_plain_words
from configs.packs.types import (
    Actions,
    DataMapping,
    Domain,
    Pack,
    PackTests,
    Queries,
    Routes,
    SourceDocument,
)
from configs.packs.yaml_lines import YamlFile, read_yaml
from contracts.errors import PackError
from contracts.graph import GraphSchema

DOMAIN, SCHEMA, QUERIES, ROUTES = "domain.yaml", "schema.yaml", "queries.yaml", "routes.yaml"
ACTIONS, TESTS, MAPPING, DOCUMENTS = "actions.yaml", "tests.yaml", "data/mapping.yaml", "documents"

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass
class PackReading:
    """A folder as far as it could be read: ``pack`` is ``None`` where a file is missing or not of its type.

    ``files`` maps a relative path to its lines; ``complaints`` is everything found so far.
    """

    pack: Pack | None = None
    files: dict[str, YamlFile] = field(default_factory=dict)
    complaints: list[Complaint] = field(default_factory=list)


def load_pack(folder: Path) -> Pack:
    """The pack in ``folder``. Raises :class:`PackError` that lists every complaint, one a line."""
    reading = read_pack(folder)
    if reading.pack is None or reading.complaints:
        raise PackError("\n".join(map(str, reading.complaints)))
    return reading.pack


def read_pack(folder: Path) -> PackReading:
    """Read all files of ``folder`` and collect what is wrong with any of them; raises nothing for it."""
    reading = PackReading()
    if not folder.is_dir():
        reading.complaints.append(Complaint(file=DOMAIN, line=1, message=f"there is no folder {str(folder)!r}"))
        return reading
    domain = _read(reading, folder, DOMAIN, Domain)
    schema = _read(reading, folder, SCHEMA, GraphSchema)
    queries = _read(reading, folder, QUERIES, Queries)
    routes = _read(reading, folder, ROUTES, Routes)
    actions = _read(reading, folder, ACTIONS, Actions)
    tests = _read(reading, folder, TESTS, PackTests)
    mapping = _read(reading, folder, MAPPING, DataMapping)
    documents = _documents(reading, folder)
    if domain and schema and queries and routes and actions and tests and mapping:
        reading.pack = Pack(
            # Replicas have another working directory.
            folder=str(folder.resolve()),
            digest=pack_digest(folder),
            domain=domain,
            schema_=schema,
            queries=queries,
            routes=routes,
            actions=actions,
            mapping=mapping,
            tests=tests,
            documents=documents,
        )
    return reading


def _read(reading: PackReading, folder: Path, file: str, model: type[_Model]) -> _Model | None:
    text = _text(reading, folder, file)
    if text is None:
        return None
    source = read_yaml(file, text)
    reading.files[file] = source
    reading.complaints.extend(source.complaints)
    if source.data is None:
        if not source.complaints:
            reading.complaints.append(Complaint(file=file, line=1, message="the file is empty"))
        return None
    try:
        return model.model_validate(source.data)
    except ValidationError as error:
        reading.complaints.extend(in_plain_words(error, source, model))
        return None


def _text(reading: PackReading, folder: Path, file: str) -> str | None:
    try:
        return (folder / file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        message = "the file is missing; a pack needs it"
        reading.complaints.append(Complaint(file=file, line=1, message=message))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        reading.complaints.append(Complaint(file=file, line=line, message="not UTF-8 text; save it as UTF-8"))
    except OSError as error:
        reading.complaints.append(Complaint(file=file, line=1, message=f"can't be read: {error.strerror}"))
    return None


def _documents(reading: PackReading, folder: Path) -> tuple[SourceDocument, ...]:
    documents = []
    for path in sorted((folder / DOCUMENTS).rglob("*.md")):
        file = path.relative_to(folder).as_posix()
        if any(part.startswith(".") for part in Path(file).parts):
            continue
        text = _text(reading, folder, file)
        if text is None:
            continue
        document, reading.files[file], complaints = read_document(file, text)
        reading.complaints.extend(complaints)
        if document is not None:
            documents.append(document)
    return tuple(documents)
