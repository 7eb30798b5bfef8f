"""The same yardstick on a Neo4j server, and that proven texts mean the same there as on the embedded engine.

A server's database holds one graph at a time: each variant is loaded, all texts run, then the next.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import neo4j
import pytest

from contracts.graph import ProvenQuery, ProvenWrite
from governance.prover import prove, prove_write
from tests.governance.noninterference.composer import Composer
from tests.governance.noninterference.corpus import found_before, honest_reads, honest_writes, schema
from tests.governance.noninterference.engines import KgliteEngine, Neo4jEngine, Outcome
from tests.governance.noninterference.mutations import mutate
from tests.governance.noninterference.yardstick import World, fault_of
from tests.neo4j_server import Neo4jServer, neo4j_server  # noqa: F401 (a fixture)

TIMES = int(os.environ.get("FRONTLINE_GENERATED_QUERIES", "1"))
#: Texts composed, mutated and taken from the honest ones over each schema; those allowed are run.
COMPOSED = {"shop": 60, "library": 40}
MUTATED = {"shop": 150, "library": 100}
HONEST = 60
WRITES = {"shop": 20, "library": 20}
#: What takes one item out of a list whose order is left to the engine.
_BY_POSITION = re.compile(r"\b(head|last|tail|reverse)\(|\[\d")


@dataclass(frozen=True)
class Run:
    """One proven text and what came of it on each variant, on the server and on the embedded engine."""

    text: str
    arguments: dict[str, object]
    on_server: tuple[Outcome, ...]
    embedded: Outcome


@pytest.fixture(scope="module")
def driver(neo4j_server: Neo4jServer) -> Iterator[neo4j.Driver]:  # noqa: F811
    auth = (neo4j_server.user, neo4j_server.password)
    with neo4j.GraphDatabase.driver(
        neo4j_server.uri, auth=auth, notifications_min_severity="OFF", max_transaction_retry_time=0
    ) as opened:
        neo4j_server.empty()
        yield opened
        neo4j_server.empty()


@pytest.fixture(scope="module", params=list(COMPOSED))
def runs(
    request: pytest.FixtureRequest,
    neo4j_server: Neo4jServer,  # noqa: F811
    driver: neo4j.Driver,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Run]:
    world = World(schema(request.param), seed=2)
    tasks = [(query, arguments) for query in _proven_reads(request.param, world) for arguments in _both(query, world)]
    server = Neo4jEngine(neo4j_server, driver, world.schema)
    outcomes: list[list[Outcome]] = []
    for graph in world.graphs[:2]:
        server.load(graph)
        outcomes.append([server.read(query, arguments) for query, arguments in tasks])
    server.close()
    engine = KgliteEngine(tmp_path_factory.mktemp("embedded") / "graph", world.graphs[0], world.schema)
    embedded = [engine.read(query, arguments) for query, arguments in tasks]
    engine.close()
    return [
        Run(query.text, arguments, tuple(outcome[index] for outcome in outcomes), embedded[index])
        for index, (query, arguments) in enumerate(tasks)
    ]


def test_the_servers_plan_of_a_proven_read_holds_nothing_foreign(runs: list[Run]) -> None:
    assert [run.text for run in runs if "plan" in run.on_server[0].error] == []


def test_reads_tell_nothing_of_others(runs: list[Run]) -> None:
    told = [run for run in runs if not alike(run.text, *run.on_server)]
    assert not told, "\n\n".join(f"{run.text}\n{run.arguments}\n{run.on_server}" for run in told[:5])
    assert sum(len(run.on_server[0].rows) > 0 for run in runs) > len(runs) / 4


def test_both_engines_return_the_same_rows(runs: list[Run]) -> None:
    unlike = [run for run in runs if not alike(run.text, run.on_server[0], run.embedded)]
    assert not unlike, "\n\n".join(
        f"{run.text}\n{run.arguments}\nserver   {run.on_server[0]}\nembedded {run.embedded}" for run in unlike[:5]
    )


@pytest.mark.parametrize("pack", list(WRITES))
def test_writes_touch_nothing_of_others(
    neo4j_server: Neo4jServer,  # noqa: F811
    driver: neo4j.Driver,
    tmp_path: Path,
    pack: str,
) -> None:
    world = World(schema(pack), seed=2)
    proven = _proven_writes(pack, world)
    server = Neo4jEngine(neo4j_server, driver, world.schema)
    server.load(world.graphs[0])
    embedded = KgliteEngine(tmp_path / "graph", world.graphs[0], world.schema)
    unlike, changed = [], 0
    for write in proven:
        for whose in ("fresh", "own", "other"):
            arguments = world.arguments(write, whose)
            change = server.try_write(write, arguments)
            fault = fault_of(world, change)
            assert fault is None, f"{fault}\n{write.text}\n{arguments}"
            changed += change.after != change.before
            beside = embedded.try_write(write, arguments).outcome
            same = change.outcome.changes == beside.changes and alike(write.text, change.outcome, beside)
            if not same:
                unlike.append(f"{write.text}\n{arguments}\nserver   {change.outcome}\nembedded {beside}")
    server.close()
    embedded.close()
    assert changed > len(proven) / 4
    assert not unlike, "\n\n".join(unlike[:5])


def _proven_reads(pack: str, world: World) -> list[ProvenQuery]:
    chance = Random(f"honest {pack}")
    honest = chance.sample(honest_reads(pack), min(HONEST * TIMES, len(honest_reads(pack))))
    composed = [_composer(world, number).read().text for number in range(COMPOSED[pack] * TIMES)]
    texts = [*found_before(pack, writes=False), *honest, *composed]
    mutants = [mutate(chance.choice(texts), texts, world.schema, chance) for _ in range(MUTATED[pack] * TIMES)]
    proven = [prove(text, world.schema, world.principal) for text in (*texts, *mutants)]
    return [query for query in proven if isinstance(query, ProvenQuery) and not _BY_POSITION.search(query.text)]


def _proven_writes(pack: str, world: World) -> list[ProvenWrite]:
    composed = [_composer(world, number).write().text for number in range(WRITES[pack] * TIMES)]
    chance = Random(f"honest {pack}")
    honest = chance.sample(honest_writes(pack), min(WRITES[pack] * TIMES, len(honest_writes(pack))))
    proven = [
        prove_write(text, world.schema, world.principal)
        for text in (*found_before(pack, writes=True), *honest, *composed)
    ]
    return [write for write in proven if isinstance(write, ProvenWrite)]


def _composer(world: World, number: int) -> Composer:
    return Composer(world.schema, Random(f"server {number}"), world.unique_values())


def _both(proven: ProvenQuery, world: World) -> list[dict[str, object]]:
    whose = ("own",) if proven.parameters <= {"customer_id"} else ("own", "other")
    return [world.arguments(proven, one) for one in whose]


def alike(text: str, first: Outcome, second: Outcome) -> bool:
    """Equal rows, in the same order where the text ends by ordering them; items in a list may come in any order.

    (A server puts relationships where others' deletions left room, and walks them in that order.)
    """
    if first.raised or second.raised:
        return first.raised == second.raised
    one, other = (tuple(map(_with_sorted_lists, outcome.rows)) for outcome in (first, second))
    last = text.rpartition("RETURN ")[2]
    whole = re.search(r"\{[^}]*[\[{]", last)  # a map that holds more than values has no order
    ordered = re.search(r" ORDER BY [^}]*$", last) and not whole and " UNION " not in text
    return one == other if ordered else sorted(one) == sorted(other)


def _with_sorted_lists(row: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(re.sub(r"\[([^\[\]]*)\]", _sorted_items, cell) for cell in row)


def _sorted_items(found: re.Match[str]) -> str:
    return "[" + ", ".join(sorted(found[1].split(", "))) + "]"
