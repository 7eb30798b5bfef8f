"""What travels with every call between deployments."""

from enum import StrEnum

from contracts.base import Frozen
from contracts.principal import Principal


class DataTier(StrEnum):
    """How far a call's data may go: ``private`` stays self-hosted, ``general`` may leave, masked."""

    PRIVATE = "private"
    GENERAL = "general"


class CallContext(Frozen):
    """Identity, budget and trace of a call.

    ``budget_ms`` is what *remains* when the call is sent; the receiver anchors it to its own
    monotonic clock (``Deadline(ctx.budget_ms)``), so that clocks of two machines never meet.
    """

    request_id: str
    turn_id: str
    session_id: str
    principal: Principal
    budget_ms: int
    locale: str = "en"
    data_tier: DataTier = DataTier.PRIVATE
    trace: str | None = None

    def with_budget(self, budget_ms: int) -> "CallContext":
        """The same context with another remaining budget, in ms."""
        return self.model_copy(update={"budget_ms": budget_ms})
