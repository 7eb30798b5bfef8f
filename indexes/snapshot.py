"""The compiled index on disk: built whole or not at all, and refused when it doesn't fit.

A snapshot is a folder:

    manifest.json    format, model, dimensions, the documents' hashes, the other files' hashes
    passages.json    the documents' governance, their passages and the sentences of these
    meanings.*       one vector a passage, centred, and the mean that is taken from questions
    sentences.*      the same for the sentences, in the order of the passages
    questions.*      the same for the passages' example questions, centred as questions are
    words/           the lexical index

Only approved documents are in it: what isn't there can't be shown. Whether one may be shown today and to
this caller is decided by the search.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from configs.packs.types import SourceDocument
from contracts.base import Frozen
from contracts.documents import DocumentGovernance, DocumentStatus, Embedder
from contracts.errors import PackError, SnapshotMismatchError
from indexes.chunking import chunks, heading
from indexes.dense import DenseIndex
from indexes.hybrid import HybridIndex, StoredPassage, in_context, in_words, sentence_in_context
from indexes.lexical import LexicalIndex
from indexes.sentences import readable_sentences

FORMAT_VERSION = 3

_MANIFEST = "manifest.json"
_PASSAGES = "passages.json"
_MEANINGS = "meanings"
_SENTENCES = "sentences"
_QUESTIONS = "questions"
_WORDS = "words"
#: How many texts are embedded in one call.
_BATCH = 32


class Manifest(Frozen):
    """What a snapshot is made of. ``documents`` and ``files`` map to SHA-256 in hexadecimal."""

    format_version: int
    model_id: str
    dimensions: int
    passages: int
    documents: dict[str, str]
    files: dict[str, str]


class _Contents(Frozen):
    documents: tuple[DocumentGovernance, ...]
    passages: tuple[StoredPassage, ...]


def document_hashes(documents: Iterable[SourceDocument]) -> dict[str, str]:
    """Document id to the SHA-256 of all that a snapshot takes from it: what a snapshot is held against."""
    taken = {"governance", "questions", "body"}
    return {
        document.governance.document_id: hashlib.sha256(
            # The body may hold what is no Unicode.
            repr(document.model_dump(mode="python", include=taken)).encode("utf-8", "replace")
        ).hexdigest()
        for document in documents
    }


def build_snapshot(
    documents: Sequence[SourceDocument], embedder: Embedder, folder: Path, questions: Sequence[str] = ()
) -> None:
    """Chunk, embed and index ``documents`` into ``folder``, which it replaces when all is written.

    ``questions`` are examples of what will be asked at all: where such questions lie is taken into account. The
    documents' own example questions count for the passages of their sections.
    Raises ``PackError`` when two documents have one id.
    """
    hashes = document_hashes(documents)
    if len(hashes) != len(documents):
        raise PackError("Two documents have the same document_id.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".partial", dir=folder.parent))
    try:
        _write(documents, hashes, embedder, partial, questions)
        _replace(folder, partial)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def load_snapshot(folder: Path, *, model_id: str, dimensions: int, document_hashes: Mapping[str, str]) -> HybridIndex:
    """Open a snapshot for searching.

    Raises ``SnapshotMismatchError``, saying what differs, when it is absent, damaged, of another format, made
    with another model, or made from other documents.
    """
    manifest = _manifest(folder)
    complaints = [
        *_differences("the format", manifest.format_version, FORMAT_VERSION),
        *_differences("the embedding model", manifest.model_id, model_id),
        *_differences("the number of dimensions", manifest.dimensions, dimensions),
        *_changed_documents(manifest.documents, document_hashes),
    ]
    if not complaints:
        complaints = [f"the file {name} is missing or damaged" for name in _damaged(folder, manifest.files)]
    if complaints:
        raise _mismatch(folder, "; ".join(complaints))
    try:
        contents = TypeAdapter(_Contents).validate_json((folder / _PASSAGES).read_bytes())
        dense, sentences, questions = (DenseIndex.load(folder, name) for name in (_MEANINGS, _SENTENCES, _QUESTIONS))
        languages = {document.document_id: document.language for document in contents.documents}
        lexical = LexicalIndex.open(folder / _WORDS, [languages[p.document_id] for p in contents.passages])
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise _mismatch(folder, f"it can't be read ({type(error).__name__})") from error
    return HybridIndex(contents.documents, contents.passages, dense, sentences, questions, lexical)


def _write(
    documents: Sequence[SourceDocument],
    hashes: dict[str, str],
    embedder: Embedder,
    folder: Path,
    questions: Sequence[str],
) -> None:
    approved = [document for document in documents if document.governance.status is DocumentStatus.APPROVED]
    passages: list[StoredPassage] = []
    texts: list[str] = []
    words: list[tuple[str, str, int]] = []
    sentences: list[str] = []
    for number, document in enumerate(approved):
        for chunk in chunks(document):
            stored = StoredPassage(
                **chunk.model_dump(),
                sentences=tuple(readable_sentences(chunk.text)),
                questions=document.questions.get(heading(document, chunk.section), ()),
            )
            passages.append(stored)
            sentences += [sentence_in_context(document.governance, stored, sentence) for sentence in stored.sentences]
            texts.append(in_context(document.governance, stored))
            words.append((in_words(document.governance, stored), document.governance.language, number))
    contents = _Contents(documents=tuple(document.governance for document in approved), passages=tuple(passages))
    (folder / _PASSAGES).write_text(contents.model_dump_json(indent=1), encoding="utf-8")
    asked = _embedded(questions, embedder, is_query=True)
    for name, embedded in ((_MEANINGS, texts), (_SENTENCES, sentences)):
        vectors = _embedded(embedded, embedder, is_query=False)
        DenseIndex.build(vectors, embedder.dimensions, asked).save(folder, name)
    examples = [question for passage in passages for question in passage.questions]
    vectors = _embedded(examples, embedder, is_query=True)
    DenseIndex.build(vectors, embedder.dimensions, asked, alike=True).save(folder, _QUESTIONS)
    (folder / _WORDS).mkdir()
    LexicalIndex.build(folder / _WORDS, words)
    manifest = Manifest(
        format_version=FORMAT_VERSION,
        model_id=embedder.model_id,
        dimensions=embedder.dimensions,
        passages=len(passages),
        documents=hashes,
        files={name: _file_hash(folder / name) for name in _file_names(folder)},
    )
    (folder / _MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")


def _embedded(texts: Sequence[str], embedder: Embedder, *, is_query: bool) -> list[bytes]:
    return [
        vector
        for start in range(0, len(texts), _BATCH)
        for vector in embedder.vectors(list(texts[start : start + _BATCH]), is_query=is_query)
    ]


def _replace(folder: Path, new: Path) -> None:
    """Put ``new`` in ``folder``'s place. A process that has the old one open keeps what it has open."""
    new.chmod(0o755)
    if folder.exists():
        old = new.with_suffix(".old")
        folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    else:
        new.rename(folder)


