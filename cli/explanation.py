"""How an answer is shown at the terminal: the reply, its sources, and why it is as it is."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def show_reply(console: Console, answer: dict[str, Any]) -> None:
    """The reply's text and its sources."""
    console.print(Text(answer["reply"]["text"]))
    show_sources(console, answer)


def show_sources(console: Console, answer: dict[str, Any]) -> None:
    """What the reply rests on, one line each."""
    for source in answer["reply"].get("sources", []):
        details = [source.get("version") and f"version {source['version']}", source.get("locator")]
        line = ", ".join([source["title"], *(detail for detail in details if detail)])
        console.print(Text(f"  [{source['source_id']}] {line}", style="dim"))


def show_explanation(console: Console, answer: dict[str, Any]) -> None:
    """Route, plan, parts and timings of an answer that was asked to explain itself."""
    explanation = answer.get("explanation")
    if not explanation:
        console.print("The service gave no explanation.", style="dim")
        return
    console.print(Text(f"\nRoute {explanation['route']}, confidence {explanation['confidence']:.2f}", style="bold"))
    for clause in explanation["clauses"]:
        console.print(Text(f"  {clause}"))
    console.print(_tasks(explanation))
    if explanation["plan"]["missing"] or explanation["plan"]["not_handled"]:
        console.print(_open_parts(explanation["plan"]))
    console.print(_timings(explanation["timings_ms"]))
    console.print(Text(f"Turn {answer['turn_id']}, session {answer['session_id']}", style="dim"))


def _tasks(explanation: dict[str, Any]) -> Table:
    table = Table("task", "tool", "arguments", "result", "ms", title="Plan", title_justify="left")
    planned = {task["task_id"]: task for task in explanation["plan"]["tasks"]}
    for done in explanation["tasks"]:
        task = planned.get(done["task_id"], {"arguments": {}, "inputs": {}})
        known = [f"{name}={value}" for name, value in task["arguments"].items()]
        read = [f"{name}←{source['task_id']}.{source['column']}" for name, source in task["inputs"].items()]
        table.add_row(
            Text(done["task_id"]),
            Text(done["tool"]),
            Text(", ".join(known + read)),
            Text(f"{done['status']} ({done['reason']})"),
            f"{done['latency_ms']:.0f}",
        )
    return table


def _open_parts(plan: dict[str, Any]) -> Table:
    table = Table("part", "why it is open", title="Not answered", title_justify="left")
    for missing in plan["missing"]:
        table.add_row(Text(missing["tool"]), Text(f"needs {missing['slot']}"))
    for part in plan["not_handled"]:
        table.add_row(Text(part["text"]), Text(part["reason"]))
    return table


def _timings(timings_ms: dict[str, float]) -> Table:
    table = Table("step", "ms", title="Timings", title_justify="left")
    for step, duration_ms in timings_ms.items():
        table.add_row(Text(step), f"{duration_ms:.1f}")
    return table
