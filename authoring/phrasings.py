"""All phrasings of a pack, each with its intent and its place."""

from collections.abc import Iterator
from typing import NamedTuple

from configs.packs.loader import ACTIONS, QUERIES, ROUTES
from configs.packs.types import Pack
from configs.packs.yaml_lines import Path


class Phrasing(NamedTuple):
    """One phrasing. ``parameters`` are the query's own (``None`` where it is no query's).

    ``intent`` is named as :class:`contracts.turns.Intent` says.
    """

    text: str
    intent: str
    file: str
    path: Path
    parameters: dict[str, str] | None = None


def phrasings(pack: Pack) -> Iterator[Phrasing]:
    """Queries first, then actions, small talk and the plain routes."""
    for at, query in enumerate(pack.queries.queries):
        for position, text in enumerate(query.phrasings):
            path = ("queries", at, "phrasings", position)
            yield Phrasing(text, f"query:{query.name}", QUERIES, path, query.parameters)
    for at, action in enumerate(pack.actions.actions):
        for position, text in enumerate(action.phrasings):
            yield Phrasing(text, f"action:{action.name}", ACTIONS, ("actions", at, "phrasings", position))
    for at, general in enumerate(pack.routes.general):
        for position, text in enumerate(general.phrasings):
            yield Phrasing(text, f"general:{general.name}", ROUTES, ("general", at, "phrasings", position))
    routes = pack.routes
    plain = {
        "documents": routes.documents,
        "human": routes.human,
        "image": routes.image,
        "out_of_scope": routes.out_of_scope,
        "none": routes.none,
    }
    for route, texts in plain.items():
        for position, text in enumerate(texts):
            yield Phrasing(text, route, ROUTES, (route, position))
