"""``/v1/turns``: a message in, one checked reply out."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse

from contracts.errors import BadRequestError, FrontlineError, TooLargeError
from contracts.turns import EventName, TurnEvent
from serve_app.api.bodies import TurnBody, TurnView
from serve_app.api.callers import KnownCaller, PossibleCaller, guest_with_token, new_guest_subject
from serve_app.api.event_stream import RunningTurn, events, first_item
from serve_app.api.identifiers import checked_id, checked_key
from serve_app.api.json_body import JsonRoute
from serve_app.api.limits import ApiLimits
from serve_app.api.media import EVENT_STREAM, wants_events
from serve_app.api.messages import clean_message
from serve_app.api.parts import Parts, Service
from serve_app.api.problems import PROBLEM_RESPONSES, log_error, problem_body, problem_response
from serve_app.api.request_id import request_id
from serve_app.api.service import TurnAnswer, TurnOutcome, TurnRequest
from serve_app.api.tokens import guest_subject

router = APIRouter(prefix="/v1/turns", tags=["turns"], responses=PROBLEM_RESPONSES, route_class=JsonRoute)

_STREAM_EXAMPLE = """event: sentence
data: {"text": "It is on its way.", "clause_id": "c1", "source_ids": ["s1"]}

event: reply
data: {"turn_id": "…", "session_id": "…", "reply": {…}}

"""

_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "model": TurnAnswer,
        "description": "The finished reply; as server-sent events when `Accept: text/event-stream` asks for them: "
        "`route`, `plan`, `task`, `sentence` as they happen, then one `reply` (the same JSON) or `error` (a problem).",
        "content": {EVENT_STREAM: {"schema": {"type": "string"}, "example": _STREAM_EXAMPLE}},
    }
}


@router.post("", responses=_ANSWERS, summary="Send a message")
async def post_turn(
    body: TurnBody,
    request: Request,
    caller: PossibleCaller,
    parts: Parts,
    service: Service,
    idempotency_key: Annotated[
        str | None,
        Header(description="A name of your choice for this turn: a repeat under it gets the turn's one answer."),
    ] = None,
) -> Response:
    """Answers a customer's message, which may ask several things at once.

    Without a token the caller is a guest: the answer brings a `guest_token`, with which the
    conversation goes on. A guest's first message may be repeated under an `Idempotency-Key` of at
    least 16 characters that nobody can guess.
    """
    guest_token = None
    if len(request.headers.getlist("Idempotency-Key")) > 1:
        raise BadRequestError("A request has one Idempotency-Key.")
    if idempotency_key is not None:
        checked_key(idempotency_key, 1 if caller else parts.limits.guest_key_min_characters)
    turn_request = _checked(body, idempotency_key, request_id(request.scope), parts.limits)
    if caller is None:
        subject = guest_subject(idempotency_key, parts.key) if idempotency_key else new_guest_subject()
        caller, guest_token = guest_with_token(subject, parts, service)

    if not wants_events(request):
        outcome = await service.take_turn(turn_request, caller, None)
        return _finished(_body(outcome, turn_request.request_id, guest_token), outcome.http_status)

    turn = RunningTurn(service, turn_request, caller)
    first = await first_item(turn)
    if isinstance(first, TurnOutcome) and first.http_status != 200:
        return _finished(_body(first, turn_request.request_id, guest_token), first.http_status)

    def last_event(end: TurnOutcome | Exception) -> TurnEvent:
        if isinstance(end, TurnOutcome):
            name = EventName.REPLY if end.http_status == 200 else EventName.ERROR
            return TurnEvent(event=name, data=_body(end, turn_request.request_id, guest_token))
        log_error(end, turn_request.request_id)
        error = end if isinstance(end, FrontlineError) else FrontlineError(str(end))
        return TurnEvent(event=EventName.ERROR, data=problem_body(error, turn_request.request_id))

    return EventSourceResponse(
        events(turn, first, last_event, parts.limits.keep_alive_s), headers={"X-Accel-Buffering": "no"}
    )


@router.get("/{turn_id}", summary="Read a turn")
async def get_turn(turn_id: str, caller: KnownCaller, service: Service) -> TurnView:
    """The turn as it is kept: its message, how far it is, and what was answered."""
    return TurnView.of(await service.sessions.get_turn(checked_id(turn_id, "turn"), caller.owner))


def _checked(body: TurnBody, idempotency_key: str | None, request_name: str, limits: ApiLimits) -> TurnRequest:
    if len(body.images) > limits.max_images:
        raise TooLargeError(f"A message may come with at most {limits.max_images} pictures.")
    return TurnRequest(
        message=clean_message(body.message, limits.max_message_characters),
        session_id=None if body.session_id is None else checked_id(body.session_id, "session"),
        idempotency_key=idempotency_key,
        locale=body.locale,
        explain=body.explain,
        images=len(body.images),
        request_id=request_name,
    )


def _body(outcome: TurnOutcome, request_name: str, guest_token: str | None) -> dict[str, Any]:
    """The outcome's body with what belongs to this request alone, not to the turn."""
    body = dict(outcome.body)
    if outcome.http_status != 200:
        body |= {"status": outcome.http_status, "instance": request_name, "turn_id": outcome.turn_id}
        body |= {"session_id": outcome.session_id}
    if guest_token is not None:
        body["guest_token"] = guest_token
    return body


def _finished(body: dict[str, Any], http_status: int) -> JSONResponse:
    return JSONResponse(body) if http_status == 200 else problem_response(body)
