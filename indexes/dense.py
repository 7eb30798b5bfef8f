"""The half of the search that compares meanings: vectors in FAISS, mean-centred and of length one.

Embeddings of one domain point nearly the same way (cosines from 0.75 to 0.92 with e5); without their mean
they spread out, and a similarity says something. The index is exact (``IndexFlatIP``): at the size of a
company's documents nothing approximate pays. ``faiss`` is the same module in its CPU and GPU builds.
"""

from collections.abc import Sequence
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from contracts.errors import BadRequestError

_Floats = NDArray[np.float32]


class DenseIndex:
    """Centred unit vectors of passages, numbered from 0, and the ``mean`` that was taken from each."""

    def __init__(self, index: faiss.Index, mean: _Floats) -> None:
        self._index = index
        self._mean = mean

    @property
    def size(self) -> int:
        return int(self._index.ntotal)

    @property
    def dimensions(self) -> int:
        return int(self._index.d)

    @classmethod
    def build(cls, vectors: Sequence[bytes], dimensions: int) -> "DenseIndex":
        """From one float32 little-endian vector a passage; none at all is an empty index."""
        rows = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), dimensions)
        mean = rows.mean(axis=0) if len(rows) else np.zeros(dimensions, dtype=np.float32)
        index = faiss.IndexFlatIP(dimensions)
        index.add(_centred(rows, mean))
        return cls(index, mean)

    def save(self, index_path: Path, mean_path: Path) -> None:
        faiss.write_index(self._index, str(index_path))
        np.save(mean_path, self._mean, allow_pickle=False)

    @classmethod
    def load(cls, index_path: Path, mean_path: Path) -> "DenseIndex":
        """Raises what FAISS and numpy raise: ``RuntimeError``, ``OSError``, ``ValueError``."""
        return cls(faiss.read_index(str(index_path)), np.load(mean_path, allow_pickle=False))

    def centred(self, vector: bytes) -> _Floats:
        """A question's vector in the index's space, shape (1, dimensions).

        Raises ``BadRequestError`` when it has another length or holds no numbers.
        """
        if len(vector) != 4 * self.dimensions:
            raise BadRequestError(f"The question's vector must be {self.dimensions} float32 values.")
        row = np.frombuffer(vector, dtype="<f4").reshape(1, -1)
        if not np.isfinite(row).all():
            raise BadRequestError("The question's vector must hold finite numbers.")
        return _centred(row, self._mean)

    def search(self, centred: _Floats, permitted: NDArray[np.bool_], k: int) -> list[int]:
        """Numbers of the ``k`` nearest permitted passages, best first. ``permitted`` has one flag a passage."""
        count = min(k, int(permitted.sum()))
        if count < 1:
            return []
        bits = np.packbits(permitted, bitorder="little")
        within = faiss.SearchParameters()
        # FAISS borrows both: the names keep them alive until the search is done.
        within.sel = selector = faiss.IDSelectorBitmap(bits.size, faiss.swig_ptr(bits))
        _, found = self._index.search(centred, count, params=within)
        del selector
        return [int(number) for number in found[0] if number >= 0]

    def similarity(self, centred: _Floats, number: int) -> float:
        """The cosine of the question and a passage, -1 to 1."""
        return float(np.clip(centred[0] @ self._index.reconstruct(number), -1.0, 1.0))


def _centred(rows: _Floats, mean: _Floats) -> _Floats:
    shifted = rows - mean
    lengths = np.linalg.norm(shifted, axis=1, keepdims=True)
    scaled: _Floats = np.ascontiguousarray(shifted / np.maximum(lengths, np.float32(1e-6)), dtype=np.float32)
    return scaled
