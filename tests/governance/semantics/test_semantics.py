"""A proven text means what was written, on both engines: the original runs on a server, beside it what was printed.

The texts are honest ones, in the ways in which people and models write them, over the shop and over a telephone
company whose properties have awkward names, whose values are missing, and whose rows tie.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import neo4j
import pytest

from cli.pack_schema import pack_schema
from configs.settings import ROOT
from contracts.graph import ProvenQuery, ReadLimits
from contracts.principal import Principal, PrincipalKind
from governance.prover import prove
from stores.graph import neo4j_values
from stores.graph.bulk_rows import Load, checked_load
from stores.graph.kglite_store import KgliteStore
from tests.governance.semantics.comparison import difference, plain
from tests.governance.semantics.shop import CUSTOMERS, shop_load
from tests.governance.semantics.telephone import SUBSCRIBERS, Telephone
from tests.neo4j_server import Neo4jServer, neo4j_server  # noqa: F401 (a fixture)

HERE = Path(__file__).parent
SCHEMAS = {
    "shop": pack_schema(ROOT / "domains" / "shop"),
    "telephone": pack_schema(HERE / "packs" / "telephone"),
}
#: One customer who has much, and one who has little or nothing.
ASKING = {"shop": (CUSTOMERS[0], CUSTOMERS[3]), "telephone": (SUBSCRIBERS[0], SUBSCRIBERS[3])}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "shop": {
        "order_number": 10164,
        "today": "2026-06-15",
        "text": "brook",
        "product": "Brookline W700",
        "product2": "Brookline W900",
        "category": "Headphones",
        "min_price": 50.0,
        "max_price": 400.0,
        "skip": 1,
        "limit": 4,
        "tracking": "LW559100011",
        "status": "cancelled",
    },
    "telephone": {
        "case_no": 703,
        "number": 5001,
        "numbers": [5001, 5003, 5099, 5021],
        "now": "2026-05-15T10:00:00Z",
        "text": "orb",
        "gb": 20,
        "city": "Lisbon",
        "msisdn": "+491510020",
    },
}
LIMITS = ReadLimits(timeout_ms=20_000, max_rows=2_000, max_work_units=50_000_000)


class Read(NamedTuple):
    """One line of the file; what of the result has an order besides what the last ORDER BY says."""

    id: str
    pack: str
    principal: str
    cypher: str
    rows_in_order: bool
    lists_in_order: bool


def reads() -> list[Read]:
    lines = (json.loads(line) for line in (HERE / "honest_reads.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Read(
            line["id"],
            line["pack"],
            line["as"],
            line["cypher"],
            line.get("rows_in_order", False),
            line.get("lists_in_order", False),
        )
        for line in lines
    ]


READS = reads()


@dataclass(frozen=True)
class Engines:
    """The same data on a server and, a graph for each schema, on the embedded engine."""

    driver: neo4j.Driver
    database: str | None
    embedded: dict[str, KgliteStore]
    runner: asyncio.Runner
    #: Both tests ask for what was printed; once is enough.
    answered: dict[tuple[str, str | None], list[dict[str, Any]]] = field(default_factory=dict)

    def on_server(self, text: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
        asked = text, arguments["customer_id"]
        if asked not in self.answered:
            found = self.driver.execute_query(text, arguments, database_=self.database)
            self.answered[asked] = [dict(zip(each.keys(), each.values(), strict=True)) for each in found.records]
        return self.answered[asked]

    def on_embedded(self, read: Read, query: ProvenQuery) -> list[dict[str, Any]]:
        arguments = {name: ARGUMENTS[read.pack][name] for name in query.parameters - {"customer_id"}}
        rows = self.runner.run(self.embedded[read.pack].read(query, arguments, LIMITS))
        return [dict(row) for row in rows]


@pytest.fixture(scope="module")
def engines(
    neo4j_server: Neo4jServer,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Engines]:
    loads = {"shop": shop_load(SCHEMAS["shop"]), "telephone": Telephone(seed=11).load()}
    auth = (neo4j_server.user, neo4j_server.password)
    with (
        neo4j.GraphDatabase.driver(neo4j_server.uri, auth=auth, notifications_min_severity="OFF") as driver,
        asyncio.Runner() as runner,
    ):
        neo4j_server.empty()
        embedded: dict[str, KgliteStore] = {}
        for name, (nodes, edges) in loads.items():
            _load(driver, neo4j_server.database, checked_load(nodes, edges, SCHEMAS[name]))
            path = tmp_path_factory.mktemp(name) / "graph"
            embedded[name] = runner.run(KgliteStore.open(path, schema=SCHEMAS[name]))
            runner.run(embedded[name].load(nodes, edges))
        yield Engines(driver, neo4j_server.database, embedded, runner)
        for store in embedded.values():
            runner.run(store.close())
        neo4j_server.empty()


@pytest.mark.parametrize("read", READS, ids=lambda read: read.id)
def test_the_printed_text_means_what_was_written(engines: Engines, read: Read) -> None:
    for query in proven(read):
        arguments = ARGUMENTS[read.pack] | {"customer_id": query.principal.customer_id}
        written, printed = (engines.on_server(text, arguments) for text in (read.cypher, query.text))
        found = difference(read.cypher, written, printed, lists_in_order=read.lists_in_order)
        assert found is None, f"{query.principal.subject}: {found}\n{query.text}"
        if read.rows_in_order:
            in_order = [[plain(row, read.lists_in_order) for row in rows] for rows in (written, printed)]
            assert in_order[0] == in_order[1], query.text


@pytest.mark.parametrize("read", READS, ids=lambda read: read.id)
def test_the_embedded_engine_answers_like_the_server(engines: Engines, read: Read) -> None:
    for query in proven(read):
        arguments = ARGUMENTS[read.pack] | {"customer_id": query.principal.customer_id}
        server = engines.on_server(query.text, arguments)
        embedded = engines.on_embedded(read, query)
        found = difference(query.text, server, embedded, lists_in_order=read.lists_in_order)
        assert found is None, f"{query.principal.subject}: {found}\n{query.embedded_text or query.text}"
        singles = [
            [[item for item in row.values() if isinstance(item, str | int)] for row in rows]
            for rows in (server, embedded)
        ]
        assert singles[0] == singles[1], f"another order: {query.text}"


def proven(read: Read) -> list[ProvenQuery]:
    """The proof for each who asks."""
    match read.principal:
        case "customer":
            asking = [Principal(kind=PrincipalKind.CUSTOMER, subject=key, customer_id=key) for key in ASKING[read.pack]]
        case "staff":
            asking = [Principal(kind=PrincipalKind.AGENT, subject="desk")]
        case _:
            asking = [Principal(kind=PrincipalKind.GUEST, subject="visitor")]
    found = [prove(read.cypher, SCHEMAS[read.pack], principal) for principal in asking]
    return [query for query in found if isinstance(query, ProvenQuery) or pytest.fail(f"refused: {query}")]


def _load(driver: neo4j.Driver, database: str | None, load: Load) -> None:
    """Put the graph beside what is there, past the store: constraints take longer to make than all these texts."""

    def run(text: str, rows: list[Any]) -> None:
        driver.execute_query(f"UNWIND $rows AS row {text}", {"rows": rows}, database_=database)

    def values(properties: dict[str, Any]) -> dict[str, Any]:
        return {name: neo4j_values.parameter(value) for name, value in properties.items()}

    for item in load.nodes:
        run(f"CREATE (n:`{item.label}`) SET n = row", [values(row) for row in item.rows])
    for edge in load.edges:
        run(
            f"MATCH (a:`{edge.start_label}` {{`{edge.start_key}`: row[0]}})"
            f" MATCH (b:`{edge.end_label}` {{`{edge.end_key}`: row[1]}})"
            f" CREATE (a)-[r:`{edge.type}`]->(b) SET r = row[2]",
            [[*pair, values(properties)] for pair, properties in edge.pairs.items()],
        )
