"""``frontline doctor``: what is missing on this machine, and how each deployment is."""

import typer
from rich.console import Console
from rich.text import Text

from cli.checks import Level, all_checks
from cli.options import DEFAULT_URL, Url

_STYLES = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "red"}


def doctor(url: Url = DEFAULT_URL) -> None:
    """Check this machine and the running service; ends with 1 when something must be mended."""
    console = Console(highlight=False, soft_wrap=True)
    failed = False
    for check in all_checks(url):
        line = Text.assemble(
            (f"{check.level.value:<4} ", _STYLES[check.level]), (check.name, "bold"), f" {check.detail}"
        )
        console.print(line)
        if check.what_to_do:
            console.print(Text(f"     → {check.what_to_do}"))
        failed = failed or check.level is Level.FAIL
    raise typer.Exit(1 if failed else 0)
