"""Phrasings of all files: their slots, and that no two intents claim the same words."""

import re
from collections.abc import Iterator

from rapidfuzz import fuzz, process

from authoring.checks.checked import Checked
from authoring.checks.templates import syntax_complaint
from authoring.phrasings import Phrasing, phrasings
from configs.nearest import hint
from configs.packs.complaint import Complaint
from configs.packs.loader import ACTIONS, QUERIES, ROUTES

#: Similarity, in percent, from which two phrasings of different intents can't be told apart.
_NEARLY_EQUAL = 95
#: With fewer, a head can't learn the route.
_LEAST_PER_ROUTE = 3
_SLOT = re.compile(r"\{(\w*)\}")


def phrasing_complaints(checked: Checked) -> Iterator[Complaint]:
    """Everything wrong with phrasings, and with the names of routes and actions."""
    yield from _names(checked)
    for route in ("documents", "human", "image", "out_of_scope", "none"):
        count = len(getattr(checked.pack.routes, route))
        if count < _LEAST_PER_ROUTE:
            message = f"has {count} phrasings; give at least {_LEAST_PER_ROUTE}"
            yield checked.complaint(ROUTES, message, route)
    found = list(phrasings(checked.pack))
    for phrasing in found:
        yield from _slots(checked, phrasing)
    yield from _unused_parameters(checked)
    yield from _collisions(checked, found)


def _names(checked: Checked) -> Iterator[Complaint]:
    general, actions = checked.pack.routes.general, checked.pack.actions.actions
    names = [(intent.name, ("general", position, "name")) for position, intent in enumerate(general)]
    yield from checked.duplicates(ROUTES, names, "general intent")
    for position, intent in enumerate(general):
        yield from checked.languages(ROUTES, intent.reply, "general", position, "reply")
        for language, template in intent.reply.items():
            invalid = syntax_complaint(template, language)
            if invalid:
                yield checked.complaint(ROUTES, invalid, "general", position, "reply", language)
    names = [(action.name, ("actions", position, "name")) for position, action in enumerate(actions)]
    yield from checked.duplicates(ACTIONS, names, "action")
    for position, action in enumerate(actions):
        yield from checked.languages(ACTIONS, action.title, "actions", position, "title")


def _slots(checked: Checked, phrasing: Phrasing) -> Iterator[Complaint]:
    if not phrasing.text.strip():
        yield checked.complaint(phrasing.file, "is empty; remove it", *phrasing.path)
    types = checked.pack.queries.parameters
    # A query's phrasing names the query's parameters; others name parameter types.
    known = types.keys() if phrasing.parameters is None else {*phrasing.parameters, *phrasing.parameters.values()}
    where = "a parameter type" if phrasing.parameters is None else "a parameter of the query"
    for name in _SLOT.findall(phrasing.text):
        if name not in known:
            yield checked.complaint(phrasing.file, f"{{{name}}} is not {where}{hint(name, known)}", *phrasing.path)
    if re.search(r"[{}]", _SLOT.sub("", phrasing.text)):
        yield checked.complaint(phrasing.file, "has a brace without its partner; slots are {name}", *phrasing.path)


def _unused_parameters(checked: Checked) -> Iterator[Complaint]:
    for position, query in enumerate(checked.pack.queries.queries):
        named = {name for text in query.phrasings for name in _SLOT.findall(text)}
        for name, type_ in query.parameters.items():
            if not named & {name, type_}:
                message = f"parameter {name!r} stands in no phrasing; write {{{name}}} in at least one"
                yield checked.complaint(QUERIES, message, "queries", position, "phrasings")


def _collisions(checked: Checked, found: list[Phrasing]) -> Iterator[Complaint]:
    texts = [_plain(checked, phrasing) for phrasing in found]
    for later, text in enumerate(texts):
        if not text:
            continue
        near = process.extract(text, texts[:later], scorer=fuzz.ratio, score_cutoff=_NEARLY_EQUAL, limit=None)
        for _, similarity, position in sorted(near, key=lambda match: -match[1]):
            earlier = found[position]
            same_intent = earlier.intent == found[later].intent
            if same_intent and similarity < 100:
                continue
            likeness = "the same as" if similarity == 100 else "nearly the same as"
            place = f"{earlier.file}:{checked.files[earlier.file].line(*earlier.path)}"
            whose = "" if same_intent else f" of {earlier.intent}"
            message = f"is {likeness} {earlier.text!r}{whose} ({place}); keep one of them"
            yield checked.complaint(found[later].file, message, *found[later].path)
            break


def _plain(checked: Checked, phrasing: Phrasing) -> str:
    """The words alone, with each slot as its type, in the form in which texts are compared."""
    types = phrasing.parameters or {}
    text = _SLOT.sub(lambda match: f" {types.get(match.group(1), match.group(1))} ", phrasing.text)
    return " ".join(re.findall(r"\w+", text.casefold()))
