"""The turn as a graph. ``thread_id`` is the turn, so that a killed replica's turn goes on where it was."""

from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from serve_app.workflow import nodes
from serve_app.workflow.state import TurnContext, TurnState
from serve_app.workflow.tasks import with_choices

TurnGraph = CompiledStateGraph[TurnState, TurnContext, TurnState, TurnState]


def build_graph(saver: BaseCheckpointSaver[Any] | None) -> TurnGraph:
    """The compiled turn; one serves many turns at once. Without a saver nothing is checkpointed."""
    graph: StateGraph[TurnState, TurnContext, TurnState, TurnState] = StateGraph(TurnState, TurnContext)
    for node in (
        nodes.route,
        nodes.plan,
        nodes.knowledge,
        nodes.human,
        nodes.summarize,
        nodes.check,
        nodes.remember,
    ):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "route")
    graph.add_edge("route", "plan")
    # A message may need both: what the tools bring comes first, so that the person who takes over sees it too.
    graph.add_conditional_edges("plan", _after_plan, ["knowledge", "human", "summarize"])
    graph.add_conditional_edges("knowledge", _after_knowledge, ["human", "summarize"])
    graph.add_edge("human", "summarize")
    graph.add_edge("summarize", "check")
    graph.add_edge("check", "remember")
    graph.add_edge("remember", END)
    return graph.compile(checkpointer=saver)


def _after_plan(state: TurnState) -> str:
    """Small talk, pictures and requests that nothing here answers need no tool: their reply is composed at once."""
    return "knowledge" if with_choices(state["plan"]).tasks else _after_knowledge(state)


def _after_knowledge(state: TurnState) -> str:
    return "human" if state["plan"].human else "summarize"
