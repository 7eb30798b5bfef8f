"""``python -m benchmarks.prover``: what a proof costs, in one process.

Over each predefined query of the pack and each text of the red team's suites: an uncached proof against parsing
alone, and a proof that is in the cache. Then the worst over texts of about 4,000 characters made to be slow.
"""

import argparse
import gc
import json
import sys
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import yaml
from rich.console import Console
from rich.table import Table

from benchmarks.percentiles import percentile
from configs.packs.loader import load_pack
from configs.settings import ROOT, read_settings
from contracts.graph import Audience, GraphSchema, Violations
from contracts.principal import Principal, PrincipalKind
from governance.proof.source import MAX_TEXT_CHARACTERS, parse
from governance.proof.violation import RefusedError
from governance.prover import prove, prove_write

#: Room is left for the padding that makes a text another one to the cache.
_LONGEST = MAX_TEXT_CHARACTERS - 10
SUITES = ROOT / "tests" / "governance"
_PRINCIPALS = {
    "guest": Principal(kind=PrincipalKind.GUEST, subject="bench"),
    "customer": Principal(kind=PrincipalKind.CUSTOMER, subject="bench", customer_id="bench"),
    "staff": Principal(kind=PrincipalKind.AGENT, subject="bench"),
}


@dataclass(frozen=True)
class Text:
    """A text with what it is proven against."""

    group: str
    text: str
    schema: GraphSchema
    principal: Principal
    write: bool

    def prove(self, padding: str = "") -> bool:
        """Whether it may run. Another padding is another text to the cache, and the same to the proof."""
        proof = prove_write if self.write else prove
        return not isinstance(proof(self.text + padding, self.schema, self.principal), Violations)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prover", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="of each text")
    runs = parser.parse_args().runs
    pack = load_pack(read_settings().pack)
    texts = [
        Text("predefined queries", query.cypher, pack.schema_, _of(query.audience), write=False)
        for query in pack.queries.queries
    ]
    texts += _suites(pack.schema_)
    for text in texts:
        text.prove()
    # As the executor's replica does once it has warmed up.
    gc.collect()
    gc.freeze()
    console = Console(width=140)
    _print_proofs(console, texts, runs)
    customer = pack.schema_.customer_label, pack.schema_.customer_key
    _print_monsters(console, pack.schema_, dict(_monsters(*customer)), runs)
    return 0


def _of(audience: Audience) -> Principal:
    return _PRINCIPALS[{Audience.PUBLIC: "guest", Audience.CUSTOMER: "customer", Audience.STAFF: "staff"}[audience]]


def _suites(own: GraphSchema) -> Iterator[Text]:
    """The red team's lines, each over the schema of a pack of ours, of the tests, or beside the suite."""
    for file in sorted(SUITES.glob("*redteam/*.jsonl")):
        schemas = {"shop": own}
        for line in file.read_text(encoding="utf-8").split("\n"):
            if line:
                item = json.loads(line)
                name = item.get("pack", "shop")
                schema = schemas.setdefault(name, own) if name in schemas else _schema(file.parent, name)
                schemas[name] = schema
                is_write = bool(item.get("write", "write" in file.stem))
                yield Text(file.stem.replace("_", " "), item["cypher"], schema, _PRINCIPALS[item["as"]], is_write)


def _schema(folder: Path, name: str) -> GraphSchema:
    places = (
        folder / "schemas" / f"{name}.yaml",
        ROOT / "tests" / "packs" / name / "schema.yaml",
        ROOT / "domains" / name / "schema.yaml",
    )
    path = next(path for path in places if path.exists())
    return GraphSchema.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


def _timed_ms(work: Callable[[], object]) -> float:
    """This process's own time in ms: a proof waits for nothing, so whatever else the machine does stays out."""
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def _parsed(text: str) -> None:
    try:
        parse(text)
    except RefusedError:
        return


@dataclass(frozen=True)
class _Times:
    """One text's figures, in ms."""

    allowed: bool
    parsing_ms: list[float]
    uncached_ms: list[float]
    cached_ms: list[float]


