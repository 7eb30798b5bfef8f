"""A Neo4j server keeps the contract, ends every call in time, and comes back by itself."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from contracts.errors import OutOfTimeError, StoreError
from contracts.graph import GraphNodes, ReadLimits, WriteLimits
from stores.graph import neo4j_load
from stores.graph.neo4j_store import Neo4jStore
from tests.neo4j_server import Neo4jServer, neo4j_server
from tests.stores.graph.contract import (
    ALL_LOANS,
    EDGES,
    ENDLESS,
    NODES,
    OWN_LOANS,
    READER_1,
    SCHEMA,
    GraphLoadContract,
    GraphStoreContract,
    GraphWriteContract,
    close_loan,
    content,
    open_loans,
    read,
    write,
)

__all__ = ["neo4j_server"]


async def opened(server: Neo4jServer, *, wait_s: float = 0.0, pool_size: int = 20) -> Neo4jStore:
    return await Neo4jStore.open(
        server.uri,
        user=server.user,
        password=server.password,
        database=server.database,
        schema=SCHEMA,
        wait_s=wait_s,
        pool_size=pool_size,
    )


@pytest.fixture
async def store(neo4j_server: Neo4jServer) -> AsyncIterator[Neo4jStore]:
    await asyncio.to_thread(neo4j_server.empty)
    store = await opened(neo4j_server)
    await store.load(NODES, EDGES, digest="d1")
    yield store
    await store.close()
    await asyncio.to_thread(neo4j_server.empty)


class TestNeo4jStore(GraphStoreContract, GraphWriteContract, GraphLoadContract):
    pass


@pytest.mark.parametrize(
    "text",
    [
        "LOAD CSV FROM 'file:///etc/hostname' AS line RETURN line[0] AS line",
        "CALL db.labels() YIELD label RETURN label",
        "CALL dbms.components() YIELD name RETURN name",
        "SHOW TRANSACTIONS YIELD currentQuery RETURN currentQuery",
        "MATCH (r:Reader)-[:HAS*1..3]->(l:Loan) RETURN l.loan_id AS loan",
    ],
)
async def test_what_reads_more_than_the_graph_does_not_pass_as_a_read_or_a_change(store: Neo4jStore, text: str) -> None:
    for _ in range(2):  # the verdict is remembered
        with pytest.raises(StoreError):
            await read(store, text)
        with pytest.raises(StoreError):
            await write(store, text, key="k")
    assert await store.written("k") is None


async def test_every_kind_of_reading_passes_the_look_at_its_plan(store: Neo4jStore) -> None:
    own = "MATCH (r:Reader {reader_id: $customer_id})"
    texts = [
        f"{own} OPTIONAL MATCH (r)-[:HAS]->(l:Loan) WHERE l.open RETURN collect(DISTINCT l.note) AS notes",
        f"{own}-[:HAS]->(l:Loan) WHERE EXISTS {{ MATCH (l)-[:OF]->(t:Title) }} OR l.fee > 1 RETURN l.loan_id AS loan",
        f"{own}-[:HAS]->(l:Loan) WHERE NOT EXISTS {{ MATCH (l)-[:OF]->(:Title) }} RETURN DISTINCT l.open AS open",
        f"{own} RETURN COUNT {{ MATCH (r)-[:HAS]->(l:Loan) WHERE l.open }} AS n",
        f"{own} RETURN [(r)-[:HAS]->(l:Loan) WHERE l.open | l.loan_id] AS loans",
        f"{own} RETURN EXISTS {{ MATCH (r)-[:HAS]->(:Loan) }} AS any",
        f"{own} CALL (r) {{ MATCH (r)-[:HAS]->(l:Loan) RETURN max(l.lent_on) AS last }} RETURN last",
        f"{own}-[:HAS]->(l:Loan) RETURN l.loan_id AS n UNION ALL MATCH (t:Title) RETURN t.title_id AS n",
        f"{own}-[:HAS]->(l:Loan) RETURN l.loan_id AS n UNION {own}-[:HAS]->(l:Loan) RETURN l.fee AS n",
        f"{own}-[:HAS]->(l:Loan) WITH l ORDER BY l.lent_on DESC SKIP 0 LIMIT 2 UNWIND [1, 2] AS x RETURN x, l.fee AS f",
        f"{own}, (t:Title) WHERE t.title_id STARTS WITH 'a' OR t.shelf_mark > 'b' RETURN 1 AS one LIMIT 1",
        f"{own}-[:HAS]->(l:Loan)-[:OF]->(t:Title)<-[:OF]-(o:Loan) RETURN t.title_id AS t, count(o) AS n ORDER BY n, t",
        "MATCH (t:Title), (o:Title) WHERE t.shelf_mark = o.title_id RETURN t.title_id AS t",
        "MATCH (t:Title) WHERE t.title_id IN ['a', 'b'] OR t.title_id CONTAINS 'c' RETURN count(*) AS n",
        "MATCH (t:Title) RETURN count(*) AS n",
        "MATCH (:Loan)-[o:OF]->(:Title) RETURN count(o) AS n",
        f"{own}-[:HAS]->(l:Loan) WHERE CASE WHEN l.open THEN EXISTS {{ MATCH (l)-[:OF]->() }} END RETURN 1 AS one",
    ]
    for text in texts:
        await read(store, text, principal=READER_1)


async def test_readers_of_an_unfinished_load_are_told_so(store: Neo4jStore) -> None:
    digests = []

    async def look() -> None:
        while not load.done():
            digests.append(await store.loaded_digest())

    rows = tuple({"loan_id": number} for number in range(6_000))
    load = asyncio.create_task(store.load([GraphNodes(label="Loan", key="loan_id", rows=rows)], [], digest="d2"))
    await asyncio.gather(load, look())
    assert None in digests
    assert set(digests) <= {"d1", None, "d2"}
    assert await store.loaded_digest() == "d2"


async def test_a_load_leaves_what_is_not_the_schemas(store: Neo4jStore, neo4j_server: Neo4jServer) -> None:
    neo4j_server.rows(
        "MATCH (l:Loan {loan_id: 1}) CREATE (l)-[:SEEN]->(:Other {name: 'a'})-[:KNOWS]->(:Other {name: 'b'})"
        " CREATE (l)<-[:HAS]-(:Other {name: 'c'})"
    )
    await store.load(NODES, EDGES, digest="d1")
    assert neo4j_server.rows("MATCH (n:Other) RETURN n.name AS name ORDER BY name") == [{"name": n} for n in "abc"]
    assert neo4j_server.rows("MATCH ()-[r:SEEN|KNOWS]->() RETURN count(*) AS n") == [{"n": 2}]
    assert neo4j_server.rows("MATCH (:Other)-[r:HAS]->(:Loan) RETURN count(*) AS n") == [{"n": 1}]


async def test_what_a_broken_load_left_is_mended_by_the_next(store: Neo4jStore, neo4j_server: Neo4jServer) -> None:
    before = await content(store)
    neo4j_server.rows("MATCH (:Reader)-[h:HAS]->(l:Loan {loan_id: 1}) DELETE h")
    neo4j_server.rows("MATCH (r:Reader {reader_id: 'R1'}), (l:Loan {loan_id: 2}) CREATE (r)-[:HAS]->(l)")
    neo4j_server.rows("MATCH (r:Reader {reader_id: 'R1'}), (l:Loan {loan_id: 3}) CREATE (r)-[:HAS {desk: 'x'}]->(l)")
    neo4j_server.rows("CREATE (:Loan {note: 'of no key'}), (:Loan {loan_id: 77}), (:Room {room_name: 'x'})")
    neo4j_server.rows("MATCH (l:Loan {loan_id: 3}) SET l.note = 'other', l.fee = null, l.more = 1")
    await store.load(NODES, EDGES, digest="d1")
    assert await content(store) == before
    assert neo4j_server.rows("MATCH (l:Loan) WHERE l.more IS NOT NULL RETURN 1 AS one") == []


async def test_loads_at_the_same_time_run_one_after_another(neo4j_server: Neo4jServer, store: Neo4jStore) -> None:
    before = await content(store)
    other = await opened(neo4j_server)
    few = [GraphNodes(label="Loan", key="loan_id", rows=tuple({"loan_id": n} for n in range(500)))]
    await asyncio.gather(*(item.load(few, [], digest="few") for item in (store, other, store)))
    assert [len(rows) for rows in await content(store)] == [0, 500, 0, 0, 0, 0]
    await asyncio.gather(other.load(few, [], digest="few"), store.load(NODES, EDGES, digest="d1"))
    digest, found = await store.loaded_digest(), await content(store)
    assert (digest, found == before) in {("d1", True), ("few", False)}
    await other.close()


async def test_a_load_whose_lease_another_has_taken_stops(
    store: Neo4jStore, neo4j_server: Neo4jServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_load, "BATCH_ROWS", 50)
    rows = tuple({"loan_id": number} for number in range(5_000))
    load = asyncio.create_task(store.load([GraphNodes(label="Loan", key="loan_id", rows=rows)], [], digest="d2"))
    while not await read(store, "MATCH (l:Loan) WHERE l.loan_id > 100 RETURN 1 AS one LIMIT 1"):
        pass
    # In a thread: it waits for the lock that the load holds, and the load goes on in this loop.
    await asyncio.to_thread(neo4j_server.rows, "MATCH (r:_FrontlineLoad) SET r.holder = 'another'")
    with pytest.raises(StoreError, match="taken over"):
        await load
    assert await store.loaded_digest() is None


async def test_a_change_waits_for_a_lock_no_longer_than_it_may(store: Neo4jStore, neo4j_server: Neo4jServer) -> None:
    import neo4j

    async with (
        neo4j.AsyncGraphDatabase.driver(neo4j_server.uri, auth=(neo4j_server.user, neo4j_server.password)) as driver,
        driver.session(database=neo4j_server.database) as session,
        await session.begin_transaction() as transaction,
    ):
        await (await transaction.run("MATCH (l:Loan {loan_id: 1}) SET l.note = 'held'")).consume()
        text = "MATCH (l:Loan {loan_id: 1}) SET l.note = 'x' RETURN 1 AS one"
        with pytest.raises(OutOfTimeError):
            await write(store, text, key="k", limits=WriteLimits(timeout_ms=300))
        await transaction.rollback()
    assert await store.written("k") is None
    assert (await write(store, text, key="k")).changes == 1


async def test_a_pool_that_is_used_up_makes_callers_wait_and_not_fail(neo4j_server: Neo4jServer) -> None:
    store = await opened(neo4j_server, pool_size=2)
    answers = await asyncio.gather(*(read(store, "RETURN 1 AS one") for _ in range(30)))
    assert answers == [({"one": 1},)] * 30
    await store.close()


async def test_a_cancelled_read_leaves_the_store_usable(store: Neo4jStore) -> None:
    for _ in range(30):  # more than the pool has connections
        task = asyncio.create_task(read(store, ENDLESS, limits=ReadLimits(timeout_ms=2_000)))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(await read(store, ALL_LOANS)) == 3


class TestOpening:
    async def test_a_wrong_password_says_so(self, neo4j_server: Neo4jServer) -> None:
        with pytest.raises(StoreError, match="refuses the user or the password"):
            await Neo4jStore.open(neo4j_server.uri, user=neo4j_server.user, password="not the password", schema=SCHEMA)

    async def test_an_unknown_database_says_so(self, neo4j_server: Neo4jServer) -> None:
        with pytest.raises(StoreError, match="no database of that name"):
            await Neo4jStore.open(
                neo4j_server.uri,
                user=neo4j_server.user,
                password=neo4j_server.password,
                database="nowhere",
                schema=SCHEMA,
            )

    async def test_a_server_that_is_not_there_says_so(self) -> None:
        with pytest.raises(StoreError, match="can't be reached"):
            await Neo4jStore.open("bolt://127.0.0.1:9", user="neo4j", password="password", schema=SCHEMA, wait_s=0.5)

    async def test_an_address_that_is_none_says_so(self) -> None:
        with pytest.raises(StoreError, match="looks like"):
            await Neo4jStore.open("http://127.0.0.1:7474", user="neo4j", password="password", schema=SCHEMA)

    async def test_opening_and_reading_write_nothing_into_the_database(self, neo4j_server: Neo4jServer) -> None:
        neo4j_server.empty()
        for row in neo4j_server.rows("SHOW CONSTRAINTS YIELD name"):
            neo4j_server.rows(f"DROP CONSTRAINT `{row['name']}`")
        store = await opened(neo4j_server)
        assert await read(store, ALL_LOANS) == ()
        assert await store.is_empty()
        assert await store.loaded_digest() is None
        assert neo4j_server.rows("SHOW CONSTRAINTS YIELD name") == []
        assert neo4j_server.rows("MATCH (n) RETURN count(*) AS n") == [{"n": 0}]
        create = "CREATE (l:Loan {loan_id: 1}) RETURN l.loan_id AS loan"
        outcomes = await asyncio.gather(*(write(store, create, key="k") for _ in range(8)))
        assert sorted(outcome.replayed for outcome in outcomes) == [False] + [True] * 7
        await store.close()

    async def test_a_routed_address_works_as_well(self, neo4j_server: Neo4jServer, store: Neo4jStore) -> None:
        routed = await Neo4jStore.open(
            neo4j_server.uri.replace("bolt://", "neo4j://"),
            user=neo4j_server.user,
            password=neo4j_server.password,
            schema=SCHEMA,
        )
        assert (await close_loan(routed, 1, "k")).changes == 2
        assert await open_loans(routed) == [3]
        assert len(await read(routed, OWN_LOANS, principal=READER_1)) == 2
        await routed.close()
