"""For whom a query is proven: the three kinds of caller that a command line can name."""

from enum import StrEnum

from contracts.principal import Principal, PrincipalKind


class Caller(StrEnum):
    """``staff`` is an agent: what a pack lets agents read, of all customers."""

    GUEST = "guest"
    CUSTOMER = "customer"
    STAFF = "staff"


#: What proofs are made for where no customer is meant: a proof holds for each of them alike.
ANY_CUSTOMER = "any"


def principal_of(caller: Caller, customer_id: str = ANY_CUSTOMER) -> Principal:
    """The principal. ``customer_id`` counts for customers alone."""
    match caller:
        case Caller.GUEST:
            return Principal(kind=PrincipalKind.GUEST, subject="command line")
        case Caller.CUSTOMER:
            return Principal(kind=PrincipalKind.CUSTOMER, subject=customer_id, customer_id=customer_id)
        case Caller.STAFF:
            return Principal(kind=PrincipalKind.AGENT, subject="command line")
