"""Writes the sample shop's data: ``python domains/shop/generate.py [folder] [--customers N] [--orders N]``.

Everything is invented. The script is seeded and reads no clock, so that it writes the same bytes each
time; ``TODAY`` is the business date that the data is told from. The tables and columns are those of
``schema.yaml`` and ``data/mapping.yaml``; money is counted in cents and written in euros. The options
make a larger shop of the same kind, to measure with.
"""

import argparse
import csv
import io
import random
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import accumulate, cycle, pairwise
from pathlib import Path

TODAY = date(2026, 6, 15)
FIRST_DAY = date(2024, 1, 2)
SEED = 20260615
CUSTOMERS = 540
#: What that many customers order; another number raises or lowers each one's in proportion.
ORDERS = 1826

# The shop's rules. The documents beside the data tell the same figures.
STANDARD_SHIPPING_CENTS = 490
EXPRESS_SHIPPING_CENTS = 1490
FREE_STANDARD_SHIPPING_FROM_CENTS = 10_000
EXPECTED_WORKING_DAYS = {"standard": 5, "express": 2, "pickup": 4}
RETURN_WINDOW_DAYS = 30
INVOICE_DUE_DAYS = 14
EXTENDED_WARRANTY_EXTRA_MONTHS = 24
SILVER_FROM_ORDERS = 4
GOLD_FROM_ORDERS = 10
INSTALMENTS_FROM_CENTS = 20_000
INSTALMENTS_TO_CENTS = 400_000
INVOICE_TO_CENTS = 300_000
FREIGHT_FROM_KG = 20.0
CLOSED_DAYS = ((12, 25), (12, 26), (1, 1))

Cell = str | int | bool | date | datetime | None
Record = dict[str, Cell]
Tables = dict[str, list[Record]]


# ---------------------------------------------------------------------------------------------------
# The catalogue


@dataclass(frozen=True)
class Model:
    """A product: ``variants`` are (name, price in whole euros less one cent)."""

    brand: str
    model: str
    weight_kg: float
    energy_class: str | None
    variants: tuple[tuple[str, int], ...]
    description: str

    @property
    def name(self) -> str:
        return f"{self.brand} {self.model}"


@dataclass(frozen=True)
class Group:
    """A category with its standard warranty and its models."""

    name: str
    warranty_months: int
    description: str
    models: tuple[Model, ...]


def colours(price: int, *names: str) -> tuple[tuple[str, int], ...]:
    """Variants at one price."""
    return tuple((name, price) for name in names)


