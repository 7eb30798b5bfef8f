"""The half of the search that compares meanings: vectors in FAISS, mean-centred and of length one.

Embeddings of one domain point nearly the same way (cosines from 0.75 to 0.92 with e5); without their mean
they spread out, and a similarity says something. Questions lie apart from the texts that answer them, so
that they are centred by a mean of their own: on 307 questions to tune with, it puts the right sentence first for
0.76 of them, against 0.72 with the texts' mean. The index is exact (``IndexFlatIP``): at the size of a
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
    """Unit vectors of texts (passages, or sentences), numbered from 0.

    ``mean`` is that of questions, which is taken from a question's vector; the texts' own is gone already.
    """

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
    def build(
        cls, vectors: Sequence[bytes], dimensions: int, questions: Sequence[bytes] = (), *, alike: bool = False
    ) -> "DenseIndex":
        """From one float32 little-endian vector a text; none at all is an empty index.

        ``questions``: vectors of questions such as will be asked, for their mean; without any, the texts' is taken.
        ``alike``: the texts are such questions themselves and are centred by the same mean.
        """
        rows = _rows(vectors, dimensions)
        own = rows.mean(axis=0) if len(rows) else np.zeros(dimensions, dtype=np.float32)
        mean = _rows(questions, dimensions).mean(axis=0) if questions else own
        index = faiss.IndexFlatIP(dimensions)
        index.add(_unit(rows - (mean if alike else own)))
        return cls(index, mean)

    def save(self, folder: Path, name: str) -> None:
        """Write ``name.faiss`` and ``name.npy`` into the folder."""
        faiss.write_index(self._index, str(folder / f"{name}.faiss"))
        np.save(folder / f"{name}.npy", self._mean, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path, name: str) -> "DenseIndex":
        """Raises what FAISS and numpy raise: ``RuntimeError``, ``OSError``, ``ValueError``."""
        mean = np.load(folder / f"{name}.npy", allow_pickle=False)
        return cls(faiss.read_index(str(folder / f"{name}.faiss")), mean)

    def placed(self, vector: bytes) -> _Floats:
        """A question's vector in the index's space, shape (1, dimensions).

        Raises ``BadRequestError`` when it has another length or holds no numbers.
        """
        if len(vector) != 4 * self.dimensions:
            raise BadRequestError(f"The question's vector must be {self.dimensions} float32 values.")
        row = np.frombuffer(vector, dtype="<f4").reshape(1, -1)
        if not np.isfinite(row).all():
            raise BadRequestError("The question's vector must hold finite numbers.")
        return _unit(row - self._mean)

    def search(self, placed: _Floats, permitted: NDArray[np.bool_], k: int) -> list[int]:
        """Numbers of the ``k`` nearest permitted texts, best first. ``permitted`` has one flag a text."""
        count = min(k, int(permitted.sum()))
        if count < 1:
            return []
        bits = np.packbits(permitted, bitorder="little")
        within = faiss.SearchParameters()
        # FAISS borrows both: the names keep them alive until the search is done.
        within.sel = selector = faiss.IDSelectorBitmap(bits.size, faiss.swig_ptr(bits))
        _, found = self._index.search(placed, count, params=within)
        del selector
        return [int(number) for number in found[0] if number >= 0]

    def similarities(self, placed: _Floats, first: int, count: int) -> list[float]:
        """The cosines, -1 to 1, of the question and ``count`` texts from number ``first`` on."""
        if not count:
            return []
        cosines = self._index.reconstruct_n(first, count) @ placed[0]
        return [float(cosine) for cosine in np.clip(cosines, -1.0, 1.0)]


def _rows(vectors: Sequence[bytes], dimensions: int) -> _Floats:
    return np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(vectors), dimensions)


def _unit(rows: _Floats) -> _Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: _Floats = np.ascontiguousarray(rows / np.maximum(lengths, np.float32(1e-6)), dtype=np.float32)
    return scaled
