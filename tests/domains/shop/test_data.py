"""The sample shop's tables agree with the schema, with one another and with the rules of its documents."""

import csv
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from configs.packs.types import DataMapping
from contracts.graph import GraphSchema

SHOP = Path(__file__).parents[3] / "domains" / "shop"
DATA = SHOP / "data"
TODAY = date(2026, 6, 15)
OPEN = {"placed", "paid", "packed", "shipped"}

Row = dict[str, str]


def read(name: str) -> list[Row]:
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def grouped(rows: list[Row], column: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return groups


CUSTOMERS = read("customers")
ADDRESSES = read("addresses")
PRODUCTS = read("products")
VARIANTS = read("variants")
ORDERS = read("orders")
ITEMS = read("order_items")
PAYMENTS = read("payments")
SHIPMENTS = read("shipments")
EVENTS = read("tracking_events")
RETURNS = read("returns")
RETURN_ITEMS = read("return_items")
REFUNDS = read("refunds")
WARRANTIES = read("warranties")
TICKETS = read("tickets")

ORDER = {row["order_number"]: row for row in ORDERS}
ITEM = {row["item_id"]: row for row in ITEMS}
PRODUCT_OF_SKU = {
    variant["sku"]: product
    for variant in VARIANTS
    for product in PRODUCTS
    if product["product_id"] == variant["product_id"]
}
ITEMS_OF = grouped(ITEMS, "order_number")
PAYMENTS_OF = grouped(PAYMENTS, "order_number")
SHIPMENTS_OF = grouped(SHIPMENTS, "order_number")
EVENTS_OF = grouped(EVENTS, "shipment_id")
RETURNS_OF = grouped(RETURNS, "order_number")
REFUNDS_OF = grouped(REFUNDS, "order_number")
RETURNED_ITEMS = {key: {row["item_id"] for row in rows} for key, rows in grouped(RETURN_ITEMS, "return_id").items()}

SCHEMA = GraphSchema.model_validate(yaml.safe_load((SHOP / "schema.yaml").read_text(encoding="utf-8")))
MAPPING = DataMapping.model_validate(yaml.safe_load((DATA / "mapping.yaml").read_text(encoding="utf-8")))


def day(text: str) -> date:
    return date.fromisoformat(text)


def goods(rows: list[Row]) -> Decimal:
    return sum((int(row["quantity"]) * Decimal(row["unit_price_eur"]) for row in rows), Decimal(0))


def accepted_items(number: str) -> set[str]:
    accepted = [row["return_id"] for row in RETURNS_OF[number] if row["status"] == "accepted"]
    return {item for return_id in accepted for item in RETURNED_ITEMS[return_id]}


def months_later(start: date, months: int) -> date:
    month = start.year * 12 + start.month - 1 + months
    for last in (start.day, 30, 29, 28):
        try:
            return date(month // 12, month % 12 + 1, min(start.day, last))
        except ValueError:
            continue
    raise AssertionError


# -- form


def test_the_generator_writes_the_committed_bytes(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, str(SHOP / "generate.py"), str(tmp_path)], check=True, env=environment)

    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    assert written == {path.name: path.read_bytes() for path in DATA.glob("*.csv")}


def test_the_tables_stay_small() -> None:
    assert sum(path.stat().st_size for path in DATA.glob("*.csv")) < 3_000_000


def test_the_sample_is_as_large_as_promised() -> None:
    assert len(CUSTOMERS) >= 520
    assert len(PRODUCTS) >= 60
    assert len({row["category_name"] for row in PRODUCTS}) == len(read("categories")) == 12
    assert len(ORDERS) >= 1600
    assert [int(row["order_number"]) for row in ORDERS] == list(range(10_001, 10_001 + len(ORDERS)))
    assert {len(rows) for rows in grouped(VARIANTS, "product_id").values()} <= {1, 2, 3, 4}


def test_every_label_and_relationship_of_the_schema_is_mapped_once() -> None:
    assert Counter(node.label for node in MAPPING.nodes) == Counter(SCHEMA.labels.keys())
    declared = Counter((edge.type, edge.start, edge.end) for edge in SCHEMA.relationships)
    assert Counter((edge.type, edge.start, edge.end) for edge in MAPPING.relationships) == declared


@pytest.mark.parametrize("label", sorted(SCHEMA.labels))
def test_every_cell_has_the_type_and_the_value_that_the_schema_declares(label: str) -> None:
    parse = {"string": str, "integer": int, "float": float, "date": day, "datetime": datetime.fromisoformat}
    (node,) = [node for node in MAPPING.nodes if node.label == label]
    rows = read(node.file.removesuffix(".csv"))
    for name, declared in SCHEMA.labels[label].properties.items():
        cells = [row[name] for row in rows if row[name]]
        assert cells, name
        if declared.type == "boolean":
            assert set(cells) <= {"true", "false"}
        else:
            for cell in cells:
                parse[declared.type](cell)
        if declared.values:
            assert set(cells) == set(declared.values), f"{name}: each value occurs, no other does"
        if declared.unique:
            assert len(set(cells)) == len(rows), name


@pytest.mark.parametrize("edge", MAPPING.relationships, ids=lambda edge: edge.type)
def test_every_foreign_key_leads_to_a_row(edge) -> None:  # type: ignore[no-untyped-def]
    files = {node.label: (node.file, node.key) for node in MAPPING.nodes}
    rows = [row for row in read(edge.file.removesuffix(".csv")) if row[edge.start_column] and row[edge.end_column]]
    assert rows
    for label, column in ((edge.start, edge.start_column), (edge.end, edge.end_column)):
        file, key = files[label]
        known = {row[key] for row in read(file.removesuffix(".csv"))}
        assert {row[column] for row in rows} <= known


# -- customers and addresses


def test_customers_have_no_one_or_many_orders() -> None:
    counts = Counter(row["customer_id"] for row in ORDERS)
    sizes = Counter(counts[row["customer_id"]] for row in CUSTOMERS)
    assert sizes[0] >= 20
    assert sizes[1] >= 100
    assert sum(number for size, number in sizes.items() if size >= 12) >= 8


def test_names_are_odd_and_values_are_missing() -> None:
    names = [row["full_name"] for row in CUSTOMERS]
    assert all(names)
    for pattern in ("'", "-", "[À-ÿ]", "[\u4e00-\u9fff]", "[\u0600-\u06ff]", '"', "^[^ ]+$", ".{60}"):
        assert any(re.search(pattern, name) for name in names), pattern
    assert Counter(names)["Anna Weber"] >= 3
    assert sum(not row["email"] for row in CUSTOMERS) >= 5
    assert sum(not row["phone"] for row in CUSTOMERS) >= 5
    assert {row["customer_id"] for row in CUSTOMERS} - {row["customer_id"] for row in ADDRESSES}


def test_contact_data_reach_nobody() -> None:
    emails = [row["email"] for row in CUSTOMERS if row["email"]]
    assert len(set(emails)) == len(emails)
    assert all(re.fullmatch(r"[a-z0-9.]+@example\.(com|org)", email) for email in emails)
    phones = [row["phone"] for row in CUSTOMERS if row["phone"]]
    assert len(set(phones)) == len(phones)
    assert all(re.fullmatch(r"\+44 7700 900\d{3}|\+1 \d{3} 555 01\d{2}", phone) for phone in phones)


def test_the_newest_address_alone_is_current() -> None:
    for rows in grouped(ADDRESSES, "customer_id").values():
        days = [day(row["added_on"]) for row in rows]
        assert days == sorted(set(days))
        assert [row["current"] for row in rows] == ["false"] * (len(rows) - 1) + ["true"]


def test_an_order_goes_to_the_customers_address_of_that_day() -> None:
    addresses = grouped(ADDRESSES, "customer_id")
    for order in ORDERS:
        known = [row for row in addresses[order["customer_id"]] if row["added_on"] <= order["ordered_on"]]
        assert order["address_id"] == max(known, key=lambda row: row["added_on"])["address_id"]


def test_several_customers_moved_while_an_order_is_open() -> None:
    old = {row["address_id"] for row in ADDRESSES if row["current"] == "false"}
    moved = {row["customer_id"] for row in ORDERS if row["status"] in OPEN and row["address_id"] in old}
    assert len(moved) >= 10


def test_customers_joined_before_they_ordered() -> None:
    joined = {row["customer_id"]: row["joined_on"] for row in CUSTOMERS}
    assert all(joined[row["customer_id"]] <= row["ordered_on"] for row in ORDERS)


def test_loyalty_follows_the_number_of_orders_that_were_not_cancelled() -> None:
    kept = Counter(row["customer_id"] for row in ORDERS if row["status"] != "cancelled")
    for customer in CUSTOMERS:
        orders = kept[customer["customer_id"]]
        assert customer["loyalty_tier"] == ("basic", "silver", "gold")[(orders >= 4) + (orders >= 10)]


# -- catalogue


def test_some_variants_are_sold_out_with_and_without_a_day_of_restocking() -> None:
    sold_out = [row for row in VARIANTS if row["stock"] == "0"]
    assert any(row["restock_on"] for row in sold_out)
    assert any(not row["restock_on"] for row in sold_out)
    assert all(row in sold_out and day(row["restock_on"]) > TODAY for row in VARIANTS if row["restock_on"])


def test_a_product_is_named_after_its_brand_and_described() -> None:
    for product in PRODUCTS:
        assert product["name"].startswith(product["brand"] + " ")
        assert product["description"]
    assert all(row["description"] for row in read("categories"))


def test_warranty_months_are_those_of_the_category_s_terms() -> None:
    for product in PRODUCTS:
        terms = SHOP / "documents" / f"warranty-{product['category_name'].lower().replace(' ', '-')}.md"
        stated = re.search(r"runs for (\d+) months", terms.read_text(encoding="utf-8"))
        assert stated and stated[1] == product["warranty_months"], product["name"]


# -- orders


def test_totals_are_goods_and_shipping() -> None:
    for order in ORDERS:
        items = ITEMS_OF[order["order_number"]]
        assert items
        assert Decimal(order["total_eur"]) == goods(items) + Decimal(order["shipping_eur"])
        match order["shipping_method"]:
            case "standard":
                assert order["shipping_eur"] == ("0.00" if goods(items) >= 100 else "4.90")
            case "express":
                assert order["shipping_eur"] == "14.90"
            case "pickup":
                assert order["shipping_eur"] == "0.00"


def test_heavy_items_go_by_freight() -> None:
    weights = {sku: float(product["weight_kg"]) for sku, product in PRODUCT_OF_SKU.items()}
    for order in ORDERS:
        shipments = SHIPMENTS_OF[order["order_number"]]
        heavy = any(weights[row["sku"]] >= 20 for row in ITEMS_OF[order["order_number"]])
        if shipments:
            assert heavy == any(row["carrier"] == "Oxbow Freight" for row in shipments), order["order_number"]


def test_an_order_s_dates_fit_its_status() -> None:
    undelivered_returns = 0
    for order in ORDERS:
        assert bool(order["expected_on"]) == (order["status"] in OPEN)
        if order["expected_on"]:
            assert order["expected_on"] > order["ordered_on"]
        if order["status"] == "delivered":
            assert order["delivered_on"]
        elif order["status"] == "returned":
            undelivered_returns += not order["delivered_on"]
        else:
            assert not order["delivered_on"]
    assert undelivered_returns >= 5


def test_only_orders_under_way_are_late() -> None:
    late = [row for row in ORDERS if row["expected_on"] and day(row["expected_on"]) < TODAY]
    assert len(late) >= 10
    assert {row["status"] for row in late} == {"shipped"}


def test_shipments_fit_the_order_s_status() -> None:
    sent_in_two = 0
    for order in ORDERS:
        statuses = [row["status"] for row in SHIPMENTS_OF[order["order_number"]]]
        sent_in_two += len(statuses) == 2
        match order["status"]:
            case "placed" | "paid" | "cancelled":
                assert not statuses
            case "packed":
                assert set(statuses) == {"announced"}
            case "shipped":
                assert statuses
                assert set(statuses) <= {"in transit", "out for delivery", "lost", "delivered"}
                assert set(statuses) != {"delivered"}
            case "delivered":
                assert set(statuses) == {"delivered"}
            case "returned":
                assert set(statuses) == ({"delivered"} if order["delivered_on"] else {"returned to sender"})
        if order["delivered_on"]:
            assert order["delivered_on"] == max(row["delivered_on"] for row in SHIPMENTS_OF[order["order_number"]])
    assert sent_in_two >= 50


def test_a_shipment_s_dates_fit_its_status_and_its_scans() -> None:
    for shipment in SHIPMENTS:
        assert bool(shipment["shipped_on"]) == (shipment["status"] != "announced")
        assert bool(shipment["delivered_on"]) == (shipment["status"] == "delivered")
        scans = EVENTS_OF[shipment["shipment_id"]]
        assert [int(row["sequence"]) for row in scans] == list(range(1, len(scans) + 1))
        times = [datetime.fromisoformat(row["at"]) for row in scans]
        assert times == sorted(set(times))
        assert times[0].date() >= day(ORDER[shipment["order_number"]]["ordered_on"])
        assert times[-1] < datetime(2026, 6, 15, 12)
        if shipment["shipped_on"]:
            assert times[1].date() == day(shipment["shipped_on"])
        if shipment["delivered_on"]:
            assert times[-1].date() == day(shipment["delivered_on"])
            assert re.match("Delivered|Collected at the pickup point", scans[-1]["description"])
            assert times[-1].weekday() != 6
        if shipment["status"] == "out for delivery":
            assert times[-1].date() == TODAY


def test_a_parcel_is_lost_after_ten_working_days_and_not_before() -> None:
    for shipment in SHIPMENTS:
        if shipment["status"] in ("in transit", "out for delivery", "lost"):
            shipped = day(shipment["shipped_on"])
            days = [shipped + timedelta(days=count) for count in range(1, (TODAY - shipped).days)]
            passed = sum(one.weekday() != 6 for one in days)
            assert (passed >= 10) == (shipment["status"] == "lost")


def test_an_order_of_sold_out_goods_waits_for_their_restocking() -> None:
    restock = {row["sku"]: row["restock_on"] for row in VARIANTS}
    waiting = [row for row in ORDERS if row["status"] == "paid" and day(row["ordered_on"]) < TODAY - timedelta(days=3)]
    assert waiting
    for order in waiting:
        days = [restock[row["sku"]] for row in ITEMS_OF[order["order_number"]] if restock[row["sku"]]]
        assert days and order["expected_on"] > max(days)
        assert day(order["expected_on"]) <= day(order["ordered_on"]) + timedelta(days=60)


# -- payments, returns, refunds


def test_payments_make_up_the_total() -> None:
    for order in ORDERS:
        payments = PAYMENTS_OF[order["order_number"]]
        counted = [row for row in payments if row["status"] != "failed"]
        if counted:
            assert sum(Decimal(row["amount_eur"]) for row in counted) == Decimal(order["total_eur"])
        else:
            assert order["status"] in ("placed", "cancelled")
            assert payments
    assert any(len(rows) > 1 and all(row["status"] == "paid" for row in rows) for rows in PAYMENTS_OF.values())


def test_payments_fit_the_order_s_status() -> None:
    for order in ORDERS:
        counted = [row for row in PAYMENTS_OF[order["order_number"]] if row["status"] != "failed"]
        statuses = {row["status"] for row in counted}
        match order["status"]:
            case "placed":
                # A card is charged at once, so what is open is a transfer of at most a week.
                assert statuses <= {"open"}
                assert {row["method"] for row in counted} <= {"bank transfer"}
                assert day(order["ordered_on"]) >= TODAY - timedelta(days=7)
            case "paid":
                assert statuses == {"paid"}
            case "packed" | "shipped" | "delivered":
                assert statuses in ({"paid"}, {"open"})
                assert statuses == {"paid"} or {row["method"] for row in counted} == {"invoice"}
            case "returned":
                assert statuses <= {"paid", "refunded"}
            case "cancelled":
                assert statuses <= {"paid", "refunded"}


def test_a_payment_has_a_day_when_the_money_arrived() -> None:
    for payment in PAYMENTS:
        assert bool(payment["paid_on"]) == (payment["status"] in ("paid", "refunded"))
        if payment["paid_on"]:
            assert payment["paid_on"] >= ORDER[payment["order_number"]]["ordered_on"]
        if payment["method"] == "invoice":
            assert Decimal(payment["amount_eur"]) <= 3000
        if payment["method"] == "instalments":
            assert 200 <= Decimal(payment["amount_eur"]) <= 4000


def test_returns_are_asked_for_within_thirty_days_of_delivery() -> None:
    for row in RETURNS:
        order = ORDER[row["order_number"]]
        assert order["delivered_on"] <= row["requested_on"]
        assert day(row["requested_on"]) <= day(order["delivered_on"]) + timedelta(days=30)
        assert bool(row["received_on"]) == (row["status"] in ("received", "accepted", "rejected"))
        if row["received_on"]:
            assert row["received_on"] > row["requested_on"]
        assert RETURNED_ITEMS[row["return_id"]]
        assert {ITEM[item]["order_number"] for item in RETURNED_ITEMS[row["return_id"]]} == {row["order_number"]}


def test_an_order_is_returned_when_all_of_it_came_back() -> None:
    for order in ORDERS:
        number = order["order_number"]
        whole = accepted_items(number) == {row["item_id"] for row in ITEMS_OF[number]}
        undeliverable = any(row["status"] == "returned to sender" for row in SHIPMENTS_OF[number])
        assert (order["status"] == "returned") == (whole or undeliverable)


def test_refunds_pay_back_what_came_back_or_was_cancelled() -> None:
    for order in ORDERS:
        number = order["order_number"]
        refunds = REFUNDS_OF[number]
        total = Decimal(order["total_eur"])
        paid = any(row["status"] in ("paid", "refunded") for row in PAYMENTS_OF[number])
        back = [ITEM[item] for item in accepted_items(number)]
        if order["status"] == "cancelled":
            expected = [total] if paid else []
        elif order["status"] == "returned":
            expected = [total]
        else:
            expected = [goods(back)] if back else []
        assert [Decimal(row["amount_eur"]) for row in refunds] == expected
        if order["status"] in ("cancelled", "returned") and refunds:
            settled = {row["status"] for row in PAYMENTS_OF[number]} - {"failed"}
            assert settled == ({"refunded"} if refunds[0]["status"] == "paid" else {"paid"})
    assert all(bool(row["refunded_on"]) == (row["status"] == "paid") for row in REFUNDS)


# -- warranties and tickets


def test_what_was_delivered_and_kept_has_one_warranty_from_that_day() -> None:
    warranties = grouped(WARRANTIES, "item_id")
    for item in ITEMS:
        order = ORDER[item["order_number"]]
        covered = warranties[item["item_id"]]
        if order["status"] != "delivered" or item["item_id"] in accepted_items(item["order_number"]):
            assert not covered
            continue
        (warranty,) = covered
        months = int(PRODUCT_OF_SKU[item["sku"]]["warranty_months"])
        assert int(warranty["months"]) == months + (24 if warranty["kind"] == "extended" else 0)
        assert warranty["starts_on"] == order["delivered_on"]
        assert day(warranty["ends_on"]) == months_later(day(order["delivered_on"]), int(warranty["months"]))


def test_tickets_are_about_the_customer_s_own_orders() -> None:
    for ticket in TICKETS:
        assert ticket["opened_on"] <= ticket["updated_on"]
        assert ticket["last_note"]
        if ticket["order_number"]:
            order = ORDER[ticket["order_number"]]
            assert order["customer_id"] == ticket["customer_id"]
            assert order["ordered_on"] <= ticket["opened_on"]
    assert sum(not row["order_number"] for row in TICKETS) >= 20


def test_nothing_has_happened_after_today() -> None:
    future = {"expected_on", "restock_on", "ends_on"}
    for path in DATA.glob("*.csv"):
        for row in read(path.stem):
            for column, cell in row.items():
                if (column.endswith("_on") and column not in future) or column == "at":
                    assert cell[:10] <= TODAY.isoformat(), (path.name, column, row)
