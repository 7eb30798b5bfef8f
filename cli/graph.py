"""``frontline graph``: load the business graph, look at it, and ask it a proven query.

On the graph of the settings: the server's with FRONTLINE_NEO4J_URI, else the embedded one of the pack's content.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.callers import Caller, principal_of
from cli.options import fail
from cli.parameter_values import parameter_values
from configs.packs.loader import load_pack
from configs.packs.types import Pack
from configs.settings import Settings, read_settings
from contracts.base import Cell, Duration, Point, Row
from contracts.errors import FrontlineError, StoreError
from contracts.graph import GraphSchema, PropertySchema, ReadLimits, Violations
from contracts.principal import Principal, PrincipalKind
from deployments.graph_store import Store, holds_data, load_pack_data, open_embedded, open_server, what_is_there
from governance.prover import prove

graph_app = typer.Typer(
    help="Load the business graph, look at it, ask it a query.", no_args_is_help=True, add_completion=False
)

#: An operator can wait longer than a customer, and wants to see more.
_LIMITS = ReadLimits(timeout_ms=30_000, max_rows=10_000, max_work_units=200_000_000)
#: How long to wait for a graph server, in s.
_SERVER_WAIT_S = 5.0

Result = TypeVar("Result")

PackFolder = Annotated[Path | None, typer.Option("--pack", help="The pack's folder; without it, the settings' one.")]


@graph_app.command("load")
def load(
    pack: PackFolder = None,
    replace: Annotated[bool, typer.Option("--replace", help="Also where the graph holds something else.")] = False,
) -> None:
    """Load the pack's data into a graph that is empty; --replace removes what is in it first."""

    async def run(store: Store, loaded: Pack) -> str:
        digest = await store.loaded_digest()
        if not replace:
            if digest == loaded.digest:
                return f"The graph holds the data of {_named(loaded)} already; --replace loads it anew."
            if await holds_data(store):
                raise StoreError(what_is_there(digest, loaded))
        _say(f"Loading the data of {_named(loaded)} …")
        return f"{await load_pack_data(store, loaded):,} nodes are loaded."

    typer.echo(_with_graph(pack, run))


@graph_app.command("schema")
def schema(pack: PackFolder = None) -> None:
    """Print what the graph may hold, what of it belongs to whom, and how many nodes of each label there are."""

    async def count(store: Store, loaded: Pack) -> dict[str, int]:
        return {label: await _count(store, loaded.schema_, label) for label in loaded.schema_.labels}

    settings = _settings()
    loaded = _pack(pack, settings)
    counts: dict[str, int] = {}
    try:
        counts = asyncio.run(_opened(settings, loaded, count))
    except FrontlineError as error:
        _say(f"Without counts: {error.detail}")
    _print_schema(loaded.schema_, counts)


@graph_app.command("query")
def query(
    cypher: Annotated[str, typer.Argument(help="The query's text, in quotes.")],
    caller: Annotated[
        Caller | None, typer.Option("--as", help="Who asks: a customer where --customer names one, else a guest.")
    ] = None,
    customer: Annotated[str | None, typer.Option(help="The customer whose data the query reaches.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="A parameter; repeat it for more.")
    ] = None,
    pack: PackFolder = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON.")] = False,
) -> None:
    """Prove a query for a caller, run it, and print its rows."""
    asker = _asker(caller, customer)

    async def run(store: Store, loaded: Pack) -> tuple[tuple[str, ...], tuple[Row, ...]]:
        proven = prove(cypher, loaded.schema_, asker)
        if isinstance(proven, Violations):
            raise StoreError("\n".join(["The query is refused.", *(item.message for item in proven.items)]))
        arguments = parameter_values(parameters or [], proven.parameter_types, proven.list_parameters)
        if not await holds_data(store):
            raise StoreError("The graph is empty: load it with `frontline graph load`.")
        return proven.columns, await store.read(proven, arguments, _LIMITS)

    columns, rows = _with_graph(pack, run)
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False, default=_as_json))
        return
    if not rows:
        typer.echo("No rows.")
        return
    table = Table(*columns)
    for row in rows:
        table.add_row(*(Text(_shown(row[column])) for column in columns))
    Console(highlight=False).print(table)


def _asker(caller: Caller | None, customer: str | None) -> Principal:
    if customer is not None:
        if caller not in (None, Caller.CUSTOMER):
            raise typer.BadParameter(f"goes with --as customer, not with --as {caller}", param_hint="--customer")
        return principal_of(Caller.CUSTOMER, customer)
    if caller is Caller.CUSTOMER:
        raise typer.BadParameter("a customer needs a name: --customer ID", param_hint="--as")
    return principal_of(caller or Caller.GUEST)


