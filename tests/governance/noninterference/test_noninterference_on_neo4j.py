"""The same yardstick on a Neo4j server, and that proven texts mean the same there as on the embedded engine.

A server's database holds one graph at a time: each variant is loaded, all texts run, then the next.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import neo4j
import pytest

from contracts.graph import ProvenQuery, ProvenWrite
from governance.prover import prove, prove_write
from tests.governance.noninterference.composer import Composer
from tests.governance.noninterference.corpus import honest_reads, honest_writes, schema
from tests.governance.noninterference.engines import KgliteEngine, Neo4jEngine, Outcome
from tests.governance.noninterference.mutations import mutate
from tests.governance.noninterference.yardstick import World, trespass
from tests.neo4j_server import Neo4jServer, neo4j_server  # noqa: F401 (a fixture)

TIMES = int(os.environ.get("FRONTLINE_GENERATED_QUERIES", "1"))
#: Texts composed, and mutated, over each schema; those allowed are run.
COMPOSED = {"shop": 120, "library": 80}
MUTATED = {"shop": 400, "library": 300}
WRITES = {"shop": 60, "library": 60}


@dataclass(frozen=True)
class Run:
    """One proven text and what came of it on each variant, on the server and on the embedded engine."""

    text: str
    arguments: dict[str, object]
    on_server: tuple[Outcome, ...]
    embedded: Outcome
    kind: str


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
def runs(request: pytest.FixtureRequest, driver: neo4j.Driver, tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    world = World(schema(request.param), seed=2)
    proven = _proven_reads(request.param, world)
    tasks = [(query, world.arguments(query, whose)) for query in proven for whose in ("own", "other")]
    server = Neo4jEngine(driver, world.schema)
    outcomes: list[list[Outcome]] = []
    for number, graph in enumerate(world.graphs):
        server.load(graph)
        if number == 0:
            kinds = [server.explain(query.text, arguments) for query, arguments in tasks]
        outcomes.append([server.read(query.text, arguments) for query, arguments in tasks])
    engine = KgliteEngine(tmp_path_factory.mktemp("embedded") / "graph", world.graphs[0], world.schema)
    embedded = [engine.read(query.text, arguments) for query, arguments in tasks]
    engine.close()
    return [
        Run(query.text, arguments, tuple(outcome[index] for outcome in outcomes), embedded[index], kinds[index])
        for index, (query, arguments) in enumerate(tasks)
    ]


def test_the_server_plans_each_proven_read_as_a_read(runs: list[Run]) -> None:
    assert [run.text for run in runs if run.kind != "r"] == []


def test_reads_tell_nothing_of_others(runs: list[Run]) -> None:
    told = [run for run in runs if len(set(run.on_server)) > 1]
    assert not told, "\n\n".join(f"{run.text}\n{run.arguments}\n{run.on_server}" for run in told[:5])
    assert sum(len(run.on_server[0].rows) > 0 for run in runs) > len(runs) / 4


def test_both_engines_return_the_same_rows(runs: list[Run]) -> None:
    unlike = [run for run in runs if not _alike(run)]
    assert not unlike, "\n\n".join(
        f"{len(unlike)} of {len(runs)}: {run.text}\n{run.arguments}\nserver   {run.on_server[0]}\nembedded {run.embedded}"
        for run in unlike[:5]
    )


@pytest.mark.parametrize("pack", list(WRITES))
def test_writes_touch_nothing_of_others(driver: neo4j.Driver, pack: str) -> None:
    world = World(schema(pack), seed=2)
    proven = _proven_writes(pack, world)
    server = Neo4jEngine(driver, world.schema)
    server.load(world.graphs[0])
    before = server.dump()
    changed = 0
    for write in proven:
        for whose in ("fresh", "own", "other"):
            arguments = world.arguments(write, whose)
            outcome, after = server.try_write(write.text, arguments)
            if not outcome.raised:
                fault = trespass(world, world.graphs[0], before, after)
                assert fault is None, f"{fault}\n{write.text}\n{arguments}"
                changed += after != before
    assert server.dump() == before
    assert changed > len(proven) / 4


def _proven_reads(pack: str, world: World) -> list[ProvenQuery]:
    composers = [
        Composer(world.schema, Random(f"server {n}"), world.unique_values()) for n in range(COMPOSED[pack] * TIMES)
    ]
    composed = [composer.read().text for composer in composers]
    texts = [*honest_reads(pack), *composed]
    mutants = [
        mutate(texts[n % len(texts)], texts, world.schema, Random(f"mutant {n}")) for n in range(MUTATED[pack] * TIMES)
    ]
    proven = [prove(text, world.schema, world.principal) for text in (*texts, *mutants)]
    return [query for query in proven if isinstance(query, ProvenQuery)]


def _proven_writes(pack: str, world: World) -> list[ProvenWrite]:
    composers = [
        Composer(world.schema, Random(f"server {n}"), world.unique_values()) for n in range(WRITES[pack] * TIMES)
    ]
    texts = [*honest_writes(pack), *(composer.write().text for composer in composers)]
    proven = [prove_write(text, world.schema, world.principal) for text in texts]
    return [write for write in proven if isinstance(write, ProvenWrite)]


def _alike(run: Run) -> bool:
    """Equal rows, in the same order where the text ends by ordering them; what is collected may come in any order."""
    server, embedded = (tuple(map(_with_sorted_lists, outcome.rows)) for outcome in (run.on_server[0], run.embedded))
    if run.on_server[0].raised or run.embedded.raised:
        return run.on_server[0].raised == run.embedded.raised
    ordered = re.search(r"RETURN (?:(?!RETURN).)* ORDER BY [^}]*$", run.text) and " UNION " not in run.text
    return server == embedded if ordered else sorted(server) == sorted(embedded)


def _with_sorted_lists(row: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        re.sub(r"\[([^\[\]]*)\]", lambda found: "[" + ", ".join(sorted(found[1].split(", "))) + "]", cell)
        for cell in row
    )
