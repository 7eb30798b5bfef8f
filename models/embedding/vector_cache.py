"""Vectors of texts seen lately. Messages differ less than they seem: with ids and names masked they repeat."""

import threading
from collections.abc import Mapping, Sequence

from cachetools import LRUCache


class VectorCache:
    """Least-recently-used, bounded in entries (about 2 KB each; 0 keeps nothing), safe between threads."""

    def __init__(self, entries: int) -> None:
        self._kept: LRUCache[str, bytes] = LRUCache(entries)
        self._lock = threading.Lock()

    def found(self, texts: Sequence[str]) -> dict[str, bytes]:
        """The vectors of those of ``texts`` that are kept."""
        with self._lock:
            return {text: vector for text in texts if (vector := self._kept.get(text)) is not None}

    def keep(self, vectors: Mapping[str, bytes]) -> None:
        with self._lock:
            for text, vector in vectors.items():
                if self._kept.maxsize:
                    self._kept[text] = vector
