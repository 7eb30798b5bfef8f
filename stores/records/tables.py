"""The tables as they are now; ``migrations`` holds how they came to be."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, DateTime, Index, MetaData, String, Table, Text
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

metadata = MetaData()


class Moment(TypeDecorator[datetime]):
    """A moment to the microsecond, kept in UTC without a zone, as all databases can, and given back with it."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        if dialect.name in ("mysql", "mariadb"):
            return dialect.type_descriptor(mysql.DATETIME(fsp=6))
        return dialect.type_descriptor(DateTime())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


handovers = Table(
    "handovers",
    metadata,
    Column("handover_id", String(64), primary_key=True),
    Column("turn_id", String(64), nullable=False, unique=True),
    Column("session_id", String(64), nullable=False),
    Column("owner", String(255), nullable=False),
    Column("customer_id", String(255)),
    Column("desk", String(64), nullable=False),
    Column("reason", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("requested_at", Moment, nullable=False),
    Index("handovers_by_status", "status", "requested_at"),
    # Identifiers compare byte by byte in every database; MySQL's own default ignores case.
    mysql_charset="utf8mb4",
    mysql_collate="utf8mb4_bin",
)
