"""What is stored beside the effect of a write: its request, as a digest, and its outcome, as JSON that keeps types."""

import hashlib
import json
from datetime import date, datetime
from typing import Any

from contracts.base import Cell, Duration, Point
from contracts.errors import BadRequestError, ConflictError
from contracts.graph import ProvenWrite, WriteOutcome
from stores.graph.parameters import Parameters

#: How many rows a change may return: they are stored with its key.
MAX_ROWS = 500
_MAX_KEY_LENGTH = 500


def require_key(idempotency_key: str) -> None:
    """Raises ``BadRequestError`` when the key is empty or longer than an index takes."""
    if not 0 < len(idempotency_key) <= _MAX_KEY_LENGTH:
        raise BadRequestError(f"an idempotency key has 1 to {_MAX_KEY_LENGTH} characters")


def request_digest(write: ProvenWrite, parameters: Parameters) -> str:
    """Equal for two requests of the same principal for the same text with the same arguments."""
    whose = [write.principal.kind.value, write.principal.subject, write.principal.customer_id]
    arguments = {name: _encoded(value) for name, value in parameters.items()}
    text = json.dumps([whose, write.text, arguments], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def stored_text(outcome: WriteOutcome) -> str:
    """The outcome as it is stored."""
    rows = [{column: _encoded(cell) for column, cell in row.items()} for row in outcome.rows]
    return json.dumps({"rows": rows, "changes": outcome.changes}, ensure_ascii=False)


def replayed_outcome(text: str) -> WriteOutcome:
    """The outcome that was stored as ``text``, marked as a replay."""
    stored = json.loads(text)
    rows = tuple({column: _decoded(cell) for column, cell in row.items()} for row in stored["rows"])
    return WriteOutcome(rows=rows, changes=stored["changes"], replayed=True)


def replay(stored_request: str, stored_outcome: str, request: str) -> WriteOutcome:
    """The stored outcome, for the request that it was stored for. Raises ``ConflictError`` for another."""
    if stored_request != request:
        raise ConflictError("this idempotency key was used for another change")
    return replayed_outcome(stored_outcome)


def _encoded(cell: object) -> Any:
    """JSON's own scalars as they are; all else under one key that names its type, maps too."""
    match cell:
        case None | bool() | int() | float() | str():
            return cell
        case datetime():
            return {"datetime": cell.isoformat()}
        case date():
            return {"date": cell.isoformat()}
        case Duration():
            return {"duration": [cell.months, cell.days, cell.seconds, cell.nanoseconds]}
        case Point():
            return {"point": [cell.srid, cell.x, cell.y, cell.z]}
        case list():
            return [_encoded(item) for item in cell]
        case dict():
            return {"map": {key: _encoded(item) for key, item in cell.items()}}
    raise TypeError(f"a {type(cell).__name__} is no cell of a row")


def _decoded(stored: Any) -> Cell:
    if isinstance(stored, list):
        return [_decoded(item) for item in stored]
    if not isinstance(stored, dict):
        return stored  # type: ignore[no-any-return]
    ((kind, content),) = stored.items()
    match kind:
        case "datetime":
            return datetime.fromisoformat(content)
        case "date":
            return date.fromisoformat(content)
        case "duration":
            return Duration(*content)
        case "point":
            return Point(*content)
        case _:
            return {key: _decoded(item) for key, item in content.items()}
