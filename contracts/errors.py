"""The error family. Each type says what happened, whether a repeat is safe, and which problem it is.

Over HTTP each becomes an RFC 9457 problem: ``type`` is ``/problems/<code>``; the catalogue with
what to do stands in ``docs/problems.md``. Instances take one argument, so they pickle across replicas.
"""


class FrontlineError(Exception):
    """Base of all errors we raise. ``detail`` is one sentence for the caller, without internals."""

    code = "internal"
    title = "Something went wrong on our side"
    status = 500
    #: Whether the same request may simply be sent again.
    repeatable = False

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class BadRequestError(FrontlineError):
    """The request can't be understood; the detail says which part and what would be right."""

    code, title, status = "bad-request", "The request is not valid", 400


class RequestTimeoutError(FrontlineError):
    """The caller began a request and did not send the rest of it in time."""

    code, title, status, repeatable = "request-timeout", "The request did not arrive in time", 408, True


class TooLargeError(FrontlineError):
    code, title, status = "too-large", "The message is too long", 413


class UnsupportedMediaError(FrontlineError):
    code, title, status = "unsupported-media-type", "The body is not of a supported type", 415


class UnauthenticatedError(FrontlineError):
    code, title, status = "unauthenticated", "The token is missing, invalid or expired", 401


class DeniedError(FrontlineError):
    code, title, status = "denied", "This caller may not do that", 403


class NotFoundError(FrontlineError):
    """Absent, or somebody else's: the two look alike on purpose."""

    code, title, status = "not-found", "There is nothing here for this caller", 404


class MethodNotAllowedError(FrontlineError):
    code, title, status = "method-not-allowed", "This address does not take that method", 405


class ConflictError(FrontlineError):
    """A key repeated with another body, or an ended session addressed."""

    code, title, status = "conflict", "The request contradicts an earlier one", 409


class TurnVoidedError(FrontlineError):
    """The turn was interrupted and a newer message of its session has overtaken it."""

    code, title, status = "turn-voided", "The turn was interrupted and is void", 409


class OverLimitError(FrontlineError):
    code, title, status, repeatable = "over-limit", "Too many requests", 429, True


class BusyError(FrontlineError):
    """Back-pressure: every replica's queue is full."""

    code, title, status, repeatable = "busy", "The service is at its limit", 503, True


class UnavailableError(FrontlineError):
    """A part is down, restarting, or its breaker is open."""

    code, title, status, repeatable = "unavailable", "A part of the service is not available", 503, True


class OutOfTimeError(FrontlineError):
    code, title, status, repeatable = "out-of-time", "The time for this turn has run out", 504, True


class LeaseLostError(FrontlineError):
    """Another replica has taken the session over; this one must write nothing more."""

    code, title, status, repeatable = "lease-lost", "The session was taken over", 503, True


class SnapshotMismatchError(FrontlineError):
    """A compiled artefact does not fit what is asked of it; the detail says how to rebuild it."""

    code, title = "snapshot-mismatch", "The compiled index does not fit"


class StoreError(FrontlineError):
    """A store refused or failed; raised ``from`` the library's own error."""

    code, title, status, repeatable = "store", "A store could not answer", 503, True


class PackError(FrontlineError):
    """A domain pack can't be used; the detail lists the complaints, one a line: ``file:line: text``."""

    code, title = "pack", "The domain pack is not valid"
