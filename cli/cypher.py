"""``frontline cypher prove``: whether a query may run, why not, and the text that would run.

Exit code 0: allowed, 1: refused, 2: it could not be judged. With ``--file`` each line is judged and printed in
its order, and the code is 2 when one of them could not be read, else 0.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from cli.callers import Caller, principal_of
from cli.pack_schema import pack_schema
from configs.settings import read_settings
from contracts.errors import FrontlineError
from contracts.graph import GraphSchema, Violations
from governance.prover import prove, prove_write

cypher_app = typer.Typer(help="Prove Cypher texts against a pack's schema.", no_args_is_help=True, add_completion=False)

_ALLOWED, _REFUSED, _NOT_JUDGED = 0, 1, 2


class Verdict(TypedDict):
    """``verdict``: ``allow``, ``refuse``, or ``error`` for a line that is none. ``text``: what would run."""

    verdict: str
    reasons: list[str]
    text: str | None


class _Line(TypedDict, total=False):
    """One line of a file of queries; further keys are for people."""

    id: str | int | float | None
    cypher: str
    write: bool | None


_LINE = TypeAdapter(_Line)


@cypher_app.callback()
def _cypher() -> None:
    """Keeps ``prove`` a name of its own while it is the only command here."""


@cypher_app.command("prove")
def prove_(
    cypher: Annotated[str | None, typer.Argument(help="The query's text, in quotes.")] = None,
    write: Annotated[bool, typer.Option("--write", help="It changes data.")] = False,
    caller: Annotated[Caller, typer.Option("--as", help="Who would run it.")] = Caller.CUSTOMER,
    pack: Annotated[
        Path | None,
        typer.Option(help="The pack's folder, or one with a schema.yaml alone; without it, the one in the settings."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            metavar="QUERIES.jsonl",
            help='Prove many, one a line: {"id": …, "cypher": …, "as": "customer", "write": false}; - reads the input.'
            " Prints one line of JSON for each.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print verdict, reasons and text as JSON.")] = False,
) -> None:
    """Print whether the query may run, each reason why not, and the text that would run.

    Ends with 0 when it is allowed, 1 when it is refused, and 2 when it could not be judged.
    """
    if (cypher is None) == (file is None):
        _end("Give either a query or --file, and not both.")
    try:
        schema = pack_schema(pack or read_settings().pack)
    except FrontlineError as error:
        _end(error.detail)
    if file is not None:
        raise typer.Exit(_prove_file(file, schema, caller, write))
    verdict = judge(cypher or "", schema, caller, write=write)
    if as_json:
        _print(json.dumps(verdict))
    else:
        for line in (verdict["verdict"], *verdict["reasons"], verdict["text"]):
            if line is not None:
                _print(line)
    raise typer.Exit(_ALLOWED if verdict["verdict"] == "allow" else _REFUSED)


def judge(text: str, schema: GraphSchema, caller: Caller, *, write: bool) -> Verdict:
    """The proof's verdict over one text."""
    try:
        proven = (prove_write if write else prove)(text, schema, principal_of(caller))
    except Exception as error:
        # Closed by default, here too: what the proof stumbles over is not proven. The others of a file go on.
        typer.echo(f"The proof itself failed: {error!r}", err=True)
        return {
            "verdict": "refuse",
            "reasons": ["The query could not be proven; write it in another way."],
            "text": None,
        }
    if isinstance(proven, Violations):
        return {"verdict": "refuse", "reasons": [item.message for item in proven.items], "text": None}
    return {"verdict": "allow", "reasons": [], "text": proven.text}


def judge_lines(
    lines: Iterable[bytes], schema: GraphSchema, caller: Caller, *, write: bool
) -> Iterator[dict[str, Any]]:
    """A verdict with its ``id`` for each line that isn't blank; ``caller`` and ``write`` where a line has none."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        name: str | int | float | None = None
        try:
            content = json.loads(line)
            if not isinstance(content, dict):
                raise ValueError("is not an object")
            name = content.get("id") if isinstance(content.get("id"), str | int | float) else None
            asked = _LINE.validate_python(content, strict=True)
            if "cypher" not in asked:
                raise ValueError('has no "cypher"')
            line_write = write if asked.get("write") is None else bool(asked["write"])
            named = content.get("as") or caller
            if named not in list(Caller):
                raise ValueError(f'has no right "as": {", ".join(Caller)} are known')
            line_caller = Caller(named)
        except (ValueError, RecursionError) as error:
            yield {"id": name, "verdict": "error", "reasons": [f"line {number} {_fault(error)}"], "text": None}
        else:
            yield {"id": name, **judge(asked["cypher"], schema, line_caller, write=line_write)}


def _fault(error: ValueError | RecursionError) -> str:
    """What is wrong with a line, as the rest of a sentence that begins with its number."""
    match error:
        case ValidationError():
            first = error.errors(include_url=False, include_input=False)[0]
            return f'has no right "{first["loc"][0]}": {first["msg"]}'
        case json.JSONDecodeError():
            return f"is not JSON: {error}"
        case UnicodeDecodeError():
            return "is not UTF-8 text"
        case RecursionError():
            return "is not JSON that can be read: it is nested too deeply"
        case _:
            return str(error)


def _prove_file(file: str, schema: GraphSchema, caller: Caller, write: bool) -> int:
    code = _ALLOWED
    try:
        with nullcontext(sys.stdin.buffer) if file == "-" else Path(file).open("rb") as lines:
            for verdict in judge_lines(lines, schema, caller, write=write):
                _print(json.dumps(verdict))
                if verdict["verdict"] == "error":
                    code = _NOT_JUDGED
    except BrokenPipeError:
        raise
    except OSError as error:
        _end(f"{file} can't be read: {error.strerror}.")
    return code


def _print(line: str) -> None:
    """One line at once; what the terminal can't show is written as an escape."""
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def _end(message: str) -> NoReturn:
    """Say what is wrong with the call and end with the code for it."""
    typer.echo(message, err=True)
    raise typer.Exit(_NOT_JUDGED)
