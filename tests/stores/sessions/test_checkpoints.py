"""Checkpoints: only the lease's holder writes them, an interrupted turn goes on from them, an answered one has none."""

import asyncio
import logging
import operator
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph

from contracts.documents import DocumentGovernance, DocumentStatus, EntityRef, Passage
from contracts.errors import LeaseLostError, StoreError
from contracts.graph import Audience
from contracts.principal import Principal, PrincipalKind
from contracts.sessions import Lease
from contracts.turns import Clause, Entity, Reason, RouteDecision, RouteName, TaskStatus, TaskType, ToolResult
from stores.sessions.checkpoints import FencedSqliteSaver, contract_types
from stores.sessions.sqlite_store import SqliteSessionStore


class State(TypedDict, total=False):
    steps: Annotated[list[str], operator.add]
    decision: RouteDecision
    result: ToolResult
    principal: Principal
    after: list[bool]


DECISION = RouteDecision(
    route=RouteName.KNOWLEDGE,
    confidence=0.5,
    language="en",
    clauses=(
        Clause(
            clause_id="c1",
            text="what by tomorrow?",
            masked="what by day?",
            entities=(
                Entity(slot="day", value=date(2025, 3, 2), text="tomorrow"),
                Entity(slot="word", value="2025-03-02", text="2025-03-02"),
            ),
            vector=b"\x00\x01\xff",
        ),
    ),
)
PASSAGE = Passage(
    passage_id="p1",
    document=DocumentGovernance(
        document_id="d1",
        title="A title",
        version="1",
        language="en",
        status=DocumentStatus.APPROVED,
        audience=Audience.PUBLIC,
        valid_from=date(2025, 1, 1),
        entities=(EntityRef(kind="group", value="one"),),
        source="here",
    ),
    section="A > B",
    ordinal=0,
    text="A sentence.",
    score=0.1,
    similarity=0.2,
    coverage=0.3,
)
RESULT = ToolResult(
    task_id="k1",
    task_type=TaskType.PREDEFINED_QUERY,
    tool="one",
    status=TaskStatus.SUCCESS,
    reason=Reason.OK,
    rows=({"on": date(2025, 3, 2), "at": datetime(2025, 3, 2, 8, tzinfo=UTC), "name": "2025-03-02", "all": [1, 2]},),
    passages=(PASSAGE,),
)
PRINCIPAL = Principal(kind=PrincipalKind.CUSTOMER, subject="ana", customer_id="C1", scopes=frozenset({"chat"}))


@pytest.fixture
async def sessions(tmp_path: Path) -> AsyncIterator[SqliteSessionStore]:
    store = await SqliteSessionStore.open(tmp_path / "sessions.db")
    yield store
    await store.close()


@pytest.fixture
async def saver(tmp_path: Path, sessions: SqliteSessionStore) -> AsyncIterator[FencedSqliteSaver]:
    saver = await FencedSqliteSaver.open(tmp_path / "checkpoints.db", sessions=sessions)
    yield saver
    await saver.close()


@pytest.fixture
async def lease(sessions: SqliteSessionStore) -> Lease:
    lease = await sessions.acquire_lease("s1", "a", 60_000)
    assert lease is not None
    return lease


def config_of(lease: Lease | None, thread_id: str = "t1") -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id} | ({} if lease is None else {"lease": lease})}


def two_steps(saver: FencedSqliteSaver, second: Any) -> Any:
    """A graph whose first node brings the contracts' values, and whose second is given."""

    async def first(_state: State) -> dict[str, Any]:
        return {"steps": ["first"], "decision": DECISION, "result": RESULT, "principal": PRINCIPAL}

    graph = StateGraph(State)
    graph.add_node("first", first)
    graph.add_node("second", second)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph.add_edge("second", END)
    return graph.compile(checkpointer=saver)


async def note(state: State) -> dict[str, Any]:
    return {"steps": ["second"]}


async def crash(state: State) -> dict[str, Any]:
    raise RuntimeError("killed here")


async def rows_of(path: Path, thread_id: str) -> int:
    def count() -> int:
        connection = sqlite3.connect(path)
        try:
            return int(
                connection.execute(
                    "SELECT (SELECT count(*) FROM checkpoints WHERE thread_id = ?1)"
                    " + (SELECT count(*) FROM writes WHERE thread_id = ?1)",
                    (thread_id,),
                ).fetchone()[0]
            )
        finally:
            connection.close()

    return await asyncio.to_thread(count)


