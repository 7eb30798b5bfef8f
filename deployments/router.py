"""Reads a message: its clauses, what each asks for, and where the turn goes."""

from typing import Any

from ray import serve
from ray.serve.handle import DeploymentHandle

from agents.lexicon import Lexicon
from agents.reader import Reader
from configs.logs import log_as
from configs.packs.compiled import HEAD, LEXICON
from configs.packs.types import Pack
from contracts.clock import Deadline
from contracts.context import CallContext
from contracts.sessions import Dialogue
from contracts.turns import RouteDecision
from deployments.installation import Installation
from deployments.serving import served
from deployments.vectors import QuestionVectors
from models.heads.intent_head import IntentHead


class RouterReplica:
    """Holds the lexicon and the intent head; asks the embedder once a message."""

    def __init__(self, installation: Installation, embedder: DeploymentHandle[Any]) -> None:
        log_as("router", installation.settings)
        self._reader = load_reader(installation, installation.pack())
        settings = installation.settings
        self._vectors = QuestionVectors(embedder, settings, cap_ms=settings.budgets.understand_ms)

    @served(repeatable=True)
    async def read(self, ctx: CallContext, message: str, dialogue: Dialogue) -> RouteDecision:
        """The route of ``message`` with its clauses, entities, intents and vectors."""
        deadline = Deadline(ctx.budget_ms)
        reading = self._reader.read(message, dialogue)
        vectors = await self._vectors.of(ctx, deadline, list(reading.texts))
        return self._reader.decide(reading, vectors)


def load_reader(installation: Installation, pack: Pack) -> Reader:
    """The reader of a compiled pack."""
    folder = installation.compiled
    return Reader(Lexicon.load(folder / LEXICON), IntentHead.load(folder / HEAD), pack)


Router = serve.deployment()(RouterReplica)
