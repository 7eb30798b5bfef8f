from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from contracts.base import Duration, Point
from contracts.errors import BadRequestError, ConflictError
from contracts.graph import ProvenWrite, WriteOutcome
from contracts.principal import Principal, PrincipalKind
from stores.graph.outcomes import replay, replayed_outcome, request_digest, require_key, stored_text


def test_every_kind_of_cell_comes_back_as_it_was() -> None:
    row = {
        "nothing": None,
        "truth": True,
        "whole": 2**62,
        "number": 1.0,
        "text": '{"date": "2025-01-01"} 🙂',
        "day": date(2025, 1, 2),
        "moment": datetime(2025, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        "moment elsewhere": datetime(2025, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))),
        "duration": Duration(1, -2, 3, 4),
        "place": Point(4326, -9.1, 38.7),
        "list": [1, None, [date(2025, 1, 2)]],
        "map": {"date": "2025-01-01", "map": {"duration": [1, 2, 3, 4]}, "empty": {}, "more": [{}]},
    }
    outcome = WriteOutcome(rows=(row, {}), changes=7)
    replayed = replayed_outcome(stored_text(outcome))
    assert replayed == WriteOutcome(rows=(row, {}), changes=7, replayed=True)
    kinds = [type(value) for value in replayed.rows[0].values()]
    assert kinds == [type(value) for value in row.values()]


def test_requests_are_equal_when_text_principal_and_arguments_are() -> None:
    ann = Principal(kind=PrincipalKind.CUSTOMER, subject="s", customer_id="C1")
    base = ProvenWrite(text="a", lock_text="l", columns=(), parameters=frozenset(), principal=ann)
    digest = request_digest(base, {"x": 1, "y": "1"})
    assert request_digest(base.model_copy(update={"lock_text": "other"}), {"y": "1", "x": 1}) == digest
    rescoped = ann.model_copy(update={"scopes": frozenset({"more"})})
    assert request_digest(base.model_copy(update={"principal": rescoped}), {"x": 1, "y": "1"}) == digest
    others = [
        request_digest(base.model_copy(update={"text": "b"}), {"x": 1, "y": "1"}),
        request_digest(
            base.model_copy(update={"principal": ann.model_copy(update={"customer_id": "C2"})}), {"x": 1, "y": "1"}
        ),
        request_digest(base, {"x": "1", "y": "1"}),
        request_digest(base, {"x": 1, "y": None}),
        request_digest(base, {"x": True, "y": "1"}),
        request_digest(base, {"x": [1], "y": "1"}),
        request_digest(base, {"x": 1}),
    ]
    assert len({digest, *others}) == len(others) + 1


def test_an_outcome_is_told_to_its_own_request_alone() -> None:
    stored = stored_text(WriteOutcome(rows=(), changes=0))
    assert replay("digest", stored, "digest") == WriteOutcome(rows=(), changes=0, replayed=True)
    with pytest.raises(ConflictError):
        replay("digest", stored, "another")


@pytest.mark.parametrize("key", ["", "k" * 501])
def test_a_key_that_no_index_takes_is_refused(key: str) -> None:
    with pytest.raises(BadRequestError):
        require_key(key)
