"""A small telephone company, seeded: several subscribers, missing values, ties, ends that nobody owns."""

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from contracts.base import Duration, Value
from contracts.graph import GraphEdges, GraphNodes

SUBSCRIBERS = ("S1", "S2", "S3", "S4")
#: Share of the values that may be missing and are.
_MISSING = 0.2
_KEYS = {
    "Subscriber": "id",
    "Contract": "contract_no",
    "Line": "msisdn",
    "UsageRecord": "id",
    "Invoice": "number",
    "InvoiceLine": "id",
    "PaymentTx": "reference",
    "Rental": "id",
    "Case": "case_no",
    "CaseNote": "id",
    "Appointment": "id",
    "Technician": "id",
    "Campaign": "code",
    "Plan": "id",
    "Addon": "code",
    "Device": "id",
    "Store": "id",
}

_Row = dict[str, Value]


class Telephone:
    """Rows by label and relationships by type and ends, as they are made."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self._rows: dict[str, list[_Row]] = {label: [] for label in _KEYS}
        self._links: dict[tuple[str, str, str], dict[tuple[Value, Value], _Row]] = {}
        self._catalogue()
        for number, subscriber in enumerate(SUBSCRIBERS):
            self._subscriber(subscriber, contracts=(3, 2, 1, 0)[number], first=number * 20)
        self._between_subscribers()

    def load(self) -> tuple[list[GraphNodes], list[GraphEdges]]:
        """What a store loads."""
        nodes = [GraphNodes(label=label, key=_KEYS[label], rows=rows) for label, rows in self._rows.items()]
        edges = [
            GraphEdges(
                type=type_,
                start_label=start,
                start_key=_KEYS[start],
                end_label=end,
                end_key=_KEYS[end],
                pairs=list(pairs),
                properties=list(pairs.values()),
            )
            for (type_, start, end), pairs in self._links.items()
        ]
        return nodes, edges

    def _add(self, label: str, key: Value, sure: _Row, perhaps: _Row) -> Value:
        self._rows[label].append({_KEYS[label]: key} | sure | self._some(perhaps))
        return key

    def _some(self, values: _Row) -> _Row:
        return {name: value for name, value in values.items() if self._chance.random() >= _MISSING}

    def _link(self, type_: str, start: tuple[str, Value], end: tuple[str, Value], **values: Value) -> None:
        self._links.setdefault((type_, start[0], end[0]), {})[start[1], end[1]] = self._some(values)

    def _pick(self, *values: Any) -> Any:
        return self._chance.choice(values)

    def _day(self) -> date:
        return date(2026, 1, 1) + timedelta(days=self._pick(0, 1, 30, 30, 58, 59, 120, 150, 165, 200))

    def _moment(self) -> datetime:
        return datetime(2026, 5, 1, 8, 30, tzinfo=UTC) + timedelta(hours=self._pick(0, 0, 5, 20, 49, 700, 1300, 1301))

    def _catalogue(self) -> None:
        plans: list[tuple[str, str, str | None, float, int]] = [
            ("P-S", "Small", "mobile", 9.99, 5),
            ("P-M", "Medium", "mobile", 19.99, 20),
            ("P-L", "Large", "mobile", 29.99, 20),
            ("P-H", "Home", "landline", 29.99, 0),
            ("P-X", "Data X", "data", 14.5, 100),
            ("P-?", "Odd one", None, 19.99, 1),
        ]
        for key, name, kind, price, gb in plans:
            sure: _Row = {"name": name, "price_eur": price, "data_gb": gb}
            typed: _Row = {"type": kind} if kind else {}
            self._add("Plan", key, sure | typed, {"unlimited": gb > 50})
        for start, end, fee in (("P-S", "P-M", 0.0), ("P-S", "P-L", 5.0), ("P-M", "P-L", 5.0), ("P-H", "P-X", 1.25)):
            self._link("UPGRADES_TO", ("Plan", start), ("Plan", end), fee_eur=fee)
        for code, title, price in (("A1", "Roaming", 4.99), ("A2", "Music", 4.99), ("A3", "Second SIM", 2.5)):
            self._add("Addon", code, {"title": title, "price_eur": price}, {"description": f"{title}, monthly."})
            for plan in ("P-S", "P-M", "P-L"):
                if self._chance.random() < 0.7:
                    self._link("OFFERS", ("Plan", plan), ("Addon", code))
        for number, name, brand in ((1, "Orbit 5", "Orbix"), (2, "Orbit 6", "Orbix"), (3, "Nemo One", "Nemo")):
            values: _Row = {
                "price_eur": self._pick(299.0, 299.0, 649.5),
                "released_on": self._day(),
                "five_g": number > 1,
            }
            self._add("Device", number, {"name": name, "brand": brand}, values)
        self._link("SUCCEEDED_BY", ("Device", 1), ("Device", 2))
        for number, city in ((1, "Lisbon"), (2, "Porto"), (3, "Lisbon")):
            self._add("Store", number, {"name": f"Store {city}", "city": city}, {"open_sunday": number != 2})
            self._add("Technician", number, {"name": self._pick("Ada", "Bo")}, {"level": self._pick(1, 2)})
            self._link("WORKS_AT", ("Technician", number), ("Store", self._pick(1, 2, 3)))
            for device in (1, 2, 3):
                self._link("SOLD_AT", ("Device", device), ("Store", number), stock=self._pick(0, 3, 3, 8))
        self._add("Campaign", "C1", {"title": "Spring"}, {"starts_on": self._day(), "budget_eur": 1000.0})
        self._link("PROMOTES", ("Campaign", "C1"), ("Plan", "P-M"))

    def _subscriber(self, key: str, contracts: int, first: int) -> None:
        values: _Row = {
            "since": self._day(),
            "vip": self._pick(True, False),
            "credit_limit_eur": self._pick(100.0, 250.5),
            "points": self._pick(0, 99, 100, 1234),
            "type": self._pick("private", "business"),
        }
        self._add("Subscriber", key, {"name": f"Name {key}", "email": f"{key.lower()}@mail.example"}, values)
        me = ("Subscriber", key)
        for number in range(1001 + first, 1001 + first + contracts):
            self._contract(me, number)
        cases = [self._case(number) for number in range(701 + first, 701 + first + (4, 2, 1, 0)[first // 20])]
        for case in cases[: 3 if len(cases) > 3 else None]:
            self._link("RAISED", me, ("Case", case), channel=self._pick("phone", "mail"))
        if len(cases) > 3:  # one is reached over another alone
            self._link("FOLLOWS", ("Case", cases[0]), ("Case", cases[3]))
            self._link("FOLLOWS", ("Case", cases[1]), ("Case", cases[0]))
        for number in range(2 if cases else 0):
            visit = self._add(
                "Appointment",
                f"V{first + number}",
                {"title": self._pick("Installation", "Repair")},
                {
                    "at": self._moment() + timedelta(days=30 * number),
                    "expected_length": Duration(0, self._pick(0, 1), self._pick(0, 3600, 5400), 0),
                    "done": self._pick(True, False),
                },
            )
            self._link("VISIT", ("Case", cases[0]), ("Appointment", visit))
            self._link("BOOKED", me, ("Appointment", visit))
            self._link("DONE_BY", ("Appointment", visit), ("Technician", self._pick(1, 2)), rating=self._pick(3, 5))

    def _contract(self, me: tuple[str, Value], number: int) -> None:
        values: _Row = {
            "title": self._pick("Phone", "Phone", "Internet"),
            "status": self._pick("active", "active", "suspended", "terminated"),
            "started_on": self._day(),
            "ends_on": self._day() + timedelta(days=30),
            "monthly_eur": self._pick(9.99, 19.99, 19.99),
            "auto_renew": self._pick(True, False),
        }
        contract = ("Contract", self._add("Contract", number, {}, values))
        self._link("HAS_CONTRACT", me, contract, role=self._pick("holder", "payer"), since=self._day())
        plan = self._pick("P-S", "P-M", "P-H", "P-?")
        self._link("ON_PLAN", contract, ("Plan", plan), since=self._day(), discount_pct=self._pick(0.0, 12.5))
        for code in self._chance.sample(("A1", "A2", "A3"), self._pick(0, 1, 2)):
            self._link("HAS_ADDON", contract, ("Addon", code), activated_on=self._day(), quantity=self._pick(1, 2))
        lines = [self._line(contract, f"+49151{number - 1000:03d}{part}") for part in range(self._pick(1, 2))]
        invoices = [self._invoice(contract, number * 4 + 997 + part, lines) for part in range(4)]
        self._link("CORRECTS", invoices[3], invoices[0], reason=self._pick("rounding", "tariff"), type="credit")
        for part in range(self._pick(0, 1, 1)):
            rented: _Row = {
                "started_on": self._day(),
                "months": self._pick(12, 24),
                "rate_eur": 10.4,
                "paid_off": False,
            }
            rental = ("Rental", self._add("Rental", f"R{number}-{part}", {}, rented))
            self._link("RENTS", contract, rental)
            self._link("OF_DEVICE", rental, ("Device", self._pick(1, 2, 3)))

    def _line(self, contract: tuple[str, Value], key: str) -> tuple[str, Value]:
        values: _Row = {
            "type": self._pick("mobile", "landline", "data"),
            "label": self._pick("Office", "my office phone", "Mum"),
            "activated_at": self._moment(),
            "blocked": self._pick(False, False, True),
            "data_left_mb": self._pick(0, 300, 5000, 5000),
        }
        line = ("Line", self._add("Line", key, {}, values))
        self._link("HAS_LINE", contract, line)
        for _ in range(self._pick(0, 4, 6)):
            used: _Row = {
                "type": self._pick("voice", "voice", "sms", "data"),
                "start": self._moment(),
                "minutes": self._pick(0, 1, 5, 5),
                "mb": self._pick(0.5, 20.25, 20.25),
                "destination": self._pick("Spain", "France", "home"),
                "roaming": self._pick(True, False),
            }
            record = self._add("UsageRecord", 9001 + len(self._rows["UsageRecord"]), {}, used)
            self._link("USED", line, ("UsageRecord", record))
        return line

    def _invoice(self, contract: tuple[str, Value], number: int, lines: list[tuple[str, Value]]) -> tuple[str, Value]:
        issued = self._day()
        values: _Row = {
            "type": self._pick("regular", "regular", "final"),
            "issued_on": issued,
            "due_on": issued + timedelta(days=14),
            "total_eur": self._pick(19.99, 19.99, 24.98, 40.0),
            "paid": self._pick(True, False),
        }
        invoice = ("Invoice", self._add("Invoice", number, {}, values))
        self._link("BILLED", contract, invoice)
        for part in range(self._pick(1, 2, 3)):
            items: _Row = {"quantity": self._pick(1, 2, 2), "amount_eur": self._pick(4.99, 9.99, 9.99)}
            item = ("InvoiceLine", self._add("InvoiceLine", f"{number}-{part}", {"title": f"Item {part}"}, items))
            self._link("LISTS", invoice, item)
            self._link("FOR_LINE", item, self._pick(*lines))
        for part in range(self._pick(0, 1, 1, 2)):
            paid: _Row = {"at": self._moment(), "amount_eur": 9.99, "method": self._pick("card", "debit")}
            payment = ("PaymentTx", self._add("PaymentTx", f"T{number}-{part}", {}, paid))
            self._link("SETTLED_BY", invoice, payment, amount_eur=9.99)
        return invoice

    def _case(self, number: int) -> int:
        opened = self._moment()
        values: _Row = {
            "type": self._pick("outage", "billing", "other"),
            "opened_at": opened,
            "priority": self._pick(1, 2, 2, 3),
            "escalated": self._pick(True, False),
        }
        closed: _Row = {"closed_at": opened + timedelta(hours=self._pick(1, 30, 49))} if number % 2 else {}
        self._add("Case", number, {"title": self._pick("No signal", "Wrong bill")} | closed, values)
        for part in range(self._pick(0, 1, 2, 3)):
            note: _Row = {
                "text": self._pick("Called.", "Waiting."),
                "written_at": self._moment(),
                "by_staff": part == 1,
            }
            self._link("HAS_NOTE", ("Case", number), ("CaseNote", self._add("CaseNote", f"N{number}-{part}", {}, note)))
        return number

    def _between_subscribers(self) -> None:
        for start, end in (("S1", "S2"), ("S1", "S3"), ("S2", "S1"), ("S4", "S1")):
            self._link("REFERRED", ("Subscriber", start), ("Subscriber", end), on=self._day(), bonus_eur=10.0)
        for subscriber in SUBSCRIBERS[:3]:
            self._link("TARGETED", ("Campaign", "C1"), ("Subscriber", subscriber))
        lines = [row["msisdn"] for row in self._rows["Line"]]
        numbers = [row["number"] for row in self._rows["Invoice"]]
        for row in self._rows["Case"]:
            self._link("ABOUT", ("Case", row["case_no"]), ("Line", self._pick(*lines)))
            self._link("ABOUT", ("Case", row["case_no"]), ("Invoice", self._pick(*numbers)))
        self._link("CORRECTS", ("Invoice", numbers[0]), ("Invoice", numbers[-1]), reason="foreign", type="credit")
