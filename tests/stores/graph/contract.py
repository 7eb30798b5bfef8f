"""What every graph store must do. A new implementation subclasses this and gives the fixture ``store``:
an open store that holds ``NODES`` and ``EDGES`` under ``SCHEMA``.
"""

import asyncio
import random
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Protocol
from zoneinfo import ZoneInfo

import pytest

from contracts.base import Argument, Duration, Point, Row
from contracts.errors import BadRequestError, ConflictError, DeniedError, OutOfTimeError, OverLimitError, StoreError
from contracts.graph import (
    GraphEdges,
    GraphNodes,
    GraphSchema,
    GraphStore,
    LabelSchema,
    PropertySchema,
    PropertyType,
    ProvenQuery,
    ProvenWrite,
    ReadLimits,
    RelationshipSchema,
    WriteLimits,
    WriteOutcome,
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
            period=PropertyType.DURATION,
        ),
        "Room": _label(room_name=PropertyType.STRING, place=PropertyType.POINT),
        "Title": LabelSchema(
            properties={
                "title_id": PropertySchema(type=PropertyType.STRING, unique=True),
                "shelf_mark": PropertySchema(type=PropertyType.STRING, unique=True),
            }
        ),
    },
    relationships=(
        RelationshipSchema(
            type="HAS",
            start="Reader",
            end="Loan",
            owning=True,
            properties={
                "desk": PropertySchema(type=PropertyType.STRING),
                "reserved_at": PropertySchema(type=PropertyType.DATETIME),
                "queue": PropertySchema(type=PropertyType.INTEGER),
                "held_for": PropertySchema(type=PropertyType.DURATION),
            },
        ),
        RelationshipSchema(type="OF", start="Loan", end="Title"),
    ),
    public_labels=frozenset({"Room"}),
)

MOMENT = datetime(2025, 3, 1, 8, 30, 15, tzinfo=UTC)
#: The same moment with another offset from UTC, which is kept.
MOMENT_AT_TWO = datetime(2025, 3, 1, 10, 30, 15, tzinfo=timezone(timedelta(hours=2)))
PERIOD = Duration(14, 3, 14_706, 500_000_000)

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
            {
                "loan_id": 1,
                "lent_on": date(2025, 2, 1),
                "scanned_at": MOMENT,
                "fee": 0,
                "open": True,
                "note": None,
                "period": PERIOD,
            },
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
        properties=(
            {"desk": "east", "reserved_at": MOMENT_AT_TWO, "queue": 1, "held_for": Duration(0, 2, 0, 0)},
            {"desk": "west", "reserved_at": None, "queue": 2},
            {},
            {"desk": "east", "reserved_at": MOMENT_AT_TWO, "queue": 1, "held_for": Duration(0, 2, 0, 0)},
        ),
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


#: The time limit where a test is not about time: a server that has just started on a busy machine is slow.
PATIENT_MS = 30_000
#: A loan of the customer's own that is open: the reading part of the changes below.
OWN_OPEN_LOAN = "MATCH (r:Reader {reader_id: $customer_id})-[:HAS]->(l:Loan) WHERE l.loan_id = $loan AND l.open = true"
CLOSE_LOAN = f"{OWN_OPEN_LOAN} SET l.open = false, l.note = 'back' RETURN l.loan_id AS loan, l.scanned_at AS scanned_at"
LOCK_OWN_OPEN_LOAN = f"{OWN_OPEN_LOAN} SET l._lock = true REMOVE l._lock"