def _times(text: Text, runs: int) -> _Times:
    parsing_ms, uncached_ms = [], []
    for run in range(1, runs + 1):
        parsing_ms.append(_timed_ms(partial(_parsed, text.text)))
        uncached_ms.append(_timed_ms(partial(text.prove, " " * run)))
    allowed = text.prove()
    return _Times(allowed, parsing_ms, uncached_ms, [_timed_ms(text.prove) for _ in range(runs)])


def _print_proofs(console: Console, texts: list[Text], runs: int) -> None:
    table = Table(
        *("texts", "number", "allowed", "parsing alone, p50 ms", "uncached proof, p50 ms", "p99 ms"),
        *("proof / parsing (p50)", "cached, p50 µs"),
        title="Proofs",
    )
    groups: dict[str, list[_Times]] = defaultdict(list)
    for text in texts:
        groups[text.group].append(_times(text, runs))
    for name, times in (*groups.items(), ("all", list(chain(*groups.values())))):
        parsing = [value for one in times for value in one.parsing_ms]
        uncached = [value for one in times for value in one.uncached_ms]
        cached = [value for one in times for value in one.cached_ms]
        table.add_row(
            *(name, str(len(times)), str(sum(one.allowed for one in times)), f"{percentile(parsing, 0.5):.2f}"),
            *(f"{percentile(uncached, 0.5):.2f}", f"{percentile(uncached, 0.99):.2f}"),
            *(f"{percentile(uncached, 0.5) / percentile(parsing, 0.5):.2f}", f"{percentile(cached, 0.5) * 1000:.1f}"),
        )
    console.print(table)


@dataclass(frozen=True)
class Shape:
    """A text with ``unit`` (and ``closing``) in it, ``times`` at most."""

    before: str
    unit: str
    closing: str
    after: str
    times: int

    def text(self, times: int) -> str:
        return self.before + self.unit * times + self.closing * times + self.after


def _print_monsters(console: Console, schema: GraphSchema, shapes: dict[str, Shape], runs: int) -> None:
    """Each shape as long as a text may be, and as long as one may be that is still parsed."""
    table = Table(
        *("text", "characters", "verdict", "worst ms", "longest that is parsed", "verdict", "worst ms"),
        title="Texts made to be slow, uncached",
    )
    worst = 0.0
    for name, shape in shapes.items():
        cells = []
        for times in (shape.times, _parsed_times(shape)):
            text = Text(name, shape.text(times), schema, _PRINCIPALS["customer"], write=False)
            worst_ms = max(_timed_ms(partial(_verdict, text, " " * run)) for run in range(1, runs + 1))
            worst = max(worst, worst_ms)
            cells += [str(len(text.text)), _verdict(text), f"{worst_ms:.1f}"]
        table.add_row(name, *cells)
    table.add_row("worst of all", "", "", "", "", "", f"{worst:.1f}")
    console.print(table)


def _verdict(text: Text, padding: str = "") -> str:
    """What the proof says of the text; a proof that fails is a fault of its own, which this table shows."""
    try:
        return "allowed" if text.prove(padding) else "refused"
    except Exception as error:
        return f"FAILED: {type(error).__name__}"


def _parsed_times(shape: Shape) -> int:
    """The most repetitions with which the text is not refused for its length or depth alone, unread."""

    def is_refused_unread(times: int) -> bool:
        try:
            parse(shape.text(times))
        except RefusedError as refused:
            return refused.violation.rule in ("length", "depth")
        return False

    return max(0, bisect_left(range(shape.times + 1), True, key=is_refused_unread) - 1)


