"""``/v1/sessions``: a caller's conversations."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import AwareDatetime

from contracts.sessions import SessionState
from serve_app.api.bodies import NewSessionBody, SessionPage, SessionView, SessionWithTurns, TurnView
from serve_app.api.callers import KnownCaller, PossibleCaller, guest_with_token, new_guest_subject
from serve_app.api.identifiers import checked_id
from serve_app.api.json_body import JsonRoute
from serve_app.api.parts import Parts, Service
from serve_app.api.problems import PROBLEM_RESPONSES

router = APIRouter(prefix="/v1/sessions", tags=["sessions"], responses=PROBLEM_RESPONSES, route_class=JsonRoute)

TURNS_SHOWN = 100


@router.post("", status_code=201, summary="Begin a conversation")
async def post_session(
    response: Response, caller: PossibleCaller, parts: Parts, service: Service, body: NewSessionBody | None = None
) -> SessionView:
    """Begins a conversation. Without a token it is a guest's, and a `guest_token` comes with it.

    A conversation also begins by itself with a message that names none.
    """
    guest_token = None
    if caller is None:
        caller, guest_token = guest_with_token(new_guest_subject(), parts, service)
    now = service.clock.now()
    state = SessionState(
        session_id=uuid.uuid4().hex, owner=caller.owner, created_at=now, updated_at=now, desk=caller.desk
    )
    if body is not None and body.locale is not None:
        state = state.model_copy(update={"locale": body.locale})
    await service.sessions.create_session(state)
    response.headers["Location"] = f"{router.prefix}/{state.session_id}"
    return SessionView.of(state, guest_token)


@router.get("", summary="List conversations")
async def list_sessions(
    caller: KnownCaller,
    service: Service,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    before: Annotated[AwareDatetime | None, Query(description="The `next_before` of the page before.")] = None,
) -> SessionPage:
    """The caller's conversations, the latest first, in pages."""
    found = await service.sessions.list_sessions(caller.owner, limit=limit + 1, before=before)
    page = found[:limit]
    return SessionPage(
        sessions=[SessionView.of(state) for state in page],
        next_before=page[-1].updated_at if len(found) > limit else None,
    )


@router.get("/{session_id}", summary="Read a conversation")
async def get_session(session_id: str, caller: KnownCaller, service: Service) -> SessionWithTurns:
    """The conversation and its latest 100 turns, oldest of them first."""
    known = checked_id(session_id, "session")
    state = await service.sessions.get_session(known, caller.owner)
    turns = await service.sessions.list_turns(known, caller.owner, limit=TURNS_SHOWN)
    return SessionWithTurns(session=SessionView.of(state), turns=[TurnView.of(turn) for turn in turns])


@router.delete("/{session_id}", summary="End a conversation")
async def delete_session(session_id: str, caller: KnownCaller, service: Service) -> SessionView:
    """Ends the conversation: it can still be read, and takes no further message. A repeat changes nothing."""
    known = checked_id(session_id, "session")
    return SessionView.of(await service.sessions.end_session(known, caller.owner, service.clock.now()))
