from pathlib import Path

import pytest

from indexes.analysis import question_terms
from indexes.lexical import LexicalIndex

TEXTS = [
    ("The bicycle has two wheels and a bell.", "en", 0),
    ("A boat has sails.", "en", 1),
    ("A bicicleta tem duas rodas e travões.", "pt", 2),
    ("Bells ring in the tower.", "en", 1),
]


@pytest.fixture
def index(tmp_path: Path) -> LexicalIndex:
    LexicalIndex.build(tmp_path, TEXTS)
    return LexicalIndex.open(tmp_path, [language for _, language, _ in TEXTS])


def test_other_forms_of_a_word_are_found(index: LexicalIndex) -> None:
    assert index.search("sailing", None, 5) == [1]
    assert sorted(index.search("bell", None, 5)) == [0, 3]


def test_each_language_is_searched_by_its_own_rules(index: LexicalIndex) -> None:
    assert index.search("travão das bicicletas", None, 5) == [2]
    assert index.search("bicicleta", None, 5) == [2]


def test_only_the_given_documents_are_searched(index: LexicalIndex) -> None:
    assert index.search("bell", [1], 5) == [3]
    assert index.search("bell", [2], 5) == []
    assert index.search("bell", [], 5) == []


def test_a_question_without_a_word_finds_nothing(index: LexicalIndex) -> None:
    assert index.search("", None, 5) == []
    assert index.search("?! (", None, 5) == []


def test_the_rarest_word_that_a_text_lacks_is_told(index: LexicalIndex) -> None:
    terms = index.read("Do bells ring on a spaceship?", "en")

    assert terms.weights["spaceship"] == 1.0  # in no passage
    assert 0 < terms.weights["bell"] < terms.weights["ring"] < 1.0  # in two passages, in one
    assert terms.missing("The bell rings.") == 1.0
    assert terms.missing("The bell of the spaceship.") == terms.weights["ring"]
    assert terms.missing("Ring the bell of the spaceship.") == 0.0
    assert index.read("what is the", "en").missing("") == 0.0


def test_a_language_without_a_passage_weighs_all_words_alike(index: LexicalIndex) -> None:
    assert index.read("krone", "da").coverage("en krone") == 1.0


@pytest.mark.parametrize("question", ['bell AND "', "bell:*", "+bell -bell", "bell\0", "bell \ud800", "(bell OR"])
def test_signs_of_a_query_language_mean_nothing(index: LexicalIndex, question: str) -> None:
    assert sorted(index.search(question, None, 5)) == [0, 3]


def test_questions_are_reduced_to_their_informative_words() -> None:
    assert question_terms("What is the colour of my bicycles?", "en") == ("colour", "bicycl")
    assert question_terms("Qual é a cor das minhas bicicletas?", "pt-PT")[-1] == "biciclet"
    assert question_terms("MIXED Äpfel", "xx") == ("mixed", "apfel")