# fmt: off
CATALOGUE = (
    Group("Washing machines", 36, "Front and top loaders, slim models and washer-dryers for homes of every size.", (
        Model("Brookline", "W700", 71.0, "A", colours(649, "White", "Graphite"),
              "Front loader for 8 kg of laundry that spins at 1,400 turns a minute."),
        Model("Brookline", "W900", 78.0, "A", colours(899, "White", "Graphite"),
              "Front loader for 10 kg of laundry with automatic dosing, 1,600 turns a minute."),
        Model("Northmere", "Aqua 8", 69.5, "B", colours(549, "White"),
              "Front loader for 8 kg with a steam programme against creases."),
        Model("Northmere", "Aqua 6 Slim", 58.0, "C", colours(449, "White"),
              "Only 40 cm deep, for 6 kg of laundry and narrow bathrooms."),
        Model("Tarnwick", "Duo WD", 82.0, "D", colours(999, "White", "Silver"),
              "Washes 9 kg and dries 6 kg in one go, without a vent."),
        Model("Tarnwick", "Loft 7", 57.0, "C", colours(499, "White"),
              "Top loader on castors for 7 kg of laundry."),
    )),
    Group("Refrigerators", 36, "Fridge-freezers, larder fridges, freezers and small coolers.", (
        Model("Haverlock", "Polar 300", 64.0, "C", colours(749, "White", "Steel"),
              "Fridge-freezer with 300 litres and a freezer that never needs defrosting."),
        Model("Haverlock", "Polar 450", 98.0, "D", colours(1399, "Steel", "Black"),
              "Two-door fridge-freezer with 450 litres and a water dispenser."),
        Model("Velkara", "Cool Mini", 14.5, "E", colours(189, "White", "Red", "Mint"),
              "Table-top cooler with 45 litres, quiet enough for a bedroom."),
        Model("Velkara", "Larder L2", 66.0, "B", colours(899, "White"),
              "Larder fridge with 380 litres and two humidity drawers, no freezer."),
        Model("Northmere", "Frost 250", 61.0, "D", colours(679, "White"),
              "Upright freezer with 250 litres and seven drawers."),
    )),
    Group("Dishwashers", 36, "Full-size, slim, compact and built-in dishwashers.", (
        Model("Brookline", "D500", 46.0, "C", colours(599, "White", "Steel"),
              "Holds 14 place settings and has a cutlery drawer."),
        Model("Brookline", "D300 Compact", 23.0, "E", colours(329, "White"),
              "Stands on the worktop and holds 6 place settings."),
        Model("Tarnwick", "Silent 60", 49.0, "B", colours(799, "Steel", "Black"),
              "Runs at 41 decibels and opens its door by itself to dry."),
        Model("Tarnwick", "Built-in 45", 36.0, "D", colours(529, "Panel ready"),
              "45 cm wide, for 10 place settings, hidden behind your kitchen front."),
        Model("Haverlock", "Glide 14", 51.0, "A", colours(949, "White", "Steel"),
              "14 place settings on smooth rails, with a one-hour programme."),
    )),
    Group("Vacuum cleaners", 24, "Cordless, cylinder, robot and wet cleaners.", (
        Model("Zephrin", "Go 2", 2.6, None, colours(279, "Blue", "Grey"),
              "Cordless stick that runs for 40 minutes."),
        Model("Zephrin", "Go 4 Pro", 2.9, None, colours(449, "Copper", "Grey"),
              "Cordless stick with two batteries that run for 70 minutes."),
        Model("Zephrin", "Cube", 5.4, None, colours(199, "Red", "Black"),
              "Bagless cylinder cleaner with an 8 m cable."),
        Model("Ostlin", "Robo S", 3.4, None, colours(399, "White", "Black"),
              "Robot that maps one floor and returns to its dock."),
        Model("Ostlin", "Robo X Plus", 9.2, None, colours(699, "White", "Black"),
              "Robot that mops as well and empties itself into its station."),
        Model("Ostlin", "Wash 3", 4.8, None, colours(349, "Grey"),
              "Takes up water and washes hard floors in one pass."),
    )),
    Group("Coffee machines", 24, "Espresso, filter, pod and bean-to-cup machines.", (
        Model("Morvello", "Barista 20", 6.1, None, colours(249, "Steel", "Red"),
              "Espresso machine with a 15 bar pump and a steam wand."),
        Model("Morvello", "Barista 40", 11.8, None, colours(799, "Steel", "Black"),
              "Espresso machine with two boilers and a built-in grinder."),
        Model("Morvello", "Filter 12", 2.8, None, colours(89, "Black", "Cream"),
              "Filter machine for 12 cups with a thermos jug."),
        Model("Sorrelkin", "Bean One", 8.9, None, colours(499, "Black", "Silver"),
              "Grinds and brews at the touch of one button, five drinks."),
        Model("Sorrelkin", "Bean Duo", 10.4, None, colours(849, "Black", "Silver"),
              "Bean-to-cup machine with two bean hoppers and a milk system."),
        Model("Sorrelkin", "Pod Mini", 2.3, None, colours(79, "Black", "White", "Mint", "Red"),
              "Pod machine that is 11 cm wide and hot in 25 seconds."),
    )),
    Group("Televisions", 24, "Flat screens from 43 to 75 inches.", (
        Model("Lumivane", "Clear 43", 9.6, "F", colours(399, "Black"),
              "43 inch screen with four HDMI inputs."),
        Model("Lumivane", "Clear 55", 15.2, "F", colours(649, "Black", "White"),
              "55 inch screen with four HDMI inputs and a 120 Hz panel."),
        Model("Lumivane", "Deep 65", 22.4, "G", colours(1699, "Black"),
              "65 inch screen with self-lit pixels and deep blacks."),
        Model("Quorvis", "Panel 50", 12.1, "E", colours(529, "Black"),
              "50 inch screen that saves power by a light sensor."),
        Model("Quorvis", "Panel 75", 33.5, "G", colours(1249, "Black"),
              "75 inch screen with a wall mount in the box."),
    )),
    Group("Headphones", 24, "Over-ear, in-ear, sports and children's headphones.", (
        Model("Aldertone", "Quiet 5", 0.3, None, colours(269, "Black", "Sand", "Blue"),
              "Over-ear, cancels noise, plays for 38 hours."),
        Model("Aldertone", "Buds 2", 0.1, None, colours(129, "Black", "White"),
              "In-ear with a charging case, 24 hours in all."),
        Model("Aldertone", "Studio", 0.4, None, colours(189, "Black"),
              "Wired over-ear for mixing, with a 3 m cable."),
        Model("Pendrill", "Run", 0.1, None, colours(99, "Black", "Lime", "Coral"),
              "Open sports headphones that withstand sweat and rain."),
        Model("Pendrill", "Kids", 0.2, None, colours(45, "Yellow", "Blue"),
              "For children: volume limited to 85 decibels."),
    )),
    Group("Laptops", 24, "Notebooks for study, office and studio.", (
        Model("Kestrano", "Note 13", 1.2, None, (("8 GB, 256 GB", 799), ("16 GB, 512 GB", 999)),
              "13 inch notebook that weighs 1.2 kg."),
        Model("Kestrano", "Note 15", 1.7, None, (("8 GB, 512 GB", 849), ("16 GB, 512 GB", 1049), ("16 GB, 1 TB", 1149)),
              "15 inch notebook with a number pad."),
        Model("Kestrano", "Studio 16", 2.2, None, (("32 GB, 1 TB", 1999), ("64 GB, 2 TB", 2599)),
              "16 inch notebook for video with a graphics card of its own."),
        Model("Orbane", "Flip 14", 1.4, None, (("16 GB, 512 GB", 1099), ("16 GB, 1 TB", 1229)),
              "14 inch notebook whose screen folds all the way round; pen in the box."),
        Model("Orbane", "Book 11", 1.0, None, (("4 GB, 128 GB", 329), ("8 GB, 128 GB", 379)),
              "11 inch notebook for school, 14 hours on one charge."),
    )),
    Group("Smartphones", 24, "Phones from pocket size to folding.", (
        Model("Orbane", "Phone 6", 0.2, None, (("128 GB, Black", 599), ("128 GB, White", 599), ("256 GB, Black", 679)),
              "6.1 inch phone with two cameras and wireless charging."),
        Model("Orbane", "Phone 6 Max", 0.2, None, (("256 GB, Black", 899), ("512 GB, Black", 1019)),
              "6.8 inch phone with three cameras."),
        Model("Quorvis", "Nova 3", 0.2, None, colours(379, "128 GB, Olive", "128 GB, Grey"),
              "Phone with a battery for two days."),
        Model("Quorvis", "Nova Lite", 0.2, None, colours(199, "64 GB, Grey", "64 GB, Blue"),
              "Light phone with a headphone socket."),
        Model("Kestrano", "Fold", 0.3, None, (("256 GB, Black", 1499), ("512 GB, Black", 1649)),
              "Opens to a 7.6 inch tablet."),
    )),
    Group("Air purifiers", 24, "Purifiers for desks, bedrooms and whole floors.", (
        Model("Zephrin", "Pure 20", 4.2, None, colours(149, "White"),
              "For rooms up to 20 square metres."),
        Model("Zephrin", "Pure 40", 7.5, None, colours(279, "White", "Black"),
              "For rooms up to 40 square metres, with an air sensor."),
        Model("Velkara", "Breeze Desk", 1.6, None, colours(69, "White", "Mint"),
              "Small purifier that runs from a USB-C socket."),
        Model("Velkara", "Breeze Tower", 6.3, None, colours(329, "White", "Black"),
              "Purifier and fan in one, turns by 70 degrees."),
        Model("Lumivane", "Air Mini", 2.1, None, colours(99, "White"),
              "Bedroom purifier with a night light and a 22 decibel mode."),
    )),
    Group("Stand mixers", 24, "Mixers with bowls from 4 to 7 litres.", (
        Model("Sorrelkin", "Knead 5", 8.7, None, colours(329, "Cream", "Red", "Black"),
              "5 litre steel bowl, 1,000 watts, three tools."),
        Model("Sorrelkin", "Knead 7", 11.9, None, colours(479, "Cream", "Black"),
              "7 litre steel bowl, 1,400 watts, for heavy bread dough."),
        Model("Morvello", "Whisk", 5.2, None, colours(199, "Mint", "White"),
              "4 litre glass bowl, for cakes and cream."),
        Model("Brookline", "Mix 400", 7.3, None, colours(259, "White", "Graphite"),
              "4.5 litre bowl with a built-in scale."),
        Model("Haverlock", "Bowl Pro", 13.4, None, colours(649, "Steel"),
              "6.9 litre bowl that is lifted by a lever."),
    )),
    Group("Smart lamps", 24, "Lamps that are switched and dimmed by an app.", (
        Model("Lumivane", "Glow", 0.9, "E", colours(59, "White", "Black"),
              "Table lamp in sixteen million colours."),
        Model("Lumivane", "Glow Strip", 0.4, "G", (("2 m", 39), ("5 m", 69)),
              "Light strip that can be cut every 10 cm."),
        Model("Pendrill", "Dawn", 0.8, "F", colours(79, "White"),
              "Wakes you with a sunrise of 30 minutes."),
        Model("Aldertone", "Lantern", 1.3, "F", colours(119, "Sand", "Black"),
              "Garden lantern with a battery for 20 hours and a loudspeaker."),
        Model("Velkara", "Arc", 7.8, "E", colours(189, "Black", "Brass"),
              "Floor lamp, 1.9 m high, with warm and cold light."),
        Model("Ostlin", "Beam", 0.6, "E", colours(35, "White", "Black", "Red"),
              "Clip-on reading lamp with a magnetic foot."),
    )),
)
# fmt: on

# ---------------------------------------------------------------------------------------------------
# People and places

