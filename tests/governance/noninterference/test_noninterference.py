"""What a customer is allowed to run returns equal rows, and changes nothing, wherever only others' data differ.

Texts are composed from the schema and mutated from honest ones; each that the prover allows is executed on graphs that
differ in other customers' data alone. ``FRONTLINE_GENERATED_QUERIES`` multiplies how many are tried, at random then.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contracts.graph import ProvenQuery, ProvenWrite
from tests.governance.noninterference.composer import Composer
from tests.governance.noninterference.corpus import found_before, honest_reads, honest_writes, hostile_texts, schema
from tests.governance.noninterference.engines import Dump, Engine, KgliteEngine
from tests.governance.noninterference.mutations import mutate, shrunk
from tests.governance.noninterference.yardstick import Trial, World, trespass, try_read, try_write

TIMES = int(os.environ.get("FRONTLINE_GENERATED_QUERIES", "1"))
#: Composed reads, mutated reads, composed writes and mutated writes over each schema.
COUNTS = {
    "shop": (150, 600, 80, 200),
    "library": (100, 350, 80, 200),
    "bank": (60, 250, 40, 100),
    "clinic": (60, 250, 40, 100),
    "workshop": (30, 50, 20, 50),
}
#: An honest customer's queries must be allowed often enough for the rest to mean something.
LEAST_ALLOWED = 0.3
LEAST_ALLOWED_WRITES = 0.1
LEAST_WITH_ROWS = 0.2
#: Of honest writes, those whose preconditions hold in none of the few graphs.
MOST_IDLE_WRITES = 0.6


@dataclass
class Bench:
    """A schema's world with its graphs loaded, and what was tried on it."""

    pack: str
    world: World
    engines: list[KgliteEngine]

    def composer(self, chance: Random) -> Composer:
        return Composer(self.world.schema, chance, self.world.unique_values())

    def read(self, text: str) -> Trial:
        return self._tried(lambda tried: try_read(tried, self.world, self.engines), text)

    def write(self, text: str) -> Trial:
        return self._tried(lambda tried: try_write(tried, self.world, self.engines), text)

    def _tried(self, attempt: Callable[[str], Trial], text: str) -> Trial:
        """The trial of the text; a failure is that of the shortest text that still fails."""

        def fails(candidate: str) -> bool:
            try:
                attempt(candidate)
            except AssertionError:
                return True
            return False

        try:
            return attempt(text)
        except AssertionError:
            attempt(shrunk(text, fails))
            raise


@pytest.fixture(scope="module", params=list(COUNTS))
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    world = World(schema(request.param), seed=1 if TIMES == 1 else Random().randrange(1_000))
    folder = tmp_path_factory.mktemp(request.param)
    engines = [KgliteEngine(folder / f"graph-{n}", graph, world.schema) for n, graph in enumerate(world.graphs)]
    yield Bench(request.param, world, engines)
    for engine in engines:
        engine.close()


@cache
def composed_texts(pack: str, kind: str) -> tuple[str, ...]:
    """A fixed lot of composed texts, for mutations to start from."""
    world = World(schema(pack), seed=1)
    composers = [Composer(world.schema, Random(number), world.unique_values()) for number in range(100)]
    return tuple(getattr(composer, kind)().text for composer in composers)


def profile(examples: int) -> settings:
    return settings(
        max_examples=examples * TIMES,
        derandomize=TIMES == 1,
        database=None,
        deadline=None,
        phases=(Phase.generate,),  # chance's seed doesn't shrink, the text does
        suppress_health_check=list(HealthCheck),
    )


def test_composed_reads_tell_nothing_of_others(bench: Bench) -> None:
    tried: list[Trial] = []

    @profile(COUNTS[bench.pack][0])
    @given(st.randoms(use_true_random=True))
    def each(chance: Random) -> None:
        composed = bench.composer(chance).read()
        trial = bench.read(composed.text)
        if composed.anchored:
            tried.append(trial)

    each()
    assert share(tried) >= LEAST_ALLOWED
    assert sum(trial.rows > 0 for trial in tried) >= LEAST_WITH_ROWS * len(tried)


def test_mutated_reads_tell_nothing_of_others(bench: Bench) -> None:
    texts = (*honest_reads(bench.pack), *composed_texts(bench.pack, "read"), *hostile_texts(bench.pack))
    tried: list[Trial] = []

    @profile(COUNTS[bench.pack][1])
    @given(st.randoms(use_true_random=True))
    def each(chance: Random) -> None:
        text = texts[chance.randrange(len(texts))]
        tried.append(bench.read(mutate(text, texts, bench.world.schema, chance)))

    each()
    assert any(trial.rows for trial in tried)


def test_composed_writes_touch_nothing_of_others(bench: Bench) -> None:
    tried: list[Trial] = []

    @profile(COUNTS[bench.pack][2])
    @given(st.randoms(use_true_random=True))
    def each(chance: Random) -> None:
        composed = bench.composer(chance).write()
        trial = bench.write(composed.text)
        if composed.anchored:
            tried.append(trial)

    each()
    assert share(tried) >= LEAST_ALLOWED_WRITES
    assert any(trial.changes for trial in tried)


def test_mutated_writes_touch_nothing_of_others(bench: Bench) -> None:
    texts = (*honest_writes(bench.pack), *composed_texts(bench.pack, "write"), *hostile_texts(bench.pack))
    tried: list[Trial] = []

    @profile(COUNTS[bench.pack][3])
    @given(st.randoms(use_true_random=True))
    def each(chance: Random) -> None:
        text = texts[chance.randrange(len(texts))]
        tried.append(bench.write(mutate(text, texts, bench.world.schema, chance)))

    each()
    assert any(trial.allowed for trial in tried)


