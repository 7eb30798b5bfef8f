"""Which bodies are read, and which form of answer the caller asked for."""

from email.message import Message

from fastapi import Request

from contracts.errors import UnsupportedMediaError

EVENT_STREAM = "text/event-stream"

_UTF_8 = ("utf-8", "utf8")


def require_plain_json(request: Request) -> None:
    """Refuse a body that is not declared as ``application/json`` in UTF-8 with ``UnsupportedMediaError``."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMediaError("Compressed bodies are not taken: send plain application/json.")
    header = Message()
    header["content-type"] = request.headers.get("content-type", "")
    if header.get_content_type() != "application/json":
        raise UnsupportedMediaError("The body must be application/json.")
    if str(header.get_param("charset", _UTF_8[0])).lower() not in _UTF_8:
        raise UnsupportedMediaError("The body must be in UTF-8, as JSON is.")


def wants_events(request: Request) -> bool:
    """Whether the caller asked for server-sent events, and not for JSON as well."""
    accepted = ",".join(request.headers.getlist("accept")).lower()
    return EVENT_STREAM in accepted and "application/json" not in accepted
