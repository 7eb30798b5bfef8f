"""From a pack to what serving loads: the lexicon, the intent head and the document index.

A compiled folder:

    manifest.json    the pack's digest, the model, the formats, the other files' hashes
    pack.json        the pack as it was compiled, whatever is edited since
    lexicon.json     how values are recognised in messages
    head.npz         which intent a message has
    snapshot/        the documents, searchable
"""

import hashlib
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from agents.lexicon import Lexicon, mask_phrasing
from authoring.graph_rows import graph_rows
from authoring.phrasings import Phrasing, phrasings
from configs.packs.compiled import HEAD, LEXICON, MANIFEST, PACK, SNAPSHOT
from configs.packs.types import Pack
from contracts.base import Frozen
from contracts.documents import Embedder, EntityRef
from contracts.graph import GraphEdges, GraphNodes
from indexes import snapshot
from models.heads import intent_head

#: Raised whenever the same pack compiles to something else.
FORMAT_VERSION = 3
#: Phrasings embedded in one call.
_BATCH = 64
_SLOT = re.compile(r"(\{\w+\})")


class Manifest(Frozen):
    """What a compiled folder was made of; ``files`` maps relative paths to SHA-256 in hexadecimal."""

    format_versions: dict[str, int]
    digest: str
    model_id: str
    dimensions: int
    files: dict[str, str]


def compile_pack(pack: Pack, embedder: Embedder, folder: Path, progress: Callable[[str], None]) -> None:
    """Compile ``pack`` into ``folder``, whole or not at all; ``progress`` hears one line a step.

    Nothing is done where the folder holds exactly this pack, compiled with this model, undamaged.
    Raises ``PackError`` where the pack's data or patterns can't be read.
    """
    if is_compiled(pack, embedder, folder):
        progress("Already compiled.")
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".partial", dir=folder.parent))
    try:
        _write(pack, embedder, partial, progress)
        partial.chmod(0o755)
        _replace(folder, partial, lambda: is_compiled(pack, embedder, folder))
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def is_compiled(pack: Pack, embedder: Embedder, folder: Path) -> bool:
    """Whether ``folder`` holds this pack, compiled with this model in today's formats, and no file is damaged."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        return manifest == _manifest(pack, embedder, folder)
    except (OSError, ValidationError):
        return False


def masked(phrasing: Phrasing, pack: Pack, lexicon: Lexicon) -> str:
    """A phrasing as the reader will see a message like it: slots and literal values replaced by their masks."""
    parts = []
    for part in _SLOT.split(phrasing.text):
        entities = [] if _SLOT.fullmatch(part) else lexicon.find(part)
        parts.append(f" {lexicon.mask(part, entities)} " if entities else part)
    return mask_phrasing("".join(parts), pack, phrasing.parameters)


def _write(pack: Pack, embedder: Embedder, folder: Path, progress: Callable[[str], None]) -> None:
    progress("Reading the data …")
    (folder / PACK).write_text(pack.model_dump_json() + "\n", encoding="utf-8")
    nodes, edges = graph_rows(pack)
    lexicon = Lexicon.build(pack, gazetteer_values(pack, nodes), gazetteer_related(pack, nodes, edges))
    lexicon.save(folder / LEXICON)
    _head(pack, embedder, lexicon, progress).save(folder / HEAD)
    progress(f"Indexing {len(pack.documents)} documents …")
    reporting = _ReportingEmbedder(embedder, lambda count: progress(f"{count} texts embedded …"))
    snapshot.build_snapshot(pack.documents, reporting, folder / SNAPSHOT, pack.routes.documents)
    manifest = _manifest(pack, embedder, folder)
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=1) + "\n", encoding="utf-8")


def gazetteer_values(pack: Pack, nodes: list[GraphNodes]) -> dict[str, list[str]]:
    """For each parameter type with a gazetteer, the values of its property among ``nodes``."""
    rows = {group.label: group.rows for group in nodes}
    found: dict[str, list[str]] = {}
    for name, parameter in pack.queries.parameters.items():
        if parameter.gazetteer:
            values = (row[parameter.gazetteer.property] for row in rows.get(parameter.gazetteer.label, ()))
            found[name] = [str(value) for value in values if value is not None]
    return found


def gazetteer_related(
    pack: Pack, nodes: list[GraphNodes], edges: list[GraphEdges]
) -> dict[str, dict[str, tuple[EntityRef, ...]]]:
    """For each parameter type whose gazetteer names something related, what each of its values belongs to."""
    groups = {group.label: group for group in nodes}
    found: dict[str, dict[str, tuple[EntityRef, ...]]] = {}
    for name, parameter in pack.queries.parameters.items():
        gazetteer = parameter.gazetteer
        if gazetteer is None or gazetteer.related is None:
            continue
        related = gazetteer.related
        own, theirs = (
            {row[groups[label].key]: row[value] for row in groups[label].rows} if label in groups else {}
            for label, value in ((gazetteer.label, gazetteer.property), (related.label, related.property))
        )
        joined: dict[str, set[str]] = defaultdict(set)
        for edge in edges:
            for start, end in edge.pairs:
                one, other = (start, end) if edge.start_label == gazetteer.label else (end, start)
                if {edge.start_label, edge.end_label} == {gazetteer.label, related.label}:
                    joined[str(own[one])].add(str(theirs[other]))
        found[name] = {
            value: tuple(EntityRef(kind=related.kind, value=other) for other in sorted(others))
            for value, others in joined.items()
        }
    return found


def _head(pack: Pack, embedder: Embedder, lexicon: Lexicon, progress: Callable[[str], None]) -> intent_head.IntentHead:
    found = list(phrasings(pack))
    texts = [masked(phrasing, pack, lexicon) for phrasing in found]
    progress(f"Embedding {len(texts)} phrasings …")
    reporting = _ReportingEmbedder(embedder, lambda count: progress(f"{count} phrasings embedded …"))
    vectors: list[bytes] = []
    for start in range(0, len(texts), _BATCH):
        vectors += reporting.vectors(texts[start : start + _BATCH], is_query=True)
    progress(f"Training the intent head on {len(texts)} phrasings …")
    return intent_head.IntentHead.fit(vectors, [phrasing.intent for phrasing in found])


class _ReportingEmbedder:
    """An embedder that tells how many texts it has embedded: the longest part of compiling."""

    def __init__(self, embedder: Embedder, report: Callable[[int], None]) -> None:
        self._embedder = embedder
        self._report = report
        self._count = 0

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def vectors(self, texts: list[str], *, is_query: bool) -> list[bytes]:
        vectors = self._embedder.vectors(texts, is_query=is_query)
        self._count += len(texts)
        self._report(self._count)
        return vectors


def _manifest(pack: Pack, embedder: Embedder, folder: Path) -> Manifest:
    """The manifest that the files now in ``folder`` would have for this pack and model."""
    return Manifest(
        format_versions={
            "compiled": FORMAT_VERSION,
            "head": intent_head.FORMAT_VERSION,
            "snapshot": snapshot.FORMAT_VERSION,
        },
        digest=pack.digest,
        model_id=embedder.model_id,
        dimensions=embedder.dimensions,
        files={
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            # Files that begin with a dot are the lexical index's locks, made anew by whoever opens it.
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path != folder / MANIFEST and not path.name.startswith(".")
        },
    )


def _replace(folder: Path, new: Path, is_done: Callable[[], bool]) -> None:
    """Put ``new`` in ``folder``'s place; where another process was quicker with the same, leave that."""
    old = new.with_suffix(".old")
    try:
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except OSError:
        if not is_done():
            raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