def _monsters(label: str, key: str) -> Iterator[tuple[str, Shape]]:
    """Names and shapes, each filled up to nearly the longest that a text may be."""
    anchor = f"(c:{label} {{{key}: $customer_id}})"
    start, end = f"MATCH {anchor} ", f"RETURN c.{key} AS x"

    def filled(before: str, unit: str, after: str, *, closing: str = "") -> Shape:
        """``unit`` as often as there is room; ``closing`` once for each."""
        room = _LONGEST - len(before) - len(after)
        return Shape(before, unit, closing, after, room // (len(unit) + len(closing)))

    where = f"{start}WHERE c.{key} = 'a' "
    yield "nested brackets", filled(f"{start}WHERE ", "(", f"true {end}", closing=")")
    yield "nested brackets, unbalanced", filled(f"{start}WHERE ", "(", f"true {end}")
    yield "nested lists", filled("RETURN ", "[", " AS x", closing="]")
    yield "nested maps", filled("RETURN ", "{a:", "1 AS x", closing="}")
    yield "nested CASE", filled("RETURN ", "CASE WHEN true THEN ", "1 AS x", closing=" END")
    yield "nested EXISTS", filled(f"{start}WHERE ", f"EXISTS {{ MATCH {anchor} WHERE ", f"true {end}", closing="}")
    yield "nested CALL", filled(start, "CALL (c) { ", end, closing="}")
    yield "nested functions", filled("RETURN ", "coalesce(", "1 AS x", closing=")")
    yield "nested comprehensions", filled("RETURN ", "[i IN ", "[1] AS x", closing=" | i]")
    yield "many NOT", filled(f"{start}WHERE ", "NOT ", f"true {end}")
    yield "many signs", filled("RETURN ", "-", "1 AS x")
    yield "OR chain", filled(where, f"OR c.{key} = 'a' ", end)
    yield "AND and XOR chain", filled(where, f"AND c.{key} = 'a' XOR true ", end)
    yield "comparison chain", filled(f"{start}WHERE 1 ", "< 2 ", end)
    yield "sum chain", filled("RETURN 1", " + 1", " AS x")
    yield "power chain", filled("RETURN 1", "^1", " AS x")
    yield "index chain", filled("RETURN [1]", "[0]", " AS x")
    yield "property chain", filled(f"{start}RETURN c", ".a", " AS x")
    yield "long list", filled(f"{start}WHERE c.{key} IN [1", ", 1", f"] {end}")
    yield "list of texts", filled(f"{start}WHERE c.{key} IN ['a'", ", 'a'", f"] {end}")
    yield "many MATCHes", filled("", start, end)
    yield "many OPTIONAL MATCHes", filled(start, f"OPTIONAL MATCH {anchor} ", end)
    yield "many nodes in a pattern", filled("MATCH ", f"{anchor}, ", f"{anchor} {end}")
    yield "long path", filled(f"MATCH {anchor}", "-[:A]->(:B)", f" {end}")
    yield "long path of anything", filled("MATCH ()", "--()", " RETURN 1 AS x")
    yield "many WITHs", filled(start, "WITH c ", end)
    yield "many UNWINDs", filled(start, "UNWIND [1] AS i ", end)
    yield "many columns", filled(f"{start}RETURN 1 AS x", f", c.{key}", "")
    yield "many ORDER BYs", filled(f"{start}{end} ORDER BY x", ", x", "")
    yield "unions", filled(f"{start}{end}", f" UNION {start}{end}", "")
    yield "long CASE", filled(f"{start}RETURN CASE", f" WHEN c.{key} = 'a' THEN 1", " ELSE 0 END AS x")
    yield "map projection", filled(f"{start}RETURN c {{.{key}", f", .{key}", "} AS x")
    yield "many parameters", filled("RETURN $a", " + $a", " AS x")
    yield "one long name", filled("MATCH (", "a", ") RETURN 1 AS x")
    yield "one long text", filled("RETURN '", "a", "' AS x")
    yield "one long text, open", filled("RETURN '", "a\\'", "")
    yield "one long quoted name, open", filled("RETURN `", "``", "")
    yield "one long number", filled("RETURN ", "1", " AS x")
    yield "one long comment", filled(f"{start} //", "a", f"\n{end}")
    yield "one long comment, open", filled(f"{start} /*", "*", "")
    yield "many comments", filled(start, "/**/", end)
    yield "blanks", filled("MATCH", " ", f"{anchor} {end}")
    yield "odd blanks", filled(start, "\u2003", end)
    yield "letters that look like others", filled(start, "\uff2d\uff21\uff34\uff23\uff28 ", end)
    yield "letters of other scripts", filled("RETURN '", "\u0915\u094d\U0001f469\u200d\U0001f680", "' AS x")
    yield "combining marks", filled("RETURN a", "\u0301", " AS x")
    yield "brackets that don't match", filled(start, "([{", end)
    yield "keywords alone", filled("", "MATCH RETURN WITH WHERE ", "")
    yield "arrows alone", filled("MATCH (a)", "<-[]->", "")
    yield "semicolons", filled(f"{start}{end}", ";", "")


if __name__ == "__main__":
    sys.exit(main())
