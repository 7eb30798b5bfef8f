from datetime import UTC, date, datetime

import pytest

from cli.parameter_values import parameter_values
from contracts.errors import BadRequestError
from contracts.graph import PropertyType


def test_a_value_gets_the_type_that_the_query_needs() -> None:
    types = {
        "number": PropertyType.INTEGER,
        "code": PropertyType.STRING,
        "share": PropertyType.FLOAT,
        "open": PropertyType.BOOLEAN,
        "on": PropertyType.DATE,
        "at": PropertyType.DATETIME,
    }
    given = ["number=12", "code=0012", "share=2", "open=TRUE", "on=2026-03-01", "at=2026-03-01T10:00:00+00:00"]
    assert parameter_values(given, types) == {
        "number": 12,
        "code": "0012",
        "share": 2.0,
        "open": True,
        "on": date(2026, 3, 1),
        "at": datetime(2026, 3, 1, 10, tzinfo=UTC),
    }


def test_where_the_type_is_open_a_value_is_json_or_the_text_itself() -> None:
    given = ["a=12", 'b="12"', "c=null", "d=a=b", "e=", "f=[1, 2]", "g={}"]
    assert parameter_values(given, {}) == {"a": 12, "b": "12", "c": None, "d": "a=b", "e": "", "f": [1, 2], "g": "{}"}


def test_a_list_holds_values_of_the_type() -> None:
    types = {"on": PropertyType.DATE, "codes": PropertyType.STRING}
    given = ['on=["2026-03-01"]', 'codes=["7", "8"]']
    assert parameter_values(given, types, {"on", "codes"}) == {"on": [date(2026, 3, 1)], "codes": ["7", "8"]}


@pytest.mark.parametrize(
    "given", [["number"], ["number=1", "number=2"], ["number=x"], ["number=1.5"], ["many=1"], ["long=P1D"]]
)
def test_what_cannot_be_read_is_named(given: list[str]) -> None:
    types = {"number": PropertyType.INTEGER, "many": PropertyType.INTEGER, "long": PropertyType.DURATION}
    with pytest.raises(BadRequestError) as raised:
        parameter_values(given, types, {"many"})
    assert given[0].partition("=")[0] in raised.value.detail
