"""``frontline chat``: a conversation; each sentence appears as soon as it is checked."""

from collections import Counter

from rich.console import Console
from rich.text import Text

from cli.client import ClientError, FrontlineClient
from cli.explanation import show_explanation, show_sources
from cli.options import DEFAULT_URL, Customer, Explain, Token, Url, token_for

_HELP = "/quit ends the conversation, /new begins another, /explain turns explanations on or off."


def chat(customer: Customer = None, token: Token = None, explain: Explain = False, url: Url = DEFAULT_URL) -> None:
    """Talk with the assistant. /quit ends, /new begins anew, /explain shows how answers come about."""
    console = Console(highlight=False)
    console.print(f"{'Customer ' + customer if customer else 'Guest'} at {url}. {_HELP}", style="dim", markup=False)
    with FrontlineClient(url, token_for(customer, token)) as client:
        session_id: str | None = None
        while True:
            try:
                message = console.input("[bold]> [/bold]").strip()
            except (EOFError, KeyboardInterrupt):
                console.print()
                return
            match message:
                case "":
                    continue
                case "/quit":
                    return
                case "/new":
                    session_id = None
                case "/explain":
                    explain = not explain
                    console.print(f"Explanations are {'on' if explain else 'off'}.", style="dim")
                case _ if message.startswith("/"):
                    console.print(_HELP, style="dim", markup=False)
                case _:
                    session_id = _turn(console, client, message, session_id, explain)


def _turn(console: Console, client: FrontlineClient, message: str, session_id: str | None, explain: bool) -> str | None:
    """Send one message and print what comes; returns the conversation to go on with."""
    told = Counter[str]()
    heard = Counter[str]()

    def tell(sentence: str) -> None:
        """Print the sentence, unless it was printed before the stream began anew."""
        heard[sentence] += 1
        if heard[sentence] > told[sentence]:
            told[sentence] += 1
            console.print(Text(sentence))

    try:
        for name, data in client.events(message, session_id=session_id, explain=explain):
            if name == "again":
                heard.clear()
            elif name == "sentence":
                tell(data["text"])
            elif name == "reply":
                heard.clear()
                for sentence in data["reply"]["sentences"]:
                    tell(sentence["text"])
                show_sources(console, data)
                if explain:
                    show_explanation(console, data)
                session_id = str(data["session_id"])
    except ClientError as error:
        console.print(Text(str(error), style="red"))
    except KeyboardInterrupt:
        console.print("Interrupted.", style="dim")
    return session_id
