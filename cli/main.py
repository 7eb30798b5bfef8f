"""The ``frontline`` command: one file a subcommand, imported when it is asked for.

Some of them load engines, and none should wait for those of another.
"""

from configs.process import make_room_for_engines

make_room_for_engines()

from importlib import import_module  # noqa: E402  # only with room for what the commands load

import typer  # noqa: E402
from typer.core import TyperGroup  # noqa: E402

#: Each command with its module and what is registered there: a function, or a Typer with commands of its own.
_COMMANDS = {
    "token": ("cli.token", "print_token"),
    "ask": ("cli.ask", "ask"),
    "chat": ("cli.chat", "chat"),
    "doctor": ("cli.doctor", "doctor"),
    "serve": ("cli.serve", "serve"),
    "domain": ("cli.domain", "domain_app"),
    "graph": ("cli.graph", "graph_app"),
    "cypher": ("cli.cypher", "cypher_app"),
}


class _Commands(TyperGroup):
    """Finds the commands by name, as click asks for them."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # typer's own context
        return list(_COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> object | None:  # type: ignore[override]
        if cmd_name not in _COMMANDS:
            return None
        module, name = _COMMANDS[cmd_name]
        registered = getattr(import_module(module), name)
        if not isinstance(registered, typer.Typer):
            alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            alone.command(cmd_name)(registered)
            registered = alone
        return typer.main.get_command(registered)


app = typer.Typer(
    name="frontline",
    cls=_Commands,
    help="Answers a company's customers from its graph and its documents, and says only what it can prove.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def _frontline() -> None:
    """Each command says more with --help."""


if __name__ == "__main__":
    app()
