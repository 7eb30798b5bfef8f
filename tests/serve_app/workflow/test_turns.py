"""One message, one turn, once: whoever repeats it, however many ask at once, and whatever dies meanwhile."""

import asyncio

import pytest

from contracts.errors import ConflictError, LeaseLostError, OutOfTimeError
from contracts.principal import Principal
from contracts.sessions import TurnStatus
from tests.serve_app.workflow.conftest import Gate, Replica, StartReplica, reply_of

WHERE = "Where is order 11568?"


async def test_a_repeat_under_its_key_gets_the_same_answer_of_the_same_turn(replica: Replica, maya: Principal) -> None:
    first = await replica.ask(WHERE, maya, key="k1")
    assert await replica.ask(WHERE, maya, key="k1") == first
    assert replica.parts.calls["read"] == 1
    assert len(await replica.sessions.list_turns(first.session_id, maya.owner, limit=9)) == 1


async def test_without_a_key_the_same_message_is_another_turn(replica: Replica, maya: Principal) -> None:
    first = await replica.ask(WHERE, maya)
    second = await replica.ask(WHERE, maya, session_id=first.session_id)
    assert first.turn_id != second.turn_id


async def test_a_key_with_another_body_is_a_conflict(replica: Replica, maya: Principal) -> None:
    first = await replica.ask(WHERE, maya, key="k1")
    for session_id in (None, first.session_id):
        with pytest.raises(ConflictError):
            await replica.ask("Where is order 10566?", maya, key="k1", session_id=session_id)


async def test_two_customers_keys_have_nothing_to_do_with_each_other(
    replica: Replica, maya: Principal, farah: Principal
) -> None:
    hers = await replica.ask(WHERE, maya, key="k1")
    other = await replica.ask("Where is order 11251?", farah, key="k1")
    assert hers.session_id != other.session_id
    assert "11251" in reply_of(other).text


async def test_many_repeats_at_once_on_two_replicas_run_the_turn_once(
    start_replica: StartReplica, maya: Principal
) -> None:
    replicas = [await start_replica(), await start_replica()]
    outcomes = await asyncio.gather(*(replicas[number % 2].ask(WHERE, maya, key="k1") for number in range(6)))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert "has been shipped" in reply_of(outcomes[0]).text
    assert sum(one.parts.calls["read"] for one in replicas) == 1


async def test_a_sessions_messages_run_one_after_another_on_whichever_replica(
    start_replica: StartReplica, maya: Principal
) -> None:
    first_replica, second_replica = await start_replica(), await start_replica()
    session_id = (await first_replica.ask("hello", maya)).session_id
    gate = Gate()
    first_replica.parts.before["compose"] = gate
    first = asyncio.create_task(first_replica.ask(WHERE, maya, session_id=session_id))
    await gate.reached.wait()
    second = asyncio.create_task(second_replica.ask("was it paid?", maya, session_id=session_id))
    await asyncio.sleep(0.2)
    assert second_replica.parts.calls["read"] == 0
    gate.opened.set()
    # The second knows what the first spoke of.
    assert "The payment for order 11568" in reply_of(await second).text
    assert "has been shipped" in reply_of(await first).text
    state = await first_replica.sessions.get_session(session_id, maya.owner)
    assert [exchange.message for exchange in state.history] == ["hello", WHERE, "was it paid?"]


async def test_two_sessions_do_not_wait_for_each_other(replica: Replica, maya: Principal, farah: Principal) -> None:
    gate = Gate()
    replica.parts.before["compose"] = gate
    first = asyncio.create_task(replica.ask(WHERE, maya))
    await gate.reached.wait()
    del replica.parts.before["compose"]
    assert "11251" in reply_of(await replica.ask("Where is order 11251?", farah)).text
    gate.opened.set()
    assert "has been shipped" in reply_of(await first).text


async def test_waiting_for_an_earlier_message_spends_the_turns_own_time(
    start_replica: StartReplica, maya: Principal
) -> None:
    patient, hasty = await start_replica(), await start_replica(turn_ms=1_000)
    session_id = (await patient.ask("hello", maya)).session_id
    gate = Gate()
    patient.parts.before["read"] = gate
    first = asyncio.create_task(patient.ask(WHERE, maya, session_id=session_id))
    await gate.reached.wait()
    with pytest.raises(OutOfTimeError):
        await hasty.ask("was it paid?", maya, session_id=session_id, key="k2")
    gate.opened.set()
    await first
    assert "The payment" in reply_of(await hasty.ask("was it paid?", maya, session_id=session_id, key="k2")).text


