"""What every records store must do. A new implementation subclasses this and gives the two fixtures.

``store``: an open, empty store. ``other``: a second connection to the same records, as another replica has.
"""

import asyncio
from datetime import UTC, datetime, timedelta, timezone

import pytest

from contracts.errors import NotFoundError, StoreError
from contracts.records import Handover, HandoverStatus, RecordsStore

NOON = datetime(2025, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)


def handover(number: int = 1, *, turn_id: str | None = None, desk: str = "service", minutes: int = 0) -> Handover:
    return Handover(
        handover_id=f"h{number}",
        turn_id=turn_id or f"t{number}",
        session_id="s1",
        owner="customer:ana",
        customer_id="C1",
        desk=desk,
        reason="asked for a person",
        message="Ich möchte mit jemandem sprechen 🙂",
        summary="Zoë's “parcel” is late; nothing else.\nSecond line.",
        status=HandoverStatus.DELIVERED,
        requested_at=NOON + timedelta(minutes=minutes),
    )


class RecordsStoreContract:
    async def test_a_handover_is_read_back_as_it_was_added(self, store: RecordsStore, other: RecordsStore) -> None:
        assert await store.add_handover(handover()) == handover()
        assert await store.get_handover("h1") == handover()
        assert await other.get_handover("h1") == handover()

    async def test_a_handover_of_a_guest_names_no_customer(self, store: RecordsStore) -> None:
        guests = handover().model_copy(update={"customer_id": None, "owner": "guest:1"})
        await store.add_handover(guests)
        assert await store.get_handover("h1") == guests

    async def test_a_moment_keeps_its_meaning_whatever_its_zone(self, store: RecordsStore) -> None:
        at = datetime(2025, 7, 1, 1, 30, 0, 7, tzinfo=timezone(timedelta(hours=5, minutes=30)))
        await store.add_handover(handover().model_copy(update={"requested_at": at}))
        kept = (await store.get_handover("h1")).requested_at
        assert kept == at
        assert kept.utcoffset() == timedelta(0)

    async def test_a_turn_that_is_run_again_hands_over_once(self, store: RecordsStore, other: RecordsStore) -> None:
        first = await store.add_handover(handover(1, turn_id="t"))
        assert await other.add_handover(handover(2, turn_id="t")) == first
        assert await store.list_handovers() == [first]
        with pytest.raises(NotFoundError):
            await store.get_handover("h2")

    async def test_of_a_race_for_one_turn_all_get_the_kept_handover(
        self, store: RecordsStore, other: RecordsStore
    ) -> None:
        got = await asyncio.gather(
            *((store, other)[number % 2].add_handover(handover(number, turn_id="t")) for number in range(20))
        )
        assert len({kept.handover_id for kept in got}) == 1
        assert await store.list_handovers() == [got[0]]

    async def test_the_id_of_another_turns_handover_is_refused(self, store: RecordsStore) -> None:
        await store.add_handover(handover(1))
        with pytest.raises(StoreError):
            await store.add_handover(handover(1, turn_id="another"))
        assert await store.get_handover("h1") == handover(1)

    async def test_ids_that_differ_in_case_alone_are_two(self, store: RecordsStore) -> None:
        await store.add_handover(handover(1, turn_id="t"))
        await store.add_handover(handover(2, turn_id="T"))
        assert len(await store.list_handovers()) == 2

    async def test_what_was_never_added_is_not_found(self, store: RecordsStore) -> None:
        with pytest.raises(NotFoundError):
            await store.get_handover("h1")

    async def test_waiting_handovers_are_listed_oldest_first_by_desk(self, store: RecordsStore) -> None:
        for number, (desk, minutes) in enumerate([("service", 3), ("sales", 1), ("service", 2), ("service", 5)]):
            await store.add_handover(handover(number, desk=desk, minutes=minutes))
        assert [kept.handover_id for kept in await store.list_handovers()] == ["h1", "h2", "h0", "h3"]
        assert [kept.handover_id for kept in await store.list_handovers(desk="service", limit=2)] == ["h2", "h0"]
        assert await store.list_handovers(desk="nobody's") == []

    async def test_a_handover_that_a_person_has_taken_is_no_longer_waiting(self, store: RecordsStore) -> None:
        taken = handover(1).model_copy(update={"status": HandoverStatus.ACKNOWLEDGED})
        await store.add_handover(taken)
        await store.add_handover(handover(2).model_copy(update={"status": HandoverStatus.REQUESTED}))
        assert [kept.handover_id for kept in await store.list_handovers()] == ["h2"]
        assert await store.get_handover("h1") == taken

    async def test_a_second_close_does_nothing(self, store: RecordsStore) -> None:
        await store.close()
        await store.close()
