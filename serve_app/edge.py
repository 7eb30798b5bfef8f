"""What stands before Serve's own request handling in each process that takes requests in.

Serve adds the caller's ``X-Request-ID`` to each answer, whatever it is, and counts a request as queued from its
first byte. So the envelope is put around Serve as well: further in there is one plain id, and no half-sent body.
"""

from starlette.middleware import Middleware

from configs.settings import Settings
from serve_app.api.envelope import Envelope
from serve_app.api.limits import ApiLimits


def edge_middlewares() -> list[Middleware]:
    """The middlewares that Serve puts around its own; it asks each process once."""
    return [Middleware(Envelope, limits=ApiLimits.of(Settings().budgets), counts_turns=False)]
