"""Whether an intent can be what a clause means: are its slots there, are the clause's values used?

The head says how likely an intent is by the words alone; a candidate is then *verified* against what was
found in the text. Reader and planner judge by the same measure.
"""

from collections.abc import Iterable

from configs.packs.types import ActionDefinition, GeneralIntent, Pack, PredefinedQuery
from contracts.base import Frozen
from contracts.turns import Entity, Intent, NotHandledReason

#: Factor for each required slot that nothing fills.
MISSING_FACTOR = 0.2
#: Factor where the clause names a value that the intent has no use for.
UNUSED_FACTOR = 0.7
#: An intent less probable than this is not acted on.
SURE = 0.25

#: An intent must be this likely to be preferred to a likelier one because its values are at hand.
FITTING_AT_LEAST = 0.1

#: Where nothing is surer than a coin's toss, documents this likely are searched all the same: what a search
#: brings is judged again by itself, so that a wrong guess ends in an honest no.
DOCUMENTS_FALLBACK = 0.15
UNDECIDED = 0.5

DOCUMENTS = "documents"
HUMAN = "human"
IMAGE = "image"
NONE = "none"
OUT_OF_SCOPE = "out_of_scope"

#: What the reader's rules find, not the head: told as they are, see :class:`contracts.turns.NotHandledReason`.
NOT_WANTED = NotHandledReason.NOT_WANTED.value
OFFER_DECLINED = NotHandledReason.OFFER_DECLINED.value
NOTHING_ASKED = NotHandledReason.NOTHING_ASKED.value
BY_RULE = (NOT_WANTED, OFFER_DECLINED, NOTHING_ASKED)


class Judged(Frozen):
    """An intent with its verified score (0..1) and the slots that it still lacks.

    ``is_fallback``: taken although unlikely, because nothing else is likely and it can be checked.
    """

    name: str
    probability: float
    score: float
    missing: tuple[str, ...] = ()
    is_fallback: bool = False

    @property
    def kind(self) -> str:
        """The part before the colon: query, action, general, or the whole name."""
        return self.name.partition(":")[0]

    @property
    def is_refusal(self) -> bool:
        """Whether the intent says that nothing here answers."""
        return self.name in (NONE, OUT_OF_SCOPE)

    @property
    def is_sure(self) -> bool:
        """Whether the clause may be acted on with this intent."""
        return self.is_fallback or (self.probability >= SURE and not self.is_refusal)


def query_named(name: str, pack: Pack) -> PredefinedQuery | None:
    """The pack's query of that name, if there is one."""
    return next((query for query in pack.queries.queries if query.name == name), None)


def action_named(name: str, pack: Pack) -> ActionDefinition | None:
    """The pack's action of that name, if there is one."""
    return next((action for action in pack.actions.actions if action.name == name), None)


def general_named(name: str, pack: Pack) -> GeneralIntent | None:
    """The pack's small talk of that name, if there is any."""
    return next((general for general in pack.routes.general if general.name == name), None)


def judge_intents(
    intents: Iterable[Intent], own: Iterable[Entity], elsewhere: Iterable[Entity], pack: Pack
) -> list[Judged]:
    """The intents by verified score, best first.

    ``own`` are the clause's values, ``elsewhere`` those that may be carried into it. An intent that
    the pack doesn't know (from a head of another version) is left out.
    """
    own_slots = {entity.slot for entity in own}
    available = own_slots | {entity.slot for entity in elsewhere}
    judged: list[Judged] = []
    for intent in intents:
        kind, _, name = intent.name.partition(":")
        score = intent.probability
        missing: tuple[str, ...] = ()
        match kind:
            case "query":
                query = query_named(name, pack)
                if query is None:
                    continue
                needed = set(query.parameters.values())
                missing = tuple(sorted(needed - available))
                score *= MISSING_FACTOR ** len(missing)
                if own_slots - needed:
                    score *= UNUSED_FACTOR
            case "action":
                if action_named(name, pack) is None:
                    continue
            case "general":
                if general_named(name, pack) is None:
                    continue
                if own_slots:
                    score *= UNUSED_FACTOR
            case _ if name or kind not in (DOCUMENTS, HUMAN, IMAGE, NONE, OUT_OF_SCOPE, *BY_RULE):
                continue
            case _:
                pass
        judged.append(Judged(name=intent.name, probability=intent.probability, score=score, missing=missing))
    judged.sort(key=lambda found: -found.score)
    return _with_fallback(_without_the_impossible(judged, pack))


def _without_the_impossible(judged: list[Judged], pack: Pack) -> list[Judged]:
    """The best intent's probability given that the likelier ones, which lack a value, are not meant.

    "And what did it cost?" sounds like a price; after talk of one order, whose total is asked for by the
    same words, it is that order's. Only for an intent that a value at hand fits, and that was likely at all.
    """
    if not judged or judged[0].missing or judged[0].probability < FITTING_AT_LEAST:
        return judged
    best = judged[0]
    query = query_named(best.name.partition(":")[2], pack) if best.kind == "query" else None
    lacking = sum(found.probability for found in judged if found.missing and found.probability > best.probability)
    if query is None or not query.parameters or not lacking:
        return judged
    return [best.model_copy(update={"probability": best.probability / (1 - min(lacking, 0.99))}), *judged[1:]]


def _with_fallback(judged: list[Judged]) -> list[Judged]:
    """Documents first where nothing is sure, no refusal either, and they are possible."""
    if not judged or judged[0].is_sure or judged[0].probability >= UNDECIDED:
        return judged
    documents = next((found for found in judged if found.name == DOCUMENTS), None)
    if documents is None or documents.probability < DOCUMENTS_FALLBACK:
        return judged
    fallback = documents.model_copy(update={"is_fallback": True})
    return [fallback, *(found for found in judged if found is not documents)]
