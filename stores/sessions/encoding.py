"""Session states as JSON text that keeps what plain JSON loses: whether a value was a date or a text.

A slot's value may be a text, a number or a date. Pydantic's JSON writes a date as a text and can't tell
afterwards which it was, so dates are written as ``{"$date": "2025-03-01"}`` and moments as ``{"$datetime": …}``;
bytes, which JSON has no form for, as ``{"$bytes": …}`` in base64.
"""

import base64
import json
from datetime import date, datetime
from typing import Any

from contracts.errors import StoreError
from contracts.sessions import SESSION_STATE_VERSION, SessionState

_DATE, _DATETIME, _BYTES = "$date", "$datetime", "$bytes"


def encode_state(state: SessionState) -> str:
    """The state as JSON text; :func:`decode_state` gives an equal one back."""
    return json.dumps(state.model_dump(), default=_tagged, ensure_ascii=False, separators=(",", ":"))


def decode_state(text: str) -> SessionState:
    """The state of an encoded text.

    Raises ``StoreError`` when a newer release of this program wrote it (its fields are not ours to guess), or
    when it is no state.
    """
    try:
        fields = json.loads(text, object_hook=_untagged)
        version = fields["version"]
        if version <= SESSION_STATE_VERSION:
            return SessionState.model_validate(fields)
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError("a kept session can't be read") from error
    raise StoreError(f"a session's state has version {version}, this release reads up to {SESSION_STATE_VERSION}")


def _tagged(value: object) -> dict[str, str]:
    if isinstance(value, datetime):
        return {_DATETIME: value.isoformat()}
    if isinstance(value, date):
        return {_DATE: value.isoformat()}
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode()}
    raise TypeError(f"a session state can't hold a {type(value).__name__}")


def _untagged(value: dict[str, Any]) -> Any:
    if value.keys() == {_DATETIME}:
        return datetime.fromisoformat(value[_DATETIME])
    if value.keys() == {_DATE}:
        return date.fromisoformat(value[_DATE])
    if value.keys() == {_BYTES}:
        return base64.b64decode(value[_BYTES])
    return value
