"""What the child processes of the records store's tests do."""

import asyncio
from multiprocessing.connection import Connection

from stores.records.sql_store import SqlRecordsStore
from tests.stores.records.contract import handover


def open_and_hand_over(url: str, number: int, answers: Connection) -> None:
    """At the parent's word, open the database (it may be new) and hand over for the one turn; send what was kept."""

    async def work() -> None:
        answers.send("ready")
        answers.recv()
        store = await SqlRecordsStore.open(url)
        kept = await store.add_handover(handover(number, turn_id="t"))
        await store.close()
        answers.send(kept.handover_id)

    asyncio.run(work())
