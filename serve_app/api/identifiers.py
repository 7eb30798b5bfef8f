"""Names that callers send: ids of sessions and turns, idempotency keys."""

import re

from contracts.errors import BadRequestError, NotFoundError

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


def checked_id(text: str, kind: str) -> str:
    """An id that may exist. What can't be one is simply not there: ``NotFoundError``."""
    if not _ID.fullmatch(text):
        raise NotFoundError(f"There is no such {kind}.")
    return text


def checked_key(text: str, min_characters: int) -> str:
    """An idempotency key. Raises ``BadRequestError`` when it is too short or no plain text."""
    if not _KEY.fullmatch(text):
        raise BadRequestError("An Idempotency-Key has 1 to 200 visible ASCII characters.")
    if len(text) < min_characters:
        raise BadRequestError(
            f"Without a token an Idempotency-Key must have at least {min_characters} characters, hard to guess."
        )
    return text
