"""Who is asking. Decided at admission from the token, never from a message."""

from enum import StrEnum
from typing import Self

from pydantic import model_validator

from contracts.base import Frozen


class PrincipalKind(StrEnum):
    """The kinds of caller. ``service`` acts on behalf of the customer it names."""

    GUEST = "guest"
    CUSTOMER = "customer"
    AGENT = "agent"
    SERVICE = "service"
    ADMIN = "admin"


class Principal(Frozen):
    """A caller: kind, subject (unique within its kind), and for customers whose data they reach.

    Raises ``ValueError`` when a customer or a service names no ``customer_id``, or another kind does.
    """

    kind: PrincipalKind
    subject: str
    customer_id: str | None = None
    desk: str | None = None
    scopes: frozenset[str] = frozenset()

    @model_validator(mode="after")
    def _customer_id_fits_kind(self) -> Self:
        needs = self.kind in (PrincipalKind.CUSTOMER, PrincipalKind.SERVICE)
        if needs != (self.customer_id is not None):
            raise ValueError(f"a principal of kind {self.kind} {'needs a' if needs else 'has no'} customer_id")
        return self

    @property
    def owner(self) -> str:
        """The key under which this principal's sessions, turns and idempotency keys are kept."""
        return f"{self.kind}:{self.subject}"
