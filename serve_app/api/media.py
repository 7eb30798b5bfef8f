"""Which bodies are read, and which form of answer the caller asked for."""

from email.message import Message

from fastapi import Request

from contracts.errors import UnsupportedMediaError

EVENT_STREAM = "text/event-stream"


async def only_json(request: Request) -> None:
    """Refuse a body that is not plain ``application/json`` with ``UnsupportedMediaError``."""
    if not await request.body():
        return
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMediaError("Compressed bodies are not taken: send plain application/json.")
    header = Message()
    header["content-type"] = request.headers.get("content-type", "")
    if header.get_content_type() != "application/json":
        raise UnsupportedMediaError("The body must be application/json.")


def wants_events(request: Request) -> bool:
    """Whether the caller asked for server-sent events, and not for JSON as well."""
    accepted = ",".join(request.headers.getlist("accept")).lower()
    return EVENT_STREAM in accepted and "application/json" not in accepted
