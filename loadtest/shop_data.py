"""The sample shop's CSV files, joined so that an expected answer can be worked out without the service."""

import csv
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

Record = dict[str, str]


@dataclass
class Account:
    """One customer with what is theirs."""

    customer: Record
    orders: list[Record] = field(default_factory=list)
    addresses: list[Record] = field(default_factory=list)
    tickets: list[Record] = field(default_factory=list)


@dataclass
class ShopData:
    """All files, by what a question asks for. ``items`` and ``shipments`` are by order number."""

    accounts: dict[str, Account]
    items: dict[str, list[Record]]
    shipments: dict[str, list[Record]]
    refunds: dict[str, list[Record]]
    addresses: dict[str, Record]
    products: list[Record]
    product_of_sku: dict[str, Record]
    variants: dict[str, list[Record]]


def load_shop(folder: Path) -> ShopData:
    """The data of a shop pack's ``data`` folder."""
    customers = _read(folder, "customers")
    accounts = {row["customer_id"]: Account(customer=row) for row in customers}
    for row in _read(folder, "orders"):
        accounts[row["customer_id"]].orders.append(row)
    for row in _read(folder, "addresses"):
        accounts[row["customer_id"]].addresses.append(row)
    for row in _read(folder, "tickets"):
        accounts[row["customer_id"]].tickets.append(row)
    products = _read(folder, "products")
    by_id = {row["product_id"]: row for row in products}
    variants = _read(folder, "variants")
    return ShopData(
        accounts=accounts,
        items=_grouped(_read(folder, "order_items"), "order_number"),
        shipments=_grouped(_read(folder, "shipments"), "order_number"),
        refunds=_grouped(_read(folder, "refunds"), "order_number"),
        addresses={row["address_id"]: row for account in accounts.values() for row in account.addresses},
        products=products,
        product_of_sku={row["sku"]: by_id[row["product_id"]] for row in variants},
        variants=_grouped(variants, "product_id"),
    )


def money(text: str) -> str:
    """``1234.5`` as a reply writes it: ``€1,234.50``."""
    return f"€{float(text):,.2f}"


def _read(folder: Path, name: str) -> list[Record]:
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _grouped(rows: list[Record], column: str) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return groups
