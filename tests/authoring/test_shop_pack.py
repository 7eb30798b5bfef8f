from pathlib import Path

from authoring.check import check_pack

SHOP = Path(__file__).parents[2] / "domains" / "shop"


def test_the_sample_business_has_no_complaint() -> None:
    assert [str(complaint) for complaint in check_pack(SHOP)] == []