async def test_an_interrupted_turn_goes_on_from_the_node_it_had_reached_with_equal_values(
    tmp_path: Path,
    sessions: SqliteSessionStore,
    saver: FencedSqliteSaver,
    lease: Lease,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(RuntimeError, match="killed here"):
        await two_steps(saver, crash).ainvoke({"steps": []}, config_of(lease), durability="sync")
    await sessions.release_lease(lease)
    successor = await sessions.acquire_lease("s1", "b", 60_000)

    with caplog.at_level(logging.WARNING):
        second_saver = await FencedSqliteSaver.open(tmp_path / "checkpoints.db", sessions=sessions)
        done = await two_steps(second_saver, note).ainvoke(None, config_of(successor), durability="sync")
        await second_saver.close()

    assert done["steps"] == ["first", "second"]
    assert (done["decision"], done["result"], done["principal"]) == (DECISION, RESULT, PRINCIPAL)
    assert [type(value) for value in done["result"].rows[0].values()] == [date, datetime, str, list]
    assert [type(entity.value) for entity in done["decision"].clauses[0].entities] == [date, str]
    assert [record.message for record in caplog.records] == []


async def test_who_lost_the_lease_writes_no_checkpoint(
    tmp_path: Path, sessions: SqliteSessionStore, saver: FencedSqliteSaver, lease: Lease
) -> None:
    async def lose_the_lease(_state: State) -> dict[str, Any]:
        await sessions.release_lease(lease)
        assert await sessions.acquire_lease("s1", "b", 60_000) is not None
        before.append(await rows_of(tmp_path / "checkpoints.db", "t1"))
        return {"steps": ["second"]}

    before: list[int] = []
    with pytest.raises(LeaseLostError):
        await two_steps(saver, lose_the_lease).ainvoke({"steps": []}, config_of(lease), durability="sync")
    assert before == [await rows_of(tmp_path / "checkpoints.db", "t1")]


@pytest.mark.parametrize("given", [None, {"session_id": "s1", "holder": "a", "token": 1}])
async def test_a_run_without_a_lease_writes_no_checkpoint(tmp_path: Path, saver: FencedSqliteSaver, given: Any) -> None:
    with pytest.raises(LeaseLostError):
        await two_steps(saver, note).ainvoke({"steps": []}, config_of(given), durability="sync")
    assert await rows_of(tmp_path / "checkpoints.db", "t1") == 0


async def test_an_answered_turns_checkpoints_are_deleted_and_no_others(
    tmp_path: Path, saver: FencedSqliteSaver, lease: Lease
) -> None:
    for thread_id in ("t1", "t2"):
        await two_steps(saver, note).ainvoke({"steps": []}, config_of(lease, thread_id), durability="sync")
    kept = await rows_of(tmp_path / "checkpoints.db", "t2")
    assert kept > 0
    await saver.prune("t1")
    assert await rows_of(tmp_path / "checkpoints.db", "t1") == 0
    assert await rows_of(tmp_path / "checkpoints.db", "t2") == kept


async def test_a_write_that_is_cancelled_half_way_leaves_the_file_unlocked(
    tmp_path: Path, saver: FencedSqliteSaver, lease: Lease
) -> None:
    config = config_of(lease)
    config["configurable"] |= {"checkpoint_ns": "", "checkpoint_id": "c1"}
    other = sqlite3.connect(tmp_path / "checkpoints.db", isolation_level=None, timeout=3)
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(saver.aput_writes(config, [("steps", ["first"])], "task"))
    await asyncio.sleep(0.1)  # the statement now waits for the other's lock, its commit is yet to come
    writing.cancel()
    other.execute("ROLLBACK")
    await asyncio.gather(writing, return_exceptions=True)
    await asyncio.sleep(0.3)  # the statement has got the lock meanwhile
    other.execute("BEGIN IMMEDIATE")
    other.close()


async def test_only_types_of_the_contracts_are_revived(saver: FencedSqliteSaver) -> None:
    allowed = contract_types()
    assert ("contracts.turns", "RouteDecision") in allowed
    assert ("contracts.turns", "TaskStatus") in allowed
    assert all(module.startswith("contracts.") for module, _ in allowed)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path, sessions: SqliteSessionStore) -> None:
    (tmp_path / "checkpoints.db").write_text("these are no checkpoints" * 100)
    with pytest.raises(StoreError):
        await FencedSqliteSaver.open(tmp_path / "checkpoints.db", sessions=sessions)