def _manifest(folder: Path) -> Manifest:
    try:
        return Manifest.model_validate_json((folder / _MANIFEST).read_bytes())
    except FileNotFoundError as error:
        raise _mismatch(folder, "there is none") from error
    except (OSError, ValidationError) as error:
        raise _mismatch(folder, f"its {_MANIFEST} can't be read") from error


def _differences(what: str, found: object, expected: object) -> list[str]:
    return [] if found == expected else [f"{what} is {found}, expected {expected}"]


def _changed_documents(found: Mapping[str, str], expected: Mapping[str, str]) -> list[str]:
    kinds = {
        "missing": expected.keys() - found.keys(),
        "no longer wanted": found.keys() - expected.keys(),
        "changed": {name for name in found.keys() & expected.keys() if found[name] != expected[name]},
    }
    return [f"documents {kind}: {_listed(names)}" for kind, names in kinds.items() if names]


def _listed(names: set[str]) -> str:
    first = sorted(names)[:5]
    return ", ".join(first) + (f" and {len(names) - len(first)} more" if len(names) > len(first) else "")


def _damaged(folder: Path, files: Mapping[str, str]) -> list[str]:
    return [
        name for name, wanted in files.items() if not (folder / name).is_file() or _file_hash(folder / name) != wanted
    ]


def _file_names(folder: Path) -> list[str]:
    # Files that begin with a dot are tantivy's locks, made anew by whoever opens it.
    paths = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return sorted(path.relative_to(folder).as_posix() for path in paths)


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _mismatch(folder: Path, complaint: str) -> SnapshotMismatchError:
    return SnapshotMismatchError(
        f"The compiled index {folder.name} does not fit: {complaint}. Rebuild it with `frontline domain compile`."
    )
