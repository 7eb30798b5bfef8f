from pathlib import Path

import numpy as np
import pytest

from indexes.dense import DenseIndex


def _bytes(rows: np.ndarray) -> list[bytes]:  # type: ignore[type-arg]
    return [row.astype("<f4").tobytes() for row in rows]


@pytest.fixture
def texts() -> np.ndarray:  # type: ignore[type-arg]
    # All point nearly the same way.
    return (np.random.default_rng(7).normal(size=(60, 8)) + 50).astype(np.float32)


def test_a_text_is_nearest_to_itself_and_its_similarity_is_one(texts: np.ndarray) -> None:  # type: ignore[type-arg]
    index = DenseIndex.build(_bytes(texts), 8)
    placed = index.placed(_bytes(texts)[17])

    assert index.search(placed, np.ones(60, dtype=np.bool_), 1) == [17]
    assert index.similarities(placed, 17, 1) == [pytest.approx(1.0, abs=1e-5)]
    assert index.similarities(placed, 0, 60)[17] == max(index.similarities(placed, 0, 60))
    assert index.similarities(placed, 60, 0) == []


def test_questions_are_seen_from_their_own_mean(texts: np.ndarray) -> None:  # type: ignore[type-arg]
    away = np.array([30, -40, 0, 0, 0, 0, 0, 0], dtype=np.float32)
    index = DenseIndex.build(_bytes(texts), 8, _bytes(texts + away))

    assert index.similarities(index.placed(_bytes(texts + away)[5]), 5, 1) == [pytest.approx(1.0, abs=1e-4)]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_texts_are_an_index_too(tmp_path: Path, texts: np.ndarray, count: int) -> None:  # type: ignore[type-arg]
    DenseIndex.build(_bytes(texts[:count]), 8).save(tmp_path, "few")
    index = DenseIndex.load(tmp_path, "few")
    placed = index.placed(_bytes(texts)[0])

    assert index.size == count
    assert len(index.search(placed, np.ones(count, dtype=np.bool_), 5)) == count
    assert np.isfinite(index.similarities(placed, 0, count)).all()
