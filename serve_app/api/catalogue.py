"""The catalogue of problems: what each code means for a caller and what to do. ``docs/problems.md`` prints it."""

from contracts import errors
from contracts.base import Frozen
from contracts.errors import FrontlineError


class CatalogueEntry(Frozen):
    """One kind of problem. ``repeatable``: the very same request may be sent again."""

    type: str
    title: str
    status: int
    repeatable: bool
    what_to_do: str


_WHAT_TO_DO = {
    "internal": "Send the request once more; if it stays, report it with the id from `instance`.",
    "bad-request": "Read `detail` and, where there is one, the list `errors`: each names a part and what is wrong.",
    "request-timeout": "Send the whole request at once, on a new connection.",
    "too-large": "Shorten the message, or send less in one request; `detail` names the limit.",
    "unsupported-media-type": "Send the body as `application/json` in UTF-8, not compressed.",
    "unauthenticated": "Get a new token and send it as `Authorization: Bearer <token>`. Guests send no such header.",
    "denied": "Use a token of a caller who may do this.",
    "not-found": "Check the address and the id. What belongs to another caller looks as if it weren't there.",
    "method-not-allowed": "Use one of the methods that the header `Allow` names.",
    "conflict": "Use a new `Idempotency-Key` for another request; start a new session where the old one has ended.",
    "turn-voided": "Send the message again as a new turn, with a new `Idempotency-Key`.",
    "over-limit": "Wait a little, then send the request again.",
    "busy": "Wait a second or two, then send the request again with the same `Idempotency-Key`.",
    "unavailable": "Wait a few seconds, then send the request again with the same `Idempotency-Key`.",
    "out-of-time": "Send the request again with the same `Idempotency-Key`, or ask fewer things in one message.",
    "lease-lost": "Send the request again with the same `Idempotency-Key`: it gets the one answer of its turn.",
    "snapshot-mismatch": "Nothing a caller can do: the operator has to compile the domain pack anew.",
    "store": "Wait a few seconds, then send the request again with the same `Idempotency-Key`.",
    "pack": "Nothing a caller can do: the operator has to correct the domain pack (`frontline domain check`).",
}


def problem_types() -> dict[str, type[FrontlineError]]:
    """Every kind of error that we raise, by its code."""
    named = (value for value in vars(errors).values() if isinstance(value, type))
    return {kind.code: kind for kind in named if issubclass(kind, FrontlineError)}


CATALOGUE: dict[str, CatalogueEntry] = {
    code: CatalogueEntry(
        type=f"/problems/{code}",
        title=kind.title,
        status=kind.status,
        repeatable=kind.repeatable,
        what_to_do=_WHAT_TO_DO[code],
    )
    for code, kind in problem_types().items()
}