def test_honest_texts_run_without_a_word_of_others(bench: Bench) -> None:
    reads = [bench.read(text) for text in honest_reads(bench.pack)]
    writes = [bench.write(text) for text in honest_writes(bench.pack)]
    assert [text for text, trial in zip(honest_reads(bench.pack), reads, strict=True) if trial.raised] == []
    assert not reads or any(trial.rows for trial in reads)
    idle = [text for text, trial in zip(honest_writes(bench.pack), writes, strict=True) if not trial.changes]
    assert len(idle) <= MOST_IDLE_WRITES * len(writes), idle


def test_what_was_found_before_is_refused_or_tells_nothing(bench: Bench) -> None:
    for text in found_before(bench.pack, writes=False):
        assert not bench.read(text).raised, text
    for text in found_before(bench.pack, writes=True):
        assert not bench.write(text).raised, text


def share(tried: list[Trial]) -> float:
    return sum(trial.allowed for trial in tried) / len(tried)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, list[KgliteEngine]]]:
    world = World(schema("shop"), seed=1)
    folder = tmp_path_factory.mktemp("yardstick")
    engines = [KgliteEngine(folder / f"graph-{n}", graph, world.schema) for n, graph in enumerate(world.graphs)]
    yield world, engines
    for engine in engines:
        engine.close()


class TestTheYardstick:
    """The graphs differ enough that a leak shows. (These texts are the tests' own, and harmless to an engine.)"""

    LEAKS = (
        "MATCH (c:Customer) RETURN count(c) AS n",
        "MATCH (o:Order) RETURN o.status AS status ORDER BY status",
        "MATCH (v:Variant)<-[:OF]-(i:OrderItem) RETURN v.sku AS sku, count(i) AS n ORDER BY sku",
        "MATCH (:Customer {customer_id: $customer_id})-[:PLACED]->(:Order)-[:CONTAINS]->(:OrderItem)-[:OF]->(v:Variant)"
        "<-[:OF]-(x:OrderItem) RETURN v.sku AS sku, x.item_id AS item ORDER BY sku, item",
        "MATCH (n) RETURN id(n) AS id ORDER BY id LIMIT 100",
        "RETURN EXISTS { (:Customer {customer_id: 'b01-v0'}) } AS there",
    )
    TRESPASSES = (
        "MATCH (o:Order) SET o.status = 'cancelled'",
        "MATCH (p:Product) SET p.warranty_months = 77",
        "MATCH (a:Customer), (b:Order) WHERE NOT (a)-[:PLACED]->(b) CREATE (a)-[:PLACED]->(b)",
        "MATCH (:Variant)-[r:VARIANT_OF]->(:Product) DELETE r",
        "CREATE (t:Ticket {ticket_id: 'free'})",
        "CREATE (p:Product {product_id: 'free', name: 'free'})",
        "MATCH (c:Customer {customer_id: $customer_id}) DETACH DELETE c",
        "MATCH (i:OrderItem)-[r:OF]->(:Variant) DELETE r",
    )
    HARMLESS = (
        "MATCH (c:Customer {customer_id: $customer_id}) SET c.phone = 'new'",
        "MATCH (c:Customer {customer_id: $customer_id}) CREATE (c)-[:OPENED]->(t:Ticket {ticket_id: 'mine'})",
        "MATCH (c:Customer {customer_id: $customer_id})-[:HAS_ADDRESS]->(a:Address) DETACH DELETE a",
    )

    @pytest.mark.parametrize("text", LEAKS)
    def test_a_leak_shows(self, shop: tuple[World, list[Engine]], text: str) -> None:
        world, engines = shop
        query = ProvenQuery(text=text, columns=(), parameters=_customer_in(text), principal=world.principal)
        outcomes = {engine.read(query, {}) for engine in engines}
        assert len(outcomes) > 1
        assert not any(outcome.raised for outcome in outcomes)

    @pytest.mark.parametrize("text", TRESPASSES)
    def test_a_trespass_shows(self, shop: tuple[World, list[Engine]], text: str) -> None:
        world, engines = shop
        change = engines[0].try_write(_write(text, world), {})
        assert not change.outcome.raised
        assert trespass(world, change.before, change.after) is not None
        assert contents(engines[0].dump()) == contents(change.before)

    @pytest.mark.parametrize("text", HARMLESS)
    def test_a_change_of_ones_own_is_none(self, shop: tuple[World, list[Engine]], text: str) -> None:
        world, engines = shop
        change = engines[0].try_write(_write(text, world), {})
        assert not change.outcome.raised
        assert change.after != change.before
        assert trespass(world, change.before, change.after) is None


def _customer_in(text: str) -> frozenset[str]:
    return frozenset({"customer_id"} if "$customer_id" in text else ())


def _write(text: str, world: World) -> ProvenWrite:
    """The text as if it had been proven."""
    return ProvenWrite(text=text, lock_text="", columns=(), parameters=_customer_in(text), principal=world.principal)


def contents(dump: Dump) -> tuple[Any, Any]:
    """What is in the graph, without the engine's ids."""
    edges = [(dump.nodes[start], kind, dump.nodes[end], values) for start, kind, end, values in dump.edges]
    return sorted(dump.nodes.values()), sorted(edges)
