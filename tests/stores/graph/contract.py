"""What every graph store must do. A new implementation subclasses this and gives the fixture ``store``:
an open store that holds ``NODES`` and ``EDGES`` under ``SCHEMA``.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

import pytest

from contracts.base import Row, Value
from contracts.errors import BadRequestError, DeniedError, OutOfTimeError, OverLimitError, StoreError
from contracts.graph import (
    GraphEdges,
    GraphNodes,
    GraphSchema,
    GraphStore,
    LabelSchema,
    PropertySchema,
    PropertyType,
    ProvenQuery,
    ReadLimits,
    RelationshipSchema,
)
from contracts.principal import Principal, PrincipalKind


def _label(**types: PropertyType) -> LabelSchema:
    unique = next(iter(types))
    return LabelSchema(
        properties={name: PropertySchema(type=type_, unique=name == unique) for name, type_ in types.items()}
    )


SCHEMA = GraphSchema(
    customer_label="Reader",
    customer_key="reader_id",
    labels={
        "Reader": _label(reader_id=PropertyType.STRING, name=PropertyType.STRING),
        "Loan": _label(
            loan_id=PropertyType.INTEGER,
            lent_on=PropertyType.DATE,
            scanned_at=PropertyType.DATETIME,
            fee=PropertyType.FLOAT,
            open=PropertyType.BOOLEAN,
            note=PropertyType.STRING,
        ),
        "Room": _label(room_name=PropertyType.STRING),
    },
    relationships=(RelationshipSchema(type="HAS", start="Reader", end="Loan", owning=True),),
    public_labels=frozenset({"Room"}),
)

MOMENT = datetime(2025, 3, 1, 8, 30, 15, tzinfo=UTC)

NODES = (
    GraphNodes(
        label="Reader",
        key="reader_id",
        rows=({"reader_id": "R1", "name": "Zoë O'Hara"}, {"reader_id": "R2", "name": 'Łukasz "Luc" 🙂'}),
    ),
    GraphNodes(
        label="Loan",
        key="loan_id",
        rows=(
            {"loan_id": 1, "lent_on": date(2025, 2, 1), "scanned_at": MOMENT, "fee": 0, "open": True, "note": None},
            {"loan_id": 2, "lent_on": date(2025, 2, 3), "scanned_at": None, "fee": 1.5, "open": False, "note": "torn"},
            {"loan_id": 3, "lent_on": date(2025, 2, 2), "scanned_at": None, "fee": 2.0, "open": True, "note": ""},
        ),
    ),
)
EDGES = (
    GraphEdges(
        type="HAS",
        start_label="Reader",
        start_key="reader_id",
        end_label="Loan",
        end_key="loan_id",
        pairs=(("R1", 1), ("R1", 2), ("R2", 3), ("R1", 1)),
    ),
)

GUEST = Principal(kind=PrincipalKind.GUEST, subject="g")
READER_1 = Principal(kind=PrincipalKind.CUSTOMER, subject="r1", customer_id="R1")
READER_2 = Principal(kind=PrincipalKind.SERVICE, subject="desk", customer_id="R2")

OWN_LOANS = (
    "MATCH (r:Reader {reader_id: $customer_id})-[:HAS]->(l:Loan) "
    "RETURN l.loan_id AS loan, l.lent_on AS lent_on ORDER BY l.loan_id"
)
ALL_LOANS = "MATCH (l:Loan) RETURN l.loan_id AS loan ORDER BY l.loan_id"
#: Endless for any practical purpose: 200 million million combinations.
ENDLESS = (
    "UNWIND range(1, 5000) AS a UNWIND range(1, 5000) AS b UNWIND range(1, 5000) AS c UNWIND range(1, 1600) AS d "
    "WITH a, b, c, d WHERE a + b + c + d < 0 RETURN count(*) AS n"
)


async def read(
    store: GraphStore,
    text: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    principal: Principal = GUEST,
    limits: ReadLimits | None = None,
    parameters: frozenset[str] | None = None,
) -> tuple[Row, ...]:
    """Read as if ``text`` had been proven. Its parameters are what is given, unless they are named."""
    given: Mapping[str, Value] = arguments or {}
    if parameters is None:
        parameters = frozenset(given) | ({"customer_id"} if "$customer_id" in text else frozenset())
    query = ProvenQuery(text=text, parameters=parameters, principal=principal)
    return await store.read(query, given, limits or ReadLimits())


class GraphStoreContract:
    async def test_a_customer_gets_the_rows_that_hang_on_their_own_node(self, store: GraphStore) -> None:
        assert await read(store, OWN_LOANS, principal=READER_1) == (
            {"loan": 1, "lent_on": date(2025, 2, 1)},
            {"loan": 2, "lent_on": date(2025, 2, 3)},
        )
        assert await read(store, OWN_LOANS, principal=READER_2) == ({"loan": 3, "lent_on": date(2025, 2, 2)},)

    async def test_the_customer_comes_from_the_principal_and_never_from_the_arguments(self, store: GraphStore) -> None:
        with pytest.raises(BadRequestError):
            await read(store, OWN_LOANS, {"customer_id": "R2"}, principal=READER_1)

    async def test_a_query_about_a_customer_is_denied_to_whom_is_none(self, store: GraphStore) -> None:
        with pytest.raises(DeniedError):
            await read(store, OWN_LOANS, principal=GUEST)

    async def test_arguments_fill_the_querys_parameters(self, store: GraphStore) -> None:
        text = "MATCH (l:Loan) WHERE l.lent_on >= $since AND l.fee > $fee RETURN l.loan_id AS loan ORDER BY loan"
        assert await read(store, text, {"since": date(2025, 2, 2), "fee": 1}) == ({"loan": 2}, {"loan": 3})

    async def test_an_argument_is_a_value_and_never_a_piece_of_the_query(self, store: GraphStore) -> None:
        text = "MATCH (r:Reader) WHERE r.name = $name RETURN r.reader_id AS reader"
        assert await read(store, text, {"name": "Zoë O'Hara"}) == ({"reader": "R1"},)
        assert await read(store, text, {"name": 'Łukasz "Luc" 🙂'}) == ({"reader": "R2"},)
        assert await read(store, text, {"name": "x' OR 1=1 //"}) == ()

    async def test_a_missing_argument_is_refused_by_name(self, store: GraphStore) -> None:
        with pytest.raises(BadRequestError, match="loan"):
            await read(store, ALL_LOANS, {}, parameters=frozenset({"loan"}))

    async def test_an_unknown_argument_is_refused_by_name(self, store: GraphStore) -> None:
        with pytest.raises(BadRequestError, match="surplus"):
            await read(store, ALL_LOANS, {"surplus": 1}, parameters=frozenset())

    @pytest.mark.parametrize(
        "value", [[1, 2], {"a": 1}, b"x", 2**70, float("nan"), "half a pair \ud800"], ids=lambda value: repr(value)[:12]
    )
    async def test_an_argument_of_a_type_that_graphs_do_not_keep_is_refused(
        self, store: GraphStore, value: object
    ) -> None:
        with pytest.raises(BadRequestError, match="loan"):
            await read(store, "MATCH (l:Loan) WHERE l.loan_id = $loan RETURN l.loan_id AS loan", {"loan": value})

    async def test_values_come_back_as_what_they_are(self, store: GraphStore) -> None:
        text = (
            "MATCH (l:Loan) WHERE l.loan_id = 1 RETURN l.loan_id AS loan, l.lent_on AS lent_on, "
            "l.scanned_at AS scanned_at, l.fee AS fee, l.open AS open, l.note AS note"
        )
        (row,) = await read(store, text)
        assert row == {
            "loan": 1,
            "lent_on": date(2025, 2, 1),
            "scanned_at": MOMENT,
            "fee": 0,
            "open": True,
            "note": None,
        }
        assert [type(value) for value in row.values()] == [int, date, datetime, float, bool, type(None)]

    async def test_moments_and_days_can_be_asked_for(self, store: GraphStore) -> None:
        text = "MATCH (l:Loan) WHERE l.scanned_at = $at AND l.lent_on = $on RETURN l.loan_id AS loan"
        assert await read(store, text, {"at": MOMENT, "on": date(2025, 2, 1)}) == ({"loan": 1},)

    async def test_collected_values_come_back_as_a_list(self, store: GraphStore) -> None:
        text = "MATCH (l:Loan) WITH l ORDER BY l.loan_id RETURN collect(l.lent_on) AS days, count(*) AS n"
        assert await read(store, text) == ({"days": [date(2025, 2, 1), date(2025, 2, 3), date(2025, 2, 2)], "n": 3},)

    async def test_rows_keep_the_querys_order(self, store: GraphStore) -> None:
        rows = await read(store, "MATCH (l:Loan) RETURN l.loan_id AS loan ORDER BY l.lent_on DESC")
        assert [row["loan"] for row in rows] == [2, 3, 1]

    async def test_no_row_is_an_empty_answer(self, store: GraphStore) -> None:
        assert await read(store, "MATCH (r:Room) RETURN r.room_name AS room") == ()

    async def test_as_many_rows_as_allowed_are_returned_and_one_more_is_refused(self, store: GraphStore) -> None:
        assert len(await read(store, ALL_LOANS, limits=ReadLimits(max_rows=3))) == 3
        with pytest.raises(OverLimitError):
            await read(store, ALL_LOANS, limits=ReadLimits(max_rows=2))

    async def test_a_query_that_takes_too_long_is_out_of_time(self, store: GraphStore) -> None:
        with pytest.raises(OutOfTimeError):
            await read(store, ENDLESS, limits=ReadLimits(timeout_ms=100, max_work_units=10**15))

    @pytest.mark.parametrize("timeout_ms", [0, -1])
    async def test_without_time_left_nothing_is_read(self, store: GraphStore, timeout_ms: int) -> None:
        with pytest.raises(OutOfTimeError):
            await read(store, ALL_LOANS, limits=ReadLimits(timeout_ms=timeout_ms))

    async def test_the_event_loop_runs_on_during_a_long_query(self, store: GraphStore) -> None:
        long_read = asyncio.create_task(
            read(store, ENDLESS, limits=ReadLimits(timeout_ms=1_500, max_work_units=10**15))
        )
        quick = await read(store, ALL_LOANS)
        assert not long_read.done()
        assert len(quick) == 3
        with pytest.raises(OutOfTimeError):
            await long_read

    async def test_a_query_the_engine_does_not_understand_is_a_store_error(self, store: GraphStore) -> None:
        with pytest.raises(StoreError) as raised:
            await read(store, "MATCH (l:Loan RETURN l.loan_id")
        assert raised.value.__cause__ is not None

    @pytest.mark.parametrize(
        "text",
        [
            "CREATE (:Room {room_name: 'new'}) RETURN 1 AS one",
            "MATCH (l:Loan) SET l.note = 'changed' RETURN l.loan_id AS loan",
            "MATCH (l:Loan) DETACH DELETE l RETURN 1 AS one",
            "MERGE (r:Room {room_name: 'new'}) RETURN r.room_name AS room",
        ],
    )
    async def test_a_write_does_not_pass_as_a_read(self, store: GraphStore, text: str) -> None:
        with pytest.raises(StoreError):
            await read(store, text)
        counts = await read(store, "MATCH (l:Loan) WHERE l.note = 'torn' OR l.note = '' RETURN count(*) AS n")
        assert counts == ({"n": 2},)
        assert await read(store, "MATCH (r:Room) RETURN r.room_name AS room") == ()

    async def test_whole_nodes_are_no_values_of_a_row(self, store: GraphStore) -> None:
        with pytest.raises(StoreError):
            await read(store, "MATCH (l:Loan) RETURN l AS loan")

    async def test_many_reads_at_once_each_get_their_own_answer(self, store: GraphStore) -> None:
        text = "MATCH (l:Loan) WHERE l.loan_id = $loan RETURN l.loan_id AS loan"
        answers = await asyncio.gather(*(read(store, text, {"loan": 1 + number % 3}) for number in range(60)))
        assert [rows[0]["loan"] for rows in answers] == [1 + number % 3 for number in range(60)]

    async def test_an_open_store_is_ready_and_a_closed_one_is_not(self, store: GraphStore) -> None:
        assert await store.ready()
        await store.close()
        await store.close()
        assert not await store.ready()
        with pytest.raises(StoreError):
            await read(store, ALL_LOANS)
