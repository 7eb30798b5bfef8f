"""The sample business's documents: valid heads, no figure at odds with its data, questions that they answer."""

import csv
import json
import re
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from rapidfuzz import fuzz, process

from configs.packs.front_matter import read_document
from configs.packs.types import SourceDocument
from contracts.documents import DocumentStatus
from contracts.graph import Audience

ROOT = Path(__file__).parents[3]
DOCUMENTS = ROOT / "domains" / "shop" / "documents"
DATA = ROOT / "domains" / "shop" / "data"
QUESTION_SETS = {"test": (80, 40), "train": (60, 40)}
BUSINESS_DATE = date(2026, 6, 15)
#: What approved documents must outlive or predate, so that the real clock changes nothing for years.
FAR_FUTURE = date(2034, 1, 1)


def _rows(file: str) -> list[dict[str, str]]:
    with (DATA / file).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _documents() -> dict[str, SourceDocument]:
    documents = {}
    for path in sorted(DOCUMENTS.glob("*.md")):
        document, _, complaints = read_document(path.name, path.read_text(encoding="utf-8"))
        assert document is not None and not complaints, complaints
        documents[path.stem] = document
    return documents


def _sections(document: SourceDocument) -> dict[str, str]:
    """Text by heading, without the document's title."""
    pieces = re.split(r"^## (.+)$", document.body, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def _questions(name: str) -> list[dict[str, object]]:
    lines = (ROOT / "evals" / "data" / f"shop_documents_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def documents() -> dict[str, SourceDocument]:
    return _documents()


def _permitted(document: SourceDocument, audiences: set[Audience], on: date) -> bool:
    head = document.governance
    return (
        head.status is DocumentStatus.APPROVED
        and head.audience in audiences
        and head.valid_from <= on
        and (head.valid_to is None or on <= head.valid_to)
    )


def test_every_document_is_filed_under_its_own_id_and_title(documents: dict[str, SourceDocument]) -> None:
    for stem, document in documents.items():
        assert document.governance.document_id == stem
        assert document.body.lstrip().startswith(f"# {document.governance.title}\n")
        assert document.governance.language == "en"
    titles = [document.governance.title for document in documents.values()]
    assert len(set(titles)) == len(titles)


def test_at_least_34_documents_are_open_to_the_public(documents: dict[str, SourceDocument]) -> None:
    public = [name for name, document in documents.items() if _permitted(document, {Audience.PUBLIC}, BUSINESS_DATE)]
    assert len(public) >= 34
    assert sum(name.startswith("manual-") for name in public) >= 8


def test_each_reason_to_hide_a_document_occurs(documents: dict[str, SourceDocument]) -> None:
    heads = [document.governance for document in documents.values()]
    assert sum(head.status is DocumentStatus.DRAFT for head in heads) == 1
    assert sum(head.status is DocumentStatus.WITHDRAWN for head in heads) == 1
    assert sum(head.valid_to is not None and head.valid_to < BUSINESS_DATE for head in heads) == 1
    assert sum(head.valid_from >= date(2027, 1, 1) for head in heads) == 1
    assert sum(head.audience is Audience.STAFF for head in heads) == 2
    assert sum(head.audience is Audience.CUSTOMER for head in heads) == 1


def test_what_is_permitted_today_stays_permitted_for_years(documents: dict[str, SourceDocument]) -> None:
    everyone = set(Audience)
    for name, document in documents.items():
        assert _permitted(document, everyone, BUSINESS_DATE) == _permitted(document, everyone, FAR_FUTURE), name


def test_each_category_has_one_warranty_with_the_months_of_its_products(documents: dict[str, SourceDocument]) -> None:
    categories = {row["category_name"] for row in _rows("categories.csv")}
    months = {category: set[int]() for category in categories}
    for row in _rows("products.csv"):
        months[row["category_name"]].add(int(row["warranty_months"]))
    stated = {}
    for name, document in documents.items():
        if name.startswith("warranty-") and document.governance.entities:
            (entity,) = document.governance.entities
            found = re.findall(r"The warranty for [a-z ]+ runs for (\d+) months", document.body)
            assert entity.value not in stated
            stated[entity.value] = {int(value) for value in found}
    assert stated == months


def test_every_entity_is_a_category_or_product_of_the_catalogue(documents: dict[str, SourceDocument]) -> None:
    known = {
        "category": {row["category_name"] for row in _rows("categories.csv")},
        "product": {row["name"] for row in _rows("products.csv")},
    }
    for document in documents.values():
        for entity in document.governance.entities:
            assert entity.value in known[entity.kind], document.path


def test_the_shipping_prices_are_those_of_the_orders(documents: dict[str, SourceDocument]) -> None:
    sections = _sections(documents["shipping"])
    charged: dict[str, set[str]] = {}
    for order in _rows("orders.csv"):
        charged.setdefault(order["shipping_method"], set()).add(order["shipping_eur"])
    standard = re.search(r"costs EUR ([\d.]+) for each order, and it is free", sections["Standard shipping"])
    express = re.search(r"costs EUR ([\d.]+) for each order, whatever the value", sections["Express shipping"])
    assert standard is not None and charged["standard"] == {"0.00", standard[1]}
    assert express is not None and charged["express"] == {express[1]}
    assert "free of charge for every order" in sections["Pickup"] and charged["pickup"] == {"0.00"}


def test_free_standard_shipping_begins_where_the_orders_show_it(documents: dict[str, SourceDocument]) -> None:
    stated = re.search(r"free when the goods cost EUR (\d+) or more", documents["shipping"].body)
    assert stated is not None
    limit = float(stated[1])
    for order in _rows("orders.csv"):
        if order["shipping_method"] == "standard":
            shipping = float(order["shipping_eur"])
            goods = float(order["total_eur"]) - shipping
            assert (shipping == 0) == (round(goods, 2) >= limit), order["order_number"]


def test_the_delivery_countries_are_those_of_the_addresses(documents: dict[str, SourceDocument]) -> None:
    stated = re.search(r"We deliver to ([^.]+)\.", documents["shipping-countries"].body)
    assert stated is not None
    countries = set(re.split(r", | and ", stated[1].replace("the Netherlands", "Netherlands")))
    assert countries == {row["country"] for row in _rows("addresses.csv") if row["country"]}


def test_the_extended_warranty_adds_the_months_of_the_sold_ones(documents: dict[str, SourceDocument]) -> None:
    stated = re.search(r"extended warranty adds (\d+) months", documents["warranty-extended"].body)
    assert stated is not None
    category = {row["product_id"]: int(row["warranty_months"]) for row in _rows("products.csv")}
    product = {row["sku"]: row["product_id"] for row in _rows("variants.csv")}
    bought = {row["item_id"]: category[product[row["sku"]]] for row in _rows("order_items.csv")}
    added = {int(w["months"]) - bought[w["item_id"]] for w in _rows("warranties.csv") if w["kind"] == "extended"}
    assert added == {int(stated[1])}


def test_the_loyalty_tiers_are_reached_as_the_customers_show(documents: dict[str, SourceDocument]) -> None:
    rule = r"Silver is reached with (\d+) orders and gold with (\d+) orders"
    stated = re.search(rule, documents["loyalty-programme"].body)
    assert stated is not None
    silver, gold = int(stated[1]), int(stated[2])
    kept = Counter(order["customer_id"] for order in _rows("orders.csv") if order["status"] != "cancelled")
    for customer in _rows("customers.csv"):
        orders = kept[customer["customer_id"]]
        tier = "gold" if orders >= gold else "silver" if orders >= silver else "basic"
        assert customer["loyalty_tier"] == tier, customer["customer_id"]


def test_refunds_of_returns_were_paid_within_the_stated_days(documents: dict[str, SourceDocument]) -> None:
    stated = re.search(r"paid within (\d+) days after the goods have arrived", documents["returns-policy"].body)
    assert stated is not None
    received = {row["order_number"]: row["received_on"] for row in _rows("returns.csv") if row["received_on"]}
    for refund in _rows("refunds.csv"):
        if refund["refunded_on"] and refund["order_number"] in received:
            arrived_on = date.fromisoformat(received[refund["order_number"]])
            assert 0 <= (date.fromisoformat(refund["refunded_on"]) - arrived_on).days <= int(stated[1]), refund


@pytest.mark.parametrize("name", QUESTION_SETS)
def test_the_question_sets_have_their_sizes(name: str) -> None:
    questions = _questions(name)
    answerable = [question for question in questions if question["document"] is not None]
    assert (len(answerable), len(questions) - len(answerable)) == QUESTION_SETS[name]
    for question in questions:
        assert (question["document"] is None) == (question["contains"] is None)


def test_no_question_stands_in_both_sets() -> None:
    test, train = ({str(question["question"]) for question in _questions(name)} for name in QUESTION_SETS)
    assert not test & train


@pytest.mark.parametrize("name", ["train", "test", "blind"])
def test_no_example_question_is_a_copy_of_a_question_that_measures(
    name: str, documents: dict[str, SourceDocument]
) -> None:
    def plain(text: object) -> str:
        return " ".join(re.findall(r"\w+", str(text).casefold()))

    measuring = [plain(question["question"]) for question in _questions(name)]
    examples = {plain(text) for one in documents.values() for texts in one.questions.values() for text in texts}
    assert len(examples) > 1000
    copies = [process.extractOne(text, measuring, scorer=fuzz.ratio, score_cutoff=85) for text in examples]
    assert sum(copy is not None for copy in copies) == 0


@pytest.mark.parametrize("name", QUESTION_SETS)
def test_each_answer_stands_in_one_section_that_its_asker_may_see(
    name: str, documents: dict[str, SourceDocument]
) -> None:
    for question in _questions(name):
        if question["document"] is None:
            continue
        document = documents[str(question["document"])]
        audiences = {Audience.PUBLIC, Audience(str(question["audience"]))}
        assert _permitted(document, audiences, BUSINESS_DATE), question
        holding = [text for text in _sections(document).values() if str(question["contains"]) in text]
        assert len(holding) == 1, question
