"""The public API as one FastAPI application, without the service behind it."""

from collections.abc import Callable

from fastapi import FastAPI

from configs.settings import Settings
from serve_app.api import operations, sessions, turns
from serve_app.api.docs_page import add_docs_page
from serve_app.api.envelope import Envelope
from serve_app.api.limits import ApiLimits
from serve_app.api.methods import HeadAsGet
from serve_app.api.parts import ApiParts
from serve_app.api.problems import add_problem_handlers
from serve_app.api.service import TurnService

VERSION = "1"

_DESCRIPTION = """
Send a customer's message to `POST /v1/turns`: the reply answers each part of it and names its sources.

* **Callers.** Without a token you are a guest: you reach what is public, and each first answer brings a
  `guest_token` with which the conversation goes on. Customers send `Authorization: Bearer <token>`.
* **Once.** Send an `Idempotency-Key` with a message: when the connection is lost, the same request again
  gets the one answer of its turn.
* **Errors** are problem documents (RFC 9457); their `type` leads to the catalogue.
"""


def create_api(find_service: Callable[[], TurnService | None], settings: Settings | None = None) -> FastAPI:
    """The application over a service that may come later: until then ``/v1/ready`` says so.

    ``settings`` gives the home of the signing key and the limits on what is taken in.
    """
    settings = settings or Settings()
    limits = ApiLimits.of(settings.budgets)
    app = FastAPI(title="Frontline", version=VERSION, description=_DESCRIPTION, docs_url=None, redoc_url=None)
    app.state.parts = ApiParts(find_service, settings, limits)
    app.add_middleware(HeadAsGet)
    app.add_middleware(Envelope, limits=limits)
    add_problem_handlers(app)
    for part in (turns, sessions, operations):
        app.include_router(part.router)
    add_docs_page(app)
    return app
