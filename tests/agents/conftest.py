"""An invented bicycle hire, so that nothing here is tuned to the sample business."""

import itertools
import zlib
from collections.abc import Callable

import numpy as np
import pytest

from agents.lexicon import Lexicon, mask_phrasing
from agents.reader import Reader
from configs.packs.types import (
    ActionDefinition,
    Actions,
    DataMapping,
    Desk,
    Domain,
    Follow,
    Gazetteer,
    GeneralIntent,
    Pack,
    PackTests,
    ParameterType,
    PredefinedQuery,
    Queries,
    Routes,
)
from contracts.graph import Audience, GraphSchema, LabelSchema, PropertySchema, PropertyType
from contracts.turns import RouteDecision
from models.heads.intent_head import IntentHead

BIKES = ["Falcon City 7", "Falcon Cargo XL", "Wren Folding", "Heron Tandem T20"]
STATIONS = ["Mill Bridge", "Old Harbour", "Northern Gate"]

PARAMETERS = {
    "booking": ParameterType(
        type=PropertyType.INTEGER,
        patterns=(r"\bbooking\s+(?:number\s+)?#?(\d{4})\b", r"(?<!\d)(\d{4})(?!\d)"),
        mask="booking 1234",
        ask={"en": "Which booking do you mean?", "pt": "Qual reserva?"},
        choices="my_bookings",
    ),
    "bike": ParameterType(
        type=PropertyType.STRING,
        gazetteer=Gazetteer(label="Bike", property="name"),
        mask="bicycle",
        ask={"en": "Which bicycle do you mean?"},
        entity_kind="bike",
    ),
    "station": ParameterType(
        type=PropertyType.STRING, gazetteer=Gazetteer(label="Station", property="name"), mask="station"
    ),
}


def _query(name: str, phrasings: tuple[str, ...], **fields: object) -> PredefinedQuery:
    texts = {
        "description": name.replace("_", " "),
        "category": "hire",
        "audience": Audience.CUSTOMER,
        "cypher": "RETURN 1 AS one",
        "reply": {"en": "Found {{ row.state }}."},
        "empty": {"en": "Nothing found."},
    }
    return PredefinedQuery.model_validate({"name": name, "phrasings": phrasings, **texts, **fields})


QUERIES = (
    _query(
        "booking_state",
        (
            "what is the state of {booking}",
            "is {booking} confirmed",
            "has {booking} been confirmed",
            "status of {booking}",
            "how are things with {booking}",
            "is {booking} cancelled",
        ),
        parameters={"number": "booking"},
        reply={
            "en": "Booking {{ row.number }} is {{ row.state }} from {{ row.begins|date }}.",
            "pt": "A reserva {{ row.number }} está {{ row.state }} desde {{ row.begins|date }}.",
        },
        empty={"en": "There is no booking {{ arguments.number }}.", "pt": "Não há a reserva {{ arguments.number }}."},
        entities={"number": "booking", "bike": "bike"},
    ),
    _query(
        "booking_price",
        (
            "how much is {booking}",
            "what does {booking} cost",
            "price of {booking}",
            "what did {booking} cost",
            "what do I pay for {booking}",
            "the cost of {booking}",
        ),
        parameters={"number": "booking"},
        category="money",
        reply={"en": "It costs {{ row.price|money }}."},
    ),
    _query(
        "booking_rules",
        (
            "which rules apply to {booking}",
            "what are the rules of {booking}",
            "rules for {booking}",
            "what do its rules say",
            "which rules does {booking} have",
            "tell me the rules for {booking}",
        ),
        parameters={"number": "booking"},
        follow=Follow(column="bike", entity_kind="bike"),
    ),
    _query(
        "my_bookings",
        (
            "list my bookings",
            "show all my bookings",
            "which bookings do I have",
            "all bookings of mine",
            "my bookings please",
            "what have I booked",
        ),
        reply={"en": "Your bookings: {{ rows|map(attribute='number')|join(', ') }}."},
        empty={"en": "You have no bookings."},
    ),
    _query(
        "bike_weight",
        (
            "how heavy is the {bike}",
            "weight of the {bike}",
            "what does the {bike} weigh",
            "how many kilos has the {bike}",
            "tell me the weight of {bike}",
            "is the {bike} heavy",
        ),
        parameters={"bike": "bike"},
        category="fleet",
        audience=Audience.PUBLIC,
        reply={"en": "It weighs {{ row.kilograms }} kg."},
    ),
)

