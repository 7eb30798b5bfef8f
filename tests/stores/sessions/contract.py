"""What every session store must do. A new implementation subclasses this and gives the two fixtures.

``store``: an open, empty store. ``let_pass``: an async function that lets so many milliseconds pass for leases.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta

import pytest

from contracts.errors import ConflictError, LeaseLostError, NotFoundError
from contracts.sessions import Exchange, Lease, OpenQuestion, SessionState, SessionStore, TurnRecord, TurnStatus
from contracts.turns import Entity, MissingSlot

OWNER, OTHER = "customer:ana", "customer:ben"
NOON = datetime(2025, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)

LetPass = Callable[[int], Awaitable[None]]


def session(session_id: str = "s1", owner: str = OWNER, *, minutes: int = 0) -> SessionState:
    at = NOON + timedelta(minutes=minutes)
    return SessionState(session_id=session_id, owner=owner, created_at=at, updated_at=at)


def turn(turn_id: str = "t1", *, session_id: str = "s1", owner: str = OWNER, key: str | None = None) -> TurnRecord:
    return TurnRecord(
        turn_id=turn_id,
        session_id=session_id,
        owner=owner,
        idempotency_key=key,
        fingerprint="f1",
        message="where is it?",
        status=TurnStatus.RECEIVED,
        received_at=NOON,
    )


async def lease_of(store: SessionStore, holder: str = "a", session_id: str = "s1") -> Lease:
    lease = await store.acquire_lease(session_id, holder, 10_000)
    assert lease is not None
    return lease


async def finish(
    store: SessionStore, lease: Lease, turn_id: str = "t1", state: SessionState | None = None, text: str = "done"
) -> TurnRecord:
    return await store.finish_turn(
        lease,
        turn_id,
        status=TurnStatus.ANSWERED,
        http_status=200,
        result={"text": text},
        at=NOON + timedelta(seconds=1),
        state=state,
    )


class SessionStoreContract:
    async def test_a_session_comes_back_as_it_was_kept(self, store: SessionStore) -> None:
        state = SessionState(
            session_id="s1",
            owner=OWNER,
            created_at=NOON,
            updated_at=NOON,
            locale="pt",
            desk="returning",
            history=(Exchange(turn_id="t0", at=NOON, message="olá 🙂", reply="Olá!"),),
            entities=(
                Entity(slot="day", value=date(2025, 3, 2), text="tomorrow", start=3, end=11),
                Entity(slot="moment", value=datetime(2025, 3, 2, 8, 30, tzinfo=UTC), text="8:30"),
                Entity(slot="looks_like_a_day", value="2025-03-02", text="2025-03-02"),
                Entity(slot="number", value=12, text="12"),
                Entity(slot="amount", value=12.0, text="12.00"),
                Entity(slot="flag", value=True, text="yes", origin="session"),
            ),
            open_question=OpenQuestion(
                missing=MissingSlot(clause_id="c1", tool="query:x", slot="number"), clause_text="where is my {number}"
            ),
            handover_id="h1",
        )
        await store.create_session(state)
        kept = await store.get_session("s1", OWNER)
        assert kept == state
        assert [type(entity.value) for entity in kept.entities] == [date, datetime, str, int, float, bool]

    async def test_a_session_id_is_given_once(self, store: SessionStore) -> None:
        await store.create_session(session())
        with pytest.raises(ConflictError):
            await store.create_session(session(owner=OTHER))
        assert (await store.get_session("s1", OWNER)).owner == OWNER

    async def test_another_owners_sessions_and_turns_are_not_there(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn())
        with pytest.raises(NotFoundError):
            await store.get_session("s1", OTHER)
        with pytest.raises(NotFoundError):
            await store.end_session("s1", OTHER, NOON)
        with pytest.raises(NotFoundError):
            await store.get_turn("t1", OTHER)
        with pytest.raises(NotFoundError):
            await store.list_turns("s1", OTHER, limit=10)
        with pytest.raises(NotFoundError):
            await store.receive_turn(turn("t2", owner=OTHER))
        assert await store.list_sessions(OTHER, limit=10) == []

    async def test_what_does_not_exist_is_not_found(self, store: SessionStore) -> None:
        with pytest.raises(NotFoundError):
            await store.get_session("nope", OWNER)
        with pytest.raises(NotFoundError):
            await store.get_turn("nope", OWNER)
        with pytest.raises(NotFoundError):
            await store.receive_turn(turn(session_id="nope"))

    async def test_sessions_are_listed_latest_update_first_in_pages(self, store: SessionStore) -> None:
        for number in range(5):
            await store.create_session(session(f"s{number}", minutes=number))
        await store.create_session(session("others", OTHER, minutes=9))
        first = await store.list_sessions(OWNER, limit=2)
        assert [state.session_id for state in first] == ["s4", "s3"]
        rest = await store.list_sessions(OWNER, limit=9, before=first[-1].updated_at)
        assert [state.session_id for state in rest] == ["s2", "s1", "s0"]

    async def test_an_ended_session_stays_as_it_was_when_ended_again(self, store: SessionStore) -> None:
        await store.create_session(session())
        ended = await store.end_session("s1", OWNER, NOON + timedelta(hours=1))
        assert ended.ended_at == NOON + timedelta(hours=1)
        assert await store.end_session("s1", OWNER, NOON + timedelta(hours=2)) == ended
        assert await store.get_session("s1", OWNER) == ended

    async def test_an_ended_session_takes_no_new_turn_but_knows_its_old_ones(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn("t1", key="k1"))
        await store.end_session("s1", OWNER, NOON)
        with pytest.raises(ConflictError):
            await store.receive_turn(turn("t2", key="k2"))
        assert (await store.receive_turn(turn("t3", key="k1"))).turn_id == "t1"

    async def test_a_session_ended_during_a_turn_stays_ended_when_the_turn_commits(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn())
        lease = await lease_of(store)
        state = await store.get_session("s1", OWNER)
        await store.end_session("s1", OWNER, NOON + timedelta(seconds=5))
        await finish(store, lease, state=state.model_copy(update={"desk": "returning"}))
        kept = await store.get_session("s1", OWNER)
        assert (kept.desk, kept.ended_at) == ("returning", NOON + timedelta(seconds=5))

    async def test_a_repeated_key_returns_the_kept_turn(self, store: SessionStore) -> None:
        await store.create_session(session())
        first = await store.receive_turn(turn("t1", key="k1"))
        assert first == turn("t1", key="k1")
        assert await store.receive_turn(turn("t2", key="k1")) == first
        assert [kept.turn_id for kept in await store.list_turns("s1", OWNER, limit=9)] == ["t1"]

    async def test_a_repeated_key_returns_the_answer_once_there_is_one(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn("t1", key="k1"))
        answered = await finish(store, await lease_of(store))
        assert await store.receive_turn(turn("t2", key="k1")) == answered
        assert answered.result == {"text": "done"}

    async def test_a_key_repeated_with_another_body_is_a_conflict(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn("t1", key="k1"))
        with pytest.raises(ConflictError):
            await store.receive_turn(turn("t2", key="k1").model_copy(update={"fingerprint": "f2"}))

    async def test_two_owners_may_use_the_same_key(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.create_session(session("s2", OTHER))
        await store.receive_turn(turn("t1", key="k1"))
        second = await store.receive_turn(turn("t2", session_id="s2", owner=OTHER, key="k1"))
        assert second.turn_id == "t2"

    async def test_turns_without_a_key_are_all_kept(self, store: SessionStore) -> None:
        await store.create_session(session())
        for number in range(3):
            await store.receive_turn(turn(f"t{number}"))
        assert len(await store.list_turns("s1", OWNER, limit=9)) == 3

    async def test_the_latest_turns_are_listed_oldest_first(self, store: SessionStore) -> None:
        await store.create_session(session())
        for number in range(5):
            await store.receive_turn(turn(f"t{number}"))
        assert [kept.turn_id for kept in await store.list_turns("s1", OWNER, limit=3)] == ["t2", "t3", "t4"]

    async def test_a_lease_is_held_by_one_until_it_is_released(self, store: SessionStore) -> None:
        first = await lease_of(store, "a")
        assert await store.acquire_lease("s1", "b", 10_000) is None
        await store.release_lease(first)
        second = await lease_of(store, "b")
        assert second.token > first.token

    async def test_leases_of_two_sessions_have_nothing_to_do_with_each_other(self, store: SessionStore) -> None:
        await lease_of(store, "a", "s1")
        assert (await lease_of(store, "b", "s2")).session_id == "s2"

    async def test_the_lease_of_a_holder_that_died_is_free_after_its_time(
        self, store: SessionStore, let_pass: LetPass
    ) -> None:
        first = await store.acquire_lease("s1", "dead", 500)
        assert first is not None
        await let_pass(400)
        assert await store.acquire_lease("s1", "b", 10_000) is None
        await let_pass(200)
        second = await lease_of(store, "b")
        assert second.token > first.token
        with pytest.raises(LeaseLostError):
            await store.check_lease(first)

    async def test_a_renewed_lease_lasts_longer(self, store: SessionStore, let_pass: LetPass) -> None:
        lease = await store.acquire_lease("s1", "a", 500)
        assert lease is not None
        await let_pass(400)
        await store.renew_lease(lease, 1_000)
        await let_pass(400)
        assert await store.acquire_lease("s1", "b", 10_000) is None
        await store.check_lease(lease)

    async def test_a_lost_lease_can_not_be_renewed_and_is_released_silently(
        self, store: SessionStore, let_pass: LetPass
    ) -> None:
        lost = await store.acquire_lease("s1", "a", 100)
        assert lost is not None
        await let_pass(200)
        current = await lease_of(store, "b")
        with pytest.raises(LeaseLostError):
            await store.renew_lease(lost, 10_000)
        await store.release_lease(lost)
        await store.check_lease(current)
        assert await store.acquire_lease("s1", "c", 10_000) is None

    async def test_a_released_lease_writes_nothing_more(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn())
        lease = await lease_of(store)
        await store.release_lease(lease)
        with pytest.raises(LeaseLostError):
            await finish(store, lease)

    async def test_a_lease_taken_anew_by_its_holder_makes_the_older_token_stale(self, store: SessionStore) -> None:
        older = await lease_of(store, "a")
        newer = await lease_of(store, "a")
        assert newer.token > older.token
        with pytest.raises(LeaseLostError):
            await store.check_lease(older)

    async def test_a_started_turn_is_unfinished_until_it_is_answered(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn("t1"))
        await store.receive_turn(turn("t2"))
        lease = await lease_of(store)
        assert await store.unfinished_turns("s1") == []
        started = await store.start_turn("t1", lease)
        assert (started.status, started.lease_token) == (TurnStatus.RUNNING, lease.token)
        assert await store.unfinished_turns("s1") == [started]
        await finish(store, lease)
        assert await store.unfinished_turns("s1") == []

    async def test_the_answer_and_the_state_are_committed_together(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn())
        lease = await lease_of(store)
        await store.start_turn("t1", lease)
        new_state = session().model_copy(update={"desk": "returning", "updated_at": NOON + timedelta(minutes=1)})
        answered = await finish(store, lease, state=new_state)
        assert answered.status is TurnStatus.ANSWERED
        assert (answered.http_status, answered.answered_at) == (200, NOON + timedelta(seconds=1))
        assert await store.get_turn("t1", OWNER) == answered
        assert await store.get_session("s1", OWNER) == new_state

    async def test_a_stale_token_commits_neither_answer_nor_state(self, store: SessionStore, let_pass: LetPass) -> None:
        await store.create_session(session())
        await store.receive_turn(turn())
        stale = await store.acquire_lease("s1", "a", 100)
        assert stale is not None
        running = await store.start_turn("t1", stale)
        await let_pass(200)
        current = await lease_of(store, "b")
        with pytest.raises(LeaseLostError):
            await finish(store, stale, state=session().model_copy(update={"desk": "stolen"}))
        with pytest.raises(LeaseLostError):
            await store.start_turn("t1", stale)
        assert await store.get_turn("t1", OWNER) == running
        assert await store.get_session("s1", OWNER) == session()
        assert (await finish(store, current)).status is TurnStatus.ANSWERED

    async def test_a_lease_that_ran_out_but_was_not_taken_may_still_commit(
        self, store: SessionStore, let_pass: LetPass
    ) -> None:
        await store.create_session(session())
        await store.receive_turn(turn())
        lease = await store.acquire_lease("s1", "a", 100)
        assert lease is not None
        await let_pass(200)
        assert (await finish(store, lease)).status is TurnStatus.ANSWERED

    async def test_an_answer_is_given_once(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn())
        lease = await lease_of(store)
        first = await finish(store, lease, text="first")
        again = await finish(store, lease, text="second", state=session().model_copy(update={"desk": "second"}))
        assert again == first
        assert await store.get_turn("t1", OWNER) == first
        assert (await store.get_session("s1", OWNER)).desk is None
        assert await store.start_turn("t1", lease) == first

    async def test_a_failed_turn_is_run_again_and_then_answered(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn(key="k1"))
        first = await lease_of(store, "a")
        await store.start_turn("t1", first)
        failed = await store.finish_turn(
            first, "t1", status=TurnStatus.FAILED, http_status=503, result={"code": "down"}, at=NOON, state=None
        )
        assert (failed.status, failed.http_status, failed.result) == (TurnStatus.FAILED, 503, {"code": "down"})
        assert await store.receive_turn(turn("t2", key="k1")) == failed
        assert await store.unfinished_turns("s1") == []
        await store.release_lease(first)

        second = await lease_of(store, "b")
        again = await store.start_turn("t1", second)
        assert (again.status, again.lease_token) == (TurnStatus.RUNNING, second.token)
        assert (again.http_status, again.result, again.answered_at) == (None, None, None)
        assert await store.get_turn("t1", OWNER) == again
        assert await store.unfinished_turns("s1") == [again]
        answered = await finish(store, second)
        assert (answered.status, answered.result) == (TurnStatus.ANSWERED, {"text": "done"})
        assert await store.get_turn("t1", OWNER) == answered

    async def test_a_turn_that_failed_stays_so_unless_it_is_started_again(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn())
        lease = await lease_of(store)
        failed = await store.finish_turn(
            lease, "t1", status=TurnStatus.FAILED, http_status=504, result={"code": "late"}, at=NOON, state=None
        )
        assert await finish(store, lease) == failed
        with pytest.raises(LeaseLostError):
            await store.start_turn("t1", lease.model_copy(update={"token": lease.token + 1}))
        assert await store.get_turn("t1", OWNER) == failed

    async def test_a_voided_turn_keeps_its_problem(self, store: SessionStore) -> None:
        await store.create_session(session())
        await store.receive_turn(turn())
        lease = await lease_of(store)
        await store.start_turn("t1", lease)
        voided = await store.finish_turn(
            lease, "t1", status=TurnStatus.VOIDED, http_status=409, result={"code": "turn-voided"}, at=NOON, state=None
        )
        assert (voided.status, voided.http_status) == (TurnStatus.VOIDED, 409)
        assert await store.unfinished_turns("s1") == []
        assert await store.get_turn("t1", OWNER) == voided
        assert await store.start_turn("t1", lease) == voided

    async def test_a_lease_writes_to_its_own_session_alone(self, store: SessionStore) -> None:
        await store.create_session(session("s1"))
        await store.create_session(session("s2"))
        await store.receive_turn(turn("t1", session_id="s1"))
        await store.receive_turn(turn("t2", session_id="s2"))
        lease = await lease_of(store, session_id="s1")
        with pytest.raises(NotFoundError):
            await store.start_turn("t2", lease)
        with pytest.raises(NotFoundError):
            await finish(store, lease, "t2")
        with pytest.raises(NotFoundError):
            await finish(store, lease, "t1", state=session("s2").model_copy(update={"desk": "wrong"}))
        assert (await store.get_turn("t1", OWNER)).status is TurnStatus.RECEIVED
        assert (await store.get_session("s2", OWNER)).desk is None

    async def test_a_second_close_does_nothing(self, store: SessionStore) -> None:
        await store.close()
        await store.close()
