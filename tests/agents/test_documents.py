from datetime import date

import pytest

from agents.documents import FEATURES, SENTENCE_FEATURES, EvidenceRule, evidence_rule, features, judge, quote, weigh
from contracts.documents import DocumentGovernance, DocumentStatus, EntityRef, Passage, PassageSentence
from contracts.graph import Audience
from contracts.turns import Reason, Task, TaskInput, TaskStatus, TaskType

WREN = EntityRef(kind="bike", value="Wren Folding")
HERON = EntityRef(kind="bike", value="Heron Tandem T20")
#: A sentence scores its similarity times 10; evidence is enough from a similarity of 0.5 on.
RULE = EvidenceRule(
    sentence=dict.fromkeys(SENTENCE_FEATURES, 0.0) | {"similarity": 10.0},
    intercept=-5.0,
    weights=dict.fromkeys(FEATURES, 0.0) | {"similarity": 10.0},
    threshold=0.5,
)

SENTENCES = (
    ("Bicycles are lent from nine to five.", 0.1),
    ("Children below twelve wear a helmet at all times.", 0.9),
    ("Helmets are free of charge.", 0.6),
    ("A lost helmet costs 20 pounds.", 0.4),
    ("Lights are switched on at dusk.", 0.0),
)


def passage(
    *sentences: tuple[str, float],
    entities: tuple[EntityRef, ...] = (),
    name: str = "d",
    similarity: float = 0.5,
    missing: float = 0.0,
) -> Passage:
    return Passage(
        passage_id=f"{name}#0",
        document=DocumentGovernance(
            document_id=name,
            title="Rules of hire",
            version="2",
            language="en",
            status=DocumentStatus.APPROVED,
            audience=Audience.PUBLIC,
            valid_from=date(2026, 1, 1),
            entities=entities,
            source="Front desk",
        ),
        section="Safety",
        ordinal=0,
        text=" ".join(text for text, _ in sentences),
        score=3 / 11,
        similarity=similarity,
        coverage=1.0,
        missing=missing,
        sentences=tuple(PassageSentence(text=text, similarity=value, coverage=0.0) for text, value in sentences),
    )


TASK = Task(
    task_id="t1", task_type=TaskType.DOCUMENTS, tool="documents", clause_id="c1", arguments={"question": "helmet?"}
)
FOLLOWING = TASK.model_copy(update={"inputs": {"entities": TaskInput(task_id="t0", column="bike")}})


def test_the_nearest_sentence_is_quoted_with_the_neighbours_that_are_near_too() -> None:
    found = quote(passage(*SENTENCES), rule=RULE)
    assert found is not None
    assert found.text == " ".join(text for text, _ in SENTENCES[0:4])


def test_a_quotation_begins_before_the_nearest_sentence_where_that_side_is_nearer() -> None:
    found = quote(passage(("A.", 0.7), ("B.", 0.9), ("C.", 0.2), ("D.", 0.1), ("E.", 0.0)), rule=RULE)
    assert found is not None
    assert found.text == "A. B. C. D."


def test_the_first_sentence_is_never_left_out_when_it_is_the_nearest() -> None:
    found = quote(passage(("A.", 0.9), ("B.", 0.8), ("C.", 0.7), ("D.", 0.6), ("E.", 0.5)), rule=RULE)
    assert found is not None
    assert found.text == "A. B. C. D."


def test_a_long_neighbour_is_left_out() -> None:
    found = quote(passage(("Short.", 0.9), ("x" * 420, 0.8)), rule=RULE)
    assert found is not None
    assert found.text == "Short."


def test_enough_evidence_is_quoted_with_its_source() -> None:
    near = passage(*SENTENCES, similarity=1.0)
    result = judge(TASK, "must children wear a helmet", (near,))
    assert (result.status, result.reason) == (TaskStatus.SUCCESS, Reason.OK)
    (source,) = result.evidence
    assert (source.kind, source.title, source.version, source.locator) == ("document", "Rules of hire", "2", "Safety")


def test_weak_evidence_is_not_quoted() -> None:
    found = weigh("must children wear a helmet", (passage(("Lights are on.", 0.4)),), rule=RULE)
    assert (found.reason, found.quotes) == (Reason.INSUFFICIENT_EVIDENCE, ())


def test_nothing_found_is_empty() -> None:
    assert judge(TASK, "helmet?", ()).reason is Reason.EMPTY


def test_a_passage_about_another_thing_never_counts() -> None:
    found = weigh("helmet", (passage(*SENTENCES, entities=(HERON,)),), (WREN,), rule=RULE)
    assert found.reason is Reason.INSUFFICIENT_EVIDENCE


def test_the_passage_with_the_nearest_sentence_is_quoted_whatever_the_search_put_first() -> None:
    first = passage(("Bells are polished.", 0.5), name="first", similarity=0.9)
    second = passage(*SENTENCES, name="second", similarity=0.4)
    found = weigh("helmet", (first, second), rule=RULE)
    assert [quoted.passage.document.document_id for quoted in found.quotes] == ["second"]