@pytest.mark.parametrize(
    ("reached", "asked_again"),
    [
        ("read", {"read", "plan", "query", "compose"}),
        ("plan", {"plan", "query", "compose"}),
        ("query", {"query", "compose"}),
        ("compose", {"compose"}),
    ],
)
async def test_a_turn_whose_replica_died_goes_on_where_it_was_when_it_is_asked_again(
    start_replica: StartReplica, maya: Principal, reached: str, asked_again: set[str]
) -> None:
    first, second = await start_replica(lease_ttl_ms=500), await start_replica()
    gate = Gate()
    first.parts.before[reached] = gate
    lost = asyncio.create_task(first.ask(WHERE, maya, key="k1"))
    await gate.reached.wait()
    await first.die(lost)
    (session,) = await second.sessions.list_sessions(maya.owner, limit=9)
    (left,) = await second.sessions.list_turns(session.session_id, maya.owner, limit=9)
    assert left.status is TurnStatus.RUNNING

    outcome = await second.ask(WHERE, maya, key="k1")
    assert outcome.turn_id == left.turn_id
    assert "has been shipped" in reply_of(outcome).text
    assert set(second.parts.calls) == asked_again
    assert set(second.parts.calls.values()) == {1}


async def test_a_handover_is_made_once_though_its_turn_was_run_twice(
    start_replica: StartReplica, maya: Principal
) -> None:
    first, second = await start_replica(lease_ttl_ms=500), await start_replica()
    kept = first.records.get_handover
    gate = Gate()

    async def stopped(handover_id: str) -> object:
        await gate()
        return await kept(handover_id)

    first.records.get_handover = stopped  # type: ignore[method-assign,assignment]
    message = "let me talk to a person please"
    lost = asyncio.create_task(first.ask(message, maya, key="k1"))
    await gate.reached.wait()
    await first.die(lost)
    reply = reply_of(await second.ask(message, maya, key="k1"))
    (row,) = await second.records.list_handovers()
    assert reply.handover_id == row.handover_id


async def test_a_turn_whose_replica_died_is_void_when_a_newer_message_comes_first(
    start_replica: StartReplica, maya: Principal
) -> None:
    first, second = await start_replica(lease_ttl_ms=500), await start_replica()
    session_id = (await first.ask("hello", maya)).session_id
    gate = Gate()
    first.parts.before["query"] = gate
    lost = asyncio.create_task(first.ask(WHERE, maya, session_id=session_id, key="k1"))
    await gate.reached.wait()
    await first.die(lost)

    newer = await second.ask("Where is order 10566?", maya, session_id=session_id)
    assert "10566" in reply_of(newer).text
    repeat = await second.ask(WHERE, maya, session_id=session_id, key="k1")
    assert (repeat.http_status, repeat.body["type"]) == (409, "/problems/turn-voided")
    assert second.parts.calls["query"] == 1
    state = await second.sessions.get_session(session_id, maya.owner)
    assert [exchange.message for exchange in state.history] == ["hello", "Where is order 10566?"]
    assert await second.saver.aget_tuple({"configurable": {"thread_id": repeat.turn_id}}) is None


async def test_a_replica_that_hung_and_was_overtaken_writes_nothing_more(
    start_replica: StartReplica, maya: Principal
) -> None:
    hung, second = await start_replica(lease_ttl_ms=500), await start_replica()
    gate = Gate()
    hung.parts.before["compose"] = gate
    late = asyncio.create_task(hung.ask(WHERE, maya, key="k1"))
    await gate.reached.wait()
    hung.sessions.is_gone = True
    answered = await second.ask(WHERE, maya, key="k1")
    gate.opened.set()
    with pytest.raises(LeaseLostError):
        await late
    assert await second.ask(WHERE, maya, key="k1") == answered
    state = await second.sessions.get_session(answered.session_id, maya.owner)
    assert [exchange.turn_id for exchange in state.history] == [answered.turn_id]


async def test_a_lease_is_kept_for_as_long_as_its_turn_runs(start_replica: StartReplica, maya: Principal) -> None:
    first, second = await start_replica(lease_ttl_ms=500), await start_replica(turn_ms=1_500)
    session_id = (await first.ask("hello", maya)).session_id
    gate = Gate()
    first.parts.before["compose"] = gate
    slow = asyncio.create_task(first.ask(WHERE, maya, session_id=session_id))
    await gate.reached.wait()
    with pytest.raises(OutOfTimeError):
        await second.ask("was it paid?", maya, session_id=session_id)
    gate.opened.set()
    assert "has been shipped" in reply_of(await slow).text


async def test_a_caller_that_goes_away_leaves_the_session_free_at_once(replica: Replica, maya: Principal) -> None:
    session_id = (await replica.ask("hello", maya)).session_id
    gate = Gate()
    replica.parts.before["query"] = gate
    gone = asyncio.create_task(replica.ask(WHERE, maya, session_id=session_id, key="k1"))
    await gate.reached.wait()
    gone.cancel()
    await asyncio.wait([gone])
    assert gone.cancelled()
    lease = await replica.sessions.acquire_lease(session_id, "somebody", 1_000)
    assert lease is not None
    await replica.sessions.release_lease(lease)
    del replica.parts.before["query"]
    assert "has been shipped" in reply_of(await replica.ask(WHERE, maya, session_id=session_id, key="k1")).text
