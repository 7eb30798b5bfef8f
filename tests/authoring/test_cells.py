from datetime import UTC, date, datetime

import pytest

from authoring.cells import cell_value
from contracts.base import Duration, Point, Value
from contracts.graph import PropertySchema, PropertyType

EVERY_TYPE = list(PropertyType)


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (PropertyType.STRING, "red city bike", "red city bike"),
        (PropertyType.INTEGER, "12 500", 12_500),
        (PropertyType.FLOAT, "-0.25", -0.25),
        (PropertyType.BOOLEAN, "True", True),
        (PropertyType.DATE, "2026-04-28", date(2026, 4, 28)),
        (PropertyType.DATETIME, "2026-04-28T08:30:00+00:00", datetime(2026, 4, 28, 8, 30, tzinfo=UTC)),
        (PropertyType.DURATION, "P1Y2M3DT4H5M6.5S", Duration(14, 3, 14_706, 500_000_000)),
        (PropertyType.DURATION, "P2W", Duration(0, 14, 0, 0)),
        (PropertyType.POINT, "POINT(-9.14 38.71)", Point(4326, -9.14, 38.71)),
        (PropertyType.POINT, "POINT (180 -90)", Point(4326, 180.0, -90.0)),
    ],
)
def test_a_cell_is_a_value_of_its_propertys_type(type_: PropertyType, text: str, value: Value) -> None:
    found = cell_value(text, PropertySchema(type=type_))
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("type_", EVERY_TYPE)
def test_an_empty_cell_of_any_type_is_missing(type_: PropertyType) -> None:
    assert cell_value("", PropertySchema(type=type_)) is None


@pytest.mark.parametrize(
    ("type_", "text", "complaint"),
    [
        (PropertyType.DURATION, "two days", "'two days' is no duration (P1M2DT3H)"),
        (PropertyType.DURATION, "P", "'P' is no duration (P1M2DT3H)"),
        (PropertyType.DURATION, "P1DT", "'P1DT' is no duration (P1M2DT3H)"),
        (PropertyType.DURATION, "1:30", "'1:30' is no duration (P1M2DT3H)"),
        (
            PropertyType.POINT,
            "38.71, -9.14",
            "'38.71, -9.14' is no place (POINT(-9.14 38.71), longitude before latitude)",
        ),
        (
            PropertyType.POINT,
            "POINT(38.71 -99.14)",
            "'POINT(38.71 -99.14)' is no place (POINT(-9.14 38.71), longitude before latitude)",
        ),
        (PropertyType.FLOAT, "inf", "'inf' is no number"),
        (PropertyType.DATETIME, "yesterday", "'yesterday' is no date and time (YYYY-MM-DDTHH:MM:SS)"),
    ],
)
def test_a_cell_of_another_type_is_complained_about_with_an_example(
    type_: PropertyType, text: str, complaint: str
) -> None:
    with pytest.raises(ValueError) as caught:
        cell_value(text, PropertySchema(type=type_))
    assert str(caught.value) == complaint


@pytest.mark.parametrize("type_", [each for each in EVERY_TYPE if each is not PropertyType.STRING])
def test_nonsense_is_a_value_of_no_type_but_text(type_: PropertyType) -> None:
    with pytest.raises(ValueError, match=r"^'%!' is no "):
        cell_value("%!", PropertySchema(type=type_))
