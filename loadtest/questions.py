"""Questions that a shop's customers ask, each with what a right reply must hold and must not hold.

The wordings are this module's own; the expected texts come from the CSV files, never from the service.
"""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from loadtest.shop_data import Account, Record, ShopData, money

_STATUS_WORDS = {
    "placed": "not paid yet",
    "paid": "is paid",
    "packed": "is packed",
    "shipped": "has been shipped",
    "delivered": "was delivered",
    "cancelled": "has been cancelled",
    "returned": "was returned",
}
#: Questions that the documents answer, with what the answer says: read there by a person.
_POLICIES = (
    ("How many months does the warranty for a washing machine run?", "36 months"),
    ("what does standard shipping cost", "4.90"),
    ("which countries do you deliver to?", "Portugal"),
)

#: Whatever looks like an order's number, however a reply may lead to it: a leak must not hide behind its wording.
_ORDER_NUMBER = re.compile(r"\b1\d{4}\b")


@dataclass(frozen=True)
class Question:
    """A message, who asks it, and the texts by which its reply is judged.

    ``allowed_orders`` are the only order numbers that the reply may name.
    """

    kind: str
    customer_id: str | None
    message: str
    expected: tuple[str, ...]
    allowed_orders: frozenset[str]


def complaints(question: Question, reply: str) -> list[str]:
    """What is wrong with the reply; empty when it is right."""
    folded = reply.casefold()
    missing = [f"lacks {text!r}" for text in question.expected if text.casefold() not in folded]
    strange = sorted(set(_ORDER_NUMBER.findall(reply)) - question.allowed_orders)
    return missing + [f"names order {number}, which is not the customer's" for number in strange]


class QuestionMix:
    """Draws questions at random, for customers at random; the same seed draws the same."""

    def __init__(self, data: ShopData, seed: int) -> None:
        self._data = data
        self._random = random.Random(seed)
        self._with_orders = [account for account in data.accounts.values() if account.orders]
        self._kinds: tuple[tuple[int, Callable[[], Question]], ...] = (
            (25, self._status),
            (10, self._items),
            (10, self._total),
            (8, self._address),
            (7, self._open_orders),
            (10, self._price),
            (10, self._stock),
            (10, self._compound),
            (5, self._foreign_order),
            (5, self._policy),
            (5, self._greeting),
        )

    def draw(self) -> Question:
        weights = [weight for weight, _ in self._kinds]
        (chosen,) = self._random.choices([make for _, make in self._kinds], weights)
        return chosen()

    def _own_order(self) -> tuple[Account, Record]:
        account = self._random.choice(self._with_orders)
        return account, self._random.choice(account.orders)

    def _of(self, kind: str, account: Account, message: str, *expected: str) -> Question:
        return Question(
            kind=kind,
            customer_id=account.customer["customer_id"],
            message=message,
            expected=expected,
            allowed_orders=frozenset(order["order_number"] for order in account.orders)
            | frozenset(_ORDER_NUMBER.findall(message)),
        )

    def _pick(self, *wordings: str) -> str:
        return self._random.choice(wordings)

    def _status(self) -> Question:
        account, order = self._own_order()
        number = order["order_number"]
        message = self._pick(
            f"Can you tell me the status of order {number}?",
            f"hi, where has order {number} got to",
            f"status of my order #{number} please",
            f"I would like to know whether order {number} has been sent",
        )
        return self._of("order status", account, message, number, _STATUS_WORDS[order["status"]])

    def _items(self) -> Question:
        account, order = self._own_order()
        number = order["order_number"]
        names = {self._data.product_of_sku[item["sku"]]["name"] for item in self._data.items[number]}
        message = self._pick(
            f"What items were in order {number}?",
            f"which products did I get with order {number}",
            f"please list the contents of order {number}",
        )
        return self._of("order items", account, message, *sorted(names))

    def _total(self) -> Question:
        account, order = self._own_order()
        number = order["order_number"]
        message = self._pick(
            f"How much did order {number} cost in total?",
            f"what was the total of order {number}",
            f"tell me the full amount of order {number}",
        )
        return self._of("order total", account, message, money(order["total_eur"]))

    def _address(self) -> Question:
        account, order = self._own_order()
        number = order["order_number"]
        address = self._data.addresses[order["address_id"]]
        message = self._pick(
            f"To which address is order {number} delivered?",
            f"what delivery address does order {number} have",
            f"where will you deliver order {number} to? which address?",
        )
        asked = self._of("delivery address", account, message, address["street"], address["city"])
        # A postal code has as many digits as an order's number.
        return replace(asked, allowed_orders=asked.allowed_orders | {address["postal_code"]})

    def _open_orders(self) -> Question:
        account = self._random.choice(self._with_orders)
        waiting = [order for order in account.orders if order["status"] in ("placed", "paid", "packed", "shipped")]
        message = self._pick(
            "Which of my orders haven't arrived yet?", "show me my open orders", "what orders am I still waiting for?"
        )
        expected = [order["order_number"] for order in waiting] or ["no open orders"]
        return self._of("open orders", account, message, *expected)

    def _product(self) -> Record:
        return self._random.choice(self._data.products)

    def _public(self, kind: str, message: str, *expected: str) -> Question:
        return Question(kind=kind, customer_id=None, message=message, expected=expected, allowed_orders=frozenset())

    def _price(self) -> Question:
        product = self._product()
        prices = {money(variant["price_eur"]) for variant in self._data.variants[product["product_id"]]}
        message = self._pick(f"How much is the {product['name']}?", f"price of the {product['name']} please")
        return self._public("price", message, product["name"], *sorted(prices))

    def _stock(self) -> Question:
        product = self._product()
        message = self._pick(
            f"Do you have the {product['name']} in stock?", f"is the {product['name']} available right now"
        )
        names = [variant["variant_name"] for variant in self._data.variants[product["product_id"]]]
        return self._public("stock", message, product["name"], *names)

    def _compound(self) -> Question:
        account, order = self._own_order()
        number = order["order_number"]
        message = self._pick(
            f"where is order {number} and how much did it cost in total?",
            f"Tell me the status of order {number} and what it cost in total.",
        )
        return self._of("compound", account, message, _STATUS_WORDS[order["status"]], money(order["total_eur"]))

    def _policy(self) -> Question:
        message, expected = self._random.choice(_POLICIES)
        return self._public("policy", message, expected)

    def _foreign_order(self) -> Question:
        """Another customer's order: the reply must say that it is not in this account, and nothing of it."""
        account = self._random.choice(self._with_orders)
        _, foreign = self._own_order()
        while foreign in account.orders:
            _, foreign = self._own_order()
        number = foreign["order_number"]
        return self._of("another's order", account, f"where is order {number}?", f"no order with the number {number}")

    def _greeting(self) -> Question:
        account = self._random.choice(self._with_orders)
        return self._of("small talk", account, self._pick("Good morning!", "hello there"), "What can I do for you?")
