"""The functions that a query may call: those that both engines run alike, each with its types.

A signature is ``name: argument types -> result``; several lines are alternatives, an argument with ``?`` may be
left out. ``number`` is an integer or a float; ``T`` is any one type, the same wherever it stands; ``any`` is a
value of any type. A function of ``PARTIAL`` fails on some values of its type.
"""

from dataclasses import dataclass

from configs.nearest import hint
from governance.proof import types as t
from governance.proof.violation import RefusedError

_SIGNATURES = """
coalesce: T T T? T? T? T? -> T
nullIf: T T -> T
size: string -> integer
size: list -> integer
head: [T] -> T
last: [T] -> T
tail: [T] -> [T]
reverse: string -> string
reverse: [T] -> [T]
isEmpty: string -> boolean
isEmpty: list -> boolean
type: relationship -> string
toString: string -> string
toString: integer -> string
toString: float -> string
toString: boolean -> string
toString: date -> string
toString: duration -> string
toInteger: integer -> integer
toInteger: float -> integer
toInteger: string -> integer
toFloat: number -> float
toFloat: string -> float
toBoolean: boolean -> boolean
toBoolean: string -> boolean
toUpper: string -> string
toLower: string -> string
trim: string -> string
ltrim: string -> string
rtrim: string -> string
btrim: string -> string
left: string integer -> string
right: string integer -> string
substring: string integer integer? -> string
replace: string string string -> string
split: string string -> [string]
abs: integer -> integer
abs: float -> float
ceil: number -> float
floor: number -> float
round: number integer? -> float
sign: number -> integer
date: -> date
date: string -> date
date: date -> date
date: datetime -> date
date: map -> date
datetime: -> datetime
datetime: string -> datetime
datetime: datetime -> datetime
datetime: map -> datetime
duration: string -> duration
duration: map -> duration
date.truncate: string date -> date
date.truncate: string datetime -> date
datetime.truncate: string datetime -> datetime
duration.between: date date -> duration
duration.between: datetime datetime -> duration
duration.inDays: date date -> duration
duration.inDays: datetime datetime -> duration
duration.inMonths: date date -> duration
duration.inMonths: datetime datetime -> duration
duration.inSeconds: datetime datetime -> duration
"""

_AGGREGATES = """
count: any -> integer
collect: T -> [T]
sum: integer -> integer
sum: float -> float
avg: number -> float
min: T -> T
max: T -> T
"""

#: Functions that fail on some values. Where a pattern's conditions are checked they may read no data.
PARTIAL = frozenset({"left", "right", "substring", "date", "datetime", "duration", "toInteger"})

#: How far apart the two ends of a range() may be.
LONGEST_RANGE = 1_000

#: What to write instead of functions that are refused.
_INSTEAD = {
    "exists": "write IS NOT NULL, or EXISTS { (a)-[:TYPE]->(:Label) }",
    "length": "a path can't be measured; count(…) the rows, or size(…) a text or list",
    "id": "the engine's own ids mean nothing outside of it; use a unique property",
    "elementid": "the engine's own ids mean nothing outside of it; use a unique property",
    "properties": "name the properties, node {.name, .other}",
    "keys": "name the properties",
    "labels": "a node's label is known from its pattern",
    "nodes": "name the nodes of the pattern",
    "relationships": "name the relationships of the pattern",
    "upper": "write toUpper",
    "lower": "write toLower",
    "rand": "an answer must not depend on chance",
    "randomuuid": "an answer must not depend on chance",
    "percentilecont": "only one of the engines has it",
    "percentiledisc": "only one of the engines has it",
    "reduce": "use sum(), or a list comprehension",
    "char_length": "write size",
    "character_length": "write size",
}


@dataclass(frozen=True)
class _Signature:
    name: str
    arguments: tuple[str, ...]
    required: int
    result: str


def _read(text: str) -> dict[str, list[_Signature]]:
    found: dict[str, list[_Signature]] = {}
    for line in text.strip().splitlines():
        name, rest = line.split(": ", 1) if ": " in line else line.split(":", 1)
        left, result = rest.split("->")
        arguments = left.split()
        required = sum(not argument.endswith("?") for argument in arguments)
        signature = _Signature(name, tuple(one.rstrip("?") for one in arguments), required, result.strip())
        found.setdefault(name.lower(), []).append(signature)
    return found


_KNOWN = _read(_SIGNATURES)
_KNOWN_AGGREGATES = _read(_AGGREGATES)
AGGREGATES = frozenset(_KNOWN_AGGREGATES)


def known_name(name: str) -> str:
    """The function's name as the language spells it. Raises ``RefusedError`` when it may not be called."""
    found = _KNOWN.get(name.lower()) or _KNOWN_AGGREGATES.get(name.lower())
    if not found:
        instead = _INSTEAD.get(name.lower())
        known = [signatures[0].name for signatures in _KNOWN.values()]
        raise RefusedError("function", f"{name}() is not allowed{'; ' + instead if instead else hint(name, known)}.")
    return found[0].name


def result_type(name: str, arguments: list[t.Type]) -> tuple[t.Type, tuple[str, ...]]:
    """The type of a call's result, and the kinds its arguments must have by the signature that fits.

    Raises ``RefusedError`` when no signature fits.
    """
    signatures = _KNOWN.get(name.lower()) or _KNOWN_AGGREGATES[name.lower()]
    for signature in signatures:
        if signature.required <= len(arguments) <= len(signature.arguments):
            wanted = signature.arguments[: len(arguments)]
            bound = _bind(wanted, arguments)
            if bound is not None:
                return _result(signature.result, bound), wanted
    given = ", ".join(map(str, arguments)) or "nothing"
    forms = "; ".join(f"{one.name}({', '.join(one.arguments)})" for one in signatures)
    raise RefusedError("type", f"{name}() doesn't take {given}; it is {forms}.")


def _bind(wanted: tuple[str, ...], arguments: list[t.Type]) -> t.Type | None:
    """The type that ``T`` stands for, ``any`` where there is no ``T``, ``None`` when the arguments don't fit."""
    same: list[t.Type] = []
    for kind, given in zip(wanted, arguments, strict=True):
        if kind == "T":
            same.append(given)
        elif kind == "[T]":
            if given.kind == "list":
                same.append(given.element or t.ANY)
            elif not t.is_open(given):
                return None
        elif not _fits(kind, given):
            return None
    known = [one for one in same if not t.is_open(one)]
    return t.joined(known or same) if same else t.ANY


def _fits(kind: str, given: t.Type) -> bool:
    if kind == "any" or t.is_open(given):
        return True
    if kind == "number":
        return given.kind in t.NUMBERS
    return given.kind == kind


def _result(result: str, bound: t.Type) -> t.Type:
    if result == "T":
        return bound
    if result == "[T]":
        return t.list_of(bound)
    if result.startswith("["):
        return t.list_of(t.Type(result[1:-1]))
    return t.Type(result)