def _with_graph(folder: Path | None, run: Callable[[Store, Pack], Awaitable[Result]]) -> Result:
    """What ``run`` gives for the graph and the pack; an error of ours ends the command in its sentence."""
    settings = _settings()
    loaded = _pack(folder, settings)
    try:
        return asyncio.run(_opened(settings, loaded, run))
    except FrontlineError as error:
        fail(error.detail)


async def _opened(settings: Settings, pack: Pack, run: Callable[[Store, Pack], Awaitable[Result]]) -> Result:
    store = await _open(settings, pack)
    try:
        return await run(store, pack)
    finally:
        await store.close()


async def _open(settings: Settings, pack: Pack) -> Store:
    """The graph. Raises ``StoreError`` that says what to do."""
    if settings.neo4j_uri is not None:
        try:
            return await open_server(settings, pack.schema_, wait_s=_SERVER_WAIT_S)
        except StoreError as error:
            raise StoreError(f"The graph server {settings.neo4j_uri} can't be used: {error.detail}.") from error
    try:
        return await open_embedded(settings, pack)
    except StoreError as error:
        raise StoreError(
            f"The embedded graph can't be opened: {error.detail}. While the service runs, it alone has the graph:"
            " stop it first, or use a graph server, which several can use at once (docs/operations.md)."
        ) from error


async def _count(store: Store, schema_: GraphSchema, label: str) -> int:
    """Nodes of the label. An operator counts all of them, whatever staff may read."""
    operator = Principal(kind=PrincipalKind.ADMIN, subject="command line")
    everything = schema_.model_copy(update={"staff_labels": None})
    proven = prove(f"MATCH (node:{label}) RETURN count(node) AS nodes", everything, operator)
    if isinstance(proven, Violations):
        raise StoreError(f"{label} can't be counted: {proven}")
    (row,) = await store.read(proven, {}, _LIMITS)
    return int(str(row["nodes"]))


def _print_schema(schema_: GraphSchema, counts: dict[str, int]) -> None:
    console = Console(highlight=False)
    labels = Table("label", "nodes", "whose", "properties", title="Labels")
    for label, declared in schema_.labels.items():
        properties = "\n".join(f"{name}: {_typed(prop)}" for name, prop in declared.properties.items())
        number = f"{counts[label]:,}" if label in counts else "?"
        labels.add_row(label, number, _whose(label, schema_), Text(properties))
    console.print(labels)
    relationships = Table("from", "relationship", "to", "owning", title="Relationships")
    for item in schema_.relationships:
        properties = "".join(f"\n{name}: {_typed(prop)}" for name, prop in item.properties.items())
        relationships.add_row(item.start, Text(item.type + properties), item.end, "yes" if item.owning else "")
    console.print(relationships)
    console.print(Text("What belongs to a customer belongs to the same customer over the relationships that own."))


def _typed(prop: PropertySchema) -> str:
    parts = [prop.type.value, *(["unique"] if prop.unique else []), *([f"in {prop.unit}"] if prop.unit else [])]
    return " ".join(parts) + (f" ({' | '.join(prop.values)})" if prop.values else "")


def _whose(label: str, schema_: GraphSchema) -> str:
    """By which way a label's nodes belong to someone: everyone's, the customer, or what owns them."""
    if label in schema_.public_labels:
        return "everyone's"
    if label == schema_.customer_label:
        return f"the customer ({schema_.customer_key})"
    owners = dict.fromkeys(item.start for item in schema_.relationships if item.owning and item.end == label)
    return f"the customer's, by {', '.join(owners)}" if owners else "staff's alone"


def _settings() -> Settings:
    try:
        return read_settings()
    except FrontlineError as error:
        fail(error.detail)


def _pack(folder: Path | None, settings: Settings) -> Pack:
    try:
        return load_pack(folder or settings.pack)
    except FrontlineError as error:
        fail(error.detail)


def _named(pack: Pack) -> str:
    return f"the pack {pack.domain.name} {pack.domain.version}"


def _shown(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case list():
            return ", ".join(map(_shown, cell))
        case dict():
            return ", ".join(f"{name}: {_shown(value)}" for name, value in cell.items())
        case Point():
            return json.dumps(asdict(cell))
        case _:
            return str(cell)


def _as_json(cell: object) -> object:
    """What JSON has no type for: dates, moments and durations in ISO 8601, a point as its fields."""
    match cell:
        case date():
            return cell.isoformat()
        case Duration():
            return str(cell)
        case Point():
            return asdict(cell)
    raise TypeError(f"{type(cell).__name__} is no value of a row")


def _say(text: str) -> None:
    typer.echo(text, err=True)
