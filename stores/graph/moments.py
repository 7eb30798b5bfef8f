"""Moments with the offset that they have, without the name of a zone: what both engines keep alike."""

from datetime import UTC, datetime, timezone


def with_fixed_offset(moment: datetime) -> datetime:
    """The same moment and offset from UTC, a named zone forgotten; one without an offset stays as it is."""
    offset = moment.utcoffset()
    return moment if offset is None else moment.replace(tzinfo=timezone(offset))


def as_kept(moment: datetime) -> datetime:
    """The moment as a graph keeps it and as it is compared with what a graph keeps: one without an offset is UTC."""
    return moment.replace(tzinfo=UTC) if moment.utcoffset() is None else with_fixed_offset(moment)
