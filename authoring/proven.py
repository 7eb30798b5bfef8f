"""The proof of a pack's own queries, each for a caller of its audience."""

from configs.packs.loader import QUERIES
from configs.packs.types import Pack, PredefinedQuery
from contracts.errors import PackError
from contracts.graph import Audience, GraphSchema, ProvenQuery, Violations
from contracts.principal import Principal, PrincipalKind
from governance.prover import prove

_CALLERS = {
    Audience.PUBLIC: Principal(kind=PrincipalKind.GUEST, subject="guest"),
    Audience.CUSTOMER: Principal(kind=PrincipalKind.CUSTOMER, subject="customer", customer_id="customer"),
    Audience.STAFF: Principal(kind=PrincipalKind.AGENT, subject="agent"),
}
_AUDIENCE_WORDS = {Audience.PUBLIC: "guests", Audience.CUSTOMER: "customers", Audience.STAFF: "staff"}


def verdict_on(schema: GraphSchema, query: PredefinedQuery) -> ProvenQuery | Violations:
    """The proof of the query's text for its audience."""
    return prove(query.cypher, schema, _CALLERS[query.audience])


def refusals(query: PredefinedQuery, verdict: Violations) -> list[str]:
    """What to tell the author of a query that isn't proven."""
    return [f"is not proven for {_AUDIENCE_WORDS[query.audience]}: {item.message}" for item in verdict.items]


def require_proven(pack: Pack) -> None:
    """Raises ``PackError`` that names every query which isn't proven: nothing of such a pack may run."""
    complaints = [
        f"{QUERIES}: {query.name} {message}"
        for query in pack.queries.queries
        if isinstance(verdict := verdict_on(pack.schema_, query), Violations)
        for message in refusals(query, verdict)
    ]
    if complaints:
        raise PackError("\n".join(complaints))
