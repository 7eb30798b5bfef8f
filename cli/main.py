"""The ``frontline`` command: one file a subcommand."""

import typer

from configs.process import make_room_for_engines

make_room_for_engines()

from cli import ask, chat, doctor, domain, serve, token  # noqa: E402  # only with room for what these load

app = typer.Typer(
    name="frontline",
    help="Answers a company's customers from its graph and its documents, and says only what it can prove.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("token")(token.print_token)
app.command("ask")(ask.ask)
app.command("chat")(chat.chat)
app.command("doctor")(doctor.doctor)
app.command("serve")(serve.serve)
app.add_typer(domain.domain_app, name="domain")

if __name__ == "__main__":
    app()
