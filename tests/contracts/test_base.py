import pytest
from pydantic import TypeAdapter

from contracts.base import Duration, Point, Row


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("P1Y2M3DT4H5M6.5S", Duration(14, 3, 14_706, 500_000_000)),
        ("P2D", Duration(0, 2, 0, 0)),
        ("PT90M", Duration(0, 0, 5_400, 0)),
        ("P2W", Duration(0, 14, 0, 0)),
        ("P-1M", Duration(-1, 0, 0, 0)),
        ("PT-0.5S", Duration(0, 0, -1, 500_000_000)),
        ("PT0S", Duration(0, 0, 0, 0)),
        ("PT0.000000001S", Duration(0, 0, 0, 1)),
    ],
)
def test_a_duration_is_read_from_its_text(text: str, duration: Duration) -> None:
    assert Duration.parse(text) == duration
    assert Duration.parse(str(duration)) == duration


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1D", "P1H", "P1.5D", "P1D ", "PT1.0000000001S"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        Duration.parse(text)


def test_a_duration_is_written_in_its_shortest_form() -> None:
    assert str(Duration(14, 3, 14_706, 500_000_000)) == "P1Y2M3DT4H5M6.5S"
    assert str(Duration(0, 0, 0, 0)) == "PT0S"
    assert str(Duration(-1, -2, -3_600, 0)) == "P-1M-2DT-1H"


def test_a_place_is_read_longitude_first() -> None:
    assert Point.parse("POINT(-9.14 38.71)") == Point(4326, -9.14, 38.71)
    for text in ("POINT(38.71)", "POINT(1 91)", "POINT(181 1)", "38.7,-9.1", "POINT(a b)"):
        with pytest.raises(ValueError, match="no place"):
            Point.parse(text)


def test_a_row_keeps_maps_durations_and_places_apart_on_its_way_through_json() -> None:
    rows = TypeAdapter(Row)
    row: Row = {
        "empty": {},
        "map": {"months": 1, "days": [1, {"x": None}]},
        "duration": Duration(1, 2, 3, 4),
        "place": Point(4326, -9.14, 38.71),
    }
    assert rows.validate_python(row) == row
    assert rows.validate_json(rows.dump_json(row)) == row