ACTIONS = (
    ActionDefinition(
        name="cancel_booking",
        description="Cancel a booking",
        phrasings=(
            "cancel {booking}",
            "please cancel {booking}",
            "cancel it",
            "I want to cancel {booking}",
            "drop {booking} please",
            "call off {booking}",
        ),
        title={"en": "cancel a booking", "pt": "cancelar uma reserva"},
    ),
)

ROUTES = Routes(
    general=(
        GeneralIntent(
            name="greeting",
            phrasings=("hello there", "good day to you", "hi", "hello", "good morning"),
            reply={"en": "Hello, this is {{ company }}."},
        ),
    ),
    documents=(
        "do I have to wear a helmet",
        "may children ride along",
        "what happens if the bicycle is stolen",
        "how do I inflate the tyre of the {bike}",
        "where may I park the {bike}",
        "may I take it on a train",
        "do you have insurance against theft",
        "may I ride abroad",
    ),
    human=("let me speak to a person", "I want a human", "connect me to your staff", "person please", "a human please"),
    image=("here is a photo", "look at the picture", "I attach an image", "see my photo", "the picture shows it"),
    out_of_scope=("tell me a joke", "what is the weather", "sing a song", "who is the president", "bake me a cake"),
    none=(
        "who else hired the {bike}",
        "how much do you earn",
        "what will the {bike} cost next year",
        "who repaired the {bike}",
        "how many customers are there",
    ),
)


def build_pack(**domain: object) -> Pack:
    """The hire's pack; keyword arguments change its domain file."""
    fields = {
        "name": "hire",
        "version": "1",
        "company": "Gullwing Hire",
        "languages": ("en", "pt"),
        "scope": {"en": "We hire out bicycles.", "pt": "Alugamos bicicletas."},
        "desks": (Desk(name="front", title={"en": "the front desk", "pt": "a recepção"}, default=True),),
    }
    schema = GraphSchema(
        customer_label="Rider",
        customer_key="rider_id",
        labels={
            "Rider": LabelSchema(properties={"rider_id": PropertySchema(type=PropertyType.STRING, unique=True)}),
            "Hire": LabelSchema(properties={"price": PropertySchema(type=PropertyType.FLOAT, unit="GBP")}),
        },
        relationships=(),
        public_labels=frozenset(),
    )
    return Pack(
        folder="hire",
        digest="d",
        domain=Domain.model_validate({**fields, **domain}),
        schema_=schema,
        queries=Queries(parameters=PARAMETERS, queries=QUERIES),
        routes=ROUTES,
        actions=Actions(actions=ACTIONS),
        mapping=DataMapping(nodes=(), relationships=()),
        tests=PackTests(tests=()),
        documents=(),
    )


def word_vectors(texts: list[str]) -> list[bytes]:
    """A deterministic bag of hashed words and word pairs: enough to tell this pack's phrasings apart, in no time."""
    vectors: list[bytes] = []
    for text in texts:
        vector = np.zeros(512, dtype="<f4")
        said = ["^", *"".join(c if c.isalnum() else " " for c in text.lower()).split(), "$"]
        for piece in (*said, *map(" ".join, itertools.pairwise(said))):
            vector[zlib.crc32(piece.encode()) % 512] += 1
        vectors.append((vector / np.linalg.norm(vector)).tobytes())
    return vectors


@pytest.fixture(scope="session")
def make_pack() -> Callable[..., Pack]:
    return build_pack


@pytest.fixture(scope="session")
def pack() -> Pack:
    return build_pack()


@pytest.fixture(scope="session")
def lexicon(pack: Pack) -> Lexicon:
    return Lexicon.build(pack, {"bike": BIKES, "station": STATIONS})


@pytest.fixture(scope="session")
def reader(pack: Pack, lexicon: Lexicon) -> Reader:
    labelled = [
        *((phrasing, f"query:{query.name}", query.parameters) for query in QUERIES for phrasing in query.phrasings),
        *((phrasing, f"action:{action.name}", None) for action in ACTIONS for phrasing in action.phrasings),
        *((phrasing, f"general:{one.name}", None) for one in ROUTES.general for phrasing in one.phrasings),
        *(
            (phrasing, route, None)
            for route in ("documents", "human", "image", "out_of_scope", "none")
            for phrasing in getattr(ROUTES, route)
        ),
    ]
    texts = [mask_phrasing(text, pack, parameters) for text, _, parameters in labelled]
    return Reader(lexicon, IntentHead.fit(word_vectors(texts), [intent for _, intent, _ in labelled]), pack)


@pytest.fixture(scope="session")
def understand(reader: Reader) -> Callable[[str], RouteDecision]:
    def read(message: str) -> RouteDecision:
        reading = reader.read(message)
        return reader.decide(reading, word_vectors(reading.texts))

    return read
