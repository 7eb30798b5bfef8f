"""Moments with the offset that they have, without the name of a zone: what both engines keep alike."""

from datetime import datetime, timezone


def with_fixed_offset(moment: datetime) -> datetime:
    """The same moment and offset from UTC, a named zone forgotten; one without an offset stays as it is."""
    offset = moment.utcoffset()
    return moment if offset is None else moment.replace(tzinfo=timezone(offset))