FIRST_NAMES = """
    Amelia Anna Ben Carla Clara Daniel David Elena Emil Emma Ewa Farah Felix Finn Grace Hanna Henrik Ines Ivan
    James Jana Jonas Julia Karim Katrin Lars Laura Lena Leo Lucia Lukas Magda Marco Maria Marta Max Mia Milan Nadia
    Nina Noah Nora Oliver Olga Omar Oscar Paul Petra Pia Rafael Rosa Ruth Sam Sara Sofia Stefan Teresa Theo Thomas
    Tim Ursula Vera Victor Yasmin
""".split()  # noqa: SIM905
LAST_NAMES = """
    Abbott Almeida Bakker Baumann Becker Berger Bianchi Blake Brandt Carter Castro Costa Dahl Dekker Dietrich Duarte
    Ekberg Evans Faber Ferreira Fischer Fontaine Gallo Garcia Grant Haas Hansen Hartmann Hughes Iversen Jansen Jensen
    Keller Klein Kowalska Kruger Lambert Lehmann Lima Lopez Marek Martin Meyer Moreau Moretti Murphy Neumann Novak
    Nowak Olsen Patel Pereira Peters Petit Quinn Ramos Richter Roche Rossi Sanders Santos Schmid Shah Silva Sommer
    Turner Vogel Wagner Walsh Weber Winter Young Zimmer
""".split()  # noqa: SIM905

#: Names that break careless code, and namesakes. Each goes to one customer, from C0005 on, every 13th.
ODD_NAMES = (
    "Anna Weber",
    "Siobhán O'Rourke",
    "Zoë Çelik-Đorđević",
    "Madhavi",
    "王小明",
    "محمد الهاشمي",
    "Anna Weber",
    "Jean-Luc d'Aubigné",
    "Wolfgang-Maximilian Ferdinand Graf von und zu Hohenfels-Wartenstein-Lichtenau der Jüngere",
    "Li Wei",
    "Nguyễn Thị Bích",
    "Ana María de los Ángeles Fernández y López-Quintana",
    "Anna Weber",
    "Þórdís Ævarsdóttir",
    "O",
    "Li Wei",
    "Łukasz Żółkiewski",
    "佐藤 さくら",
    "D'Arcy O'Neill-Smith",
    "Ольга Кузнецова",
    "James Carter",
    "Null",
    "Renée Müller-Lüdenscheidt",
    "James Carter",
    "ליאור כהן",
    "Tom  Doublespace",
    'Robert "Bobby" Tables',
    "X Æ Lindgren",
    "김민준",
    "Van",
    "maria silva",
    "Ève L'Hôpital",
)

#: Country: (cities with a postal code, street names).
PLACES: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = {
    "Germany": (
        (("Berlin", "10115"), ("Hamburg", "20095"), ("Leipzig", "04109"), ("Köln", "50667"), ("München", "80331")),
        ("Reiherweg", "Am Mühlgraben", "Lindenallee", "Kastanienstraße", "Alter Hafen"),
    ),
    "Austria": (
        (("Wien", "1010"), ("Graz", "8010"), ("Linz", "4020")),
        ("Brunnengasse", "Am Weinberg", "Ahornweg"),
    ),
    "Netherlands": (
        (("Utrecht", "3511 AB"), ("Rotterdam", "3011 AA"), ("Groningen", "9711 LM")),
        ("Reigerlaan", "Molenpad", "Oude Kade"),
    ),
    "Ireland": (
        (("Dublin", "D02 X285"), ("Cork", "T12 W8KP"), ("Galway", "H91 E2K3")),
        ("Heron Lane", "Mill Road", "Saint Brigid's Terrace"),
    ),
    "France": (
        (("Lyon", "69001"), ("Nantes", "44000"), ("Lille", "59000")),
        ("rue du Vieux Moulin", "allée des Hérons", "quai de l'Écluse"),
    ),
    "Portugal": (
        (("Lisboa", "1100-038"), ("Porto", "4000-322"), ("Braga", "4700-030")),
        ("Rua do Moinho", "Travessa da Garça", "Largo da Fonte"),
    ),
    "Spain": (
        (("Valencia", "46001"), ("Bilbao", "48001"), ("Sevilla", "41001")),
        ("Calle del Molino", "Paseo de la Garza", "Plaza Nueva"),
    ),
}
HOUSE_NUMBER_FIRST = {"Ireland", "France"}

CARRIERS = ("Ganderpost", "Lanternway")
FREIGHT_CARRIER = "Oxbow Freight"
WAREHOUSES = ("Warehouse Kassel", "Warehouse Venlo")
HUBS = ("Hub Hannover", "Hub Liège", "Hub Metz", "Hub Nürnberg")
RETURN_REASONS = (
    "changed my mind",
    "arrived damaged",
    "does not fit",
    "defective",
    "wrong item sent",
    "not as described",
    "found it cheaper",
)


# ---------------------------------------------------------------------------------------------------
# Dates and small helpers


def is_working_day(day: date) -> bool:
    """Parcels move from Monday to Saturday, holidays excepted."""
    return day.weekday() != 6 and (day.month, day.day) not in CLOSED_DAYS


def add_working_days(day: date, count: int) -> date:
    """The ``count``-th working day after ``day``."""
    while count:
        day += timedelta(days=1)
        count -= is_working_day(day)
    return day


def add_months(day: date, months: int) -> date:
    """The same day of the month later, or that month's last."""
    years, month = divmod(day.month - 1 + months, 12)
    first = date(day.year + years, month + 1, 1)
    following = date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return first.replace(day=min(day.day, (following - first).days))


def euros(cents: int) -> str:
    """Cents as euros with two decimals."""
    return f"{cents // 100}.{cents % 100:02d}"