def test_what_follows_rows_is_answered_from_documents_about_them_alone() -> None:
    general = passage(*SENTENCES, name="general", similarity=1.0)
    about = passage(*SENTENCES, entities=(WREN,), name="wren", similarity=1.0)
    result = judge(FOLLOWING, "must children wear a helmet", (general, about), (WREN,))
    assert [found.document.document_id for found in result.passages] == ["wren"]


def test_a_second_passage_is_quoted_where_it_answers_nearly_as_well() -> None:
    def quoted(similarity: float) -> list[str]:
        both = (passage(*SENTENCES, name="one"), passage(("Wear one.", similarity), name="two"))
        found = weigh("helmet", both, rule=RULE)
        return [quoted.passage.document.document_id for quoted in found.quotes]

    assert quoted(0.88) == ["one", "two"]
    assert quoted(0.8) == ["one"]


def test_the_lead_is_over_the_sentences_of_other_passages() -> None:
    quotes = [quote(passage(*SENTENCES, name="one"), rule=RULE), quote(passage(("B.", 0.7), name="two"), rule=RULE)]
    found = features("Who wears a helmet?", [quoted for quoted in quotes if quoted], ())
    assert found["lead"] == pytest.approx(2.0)
    assert found["similarity_lead"] == pytest.approx(0.2)
    assert (found["asks_person"], found["asks_whether"], found["names_number"]) == (1.0, 0.0, 0.0)


def test_the_question_tells_what_kind_of_answer_it_wants() -> None:
    quotes = [quoted for quoted in [quote(passage(*SENTENCES, entities=(WREN,)), rule=RULE)] if quoted]
    found = features("Does the T20 need a helmet?", quotes, ())
    assert (found["asks_person"], found["asks_whether"], found["names_number"]) == (0.0, 1.0, 1.0)
    assert found["about_unnamed"] == 1.0
    assert features("helmet", quotes, (WREN,))["about_unnamed"] == 0.0
    assert features("Does the Heron Tandem T20 need one?", quotes, (HERON,))["names_number"] == 0.0


@pytest.mark.parametrize("question", ["", "?", "\x00", "a" * 10_000])
def test_odd_questions_and_passages_without_a_sentence_break_nothing(question: str) -> None:
    assert quote(passage()) is None
    assert weigh(question, (passage(),)).reason is Reason.INSUFFICIENT_EVIDENCE
    weigh(question, (passage(*SENTENCES), passage()), rule=RULE)


def test_the_fitted_rule_takes_what_is_near_and_complete_for_evidence_and_refuses_a_rare_word_missing() -> None:
    near = passage(("Helmets are free.", 0.8), similarity=0.8)
    other = passage(("Bells are polished.", 0.2), name="other", similarity=0.2)

    def probability(best: Passage) -> float:
        return weigh("what does a helmet cost", (best, other)).probability

    far = passage(("Ropes are cheap.", 0.25), similarity=0.25)
    assert probability(far) < evidence_rule(asked=False).threshold < probability(near)
    assert probability(near.model_copy(update={"missing": 1.0})) < probability(near)


def test_a_near_example_question_is_evidence_unless_another_passage_has_one_as_near() -> None:
    best = passage(("Helmets are free.", 0.5), similarity=0.5).model_copy(update={"asked": 0.9})
    other = passage(("Bells are polished.", 0.2), name="other", similarity=0.2).model_copy(update={"asked": 0.2})

    def probability(*found: Passage) -> float:
        return weigh("what does a helmet cost", found).probability

    assert weigh("what does a helmet cost", (best, other)).reason is Reason.OK
    far = best.model_copy(update={"asked": 0.1})
    assert probability(far, other) < probability(best, other)
    nearer = other.model_copy(update={"asked": 0.85})
    assert probability(best, nearer) < probability(best, other)


def test_the_rule_for_documents_without_example_questions_is_blind_to_them() -> None:
    rule = evidence_rule(asked=False)
    assert rule.sentence["asked"] == rule.weights["asked"] == rule.weights["asked_lead"] == 0.0
    one = passage(("Helmets are free.", 0.8), similarity=0.8)
    assert weigh("helmet", (one,)) == weigh("helmet", (one,), rule=rule)
    assert weigh("helmet", (one.model_copy(update={"asked": 0.0}),)).probability != weigh("helmet", (one,)).probability


def test_the_lead_of_example_questions_counts_from_the_nearest_elsewhere() -> None:
    passages = [passage(*SENTENCES, name=name).model_copy(update={"asked": asked}) for name, asked in ASKED.items()]
    found = features("?", [found for one in passages if (found := quote(one, rule=RULE))], ())
    assert (found["asked"], found["asked_lead"]) == (0.75, 0.25)


ASKED = {"first": 0.75, "second": 0.25, "third": 0.5, "without": None}


def test_a_question_that_the_author_gave_as_an_example_is_answered_from_its_passage_alone() -> None:
    told = passage(("A bicycle may come back one day late.", 0.1), name="told").model_copy(update={"asked": 0.9})
    nearer = passage(("Helmets are lent for free.", 0.6), name="nearer").model_copy(update={"asked": 0.3})

    found = judge(TASK, "may I bring it back later", (nearer, told))

    assert found.reason is Reason.OK
    assert [quoted.passage_id for quoted in found.passages] == ["told#0"]