def _parameters(text: str, given: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(given) | ({"customer_id"} if "$customer_id" in text else frozenset())


def _embedded(text: str) -> str | None:
    """As the prover prints it for the embedded graph, which keeps ``name`` for itself."""
    renamed = re.sub(r"\b([a-z])\.name\b", r"\1.name_", text)
    return renamed if renamed != text else None


async def read(
    store: GraphStore,
    text: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    principal: Principal = GUEST,
    limits: ReadLimits | None = None,
    parameters: frozenset[str] | None = None,
    types: dict[str, PropertyType] | None = None,
    lists: frozenset[str] = frozenset(),
) -> tuple[Row, ...]:
    """Read as if ``text`` had been proven. Its parameters are what is given, unless they are named."""
    given: Mapping[str, Argument] = arguments or {}
    query = ProvenQuery(
        text=text,
        embedded_text=_embedded(text),
        list_parameters=lists,
        columns=(),
        parameters=_parameters(text, given) if parameters is None else parameters,
        parameter_types=types or {},
        principal=principal,
    )
    return await store.read(query, given, limits or ReadLimits(timeout_ms=PATIENT_MS))


async def write(
    store: GraphStore,
    text: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    key: str,
    lock: str = "",
    principal: Principal = READER_1,
    limits: WriteLimits | None = None,
    types: dict[str, PropertyType] | None = None,
    values: dict[str, tuple[str, ...]] | None = None,
) -> WriteOutcome:
    """Write as if ``text`` had been proven."""
    given: Mapping[str, Argument] = arguments or {}
    proven = ProvenWrite(
        text=text,
        embedded_text=_embedded(text),
        lock_text=lock,
        columns=(),
        parameters=_parameters(text, given),
        parameter_types=types or {},
        parameter_values=values or {},
        principal=principal,
    )
    return await store.write(proven, given, key, limits or WriteLimits(timeout_ms=PATIENT_MS))


async def close_loan(store: GraphStore, loan: int, key: str, principal: Principal = READER_1) -> WriteOutcome:
    return await write(store, CLOSE_LOAN, {"loan": loan}, key=key, lock=LOCK_OWN_OPEN_LOAN, principal=principal)


async def open_loans(store: GraphStore) -> list[Any]:
    return [
        row["loan"] for row in await read(store, "MATCH (l:Loan) WHERE l.open RETURN l.loan_id AS loan ORDER BY loan")
    ]


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
        "value",
        [
            [[1], 2],
            [1] * 1_001,
            [1, "half a pair \ud800"],
            {"a": 1},
            b"x",
            2**70,
            float("nan"),
            Decimal("NaN"),
            "half a pair \ud800",
            Duration(1, 0, 0, 0),
            Point(4326, 1.0, 2.0),
        ],
        ids=lambda value: repr(value)[:20],
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

    async def test_durations_and_places_come_back_as_what_they_are(self, store: GraphStore) -> None:
        loan = "MATCH (l:Loan) WHERE l.loan_id = 1"
        text = f"{loan} RETURN l.period AS period, duration('P2D') AS two, toString(l.period) AS t"
        assert await read(store, text) == ({"period": PERIOD, "two": Duration(0, 2, 0, 0), "t": str(PERIOD)},)
        place = "point({latitude: 38.7, longitude: -9.1})"
        assert await read(store, f"RETURN {place} AS place") == ({"place": Point(4326, -9.1, 38.7)},)

    async def test_a_moment_keeps_its_offset_and_loses_the_name_of_its_zone(self, store: GraphStore) -> None:
        lisbon = datetime(2025, 7, 1, 12, 0, tzinfo=ZoneInfo("Europe/Lisbon"))
        text = "MATCH (:Reader)-[h:HAS]->(:Loan) WHERE h.queue = 1 RETURN h.reserved_at AS at, $noon AS noon"
        ((at, noon),) = [tuple(row.values()) for row in await read(store, text, {"noon": lisbon})]
        assert (at, noon) == (MOMENT_AT_TWO, lisbon)
        assert [moment.tzinfo for moment in (at, noon)] == [timezone(timedelta(hours=2)), timezone(timedelta(hours=1))]

    async def test_a_moment_without_an_offset_is_asked_for_as_utc(self, store: GraphStore) -> None:
        text = "MATCH (l:Loan) WHERE l.scanned_at = $at RETURN l.loan_id AS loan"
        assert await read(store, text, {"at": MOMENT.replace(tzinfo=None)}) == ({"loan": 1},)

    async def test_a_moment_is_cut_to_microseconds(self, store: GraphStore) -> None:
        (row,) = await read(store, "RETURN datetime('2025-01-02T03:04:05.999999999Z') AS at")
        assert row["at"] == datetime(2025, 1, 2, 3, 4, 5, 999_999, tzinfo=UTC)

    async def test_a_number_that_is_none_is_missing(self, store: GraphStore) -> None:
        (row,) = await read(store, "RETURN 1.0 / 0.0 AS a, 0.0 / 0.0 AS b, 2.0 ^ 5000 AS c, [0.0 / 0.0] AS d")
        assert row == {"a": None, "b": None, "c": None, "d": [None]}

    async def test_relationships_have_their_properties(self, store: GraphStore) -> None:
        text = (
            "MATCH (r:Reader)-[h:HAS]->(l:Loan) RETURN l.loan_id AS loan, h.desk AS desk, h.queue AS queue, "
            "h.held_for AS held_for ORDER BY loan"
        )
        assert await read(store, text) == (
            {"loan": 1, "desk": "east", "queue": 1, "held_for": Duration(0, 2, 0, 0)},
            {"loan": 2, "desk": "west", "queue": 2, "held_for": None},
            {"loan": 3, "desk": None, "queue": None, "held_for": None},
        )

    async def test_maps_and_lists_of_maps_come_back_as_such(self, store: GraphStore) -> None:
        text = (
            "MATCH (r:Reader)-[:HAS]->(l:Loan) WITH r, l ORDER BY l.loan_id "
            "RETURN r {.reader_id, months: 1, days: [l.lent_on]} AS reader, collect(l {.loan_id, .period}) AS loans "
            "ORDER BY reader.reader_id LIMIT 1"
        )
        assert await read(store, text) == (
            {
                "reader": {"reader_id": "R1", "months": 1, "days": [date(2025, 2, 1)]},
                "loans": [{"loan_id": 1, "period": PERIOD}],
            },
        )

    async def test_a_list_can_be_asked_for(self, store: GraphStore) -> None:
        text = "MATCH (l:Loan) WHERE l.loan_id IN $loans RETURN l.loan_id AS loan ORDER BY loan"
        assert await read(store, text, {"loans": [3, 1, 7]}) == ({"loan": 1}, {"loan": 3})
        assert await read(store, text, {"loans": []}) == ()
        days = "MATCH (l:Loan) WHERE l.lent_on IN $days RETURN l.loan_id AS loan"
        assert await read(store, days, {"days": [date(2025, 2, 3)]}) == ({"loan": 2},)

    async def test_a_decimal_is_asked_for_as_a_float(self, store: GraphStore) -> None:
        text = "MATCH (l:Loan) WHERE l.fee = $fee RETURN l.loan_id AS loan, $fee AS fee"
        assert await read(store, text, {"fee": Decimal("1.50")}) == ({"loan": 2, "fee": 1.5},)

    @pytest.mark.parametrize(
        ("expected", "value"),
        [
            (PropertyType.INTEGER, "1"),
            (PropertyType.INTEGER, True),
            (PropertyType.INTEGER, 1.0),
            (PropertyType.STRING, 1),
            (PropertyType.FLOAT, "1.5"),
            (PropertyType.BOOLEAN, 1),
            (PropertyType.DATE, "tomorrow"),
            (PropertyType.DATE, "2025-02-30"),
            (PropertyType.DATE, "2025-02-01T08:30:00+00:00"),
            (PropertyType.DATE, MOMENT),
            (PropertyType.DATE, 20250201),
            (PropertyType.DATETIME, date(2025, 2, 1)),
            (PropertyType.DATETIME, "2025-02-01"),
            (PropertyType.DATETIME, "half past eight"),
            (PropertyType.DATETIME, ""),
            (PropertyType.INTEGER, [1, "2"]),
        ],
    )
    async def test_an_argument_of_another_type_than_the_text_needs_is_refused_by_name(
        self, store: GraphStore, expected: PropertyType, value: Any
    ) -> None:
        with pytest.raises(BadRequestError, match="loan"):
            await read(store, "RETURN $loan AS loan", {"loan": value}, types={"loan": expected})

    async def test_days_and_moments_may_come_as_iso_text(self, store: GraphStore) -> None:
        text = "MATCH (l:Loan) WHERE l.scanned_at = $at AND l.lent_on = $on RETURN l.loan_id AS loan, $at AS at"
        types = {"at": PropertyType.DATETIME, "on": PropertyType.DATE}
        for at in ("2025-03-01T08:30:15+00:00", "2025-03-01T08:30:15Z", "2025-03-01T08:30:15"):
            found = await read(store, text, {"at": at, "on": "2025-02-01"}, types=types)
            assert found == ({"loan": 1, "at": MOMENT},)
        (row,) = await read(store, "RETURN $at AS at", {"at": "2025-03-01T10:30:15+02:00"}, types={"at": types["at"]})
        at_two = row["at"]
        assert isinstance(at_two, datetime)
        assert (at_two, at_two.utcoffset()) == (MOMENT_AT_TWO, timedelta(hours=2))
        days = "MATCH (l:Loan) WHERE l.lent_on IN $days RETURN l.loan_id AS loan ORDER BY loan"
        given, lists = {"days": ["2025-02-03", date(2025, 2, 1)]}, frozenset({"days"})
        found = await read(store, days, given, types={"days": PropertyType.DATE}, lists=lists)
        assert found == ({"loan": 1}, {"loan": 2})

    @pytest.mark.parametrize("text", ["2025-02-01", "2025-03-01T08:30:15Z"])
    async def test_a_text_stays_a_text_where_no_day_is_needed(self, store: GraphStore, text: str) -> None:
        for types in ({}, {"on": PropertyType.STRING}):
            assert await read(store, "RETURN $on AS on_", {"on": text}, types=types) == ({"on_": text},)

    async def test_a_customer_whose_key_is_a_number_is_found_by_it(self, store: GraphStore) -> None:
        text = "MATCH (l:Loan {loan_id: $customer_id}) RETURN l.loan_id AS loan"
        types = {"customer_id": PropertyType.INTEGER}
        one = Principal(kind=PrincipalKind.CUSTOMER, subject="n", customer_id="1")
        assert await read(store, text, principal=one, types=types) == ({"loan": 1},)
        assert await read(store, text, principal=one) == ()  # as text it's nobody's

    @pytest.mark.parametrize("customer_id", ["R1", "", " 1", "1.0", "01", "1_0", "+1", "\u0661", "1\n", str(2**63)])
    async def test_a_customer_id_that_is_no_number_is_denied_where_the_key_is_one(
        self, store: GraphStore, customer_id: str
    ) -> None:
        text = "MATCH (l:Loan {loan_id: $customer_id}) SET l.note = 'mine' RETURN l.loan_id AS loan"
        types = {"customer_id": PropertyType.INTEGER}
        asker = Principal(kind=PrincipalKind.CUSTOMER, subject="n", customer_id=customer_id)
        with pytest.raises(DeniedError, match="whole numbers"):
            await read(store, text.replace("SET l.note = 'mine' ", ""), principal=asker, types=types)
        with pytest.raises(DeniedError, match="whole numbers"):
            await write(store, text, key="k", principal=asker, types=types)

    async def test_a_list_stands_where_the_text_needs_one_and_nowhere_else(self, store: GraphStore) -> None:
        text, types = (
            "MATCH (l:Loan) WHERE l.loan_id IN $loans RETURN l.loan_id AS loan",
            {"loans": PropertyType.INTEGER},
        )
        lists = frozenset({"loans"})
        assert await read(store, text, {"loans": [2]}, types=types, lists=lists) == ({"loan": 2},)
        assert await read(store, text, {"loans": None}, types=types, lists=lists) == ()
        with pytest.raises(BadRequestError, match="loans must be a list"):
            await read(store, text, {"loans": 2}, types=types, lists=lists)
        with pytest.raises(BadRequestError, match="loans must be one integer"):
            await read(store, text, {"loans": [2]}, types=types)

    async def test_a_whole_number_serves_for_a_float_and_nothing_serves_for_all(self, store: GraphStore) -> None:
        (row,) = await read(store, "RETURN $fee AS fee", {"fee": 2}, types={"fee": PropertyType.FLOAT})
        assert (row["fee"], type(row["fee"])) == (2.0, float)
        text = "MATCH (l:Loan) WHERE l.loan_id = $loan RETURN l.loan_id AS loan"
        assert await read(store, text, {"loan": None}, types={"loan": PropertyType.INTEGER}) == ()

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


class GraphWriteContract:
    """What every graph store must do about changes."""

    async def test_a_change_is_made_and_tells_what_it_changed(self, store: GraphStore) -> None:
        assert await close_loan(store, 1, "k") == WriteOutcome(rows=({"loan": 1, "scanned_at": MOMENT},), changes=2)
        text = "MATCH (l:Loan) WHERE l.loan_id = 1 RETURN l.open AS open, l.note AS note"
        assert await read(store, text) == ({"open": False, "note": "back"},)

    async def test_a_change_is_made_once_under_its_key_and_its_outcome_told_again(self, store: GraphStore) -> None:
        text = (
            "MATCH (r:Reader {reader_id: $customer_id})-[:HAS]->(l:Loan) WHERE l.loan_id = $loan SET l.fee = l.fee + 1"
        )
        returning = f"{text} RETURN l.fee AS fee, l {{.period, .lent_on}} AS loan, [l.scanned_at] AS moments"
        first = await write(store, returning, {"loan": 1}, key="k")
        again = [await write(store, returning, {"loan": 1}, key="k") for _ in range(3)]
        assert first.rows == (
            {"fee": 1.0, "loan": {"period": PERIOD, "lent_on": date(2025, 2, 1)}, "moments": [MOMENT]},
        )
        assert (first.changes, first.replayed) == (1, False)
        assert again == [first.model_copy(update={"replayed": True})] * 3
        assert await store.written("k") == again[0]
        assert await read(store, "MATCH (l:Loan) WHERE l.loan_id = 1 RETURN l.fee AS fee") == ({"fee": 1.0},)

    async def test_a_change_whose_conditions_do_not_hold_is_refused_and_stays_refused(self, store: GraphStore) -> None:
        assert await close_loan(store, 2, "k") == WriteOutcome(rows=(), changes=0)
        await write(store, "MATCH (l:Loan {loan_id: 2}) SET l.open = true RETURN 1 AS one", key="other")
        assert await close_loan(store, 2, "k") == WriteOutcome(rows=(), changes=0, replayed=True)
        assert await open_loans(store) == [1, 2, 3]
        assert (await close_loan(store, 2, "new key")).changes == 2

    async def test_a_change_reaches_what_hangs_on_its_own_customer_alone(self, store: GraphStore) -> None:
        assert (await close_loan(store, 3, "k1", READER_1)).changes == 0
        assert (await close_loan(store, 3, "k2", READER_2)).changes == 2

    async def test_a_key_used_for_another_change_is_a_conflict(self, store: GraphStore) -> None:
        await close_loan(store, 1, "k")
        other_text = CLOSE_LOAN.replace("'back'", "'lost'")
        with pytest.raises(ConflictError):
            await close_loan(store, 2, "k")
        with pytest.raises(ConflictError):
            await close_loan(store, 1, "k", READER_2)
        with pytest.raises(ConflictError):
            await write(store, other_text, {"loan": 1}, key="k")
        assert await open_loans(store) == [3]

    async def test_nothing_was_written_under_an_unused_key(self, store: GraphStore) -> None:
        assert await store.written("k") is None
        assert await store.written("k") is None
        assert (await close_loan(store, 1, "k")).replayed is False

    async def test_a_change_of_too_much_is_rolled_back_and_its_key_stays_free(self, store: GraphStore) -> None:
        text = "MATCH (l:Loan) SET l.note = 'all' RETURN l.loan_id AS loan"
        with pytest.raises(OverLimitError):
            await write(store, text, key="k", limits=WriteLimits(max_changes=2))
        assert await read(store, "MATCH (l:Loan) WHERE l.note = 'all' RETURN count(*) AS n") == ({"n": 0},)
        assert await store.written("k") is None
        assert (await write(store, text, key="k", limits=WriteLimits(max_changes=3))).changes == 3

    async def test_changes_are_counted_alike_whatever_is_changed(self, store: GraphStore) -> None:
        own = "MATCH (r:Reader {reader_id: $customer_id})"
        counted = [
            f"{own} CREATE (r)-[:HAS {{desk: 'x', queue: 9}}]->(l:Loan {{loan_id: 9, fee: 1.0}}) RETURN l.fee AS fee",
            f"{own}-[:HAS]->(l:Loan) WHERE l.loan_id = 9 SET l.fee = 2.0, l.note = 'n', l.open = true RETURN 1 AS one",
            f"{own}-[h:HAS]->(l:Loan) WHERE l.loan_id = 9 SET h.desk = 'y' RETURN l.fee AS fee",
            f"{own}-[:HAS]->(l:Loan) WHERE l.loan_id = 9 REMOVE l.note, l.period RETURN l.fee AS fee",
            f"{own} MERGE (l:Loan {{loan_id: 10}}) ON CREATE SET l.fee = 1.0 RETURN l.fee AS fee",
            f"{own} MERGE (l:Loan {{loan_id: 10}}) ON CREATE SET l.fee = 1.0 RETURN l.fee AS fee",
            f"{own}-[h:HAS]->(l:Loan) WHERE l.loan_id = 9 DELETE h RETURN 1 AS one",
            f"{own} MATCH (l:Loan) WHERE l.loan_id > 8 DETACH DELETE l RETURN count(*) AS n",
        ]
        changes = [(await write(store, text, key=str(number))).changes for number, text in enumerate(counted)]
        assert changes == [2, 3, 1, 1, 1, 0, 1, 2]

    async def test_of_many_writers_who_race_for_one_row_one_changes_it(self, store: GraphStore) -> None:
        outcomes = await asyncio.gather(*(close_loan(store, 1, f"k{number}") for number in range(12)))
        assert sorted(outcome.changes for outcome in outcomes) == [0] * 11 + [2]

    async def test_no_update_is_lost_between_writers(self, store: GraphStore) -> None:
        text = "MATCH (r:Reader {reader_id: $customer_id})-[:HAS]->(l:Loan) WHERE l.loan_id = 1"
        change, lock = f"{text} SET l.fee = l.fee + 1 RETURN l.fee AS fee", f"{text} SET l._lock = true REMOVE l._lock"
        await asyncio.gather(*(write(store, change, key=str(number), lock=lock) for number in range(20)))
        assert await read(store, "MATCH (l:Loan) WHERE l.loan_id = 1 RETURN l.fee AS fee") == ({"fee": 20.0},)

    async def test_a_condition_on_other_nodes_of_the_customer_holds_until_the_change_is_made(
        self, store: GraphStore
    ) -> None:
        await write(store, "MATCH (l:Loan) SET l.open = false RETURN 1 AS one", key="close all")
        own = "MATCH (r:Reader {reader_id: $customer_id})-[:HAS]->(l:Loan) WHERE l.loan_id = $loan AND"
        only_one = f"{own} NOT EXISTS {{ MATCH (r)-[:HAS]->(o:Loan) WHERE o.open }}"
        change, lock = f"{only_one} SET l.open = true RETURN 1 AS one", f"{only_one} SET l._lock = true REMOVE l._lock"
        outcomes = await asyncio.gather(
            *(write(store, change, {"loan": 1 + number % 2}, key=str(number), lock=lock) for number in range(10))
        )
        assert sorted(outcome.changes for outcome in outcomes) == [0] * 9 + [1]

    async def test_a_key_sent_many_times_at_once_makes_one_change(self, store: GraphStore) -> None:
        outcomes = await asyncio.gather(*(close_loan(store, 1, "k") for _ in range(8)))
        assert sorted(outcome.replayed for outcome in outcomes) == [False] + [True] * 7
        assert {outcome.changes for outcome in outcomes} == {2}

    async def test_what_was_cut_off_has_happened_if_its_key_is_known_and_only_then(self, store: GraphStore) -> None:
        text = "MATCH (r:Reader {reader_id: $customer_id})-[:HAS]->(l:Loan) WHERE l.loan_id = 1 SET l.fee = l.fee + 1"
        moments = random.Random(4)
        known = 0
        for number in range(40):
            change = asyncio.create_task(write(store, f"{text} RETURN l.fee AS fee", key=str(number)))
            await asyncio.sleep(moments.random() * 0.02)
            change.cancel()
            await asyncio.gather(change, return_exceptions=True)
            known += await store.written(str(number)) is not None
            ((fee,),) = [row.values() for row in await read(store, "MATCH (l:Loan {loan_id: 1}) RETURN l.fee AS fee")]
            assert fee == known

    async def test_a_change_that_fails_leaves_nothing_and_its_key_free(self, store: GraphStore) -> None:
        taken = "MATCH (l:Loan) WHERE l.loan_id = 1 SET l.note = 'x', l.loan_id = 2 RETURN 1 AS one"
        with pytest.raises(StoreError):
            await write(store, taken, key="k")
        assert await store.written("k") is None
        text = "MATCH (l:Loan) RETURN l.loan_id AS loan, l.note AS note ORDER BY loan LIMIT 1"
        assert await read(store, text) == ({"loan": 1, "note": None},)

    async def test_a_change_needs_all_arguments_of_their_types_and_values(self, store: GraphStore) -> None:
        text = "MATCH (r:Reader {reader_id: $customer_id})-[:HAS]->(l:Loan) SET l.note = $note RETURN 1 AS one"
        allowed = {"note": ("torn", "lost")}
        for value in (None, 5, "burnt"):
            with pytest.raises(BadRequestError, match="note"):
                await write(store, text, {"note": value}, key="k", types={"note": PropertyType.STRING}, values=allowed)
        outcome = await write(store, text, {"note": "lost"}, key="k", values=allowed)
        assert outcome.changes == 2
        with pytest.raises(BadRequestError):
            await write(store, text, {"note": "lost"}, key="")

    async def test_a_change_to_a_customers_own_is_denied_to_whom_is_none(self, store: GraphStore) -> None:
        with pytest.raises(DeniedError):
            await close_loan(store, 1, "k", GUEST)
        assert await store.written("k") is None

    @pytest.mark.parametrize("timeout_ms", [0, -1])
    async def test_without_time_left_nothing_is_changed(self, store: GraphStore, timeout_ms: int) -> None:
        with pytest.raises(OutOfTimeError):
            await write(store, CLOSE_LOAN, {"loan": 1}, key="k", limits=WriteLimits(timeout_ms=timeout_ms))
        assert await store.written("k") is None

    async def test_a_change_that_takes_too_long_is_not_made(self, store: GraphStore) -> None:
        endless = ENDLESS.replace("RETURN count(*) AS n", "WITH count(*) AS n")
        text = f"{endless} MATCH (l:Loan) SET l.note = 'x' RETURN 1 AS one"
        with pytest.raises(OutOfTimeError):
            await write(store, text, key="k", limits=WriteLimits(timeout_ms=100))
        assert await store.written("k") is None
        assert await read(store, "MATCH (l:Loan) WHERE l.note = 'x' RETURN count(*) AS n") == ({"n": 0},)


class LoadableStore(GraphStore, Protocol):
    """A store that takes a bulk load, as both of ours do."""

    async def load(
        self, nodes: Iterable[GraphNodes], edges: Iterable[GraphEdges], *, digest: str | None = None
    ) -> None: ...

    async def loaded_digest(self) -> str | None: ...

    async def is_empty(self) -> bool: ...


async def content(store: GraphStore) -> tuple[tuple[Row, ...], ...]:
    """All that the graph holds of ``SCHEMA``, to compare with."""
    texts = (
        "MATCH (r:Reader) RETURN {reader_id: r.reader_id, name: r.name} AS node ORDER BY r.reader_id",
        "MATCH (l:Loan) RETURN l {.loan_id, .lent_on, .scanned_at, .fee, .open, .note, .period} AS node "
        "ORDER BY l.loan_id",
        "MATCH (r:Room) RETURN r {.room_name, .place} AS node ORDER BY r.room_name",
        "MATCH (t:Title) RETURN t {.title_id, .shelf_mark} AS node ORDER BY t.title_id",
        "MATCH (r:Reader)-[h:HAS]->(l:Loan) RETURN r.reader_id AS a, l.loan_id AS b, "
        "{desk: h.desk, at: h.reserved_at, queue: h.queue, held_for: h.held_for} AS link ORDER BY a, b",
        "MATCH (l:Loan)-[o:OF]->(t:Title) RETURN l.loan_id AS a, t.title_id AS b ORDER BY a, b",
    )
    return tuple([await read(store, text) for text in texts])


def titles(*marks: tuple[str, str | None]) -> GraphNodes:
    return GraphNodes(
        label="Title", key="title_id", rows=tuple({"title_id": title, "shelf_mark": mark} for title, mark in marks)
    )


def loans_of(*pairs: tuple[int, str]) -> GraphEdges:
    return GraphEdges(
        type="OF", start_label="Loan", start_key="loan_id", end_label="Title", end_key="title_id", pairs=pairs
    )


class GraphLoadContract:
    """What every graph store must do about bulk loads."""

    async def test_loading_again_changes_nothing(self, store: LoadableStore) -> None:
        before = await content(store)
        await store.load(NODES, EDGES, digest="d1")
        assert await content(store) == before
        assert [len(rows) for rows in before] == [2, 3, 0, 0, 3, 0]

    async def test_loading_other_data_leaves_nothing_of_the_old(self, store: LoadableStore) -> None:
        await store.load([GraphNodes(label="Reader", key="reader_id", rows=[{"reader_id": "R9", "name": "n"}])], [])
        assert await content(store) == (({"node": {"reader_id": "R9", "name": "n"}},), (), (), (), (), ())
        assert await store.loaded_digest() is None

    async def test_what_differs_is_made_as_the_new_load_says(self, store: LoadableStore) -> None:
        loan = {"loan_id": 1, "fee": Decimal("2.50"), "period": Duration(0, 0, 60, 0)}
        place = Point(4326, -9.1, 38.7)
        nodes = [
            NODES[0],
            GraphNodes(label="Loan", key="loan_id", rows=[loan, {"loan_id": 4}]),
            GraphNodes(label="Room", key="room_name", rows=[{"room_name": "a", "place": place}]),
        ]
        edges = [EDGES[0].model_copy(update={"pairs": (("R1", 1), ("R2", 4)), "properties": ({"queue": 7}, {})})]
        await store.load(nodes, edges, digest="d2")
        nothing = {"lent_on": None, "scanned_at": None, "open": None, "note": None}
        link = {"desk": None, "at": None, "queue": 7, "held_for": None}
        assert await content(store) == (
            (
                {"node": {"reader_id": "R1", "name": "Zoë O'Hara"}},
                {"node": {"reader_id": "R2", "name": 'Łukasz "Luc" 🙂'}},
            ),
            (
                {"node": {"loan_id": 1, "fee": 2.5, "period": Duration(0, 0, 60, 0), **nothing}},
                {"node": {"loan_id": 4, "fee": None, "period": None, **nothing}},
            ),
            ({"node": {"room_name": "a", "place": place}},),
            (),
            ({"a": "R1", "b": 1, "link": link}, {"a": "R2", "b": 4, "link": dict.fromkeys(link)}),
            (),
        )
        assert await store.loaded_digest() == "d2"

    async def test_a_property_that_no_node_has_matches_none(self, store: LoadableStore) -> None:
        await store.load([GraphNodes(label="Loan", key="loan_id", rows=[{"loan_id": 1}])], [])
        text = "MATCH (l:Loan {note: $note}) RETURN l.loan_id AS loan"
        assert await read(store, text, {"note": "torn"}) == ()
        assert await read(store, "MATCH (t:Title {shelf_mark: 'x'}) RETURN t.title_id AS title") == ()
        create = "CREATE (l:Loan {loan_id: 2, note: $note}) RETURN l.note AS note"
        assert (await write(store, create, {"note": "torn"}, key="k")).rows == ({"note": "torn"},)
        assert await read(store, text, {"note": "torn"}) == ({"loan": 2},)

    async def test_a_name_that_is_missing_is_missing(self, store: LoadableStore) -> None:
        await store.load([GraphNodes(label="Reader", key="reader_id", rows=[{"reader_id": "R1"}])], [])
        text = "MATCH (r:Reader) RETURN r.name AS name, r.name IS NULL AS missing"
        assert await read(store, text) == ({"name": None, "missing": True},)
        await write(store, "MATCH (r:Reader) SET r.name = 'Ann' RETURN 1 AS one", key="k")
        assert await read(store, text) == ({"name": "Ann", "missing": False},)

    async def test_two_nodes_can_swap_a_unique_value(self, store: LoadableStore) -> None:
        await store.load([*NODES, titles(("a", "1"), ("b", "2"), ("c", "3"))], EDGES)
        await store.load([*NODES, titles(("a", "2"), ("b", "1"), ("c", None))], EDGES)
        found = await read(store, "MATCH (t:Title) RETURN t.title_id AS t, t.shelf_mark AS m ORDER BY t")
        assert [tuple(row.values()) for row in found] == [("a", "2"), ("b", "1"), ("c", None)]

    async def test_relationships_follow_the_load(self, store: LoadableStore) -> None:
        await store.load([*NODES, titles(("a", "1"), ("b", "2"))], [*EDGES, loans_of((1, "a"), (2, "b"), (1, "a"))])
        assert (await content(store))[5] == ({"a": 1, "b": "a"}, {"a": 2, "b": "b"})
        await store.load([*NODES, titles(("a", "1"), ("b", "2"))], [*EDGES, loans_of((1, "b"), (2, "b"))])
        assert (await content(store))[5] == ({"a": 1, "b": "b"}, {"a": 2, "b": "b"})
        await store.load([*NODES, titles(("a", "1"), ("b", "2"))], EDGES)
        assert (await content(store))[5] == ()

    async def test_what_was_done_under_a_key_is_known_after_a_load(self, store: LoadableStore) -> None:
        first = await close_loan(store, 1, "k")
        await store.load(NODES, EDGES, digest="d1")
        assert await close_loan(store, 1, "k") == first.model_copy(update={"replayed": True})
        assert await open_loans(store) == [1, 3]

    async def test_it_is_empty_until_something_is_loaded(self, store: LoadableStore) -> None:
        assert not await store.is_empty()
        await store.load([], [], digest="d2")
        assert await store.is_empty()
        assert await store.loaded_digest() == "d2"

    @pytest.mark.parametrize(
        ("nodes", "edges", "error"),
        [
            ([GraphNodes(label="Loan", key="loan_id", rows=[{"loan_id": 1}, {"loan_id": 1}])], [], StoreError),
            ([titles(("a", "1"), ("b", "1"))], [], StoreError),
            ([*NODES], [EDGES[0].model_copy(update={"pairs": (("R1", 1), ("R1", 99)), "properties": ()})], StoreError),
            ([*NODES, NODES[0]], [], BadRequestError),
            ([GraphNodes(label="Shelf", key="shelf", rows=[])], [], BadRequestError),
            ([GraphNodes(label="Loan", key="note", rows=[])], [], BadRequestError),
            ([GraphNodes(label="Loan", key="loan_id", rows=[{"loan_id": 1, "colour": "red"}])], [], BadRequestError),
            ([GraphNodes(label="Loan", key="loan_id", rows=[{"note": "no key"}])], [], BadRequestError),
            ([GraphNodes(label="Loan", key="loan_id", rows=[{"loan_id": "1"}])], [], BadRequestError),
            ([GraphNodes(label="Loan", key="loan_id", rows=[{"loan_id": True}])], [], BadRequestError),
            (
                [GraphNodes(label="Loan", key="loan_id", rows=[{"loan_id": 1, "lent_on": "2025-02-01"}])],
                [],
                BadRequestError,
            ),
            ([*NODES], [EDGES[0].model_copy(update={"type": "OWNS"})], BadRequestError),
            ([*NODES], [EDGES[0].model_copy(update={"end_key": "number"})], BadRequestError),
            ([*NODES], [EDGES[0].model_copy(update={"properties": ({"desk": "x"},)})], BadRequestError),
            ([*NODES], [EDGES[0].model_copy(update={"properties": ({"colour": "x"}, {}, {}, {})})], BadRequestError),
            ([*NODES], [EDGES[0].model_copy(update={"properties": ({"queue": "x"}, {}, {}, {})})], BadRequestError),
            ([*NODES], [EDGES[0].model_copy(update={"properties": ({"queue": 1}, {}, {}, {})})], BadRequestError),
        ],
        ids=[
            "a key twice",
            "another unique value twice",
            "a pair without its node",
            "a label twice",
            "an unknown label",
            "a key that is not unique",
            "an unknown property",
            "a row without its key",
            "a text for a number",
            "a boolean for a number",
            "a text for a day",
            "an unknown relationship",
            "an unknown key",
            "fewer maps than pairs",
            "an unknown property of a relationship",
            "a text for a relationship's number",
            "one pair with two contents",
        ],
    )
    async def test_a_load_that_is_not_right_changes_nothing(
        self, store: LoadableStore, nodes: list[GraphNodes], edges: list[GraphEdges], error: type[Exception]
    ) -> None:
        before = await content(store)
        with pytest.raises(error):
            await store.load(nodes, edges, digest="d2")
        assert await store.loaded_digest() == "d1"
        assert await content(store) == before
