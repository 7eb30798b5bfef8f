from contracts.turns import Clause, Part, Reason, Reply, RouteDecision, RouteName, TaskStatus
from governance.coverage import uncovered


def clause(clause_id: str) -> Clause:
    return Clause(clause_id=clause_id, text=f"text of {clause_id}", masked="")


def reply(*clause_ids: str) -> Reply:
    parts = tuple(
        Part(clause_id=clause_id, question="", tool=None, status=TaskStatus.FAILED, reason=Reason.UNSUPPORTED)
        for clause_id in clause_ids
    )
    return Reply(text="", language="en", sentences=(), parts=parts)


DECISION = RouteDecision(
    route=RouteName.KNOWLEDGE, confidence=1, language="en", clauses=(clause("c1"), clause("c2"), clause("c3"))
)


def test_a_reply_with_a_part_for_each_clause_covers_the_message() -> None:
    assert uncovered(DECISION, reply("c3", "c1", "c2", "c2")) == ()


def test_what_is_left_out_is_told_in_the_messages_order() -> None:
    assert uncovered(DECISION, reply("c2")) == (clause("c1"), clause("c3"))


def test_a_part_about_another_message_covers_nothing() -> None:
    assert uncovered(DECISION, reply("c9")) == DECISION.clauses
