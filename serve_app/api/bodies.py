"""The JSON bodies that the API takes and gives, beside the answer of a turn."""

import base64
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, Field, StrictBool
from pydantic_core import PydanticCustomError

from contracts.base import Frozen
from contracts.sessions import SessionState, TurnRecord, TurnStatus

#: A language tag, such as ``en`` or ``pt-BR``.
Locale = Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$", examples=["en"])]


def _picture(data: str) -> str:
    """The same text, when it is the base64 of anything at all."""
    try:
        picture = base64.b64decode(data, validate=True)
    except ValueError as error:
        raise PydanticCustomError("base64", "Input should be base64") from error
    if not picture:
        raise PydanticCustomError("empty_picture", "Input should not be empty")
    return data


class ImageBody(Frozen):
    """A picture, base64-encoded. Pictures are not read yet: the reply says so."""

    media_type: Literal["image/jpeg", "image/png", "image/webp", "image/gif"]
    data: Annotated[str, AfterValidator(_picture)]


class TurnBody(Frozen):
    """A customer's message. It may ask several things at once.

    ``session_id`` goes on with a conversation; without it a new one begins. ``explain`` adds route,
    plan, tasks and timings to the answer.
    """

    message: str = Field(examples=["Where is order 10023, and what does its warranty cover?"])
    session_id: str | None = Field(None, description="Goes on with this conversation; without it a new one begins.")
    locale: Locale | None = None
    images: tuple[ImageBody, ...] = ()
    explain: StrictBool = Field(False, description="Adds route, plan, tasks and timings to the answer.")


class NewSessionBody(Frozen):
    """A new conversation."""

    locale: Locale | None = None


class TurnView(Frozen):
    """A turn as the journal keeps it. ``result`` is what was answered, with its ``http_status``."""

    turn_id: str
    session_id: str
    status: TurnStatus
    message: str
    received_at: datetime
    answered_at: datetime | None
    http_status: int | None
    result: dict[str, Any] | None

    @classmethod
    def of(cls, turn: TurnRecord) -> "TurnView":
        """What a caller sees of a journal row."""
        return cls.model_validate(turn.model_dump(include=set(cls.model_fields)))


class SessionView(Frozen):
    """A conversation. ``handover_id``: it was handed to a person. ``guest_token``: as for a turn's answer."""

    session_id: str
    created_at: datetime
    updated_at: datetime
    ended_at: datetime | None
    locale: str
    handover_id: str | None
    guest_token: str | None = None

    @classmethod
    def of(cls, state: SessionState, guest_token: str | None = None) -> "SessionView":
        """What a caller sees of a session's state."""
        seen = state.model_dump(include=set(cls.model_fields))
        return cls.model_validate({**seen, "guest_token": guest_token})


class SessionWithTurns(Frozen):
    """A conversation and its latest turns, oldest of them first."""

    session: SessionView
    turns: list[TurnView]


class SessionPage(Frozen):
    """Some of the caller's conversations, latest first. ``next_before``: ask with it for those that follow."""

    sessions: list[SessionView]
    next_before: AwareDatetime | None


class Health(Frozen):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(Frozen):
    """Whether turns can be answered, and how each part is."""

    ready: bool
    parts: dict[str, dict[str, Any]]
