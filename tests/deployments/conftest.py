import pytest

from contracts.context import CallContext
from contracts.principal import Principal, PrincipalKind


@pytest.fixture
def ctx() -> CallContext:
    return CallContext(
        request_id="r1",
        turn_id="t1",
        session_id="s1",
        principal=Principal(kind=PrincipalKind.GUEST, subject="g1"),
        budget_ms=20_000,
    )