def ascii_slug(text: str) -> str:
    """Lower-case ASCII letters with dots between the words, empty for other scripts."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = "".join(letter if letter.isalpha() else " " if letter in " -" else "" for letter in plain).split()
    return ".".join(words[:2])


def random_day(rng: random.Random, first: date, last: date) -> date:
    """A day from ``first`` to ``last``, both included."""
    return first + timedelta(days=rng.randint(0, max(0, (last - first).days)))


# ---------------------------------------------------------------------------------------------------
# Plans: who orders what kind of order when, before numbers are given


@dataclass
class Plan:
    """An order to be told in full. ``story`` is what sets it apart among orders of its status."""

    customer: int
    status: str
    ordered_on: date
    story: str = ""
    skus: tuple[str, ...] = ()
    shipping_method: str | None = None
    tie_break: float = field(default=0.0)


#: How many of ``ORDERS`` have each status and story; the rest are plainly delivered.
STORIES = (
    ("placed", "", 50, (0, 6)),
    ("placed", "payment failed", 22, (0, 2)),
    ("paid", "", 65, (0, 3)),
    ("paid", "waits for stock", 18, (4, 20)),
    ("packed", "", 62, (1, 4)),
    ("shipped", "", 95, (3, 7)),
    ("shipped", "out for delivery", 34, (3, 7)),
    ("shipped", "part delivered", 16, (5, 9)),
    ("shipped", "delayed", 20, (9, 12)),
    ("shipped", "lost", 9, (25, 45)),
    ("cancelled", "before payment", 50, (8, 800)),
    ("cancelled", "refunded", 72, (12, 800)),
    ("cancelled", "refund pending", 16, (1, 6)),
    ("cancelled", "refund failed", 8, (12, 40)),
    ("returned", "", 85, (45, 800)),
    ("returned", "refund pending", 12, (22, 34)),
    ("returned", "returned to sender", 14, (40, 500)),
    ("delivered", "return requested", 18, (8, 26)),
    ("delivered", "return label sent", 18, (9, 28)),
    ("delivered", "return in transit", 18, (12, 32)),
    ("delivered", "return received", 18, (16, 36)),
    ("delivered", "return accepted", 40, (45, 800)),
    ("delivered", "return rejected", 16, (45, 500)),
    ("delivered", "just delivered", 90, (4, 16)),
)


def orders_per_customer(rng: random.Random, customers: int) -> list[int]:
    """How many orders each customer (from 0) placed: none, one, a few, or a dozen and more."""
    counts = []
    for index in range(customers):
        draw = rng.random()
        if index in (0, 1):
            counts.append(0)  # told by hand below
        elif index == 2 or draw < 0.09:
            counts.append(0)
        elif draw < 0.42:
            counts.append(1)
        elif draw < 0.445:
            counts.append(rng.randint(12, 19))
        else:
            counts.append(rng.randint(2, 7))
    return counts


def raised(counts: Sequence[int], total: int) -> list[int]:
    """Whole numbers in the proportions of ``counts`` that are ``total`` together."""
    ends = [round(end * total / sum(counts)) for end in accumulate(counts)]
    return [end - start for start, end in pairwise([0, *ends])]


def make_plans(rng: random.Random, customers: int, orders: int) -> list[Plan]:
    """All orders' plans in the order of their numbers."""
    plans = [
        # C0001 moved while a washing machine is on its way, and owns a coffee machine.
        Plan(0, "shipped", date(2026, 6, 10), "moved", ("BRO-W700-WHI",), "standard"),
        Plan(0, "delivered", date(2025, 3, 11), "", ("SOR-BEAN-ONE-BLA",), "express"),
        # C0002 has one order, delivered in two parcels.
        Plan(1, "delivered", date(2026, 5, 18), "split", ("HAV-POLA-300-WHI", "LUM-GLOW-WHI"), "standard"),
    ]
    told_by_hand = len(plans)
    counts = raised(orders_per_customer(rng, customers), orders - told_by_hand)
    slots = [index for index, count in enumerate(counts) for _ in range(count)]
    rng.shuffle(slots)
    for status, story, count, (nearest, farthest) in STORIES:
        for _ in range(count * (orders - told_by_hand) // (ORDERS - told_by_hand)):
            days_ago = rng.randint(nearest, farthest)
            plans.append(Plan(slots.pop(), status, TODAY - timedelta(days=days_ago), story))
    last_day = TODAY - timedelta(days=17)
    plans.extend(Plan(customer, "delivered", random_day(rng, FIRST_DAY, last_day)) for customer in slots)
    for plan in plans:
        plan.tie_break = rng.random()
    return sorted(plans, key=lambda plan: (plan.ordered_on, plan.tie_break))


# ---------------------------------------------------------------------------------------------------
# The tables


@dataclass(frozen=True)
class Variant:
    """What the orders need to know of a variant."""

    sku: str
    cents: int
    weight_kg: float
    warranty_months: int
    category: str
    product: str
    restock_on: date | None


@dataclass(frozen=True)
class Line:
    """One line of an order while it is being told."""

    item_id: str
    variant: Variant
    quantity: int
    cents: int

    @property
    def total_cents(self) -> int:
        return self.quantity * self.cents


def sku_of(model: Model, variant_name: str) -> str:
    """For example ``BRO-W700-WHI``: brand, model and variant, shortened."""
    words = [word[:4] for word in model.model.replace("-", " ").split()]
    variant = [word[:3] for word in variant_name.replace(",", "").split() if word not in ("GB", "TB", "m")]
    return "-".join([model.brand[:3], *words, *variant]).upper()


def write_catalogue(rng: random.Random, tables: Tables) -> dict[str, Variant]:
    """Categories, products and variants; returns the variants by SKU."""
    variants: dict[str, Variant] = {}
    for group in CATALOGUE:
        tables["categories"].append({"category_name": group.name, "description": group.description})
        for model in group.models:
            product_id = f"PR{len(tables['products']) + 1:03d}"
            tables["products"].append(
                {
                    "product_id": product_id,
                    "name": model.name,
                    "brand": model.brand,
                    "description": model.description,
                    "energy_class": model.energy_class,
                    "weight_kg": f"{model.weight_kg:.1f}",
                    "warranty_months": group.warranty_months,
                    "category_name": group.name,
                }
            )
            for variant_name, price in model.variants:
                sku = sku_of(model, variant_name)
                if sku in variants:
                    raise ValueError(f"two variants share the SKU {sku}")
                sold_out = rng.random() < 0.2
                restock_on = add_working_days(TODAY, rng.randint(3, 25)) if sold_out and rng.random() < 0.65 else None
                cents = price * 100 - 1
                variants[sku] = Variant(
                    sku, cents, model.weight_kg, group.warranty_months, group.name, model.name, restock_on
                )
                tables["variants"].append(
                    {
                        "sku": sku,
                        "variant_name": variant_name,
                        "price_eur": euros(cents),
                        "stock": 0 if sold_out else rng.randint(1, 60),
                        "restock_on": restock_on,
                        "product_id": product_id,
                    }
                )
    return variants


def customer_id(index: int) -> str:
    """``C0001`` for the first customer, whose index is 0."""
    return f"C{index + 1:04d}"


def customer_name(rng: random.Random, index: int) -> str:
    """A plain name, or every 13th time an odd one."""
    if index == 0:
        return "Maya Lindqvist"
    which, rest = divmod(index - 4, 13)
    if rest == 0 and 0 <= which < len(ODD_NAMES):
        return ODD_NAMES[which]
    return f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}"


def write_customers(rng: random.Random, tables: Tables, plans: Sequence[Plan], customers: int) -> None:
    """Customers; joined before their first order, loyalty by the number of orders that weren't cancelled."""
    first_order: dict[int, date] = {}
    kept_orders: dict[int, int] = defaultdict(int)
    for plan in plans:
        first_order.setdefault(plan.customer, plan.ordered_on)
        kept_orders[plan.customer] += plan.status != "cancelled"
    # The numbers kept for fiction are few: a larger shop's customers share them.
    british = cycle(rng.sample(range(1000), min(1000, customers)))
    american = cycle(rng.sample([(area, line) for area in (202, 303, 415, 617, 646) for line in range(100)], 200))
    emails: set[str] = set()
    for index in range(customers):
        name = customer_name(rng, index)
        slug = ascii_slug(name) or "customer"
        email = f"{slug}@example.{rng.choice(('com', 'org'))}"
        if email in emails or "." not in slug:
            email = email.replace("@", f".{index + 1}@")
        emails.add(email)
        area, line = next(american) if rng.random() < 0.2 else (0, 0)
        phone = f"+1 {area} 555 01{line:02d}" if area else f"+44 7700 900{next(british):03d}"
        last_joining = first_order.get(index, TODAY - timedelta(days=1))
        orders = kept_orders[index]
        tables["customers"].append(
            {
                "customer_id": customer_id(index),
                "full_name": name,
                "email": None if index and rng.random() < 0.04 else email,
                "phone": None if index and rng.random() < 0.15 else phone,
                "joined_on": max(date(2022, 3, 1), last_joining - timedelta(days=rng.choice((0, 0, 3, 40, 200, 500)))),
                "loyalty_tier": "gold"
                if orders >= GOLD_FROM_ORDERS
                else "silver"
                if orders >= SILVER_FROM_ORDERS
                else "basic",
            }
        )


