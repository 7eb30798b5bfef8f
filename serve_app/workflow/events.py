"""A turn's steps as events for its listener: plain JSON, without vectors and internals."""

from contracts.turns import EventName, Plan, RouteDecision, Sentence, ToolResult, TurnEvent


def route_event(decision: RouteDecision) -> TurnEvent:
    return TurnEvent(
        event=EventName.ROUTE,
        data={
            "route": decision.route.value,
            "confidence": round(decision.confidence, 3),
            "language": decision.language,
            "clauses": [{"clause_id": clause.clause_id, "text": clause.text} for clause in decision.clauses],
        },
    )


def plan_event(plan: Plan) -> TurnEvent:
    return TurnEvent(event=EventName.PLAN, data=plan.model_dump(mode="json"))


def task_event(result: ToolResult) -> TurnEvent:
    return TurnEvent(
        event=EventName.TASK,
        data={
            "task_id": result.task_id,
            "tool": result.tool,
            "status": result.status.value,
            "reason": result.reason.value,
            "latency_ms": result.latency_ms,
        },
    )


def sentence_event(sentence: Sentence) -> TurnEvent:
    return TurnEvent(event=EventName.SENTENCE, data=sentence.model_dump(mode="json"))
