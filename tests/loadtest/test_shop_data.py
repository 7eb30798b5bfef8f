from pathlib import Path

import pytest

from loadtest.shop_data import load_shop, money

FILES = {
    "customers": "customer_id,full_name\nC1,Ana\nC2,Ben\n",
    "orders": "order_number,status,customer_id,address_id\n10001,paid,C2,A1\n10002,shipped,C2,A1\n",
    "addresses": "address_id,street,customer_id\nA1,Elm Row 1,C2\n",
    "tickets": "ticket_id,customer_id\nT-1,C1\n",
    "products": 'product_id,name\nP1,"Lamp, small"\n',
    "variants": "sku,variant_name,price_eur,product_id\nL-R,Red,9.5,P1\nL-B,Blue,9.5,P1\n",
    "order_items": "item_id,order_number,sku\nI1,10002,L-B\nI2,10002,L-R\n",
    "shipments": "shipment_id,order_number\nS1,10002\n",
    "refunds": "refund_id,order_number\nR1,10001\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return tmp_path


def test_each_account_has_what_is_its_own(folder: Path) -> None:
    accounts = load_shop(folder).accounts
    assert [order["order_number"] for order in accounts["C2"].orders] == ["10001", "10002"]
    assert [address["street"] for address in accounts["C2"].addresses] == ["Elm Row 1"]
    assert (accounts["C1"].orders, accounts["C1"].addresses) == ([], [])
    assert [ticket["ticket_id"] for ticket in accounts["C1"].tickets] == ["T-1"]


def test_items_lead_to_their_products_and_products_to_their_variants(folder: Path) -> None:
    shop = load_shop(folder)
    assert {shop.product_of_sku[item["sku"]]["name"] for item in shop.items["10002"]} == {"Lamp, small"}
    assert [variant["variant_name"] for variant in shop.variants["P1"]] == ["Red", "Blue"]
    assert [row["shipment_id"] for row in shop.shipments["10002"]] == ["S1"]
    assert [row["refund_id"] for row in shop.refunds["10001"]] == ["R1"]


@pytest.mark.parametrize(
    ("cell", "written"), [("648.99", "€648.99"), ("0", "€0.00"), ("1234.5", "€1,234.50"), ("-3", "€-3.00")]
)
def test_money_is_written_as_replies_write_it(cell: str, written: str) -> None:
    assert money(cell) == written