def write_address(
    rng: random.Random, tables: Tables, customer: Record, country: str, added_on: date, current: bool
) -> None:
    """One address of the customer."""
    places, streets = PLACES[country]
    city, postal_code = rng.choice(places)
    street, number = rng.choice(streets), rng.randint(1, 148)
    name = str(customer["full_name"])
    tables["addresses"].append(
        {
            "address_id": f"A{len(tables['addresses']) + 1:04d}",
            "recipient": f"{name}, c/o Reception" if rng.random() < 0.03 else name,
            "street": f"{number} {street}" if country in HOUSE_NUMBER_FIRST else f"{street} {number}",
            "postal_code": postal_code,
            "city": city,
            "country": country,
            "current": current,
            "customer_id": customer["customer_id"],
            "added_on": added_on,
        }
    )


OPEN_STATUSES = ("placed", "paid", "packed", "shipped")


def write_addresses(rng: random.Random, tables: Tables, plans: Sequence[Plan]) -> None:
    """One address each, for movers an older one besides; some moved while an order was open."""
    newest_open: dict[str, date] = {
        customer_id(plan.customer): plan.ordered_on for plan in plans if plan.status in OPEN_STATUSES
    }
    with_orders = {customer_id(plan.customer) for plan in plans}
    for index, customer in enumerate(tables["customers"]):
        key = str(customer["customer_id"])
        joined = customer["joined_on"]
        assert isinstance(joined, date)
        moved_on: date | None = None
        if index == 0:
            moved_on = date(2026, 6, 12)
        elif key in newest_open and newest_open[key] < TODAY and rng.random() < 0.18:
            moved_on = random_day(rng, newest_open[key] + timedelta(days=1), TODAY)
        elif rng.random() < 0.14 and joined < TODAY - timedelta(days=60):
            moved_on = random_day(rng, joined + timedelta(days=30), TODAY - timedelta(days=1))
        elif key not in with_orders and rng.random() < 0.4:
            continue
        told_by_hand = index <= 1
        country = "Germany" if told_by_hand else rng.choice(tuple(PLACES))
        write_address(rng, tables, customer, country, joined, current=moved_on is None)
        if moved_on:
            if not told_by_hand and rng.random() < 0.2:
                country = rng.choice(tuple(PLACES))
            write_address(rng, tables, customer, country, moved_on, current=True)


