"""The generator's options: a larger shop of the same kind."""

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SHOP = Path(__file__).parents[3] / "domains" / "shop"


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("larger")
    size = ("--customers", "1200", "--orders", "6000")
    subprocess.run([sys.executable, str(SHOP / "generate.py"), str(folder), *size], check=True)
    return folder


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_it_has_exactly_as_many_customers_and_orders_as_are_wanted(larger: Path) -> None:
    assert len(rows(larger, "customers")) == 1200
    assert len(rows(larger, "orders")) == 6000


def test_its_orders_stand_as_those_of_the_small_shop_do(larger: Path) -> None:
    def shares(folder: Path) -> dict[str, float]:
        counts = Counter(row["status"] for row in rows(folder, "orders"))
        return {status: count / counts.total() for status, count in counts.items()}

    small, large = shares(SHOP / "data"), shares(larger)
    assert large.keys() == small.keys()
    for status, share in small.items():
        assert large[status] == pytest.approx(share, abs=0.01), status


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("customers", "customer_id"),
        ("orders", "order_number"),
        ("shipments", "tracking_number"),
        ("tickets", "ticket_id"),
    ],
)
def test_its_keys_are_unique(larger: Path, table: str, column: str) -> None:
    keys = [row[column] for row in rows(larger, table) if row[column]]
    assert len(set(keys)) == len(keys)


def test_a_shop_that_is_too_small_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SHOP / "generate.py"), str(tmp_path), "--customers", "3"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "540" in done.stderr
    assert list(tmp_path.iterdir()) == []
