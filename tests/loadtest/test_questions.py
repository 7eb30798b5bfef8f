from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from configs.settings import ROOT, Budgets
from contracts.clock import SystemClock
from contracts.principal import Principal, PrincipalKind
from deployments.installation import Installation
from loadtest.questions import Question, QuestionMix, complaints
from loadtest.shop_data import ShopData, load_shop
from serve_app.api.service import TurnRequest
from serve_app.parts.local import LocalParts
from serve_app.workflow.service import WorkflowTurnService
from stores.records.sql_store import SqlRecordsStore
from stores.sessions.checkpoints import FencedSqliteSaver
from stores.sessions.sqlite_store import SqliteSessionStore

QUESTION = Question(
    kind="order status",
    customer_id="C1",
    message="where is order 10002?",
    expected=("10002", "has been shipped"),
    allowed_orders=frozenset({"10001", "10002"}),
)


@pytest.fixture(scope="module")
def shop() -> ShopData:
    return load_shop(ROOT / "domains" / "shop" / "data")


def test_a_right_reply_has_no_complaint() -> None:
    assert complaints(QUESTION, "Your order 10002 Has Been Shipped. Order 10001 was delivered.") == []


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("Your order 10002 is packed.", "lacks 'has been shipped'"),
        ("It has been shipped.", "lacks '10002'"),
        ("Your order 10002 has been shipped, and so has 10003.", "names order 10003"),
    ],
)
def test_a_wrong_reply_is_told_by_what_is_wrong_in_it(reply: str, told: str) -> None:
    (complaint,) = complaints(QUESTION, reply)
    assert complaint.startswith(told)


def test_an_empty_reply_is_wrong() -> None:
    assert len(complaints(QUESTION, "")) == 2


def test_the_same_seed_draws_the_same_questions(shop: ShopData) -> None:
    first, same, other = (QuestionMix(shop, seed) for seed in (7, 7, 8))
    drawn = [first.draw() for _ in range(50)]
    assert drawn == [same.draw() for _ in range(50)]
    assert drawn != [other.draw() for _ in range(50)]


def test_every_kind_of_question_is_drawn_and_has_something_to_be_judged_by(shop: ShopData) -> None:
    mix = QuestionMix(shop, 1)
    drawn = [mix.draw() for _ in range(600)]
    assert set(Counter(question.kind for question in drawn)) == {
        *("order status", "order items", "order total", "delivery address", "open orders"),
        *("price", "stock", "compound", "another's order", "policy", "small talk"),
    }
    assert all(question.expected and complaints(question, "Sorry.") for question in drawn)


def test_a_customer_is_asked_for_with_their_own_orders_and_no_other(shop: ShopData) -> None:
    mix = QuestionMix(shop, 2)
    for _ in range(400):
        question = mix.draw()
        if question.customer_id is None:
            assert question.allowed_orders == frozenset()
            continue
        own = {order["order_number"] for order in shop.accounts[question.customer_id].orders}
        if question.kind == "another's order":
            (foreign,) = question.allowed_orders - own
            assert foreign in question.message
            assert complaints(question, f"Your order {foreign} has been shipped.") != []
        else:
            assert question.kind == "delivery address" or question.allowed_orders <= own


def test_a_postal_code_that_looks_like_an_order_number_is_no_fault(shop: ShopData) -> None:
    mix = QuestionMix(shop, 3)
    address_of = {
        order["order_number"]: order["address_id"] for account in shop.accounts.values() for order in account.orders
    }
    checked = 0
    for _ in range(40_000):
        question = mix.draw()
        if question.kind != "delivery address":
            continue
        number = next(order for order in question.allowed_orders if order in question.message)
        address = shop.addresses[address_of[number]]
        reply = f"Order {number} goes to {address['street']}, {address['postal_code']} {address['city']}."
        assert complaints(question, reply) == []
        checked += address["postal_code"].startswith("1") and len(address["postal_code"]) == 5
        if checked:
            return
    pytest.fail("no address with such a postal code was drawn")


@pytest.fixture
async def service(
    tmp_path: Path, installation: Installation, local_parts: LocalParts
) -> AsyncIterator[WorkflowTurnService]:
    sessions = await SqliteSessionStore.open(tmp_path / "sessions.sqlite")
    saver = await FencedSqliteSaver.open(tmp_path / "checkpoints.sqlite", sessions=sessions)
    records = await SqlRecordsStore.open(f"sqlite+aiosqlite:///{tmp_path / 'records.sqlite'}")
    yield WorkflowTurnService(
        sessions=sessions,
        saver=saver,
        records=records,
        parts=local_parts,
        pack=installation.pack(),
        budgets=Budgets(),
        clock=SystemClock(),
        readiness=dict,  # type: ignore[arg-type]  # nobody asks here
    )
    for store in (saver, sessions, records):
        await store.close()


async def test_the_turns_replies_to_the_mix_are_right_by_the_data(service: WorkflowTurnService, shop: ShopData) -> None:
    mix, wrong = QuestionMix(shop, 4), []
    for number in range(150):
        question = mix.draw()
        customer = question.customer_id
        principal = (
            Principal(kind=PrincipalKind.GUEST, subject=f"g{number}")
            if customer is None
            else Principal(kind=PrincipalKind.CUSTOMER, subject=customer, customer_id=customer)
        )
        outcome = await service.take_turn(TurnRequest(message=question.message), principal, None)
        reply = outcome.body["reply"]["text"] if outcome.http_status == 200 else str(outcome.body)
        if found := complaints(question, reply):
            wrong.append((question.message, reply, found))
    assert wrong == []