class OrderWriter:
    """Tells each plan in full: lines, payments, parcels, return, refund, warranties."""

    def __init__(self, rng: random.Random, tables: Tables, variants: dict[str, Variant]) -> None:
        self.rng = rng
        self.tables = tables
        self.variants = variants
        self.sold_out = [variant for variant in variants.values() if variant.restock_on]
        # What is cheap is bought more often.
        self.choices = list(variants.values())
        self.weights = [1.0 / (1.0 + variant.cents / 40_000) for variant in self.choices]
        self.addresses: dict[str, list[Record]] = defaultdict(list)
        for address in tables["addresses"]:
            self.addresses[str(address["customer_id"])].append(address)

    def write(self, number: int, plan: Plan) -> None:
        """Append the order and all that hangs on it to the tables."""
        lines = self.lines(number, plan)
        goods_cents = sum(line.total_cents for line in lines)
        method = plan.shipping_method or self.rng.choices(("standard", "express", "pickup"), (68, 20, 12))[0]
        if plan.story == "returned to sender":
            method = "standard"
        shipping_cents = {"express": EXPRESS_SHIPPING_CENTS, "pickup": 0}.get(method, STANDARD_SHIPPING_CENTS)
        if method == "standard" and goods_cents >= FREE_STANDARD_SHIPPING_FROM_CENTS:
            shipping_cents = 0
        total_cents = goods_cents + shipping_cents
        address = self.address(plan)
        order: Record = {
            "order_number": number,
            "status": plan.status,
            "ordered_on": plan.ordered_on,
            "expected_on": None,
            "delivered_on": None,
            "shipping_method": method,
            "shipping_eur": euros(shipping_cents),
            "total_eur": euros(total_cents),
            "customer_id": customer_id(plan.customer),
            "address_id": address["address_id"],
        }
        self.tables["orders"].append(order)
        for line in lines:
            self.tables["order_items"].append(
                {
                    "item_id": line.item_id,
                    "quantity": line.quantity,
                    "unit_price_eur": euros(line.cents),
                    "order_number": number,
                    "sku": line.variant.sku,
                }
            )
        if plan.status in OPEN_STATUSES:
            order["expected_on"] = self.expected_on(plan, method, lines)
        paid_on, delivered_on = self.payments_and_parcels(
            number, plan, method, lines, total_cents, str(address["city"])
        )
        order["delivered_on"] = delivered_on
        returned = self.returns_and_refunds(number, plan, lines, total_cents, paid_on, delivered_on)
        if delivered_on and plan.status == "delivered":
            for line in lines:
                if line not in returned:
                    self.warranty(line, delivered_on)

    def lines(self, number: int, plan: Plan) -> list[Line]:
        """The order's lines, each of another variant."""
        rng = self.rng
        if plan.skus:
            chosen = [self.variants[sku] for sku in plan.skus]
        else:
            count = rng.choices((1, 2, 3, 4), (58, 27, 10, 5))[0]
            if plan.story == "part delivered":
                count = max(2, count)
            chosen = list(dict.fromkeys(rng.choices(self.choices, self.weights, k=count)))
            if plan.story == "waits for stock":
                chosen[0] = rng.choice(self.sold_out)
                chosen = list(dict.fromkeys(chosen))
        lines = []
        for position, variant in enumerate(chosen, start=1):
            small = variant.cents < 15_000 and not plan.skus
            quantity = rng.choices((1, 2, 3), (75, 18, 7))[0] if small else 1
            discounted = not plan.skus and rng.random() < 0.15
            cents = variant.cents * 9 // 10 if discounted else variant.cents
            lines.append(Line(f"I{number}-{position}", variant, quantity, cents))
        return lines

    def address(self, plan: Plan) -> Record:
        """The customer's newest address on the day of the order."""
        known = self.addresses[customer_id(plan.customer)]
        return [address for address in known if str(address["added_on"]) <= plan.ordered_on.isoformat()][-1]

    def expected_on(self, plan: Plan, method: str, lines: Sequence[Line]) -> date:
        """Promised by the shipping method; later where stock is missing, in the past only where it is late."""
        promised = add_working_days(plan.ordered_on, EXPECTED_WORKING_DAYS[method])
        if plan.story == "out for delivery":
            return TODAY
        if plan.story in ("delayed", "lost"):
            return promised
        if plan.story == "waits for stock":
            restocked = max(line.variant.restock_on or TODAY for line in lines)
            return add_working_days(restocked, EXPECTED_WORKING_DAYS[method])
        earliest = {"shipped": 1, "packed": 1, "paid": 2, "placed": 3}[plan.status]
        return max(promised, add_working_days(TODAY, earliest))

    # -- payments and parcels -----------------------------------------------------------------------

    def payments_and_parcels(
        self, number: int, plan: Plan, method: str, lines: Sequence[Line], total_cents: int, city: str
    ) -> tuple[date | None, date | None]:
        """Writes both; returns when the order was paid and when all of it was delivered, if it was."""
        pay, paid_on = self.payment_method(plan, total_cents)
        unpaid = plan.status == "placed" or plan.story == "before payment"
        delivered_on: date | None = None
        if plan.status in ("packed", "shipped", "delivered", "returned"):
            # Drawn again until the parcels' dates fit before today.
            while True:
                timelines = self.timelines(plan, method, lines, paid_on)
                if timelines is not None:
                    break
                pay, paid_on = "card", plan.ordered_on
            for position, timeline in enumerate(timelines, start=1):
                self.parcel(f"S{number}-{position}", number, timeline, method, city, plan.story == "delayed")
            if plan.status in ("delivered", "returned"):
                days = [timeline.delivered_on for timeline in timelines if timeline.delivered_on]
                delivered_on = max(days) if days else None
        self.payments(number, plan, pay, None if unpaid else paid_on, total_cents, delivered_on)
        return (None if unpaid else paid_on), delivered_on

    def payment_method(self, plan: Plan, total_cents: int) -> tuple[str, date]:
        """How the order is paid, and when the money arrives (for an invoice: see ``payments``)."""
        rng = self.rng
        methods = ["card"] * 11 + ["bank transfer"] * 3
        if plan.story not in ("payment failed", "before payment"):
            if plan.status in ("packed", "shipped", "delivered", "returned") and total_cents <= INVOICE_TO_CENTS:
                methods += ["invoice"] * 4
            if INSTALMENTS_FROM_CENTS <= total_cents <= INSTALMENTS_TO_CENTS:
                methods += ["instalments"] * 3
            if total_cents <= 30_000 and plan.status != "placed":
                methods += ["gift card"] * 2
        if plan.status == "placed":
            # A card is charged at once, a transfer may take a week.
            methods = ["card"] if plan.story else ["bank transfer"]
        method = rng.choice(methods)
        delay = rng.randint(1, 3) if method == "bank transfer" else 0
        return method, min(TODAY, plan.ordered_on + timedelta(days=delay))

    def payments(
        self, number: int, plan: Plan, method: str, paid_on: date | None, total_cents: int, delivered_on: date | None
    ) -> None:
        """The order's payments: failed tries first; then one, or a gift card and the rest."""
        rng = self.rng
        rows: list[tuple[str, str, int, date | None]] = []
        if plan.story in ("payment failed", "before payment"):
            rows.append((method, "failed", total_cents, None))
        elif plan.status == "placed":
            rows.append((method, "open", total_cents, None))
        else:
            if rng.random() < 0.05 and not plan.skus:
                rows.append(("card", "failed", total_cents, None))
            status = "paid"
            if plan.story == "refunded" or (plan.status == "returned" and plan.story != "refund pending"):
                status = "refunded"
            if method == "invoice" and status == "paid" and plan.status != "returned":
                due = delivered_on + timedelta(days=INVOICE_DUE_DAYS) if delivered_on else TODAY
                paid = random_day(rng, delivered_on, due) if delivered_on else TODAY
                open_invoice = delivered_on is None or paid >= TODAY
                rows.append((method, "open" if open_invoice else "paid", total_cents, None if open_invoice else paid))
            elif method == "invoice":
                rows.append((method, status, total_cents, delivered_on or paid_on))
            elif total_cents > 8_000 and plan.status == "delivered" and not plan.story and rng.random() < 0.05:
                rows.append(("gift card", "paid", 5_000, plan.ordered_on))
                rows.append(("card", "paid", total_cents - 5_000, plan.ordered_on))
            else:
                rows.append((method, status, total_cents, paid_on))
        for position, (kind, status, cents, day) in enumerate(rows, start=1):
            self.tables["payments"].append(
                {
                    "payment_id": f"P{number}-{position}",
                    "method": kind,
                    "status": status,
                    "amount_eur": euros(cents),
                    "paid_on": day,
                    "order_number": number,
                }
            )

    def timelines(self, plan: Plan, method: str, lines: Sequence[Line], paid_on: date) -> "list[Timeline] | None":
        """One timeline a parcel, or None where the draw would reach beyond today."""
        rng = self.rng
        heavy = any(line.variant.weight_kg >= FREIGHT_FROM_KG for line in lines)
        light = any(line.variant.weight_kg < FREIGHT_FROM_KG for line in lines)
        split = plan.story in ("split", "part delivered") or (
            len(lines) > 1 and ((heavy and light) or rng.random() < 0.2)
        )
        statuses = self.parcel_statuses(plan, 2 if split else 1)
        timelines = []
        for position, status in enumerate(statuses):
            freight = heavy and position == 0
            carrier = FREIGHT_CARRIER if freight else rng.choice(CARRIERS)
            announced_on = add_working_days(paid_on, 0 if is_working_day(paid_on) else 1)
            if status == "announced":
                timelines.append(Timeline(status, carrier, min(announced_on, TODAY), None, None))
                continue
            shipped_on = add_working_days(announced_on, rng.randint(0 if method == "express" else 1, 1 + position))
            travel = 1 if method == "express" else rng.randint(1, 3) + freight
            arrived_on = add_working_days(shipped_on, travel)
            if status == "returned to sender":
                arrived_on = add_working_days(arrived_on, rng.randint(7, 9))
            ends_on = arrived_on if status in ("delivered", "returned to sender") else shipped_on
            if ends_on > TODAY or (status == "out for delivery" and shipped_on >= TODAY):
                return None
            timelines.append(Timeline(status, carrier, announced_on, shipped_on, arrived_on))
        return timelines

    def parcel_statuses(self, plan: Plan, parcels: int) -> list[str]:
        """The parcels' statuses in the order of their numbers."""
        if plan.status == "packed":
            return ["announced"] * parcels
        if plan.story == "returned to sender":
            return ["returned to sender"] * parcels
        if plan.status in ("delivered", "returned"):
            return ["delivered"] * parcels
        if plan.story == "part delivered":
            return ["in transit", "delivered"]
        first = {"out for delivery": "out for delivery", "lost": "lost"}.get(plan.story, "in transit")
        other = "delivered" if plan.story == "lost" else "in transit"
        return [first] + [other] * (parcels - 1)

    def parcel(self, shipment_id: str, number: int, timeline: "Timeline", method: str, city: str, late: bool) -> None:
        """The shipment and its scans."""
        prefix = {"Ganderpost": "GP", "Lanternway": "LW"}.get(timeline.carrier, "OX")
        self.tables["shipments"].append(
            {
                "shipment_id": shipment_id,
                "carrier": timeline.carrier,
                "tracking_number": f"{prefix}{self.rng.randint(100, 999)}{number}{shipment_id[-1]}",
                "status": timeline.status,
                "shipped_on": timeline.shipped_on,
                "delivered_on": timeline.delivered_on,
                "order_number": number,
            }
        )
        for sequence, (at, location, description) in enumerate(self.scans(timeline, method, city, late), start=1):
            self.tables["tracking_events"].append(
                {
                    "event_id": f"{shipment_id}-E{sequence}",
                    "sequence": sequence,
                    "at": at,
                    "location": location,
                    "description": description,
                    "shipment_id": shipment_id,
                }
            )

    def scans(self, timeline: "Timeline", method: str, city: str, late: bool) -> list[tuple[datetime, str, str]]:
        """The parcel's scans in the order of time; none later than noon of today."""
        rng = self.rng
        warehouse, hub = rng.choice(WAREHOUSES), rng.choice(HUBS)
        scans = [(at(rng, timeline.announced_on, 7, 9), warehouse, "Shipment announced to the carrier")]
        shipped_on, arrived_on = timeline.shipped_on, timeline.arrived_on
        if shipped_on is None or arrived_on is None:
            return scans
        scans.append((at(rng, shipped_on, 10, 11), warehouse, "Collected from the warehouse"))
        if timeline.status in ("in transit", "lost"):
            hub_day = add_working_days(shipped_on, 1)
            if hub_day <= TODAY:
                scans.append((at(rng, hub_day, 3, 6), hub, "Sorted at the hub"))
            if timeline.status == "lost":
                scans.append((at(rng, add_working_days(shipped_on, 10), 9, 11), hub, "Missing; a search was started"))
            elif late:
                scans.append((at(rng, TODAY - timedelta(days=rng.randint(1, 2)), 6, 9), hub, "Delayed at the hub"))
            return scans
        if timeline.status == "out for delivery":
            last_night = TODAY - timedelta(days=1)
            scans.append((at(rng, last_night, 21, 22), hub, "Sorted at the hub"))
            if method == "pickup":
                scans.append((at(rng, TODAY, 6, 7), city, "On its way to the pickup point"))
            else:
                scans.append((at(rng, TODAY, 6, 7), city, "Out for delivery"))
            return scans
        if timeline.status == "returned to sender":
            tried_on = add_working_days(shipped_on, 2)
            scans.append((at(rng, tried_on, 7, 8), city, "Out for delivery"))
            scans.append((at(rng, tried_on, 12, 15), city, "Delivery failed: nobody could take the parcel"))
            scans.append(
                (at(rng, add_working_days(tried_on, 5), 8, 9), city, "Not collected; going back to the sender")
            )
            scans.append((at(rng, arrived_on, 10, 11), warehouse, "Back at the warehouse"))
            return scans
        if arrived_on > shipped_on + timedelta(days=1):
            scans.append((at(rng, arrived_on - timedelta(days=1), 20, 22), hub, "Sorted at the hub"))
        if method == "pickup":
            scans.append((at(rng, arrived_on, 6, 7), city, "Ready at the pickup point"))
            scans.append((at(rng, arrived_on, 9, 11), city, "Collected at the pickup point"))
        else:
            scans.append((at(rng, arrived_on, 6, 7), city, "Out for delivery"))
            handed_over = rng.choice(("Delivered to the recipient",) * 4 + ("Delivered to a neighbour",))
            scans.append((at(rng, arrived_on, 9, 11), city, handed_over))
        return scans

    # -- returns, refunds, warranties ---------------------------------------------------------------

    def returns_and_refunds(
        self,
        number: int,
        plan: Plan,
        lines: Sequence[Line],
        total_cents: int,
        paid_on: date | None,
        delivered_on: date | None,
    ) -> list[Line]:
        """Writes both; returns the lines whose return was accepted."""
        if plan.status == "cancelled" and paid_on:
            self.refund(number, plan.story.removeprefix("refund "), total_cents, paid_on)
            return []
        if plan.story == "returned to sender":
            self.refund(number, "refunded", total_cents, plan.ordered_on + timedelta(days=25))
            return []
        if delivered_on is None or (plan.status != "returned" and not plan.story.startswith("return ")):
            return []
        if plan.status == "returned":
            returned, state = list(lines), "accepted"
        else:
            state = plan.story.removeprefix("return ")
            # Of an order with several lines one stays, so that an accepted return leaves it delivered.
            returned = list(lines[: max(1, len(lines) - 1)])
        if state == "accepted" and plan.status == "delivered" and len(lines) == 1:
            return []
        requested_on, received_on = self.return_days(state, plan, delivered_on)
        return_id = f"R-{len(self.tables['returns']) + 1001}"
        self.tables["returns"].append(
            {
                "return_id": return_id,
                "status": state,
                "reason": self.rng.choice(RETURN_REASONS),
                "requested_on": requested_on,
                "received_on": received_on,
                "order_number": number,
            }
        )
        for line in returned:
            self.tables["return_items"].append({"return_id": return_id, "item_id": line.item_id})
        if state != "accepted" or received_on is None:
            return []
        cents = total_cents if plan.status == "returned" else sum(line.total_cents for line in returned)
        self.refund(number, "pending" if plan.story == "refund pending" else "refunded", cents, received_on)
        return returned

    def return_days(self, state: str, plan: Plan, delivered_on: date) -> tuple[date, date | None]:
        """When the return was asked for (within the window) and when it came back, if it did."""
        rng = self.rng
        last_day = min(TODAY, delivered_on + timedelta(days=RETURN_WINDOW_DAYS))
        if state == "requested":
            return random_day(rng, max(delivered_on, TODAY - timedelta(days=2)), last_day), None
        if state == "label sent":
            return random_day(rng, max(delivered_on, TODAY - timedelta(days=9)), last_day), None
        if state == "in transit":
            earliest = max(delivered_on, TODAY - timedelta(days=12))
            return random_day(rng, earliest, min(last_day, max(earliest, TODAY - timedelta(days=3)))), None
        soonest = delivered_on + timedelta(days=1)
        if state == "received" or plan.story == "refund pending":
            soonest = max(soonest, TODAY - timedelta(days=9))
            requested_on = random_day(rng, soonest, min(last_day, TODAY - timedelta(days=4)))
            came_back_on = max(requested_on + timedelta(days=3), TODAY - timedelta(days=rng.randint(0, 3)))
            return requested_on, came_back_on
        requested_on = random_day(rng, soonest, max(soonest, min(last_day, TODAY - timedelta(days=20))))
        return requested_on, add_working_days(requested_on, rng.randint(3, 8))

    def refund(self, number: int, outcome: str, cents: int, after: date) -> None:
        """``outcome`` is refunded, pending or failed."""
        paid = outcome == "refunded"
        self.tables["refunds"].append(
            {
                "refund_id": f"RF{len(self.tables['refunds']) + 1:05d}",
                "status": "paid" if paid else outcome,
                "amount_eur": euros(cents),
                "refunded_on": min(TODAY, after + timedelta(days=self.rng.randint(1, 7))) if paid else None,
                "order_number": number,
            }
        )

    def warranty(self, line: Line, delivered_on: date) -> None:
        """Standard by category; some customers bought more months."""
        extended = line.variant.cents >= 19_900 and self.rng.random() < 0.16 and line.variant.sku != "SOR-BEAN-ONE-BLA"
        months = line.variant.warranty_months + EXTENDED_WARRANTY_EXTRA_MONTHS * extended
        self.tables["warranties"].append(
            {
                "warranty_id": line.item_id.replace("I", "W"),
                "kind": "extended" if extended else "standard",
                "months": months,
                "starts_on": delivered_on,
                "ends_on": add_months(delivered_on, months),
                "item_id": line.item_id,
            }
        )


