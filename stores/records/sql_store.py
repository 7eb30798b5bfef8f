"""Records in an SQL database: SQLite on a laptop; PostgreSQL, MySQL or MariaDB in production."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

from sqlalchemy import RowMapping, insert, select
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from contracts.errors import NotFoundError, StoreError
from contracts.records import Handover, HandoverStatus
from stores.records.engine import database_engine
from stores.records.tables import handovers
from stores.records.upgrade import upgrade_to_newest


class SqlRecordsStore:
    """:class:`contracts.records.RecordsStore` by SQLAlchemy. Every call raises ``StoreError`` when it fails."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @classmethod
    async def open(cls, url: str) -> Self:
        """Connect, and bring the schema to this release's. ``url`` names an asynchronous driver.

        Raises ``StoreError`` when the database can't be reached or was written by a newer release.
        """
        await upgrade_to_newest(url)
        return cls(database_engine(url))

    async def add_handover(self, handover: Handover) -> Handover:
        """Commit the handover, or return the one already kept for its turn."""
        values = handover.model_dump() | {"status": handover.status.value}
        try:
            async with self._transaction() as connection:
                await connection.execute(insert(handovers).values(values))
            return handover
        except StoreError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
            kept = await self._first(handovers.c.turn_id == handover.turn_id)
            if kept is None:  # another turn's handover has the same id, or a value doesn't fit its column
                raise
            return kept

    async def get_handover(self, handover_id: str) -> Handover:
        """Read it back from the database. Raises ``NotFoundError``."""
        kept = await self._first(handovers.c.handover_id == handover_id)
        if kept is None:
            raise NotFoundError("there is no such handover")
        return kept

    async def list_handovers(self, *, desk: str | None = None, limit: int = 50) -> list[Handover]:
        """Those that no person has taken yet, oldest first; with ``desk``, that desk's."""
        waiting = select(handovers).where(
            handovers.c.status.in_([HandoverStatus.REQUESTED.value, HandoverStatus.DELIVERED.value])
        )
        if desk is not None:
            waiting = waiting.where(handovers.c.desk == desk)
        waiting = waiting.order_by(handovers.c.requested_at, handovers.c.handover_id).limit(limit)
        async with self._transaction() as connection:
            return [_handover(row) for row in (await connection.execute(waiting)).mappings()]

    async def close(self) -> None:
        """Close all connections; a second call does nothing."""
        await self._engine.dispose()

    async def _first(self, condition: Any) -> Handover | None:
        async with self._transaction() as connection:
            row = (await connection.execute(select(handovers).where(condition))).mappings().first()
            return None if row is None else _handover(row)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._engine.begin() as connection:
                yield connection
        except (SQLAlchemyError, OSError) as error:  # drivers raise OSError for a server that isn't there
            raise StoreError("the records database could not do that") from error


def _handover(row: RowMapping) -> Handover:
    return Handover.model_validate(dict(row))
