"""Proof that a query's text may run for a principal. The only maker of :class:`ProvenQuery`.

Closed by default: what is not known to be safe is a violation. Known are the pack's own query texts,
compared in canonical print, each with its audience; any other text is refused.
"""

import re

from configs.packs.canonical import canonical
from contracts.graph import Audience, GraphSchema, ProvenQuery, Violation, Violations
from contracts.principal import Principal, PrincipalKind

#: The longest text that is looked at; a longer one is refused unread.
MAX_TEXT_CHARACTERS = 4_000

_PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")
_STRING_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)

#: Which audiences each kind of principal belongs to. Staff kinds get their own scopes with their own queries.
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


def parameters(text: str) -> frozenset[str]:
    """Names of the parameters that a query's text uses, string literals left out."""
    return frozenset(_PARAMETER.findall(_STRING_LITERAL.sub("''", text)))


def prove(text: str, schema: GraphSchema, principal: Principal) -> ProvenQuery | Violations:
    """The proven query for this principal, or the reasons why the text may not run.

    The text that runs is the canonical print of what was compared, not the text that came in.
    """
    if len(text) > MAX_TEXT_CHARACTERS:
        return _refused("length", f"The query is longer than {MAX_TEXT_CHARACTERS:,} characters; shorten it.")
    printed = canonical(text)
    audience = schema.predefined.get(printed)
    if audience is None:
        return _refused("unknown-text", "The query is not one of the pack's predefined queries.")
    if audience not in audiences(principal):
        return _refused("audience", f"The query is for {audience} callers; this caller is a {principal.kind}.")
    return ProvenQuery(text=printed, parameters=parameters(printed), principal=principal)


def _refused(rule: str, message: str) -> Violations:
    return Violations(items=(Violation(rule=rule, message=message),))
