"""Who sees what was written for whom."""

from contracts.graph import Audience
from contracts.principal import Principal, PrincipalKind

#: Which audiences each kind of principal belongs to.
_AUDIENCES: dict[PrincipalKind, frozenset[Audience]] = {
    PrincipalKind.GUEST: frozenset({Audience.PUBLIC}),
    PrincipalKind.CUSTOMER: frozenset({Audience.PUBLIC, Audience.CUSTOMER}),
    PrincipalKind.SERVICE: frozenset({Audience.PUBLIC, Audience.CUSTOMER}),
    PrincipalKind.AGENT: frozenset({Audience.PUBLIC, Audience.STAFF}),
    PrincipalKind.ADMIN: frozenset({Audience.PUBLIC, Audience.STAFF}),
}


def audiences(principal: Principal) -> frozenset[Audience]:
    """The audiences whose queries and documents this principal may see."""
    return _AUDIENCES[principal.kind]
