"""No request of the customer's is dropped: a reply that leaves one out is not released as it is."""

from contracts.turns import Clause, Reply, RouteDecision


def uncovered(decision: RouteDecision, reply: Reply) -> tuple[Clause, ...]:
    """The clauses of the message that the reply has no part for, in order."""
    covered = {part.clause_id for part in reply.parts}
    return tuple(clause for clause in decision.clauses if clause.clause_id not in covered)