@dataclass(frozen=True)
class Timeline:
    """When a parcel was announced, shipped and (if it has arrived anywhere) arrived."""

    status: str
    carrier: str
    announced_on: date
    shipped_on: date | None
    arrived_on: date | None

    @property
    def delivered_on(self) -> date | None:
        return self.arrived_on if self.status == "delivered" else None


def at(rng: random.Random, day: date, first_hour: int, last_hour: int) -> datetime:
    """A minute of that day between the two hours."""
    return datetime.combine(day, time(rng.randint(first_hour, last_hour), rng.randint(0, 59)))


# ---------------------------------------------------------------------------------------------------
# Tickets

#: By the order's status: (subject, note while open, note when settled).
ORDER_TICKETS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "placed": (("How do I pay my order?", "We sent the bank details again.", "The customer has the bank details."),),
    "paid": (
        ("When will my order be sent?", "The warehouse has been asked for a date.", "The expected day was confirmed."),
    ),
    "packed": (("Please add a delivery note", "Waiting for the text of the note.", "The carrier has the note."),),
    "shipped": (
        ("Where is my parcel?", "We asked the carrier for the last scan.", "The carrier confirmed the route."),
        ("Parcel has not moved for days", "A search was started with the carrier.", "The parcel was scanned again."),
    ),
    "delivered": (
        ("Copy of my invoice", "The accounts team prepares the copy.", "The invoice was sent by e-mail."),
        ("Device makes a loud noise", "We asked for a short recording of the noise.", "The feet had to be levelled."),
        ("Part missing in the box", "We asked for a photo of the box.", "The missing part was sent."),
        ("How do I register the warranty?", "Forwarded to the warranty team.", "No registration is needed."),
        ("Outer box damaged", "We asked for photos of the box.", "Contents are intact; the case is closed."),
    ),
    "cancelled": (
        ("When do I get my money back?", "The accounts team checks the refund.", "The cancellation was confirmed."),
    ),
    "returned": (("Has my return arrived?", "We asked the warehouse.", "The return was confirmed to the customer."),),
}
GENERAL_TICKETS = (
    ("Change of my e-mail address", "We asked for a proof of identity.", "The address in the account is right now."),
    ("Question before buying", "A product adviser will write.", "The adviser answered all questions."),
    ("Please delete my newsletter subscription", "Forwarded to marketing.", "The subscription was ended."),
    ("Login does not work", "We sent a link to set a new password.", "The customer can log in again."),
)


