"""Errors as problem documents (RFC 9457), the only form in which an error leaves the API.

``detail`` is for the caller. What went wrong inside is logged with the request's id and not told.
"""

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from contracts.errors import (
    BadRequestError,
    BusyError,
    ConflictError,
    DeniedError,
    FrontlineError,
    MethodNotAllowedError,
    NotFoundError,
    OverLimitError,
    StoreError,
    TooLargeError,
    UnauthenticatedError,
    UnsupportedMediaError,
)
from serve_app.api.methods import allowed_methods
from serve_app.api.request_id import REQUEST_ID_HEADER, request_id

logger = logging.getLogger(__name__)

PROBLEM_MEDIA_TYPE = "application/problem+json"
#: Where a repeat is worth it, how long to wait first.
RETRY_AFTER_S = 2

_INTERNAL_DETAIL = "An error inside the service ended this request. Quote the id in `instance` when you report it."
_UNAVAILABLE_DETAIL = "What is needed to answer can't be reached at the moment."

#: The errors that the web framework raises by itself: status to our kind and its sentence.
_FRAMEWORK_ERRORS: dict[int, FrontlineError] = {
    400: BadRequestError("The body can't be read as JSON in UTF-8."),
    401: UnauthenticatedError("This needs a token."),
    403: DeniedError("This caller may not do that."),
    404: NotFoundError("There is nothing at this address."),
    405: MethodNotAllowedError("This address does not take that method."),
    409: ConflictError("The request contradicts an earlier one."),
    413: TooLargeError("The body is too large."),
    415: UnsupportedMediaError("The body must be application/json."),
    429: OverLimitError("There were too many requests."),
    503: BusyError("The service is at its limit."),
}


class Problem(BaseModel):
    """An error, as RFC 9457 says. ``instance`` is the request's id.

    ``errors`` lists the parts of a bad request: ``where`` each stands and the ``message`` what is wrong.
    """

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "type": "/problems/not-found",
                "title": NotFoundError.title,
                "status": 404,
                "detail": "There is no such session.",
                "instance": "5f0c1f9e6a1b4c55a2f3b1f0f3a1c2d4",
                "repeatable": False,
            }
        },
    )

    type: str
    title: str
    status: int
    detail: str
    instance: str
    repeatable: bool
    errors: list[dict[str, str]] | None = None


#: How the API's description shows problems: any operation may end in one.
PROBLEM_RESPONSES: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem document. Its `type` leads to the catalogue, which says what to do.",
        "content": {PROBLEM_MEDIA_TYPE: {"schema": Problem.model_json_schema()}},
    }
}


def problem_body(error: FrontlineError, instance: str, **members: Any) -> dict[str, Any]:
    """The problem document of an error; ``members`` are added to the standard ones."""
    return {
        "type": f"/problems/{error.code}",
        "title": error.title,
        "status": error.status,
        "detail": _told(error),
        "instance": instance,
        "repeatable": error.repeatable,
        **members,
    }


def problem_response(body: dict[str, Any], headers: dict[str, str] | None = None) -> JSONResponse:
    """A problem document as a response, with the headers that belong to its status."""
    status = int(body["status"])
    added = {REQUEST_ID_HEADER: str(body["instance"])}
    if status == HTTPStatus.UNAUTHORIZED:
        added["WWW-Authenticate"] = "Bearer"
    if status == HTTPStatus.REQUEST_TIMEOUT:
        # The rest of the body may still come: it must not be read as the next request.
        added["Connection"] = "close"
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        added["Retry-After"] = str(RETRY_AFTER_S)
    return JSONResponse(body, status_code=status, headers={**added, **(headers or {})}, media_type=PROBLEM_MEDIA_TYPE)


def log_error(error: BaseException, instance: str) -> None:
    """Log what is not the caller's doing: what nobody foresaw with its traceback, the rest as one line."""
    if not isinstance(error, FrontlineError) or error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.error("request %s failed: %s", instance, error, exc_info=error)
    elif error.status > HTTPStatus.INTERNAL_SERVER_ERROR:
        cause = "" if error.__cause__ is None else f" (from {error.__cause__!r})"
        logger.warning("request %s ended in %s: %s", instance, error.code, " ".join(f"{error.detail}{cause}".split()))


def add_problem_handlers(app: FastAPI) -> None:
    """Let every error of ``app`` leave as a problem document."""

    async def on_frontline_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, FrontlineError)
        log_error(error, request_id(request.scope))
        return problem_response(problem_body(error, request_id(request.scope)))

    async def on_framework_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        ours = _FRAMEWORK_ERRORS.get(error.status_code, FrontlineError(str(error.detail)))
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = ", ".join(allowed_methods(app, request.scope))
        return problem_response(problem_body(ours, request_id(request.scope)), headers)

    async def on_invalid_request(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        parts = [{"where": _where(item["loc"]), "message": str(item["msg"])} for item in error.errors()]
        first = "; ".join(f"{part['where']}: {part['message']}" for part in parts[:3])
        body = problem_body(BadRequestError(f"{first}."), request_id(request.scope), errors=parts)
        return problem_response(body)

    app.add_exception_handler(FrontlineError, on_frontline_error)
    app.add_exception_handler(HTTPException, on_framework_error)
    app.add_exception_handler(RequestValidationError, on_invalid_request)


def _told(error: FrontlineError) -> str:
    """The detail that may leave: of an error inside, only that it happened."""
    if error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return _INTERNAL_DETAIL
    if isinstance(error, StoreError):
        return _UNAVAILABLE_DETAIL
    return error.detail


def _where(location: tuple[int | str, ...]) -> str:
    """A place in the request, as ``body.images.0.data``; names are the caller's, so they are cut short."""
    return ".".join(str(step)[:40].encode("utf-8", "replace").decode() for step in location[:8])
