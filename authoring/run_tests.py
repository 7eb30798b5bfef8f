"""Run a pack's ``tests.yaml`` against whatever answers its questions."""

from collections.abc import Callable, Iterator, Mapping
from math import isclose
from pathlib import Path

from configs.packs.complaint import Complaint
from configs.packs.loader import TESTS
from configs.packs.types import ExpectedPassage, ExpectedRows, Pack, PackTest
from configs.packs.yaml_lines import read_yaml
from contracts.base import Cell, Row, Value
from contracts.turns import Plan, Reply, RouteDecision, TaskStatus, ToolResult

#: A question and a customer's id (``None`` for a guest) to what became of it; results by task id.
Answer = Callable[[str, str | None], tuple[RouteDecision, Plan, Mapping[str, ToolResult], Reply]]


def run_tests(pack: Pack, answer: Answer) -> list[Complaint]:
    """Ask each question of ``tests.yaml`` and complain, at its line, of what did not come of it."""
    lines = read_yaml(TESTS, (Path(pack.folder) / TESTS).read_text(encoding="utf-8-sig"))
    complaints = []
    for position, test in enumerate(pack.tests.tests):
        for message, *path in _failures(pack, test, answer):
            complaints.append(
                Complaint(
                    file=TESTS,
                    line=lines.line("tests", position, *path),
                    message=f"{test.question!r}: {message}",
                )
            )
    return complaints


_Failure = tuple[str, *tuple[str | int, ...]]


def _failures(pack: Pack, test: PackTest, answer: Answer) -> Iterator[_Failure]:
    decision, plan, results, reply = answer(test.question, test.customer)
    if decision.route.value != test.route:
        yield f"went the route {decision.route}, expected {test.route}", "route"
    tools = [task.tool for task in plan.tasks]
    for at, expected in enumerate(test.rows):
        if expected.query not in tools:
            yield f"query {expected.query} is not in the plan ({', '.join(tools) or 'no task'})", "rows", at
            continue
        yield from ((message, "rows", at) for message in _rows(expected, results))
    for at, passage in enumerate(test.passages):
        yield from ((message, "passages", at) for message in _passage(pack, passage, results, reply))


def _rows(expected: ExpectedRows, results: Mapping[str, ToolResult]) -> Iterator[str]:
    """What is wrong with the run of the query that comes nearest, if none is as expected."""
    runs = [result for result in results.values() if result.tool == expected.query]
    found: list[list[str]] = []
    for result in runs:
        if result.status is not TaskStatus.SUCCESS:
            found.append([f"query {expected.query} ended as {result.status} ({result.reason})"])
        elif len(result.rows) != len(expected.rows):
            found.append([f"query {expected.query} returned {len(result.rows)} rows, expected {len(expected.rows)}"])
        else:
            pairs = zip(expected.rows, result.rows, strict=True)
            found.append([text for number, (want, row) in enumerate(pairs, 1) for text in _cells(want, row, number)])
    if not runs:
        yield f"query {expected.query} did not run"
    elif all(found):
        yield from min(found, key=len)


def _cells(expected: dict[str, Value], row: Row, number: int) -> Iterator[str]:
    for column, value in expected.items():
        if column not in row:
            yield f"row {number} has no column {column}"
        elif not _equal(value, row[column]):
            yield f"row {number}, {column}: is {row[column]!r}, expected {value!r}"


def _equal(expected: Value, found: Cell) -> bool:
    if isinstance(expected, float) and isinstance(found, int | float):
        return isclose(expected, found, rel_tol=1e-9)
    # True equals 1 in Python, but not for a reader of the file.
    return isinstance(expected, bool) == isinstance(found, bool) and expected == found


def _passage(pack: Pack, expected: ExpectedPassage, results: Mapping[str, ToolResult], reply: Reply) -> Iterator[str]:
    found = [passage.document for result in results.values() for passage in result.passages]
    documents = {document.document_id: document.title for document in found}
    cited = {source.title for source in reply.sources if source.kind == "document"}
    wanted = next(
        (item.governance.title for item in pack.documents if item.governance.document_id == expected.document), None
    )
    if wanted not in cited:
        seen = "was found but is not cited" if expected.document in documents else "was not found"
        yield f"document {expected.document} {seen}; cited: {', '.join(sorted(cited)) or 'none'}"
    if _plain(expected.contains) not in _plain(reply.text):
        yield f"the answer does not say {expected.contains!r}"


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
