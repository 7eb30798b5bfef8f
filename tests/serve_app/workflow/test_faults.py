"""What happens when a part fails, is slow or is gone: every turn ends, in time, in a safe reply or a problem."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from contracts.errors import BusyError, OutOfTimeError, StoreError, UnavailableError
from contracts.principal import Principal
from contracts.records import Handover
from contracts.sessions import TurnStatus
from contracts.turns import Reason
from stores.records.sql_store import SqlRecordsStore
from tests.serve_app.workflow.conftest import (
    Listener,
    Replica,
    StartReplica,
    fails_with,
    reply_of,
    runs_out_of_time,
)

SECRET = "10.0.0.7:7687 refused"
WHERE = "Where is order 11568?"


@pytest.mark.parametrize("part", ["plan", "compose"])
@pytest.mark.parametrize(
    "error", [UnavailableError(SECRET), OutOfTimeError(SECRET), BusyError(SECRET)], ids=lambda error: error.code
)
async def test_without_planner_or_summarizer_the_turn_is_answered_all_the_same(
    replica: Replica, maya: Principal, part: str, error: Exception
) -> None:
    replica.parts.before[part] = fails_with(error)
    reply = reply_of(await replica.ask(WHERE, maya))
    assert "has been shipped" in reply.text
    assert replica.parts.calls[part] == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (UnavailableError(SECRET), Reason.UNAVAILABLE),
        (StoreError(SECRET), Reason.UNAVAILABLE),
        (OutOfTimeError(SECRET), Reason.TIMEOUT),
        (ZeroDivisionError(SECRET), Reason.UNAVAILABLE),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_tool_that_fails_is_told_of_without_internals_beside_what_worked(
    replica: Replica, maya: Principal, error: Exception, reason: Reason
) -> None:
    replica.parts.before["query"] = fails_with(error)
    reply = reply_of(await replica.ask(f"{WHERE} And what does standard shipping cost?", maya))
    by_tool = {part.tool: part.reason for part in reply.parts}
    assert by_tool == {"order_status": reason, "documents": Reason.OK}
    assert {source.kind for source in reply.sources} == {"document"}
    for internal in (SECRET, "order_status", "Error", "cypher"):
        assert internal not in reply.text


async def test_what_depends_on_a_failed_tool_is_told_to_be_missing(replica: Replica, maya: Principal) -> None:
    replica.parts.before["query"] = fails_with(UnavailableError(SECRET))
    reply = reply_of(await replica.ask("what does the warranty of order 11568 cover?", maya))
    assert {part.reason for part in reply.parts} == {Reason.UNAVAILABLE, Reason.DEPENDENCY_FAILED}
    assert reply.sources == ()
    assert replica.parts.calls["search"] == 0


async def test_a_slow_tool_leaves_time_to_say_so(start_replica: StartReplica, maya: Principal) -> None:
    replica = await start_replica(turn_ms=2_200)
    replica.parts.before["query"] = runs_out_of_time
    reply = reply_of(await replica.ask(WHERE, maya))
    assert [part.reason for part in reply.parts] == [Reason.TIMEOUT]
    assert "took too long" in reply.text
    assert "shelf" not in reply.text


async def test_a_turn_that_hangs_ends_in_a_problem_when_its_time_is_over(
    start_replica: StartReplica, maya: Principal
) -> None:
    async def hang(*_: Any) -> None:
        await asyncio.Event().wait()

    replica = await start_replica(turn_ms=1_000)
    replica.parts.before["read"] = hang
    async with asyncio.timeout(15):
        outcome = await replica.ask(WHERE, maya)
    assert (outcome.http_status, outcome.body["type"]) == (504, "/problems/out-of-time")
    assert outcome.body["repeatable"] is True
    turn = await replica.sessions.get_turn(outcome.turn_id, maya.owner)
    assert turn.status is TurnStatus.FAILED


async def test_a_message_that_nobody_can_read_is_a_problem_and_its_repeat_is_answered(
    replica: Replica, maya: Principal
) -> None:
    replica.parts.before["read"] = fails_with(UnavailableError("The router is restarting."))
    failed = await replica.ask(WHERE, maya, key="k1")
    assert (failed.http_status, failed.body["type"]) == (503, "/problems/unavailable")
    del replica.parts.before["read"]
    again = await replica.ask(WHERE, maya, key="k1")
    assert "has been shipped" in reply_of(again).text
    assert (again.turn_id, again.session_id) == (failed.turn_id, failed.session_id)
    kept = await replica.ask(WHERE, maya, key="k1")
    assert kept == again
    assert replica.parts.calls["read"] == 2
    state = await replica.sessions.get_session(again.session_id, maya.owner)
    assert [exchange.turn_id for exchange in state.history] == [again.turn_id]


async def test_an_error_of_our_own_making_ends_the_turn_and_tells_nothing(replica: Replica, maya: Principal) -> None:
    replica.parts.before["read"] = fails_with(ZeroDivisionError(SECRET))
    outcome = await replica.ask(WHERE, maya)
    assert (outcome.http_status, outcome.body["type"]) == (500, "/problems/internal")
    assert SECRET not in str(outcome.body)
    assert (await replica.sessions.get_turn(outcome.turn_id, maya.owner)).status is TurnStatus.FAILED
    del replica.parts.before["read"]
    after = await replica.ask(WHERE, maya, session_id=outcome.session_id)
    assert "has been shipped" in reply_of(after).text


@pytest.mark.parametrize("fault", [None, "read"])
async def test_a_finished_turn_that_nobody_can_repeat_leaves_no_checkpoints(
    replica: Replica, maya: Principal, fault: str | None
) -> None:
    if fault is not None:
        replica.parts.before[fault] = fails_with(UnavailableError("Down."))
    outcome = await replica.ask(WHERE, maya)
    assert await replica.saver.aget_tuple({"configurable": {"thread_id": outcome.turn_id}}) is None


async def test_a_handover_is_named_only_as_it_stands_in_the_database(
    replica: Replica, maya: Principal, tmp_path: Path
) -> None:
    reply = reply_of(await replica.ask("let me talk to a person please", maya))
    assert reply.handover_id is not None
    assert reply.handover_id in reply.text
    reader = await SqlRecordsStore.open(f"sqlite+aiosqlite:///{tmp_path / 'records.sqlite'}")
    try:
        (row,) = await reader.list_handovers()
    finally:
        await reader.close()
    assert (row.handover_id, row.customer_id, row.owner) == (reply.handover_id, "C0001", maya.owner)
    assert row.message == "let me talk to a person please"


class BrokenRecords(SqlRecordsStore):
    """The real store, of which one method fails."""

    broken = ""

    async def add_handover(self, handover: Handover) -> Handover:
        if self.broken == "add_handover":
            raise StoreError(SECRET)
        return await super().add_handover(handover)

    async def get_handover(self, handover_id: str) -> Handover:
        if self.broken == "get_handover":
            raise StoreError(SECRET)
        return await super().get_handover(handover_id)


@pytest.mark.parametrize("broken", ["add_handover", "get_handover"])
async def test_a_handover_that_was_not_committed_and_read_back_is_not_named(
    start_replica: StartReplica, maya: Principal, tmp_path: Path, broken: str
) -> None:
    records = await BrokenRecords.open(f"sqlite+aiosqlite:///{tmp_path / 'records.sqlite'}")
    records.broken = broken
    replica = await start_replica(records=records)
    reply = reply_of(await replica.ask(f"{WHERE} And let me talk to a person.", maya))
    assert reply.handover_id is None
    assert "could not pass your request on" in reply.text
    assert "has been shipped" in reply.text
    for claimed in ("have passed", "H-", SECRET):
        assert claimed not in reply.text


async def test_a_reply_that_leaves_a_request_out_is_not_released(replica: Replica, maya: Principal) -> None:
    compose = replica.parts._parts.compose

    async def forgetful(*arguments: Any) -> Any:
        reply = await compose(*arguments)
        return reply.model_copy(update={"parts": reply.parts[:1], "sentences": reply.sentences[:1]})

    class Forgetful:
        def __getattr__(self, name: str) -> Any:
            return forgetful if name == "compose" else getattr(replica.parts._parts, name)

    replica.service._parts = Forgetful()  # type: ignore[assignment]
    listener = Listener()
    reply = reply_of(await replica.ask(f"{WHERE} And was it paid?", maya, emit=listener))
    assert {part.clause_id for part in reply.parts} == {"c1", "c2"}
    told = [event.data["text"] for event in listener.events if event.event.value == "sentence"]
    assert told == [sentence.text for sentence in reply.sentences]