def write_tickets(rng: random.Random, tables: Tables) -> None:
    """Tickets about orders and, a quarter of them, about other things."""
    lost = {row["order_number"] for row in tables["shipments"] if row["status"] == "lost"}
    for order in tables["orders"]:
        number, ordered_on = order["order_number"], order["ordered_on"]
        assert isinstance(ordered_on, date)
        if number in lost:
            subject, note, _ = ORDER_TICKETS["shipped"][1]
            day = TODAY - timedelta(days=rng.randint(2, 9))
            write_ticket(tables, order["customer_id"], number, subject, "open", day, day + timedelta(days=1), note)
        elif rng.random() < 0.12 and ordered_on < TODAY:
            told_on = order["delivered_on"] if isinstance(order["delivered_on"], date) else ordered_on
            opened_on = random_day(rng, told_on, min(TODAY, told_on + timedelta(days=20)))
            topic = rng.choice(ORDER_TICKETS[str(order["status"])][: 5 if order["status"] == "delivered" else 1])
            settle_ticket(rng, tables, order["customer_id"], number, topic, opened_on)
    for customer in tables["customers"]:
        joined_on = customer["joined_on"]
        assert isinstance(joined_on, date)
        if rng.random() < 0.13:
            opened_on = random_day(rng, max(joined_on, TODAY - timedelta(days=400)), TODAY)
            settle_ticket(rng, tables, customer["customer_id"], None, rng.choice(GENERAL_TICKETS), opened_on)


def settle_ticket(
    rng: random.Random, tables: Tables, customer: Cell, number: Cell, topic: tuple[str, str, str], opened_on: date
) -> None:
    """A ticket whose status fits its age: what is older than four weeks is settled."""
    subject, open_note, settled_note = topic
    recent = opened_on > TODAY - timedelta(days=28)
    status = rng.choice(
        ("open", "open", "waiting for customer", "resolved") if recent else ("resolved", "closed", "closed")
    )
    updated_on = min(TODAY, opened_on + timedelta(days=rng.randint(0, 9)))
    note = settled_note if status in ("resolved", "closed") else open_note
    write_ticket(tables, customer, number, subject, status, opened_on, updated_on, note)


def write_ticket(
    tables: Tables,
    customer: Cell,
    number: Cell,
    subject: str,
    status: str,
    opened_on: date,
    updated_on: date,
    note: str,
) -> None:
    """One row."""
    tables["tickets"].append(
        {
            "ticket_id": f"T-{len(tables['tickets']) + 1001}",
            "subject": subject,
            "status": status,
            "opened_on": opened_on,
            "updated_on": updated_on,
            "last_note": note,
            "customer_id": customer,
            "order_number": number,
        }
    )


# ---------------------------------------------------------------------------------------------------
# Files


def make_tables(customers: int = CUSTOMERS, orders: int = ORDERS) -> Tables:
    """All tables of a shop of this size, the same each time."""
    rng = random.Random(SEED)
    tables: Tables = defaultdict(list)
    variants = write_catalogue(rng, tables)
    plans = make_plans(rng, customers, orders)
    write_customers(rng, tables, plans, customers)
    write_addresses(rng, tables, plans)
    writer = OrderWriter(rng, tables, variants)
    for number, plan in enumerate(plans, start=10_001):
        writer.write(number, plan)
    write_tickets(rng, tables)
    return dict(tables)


def cell_text(cell: Cell) -> str:
    """How a cell is written: empty for None, ISO 8601 for dates."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, date):
        return cell.isoformat()
    return str(cell)


def csv_text(rows: Iterable[Record]) -> str:
    """The table as CSV with a header; lines end in a line feed on every system."""
    rows = list(rows)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows([cell_text(cell) for cell in row.values()] for row in rows)
    return buffer.getvalue()


def main(folder: Path, customers: int = CUSTOMERS, orders: int = ORDERS) -> None:
    """Write each table of a shop of this size to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in make_tables(customers, orders).items():
        (folder / f"{name}.csv").write_bytes(csv_text(rows).encode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the sample shop's data.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "data")
    parser.add_argument("--customers", type=int, default=CUSTOMERS, help=f"{CUSTOMERS} or more")
    parser.add_argument("--orders", type=int, help="3 or more for each customer; without it, in proportion")
    given = parser.parse_args()
    wanted = given.orders or round(ORDERS * given.customers / CUSTOMERS)
    if given.customers < CUSTOMERS or wanted < 3 * given.customers:
        parser.error(f"a shop has at least {CUSTOMERS} customers, and three orders for each")
    main(given.folder, given.customers, wanted)
