"""Changes texts token by token, as slips and intruders do. Knows Cypher's words, nothing of what is allowed."""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from contracts.graph import GraphSchema

_Item = TypeVar("_Item")

_TOKEN = re.compile(
    r"""\s*(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\$\w+|\d+\.\d+|\w+|<-|->|<=|>=|<>|=~|\+=|\.\.|\S)"""
)
#: Words that begin a clause; OPTIONAL, DETACH and ON go with what follows.
_CLAUSES = (
    "MATCH", "OPTIONAL", "WITH", "WHERE", "UNWIND", "CALL", "RETURN", "UNION", "CREATE", "MERGE", "SET", "REMOVE",
    "DELETE", "DETACH", "ON", "ORDER", "SKIP", "LIMIT", "FOREACH",
)  # fmt: skip
_JOINED = {"OPTIONAL", "DETACH", "ON"}
_SWAPS = {
    "AND": "OR", "OR": "AND", "=": "<>", "<>": "=", "<": ">", ">": "<", "MIN": "max", "MAX": "min", "SUM": "collect",
    "COUNT": "collect", "COLLECT": "count", "MATCH": "OPTIONAL MATCH", "CREATE": "MERGE", "MERGE": "CREATE",
    "EXISTS": "COUNT", "DISTINCT": "", "DETACH": "", "NOT": "", "SET": "REMOVE", "UNION": "UNION ALL WITH * ",
}  # fmt: skip

Tokens = list[str]


def tokens(text: str) -> Tokens:
    """The text's tokens, each with the white space before it: joined, they are the text."""
    return _TOKEN.findall(text)


def mutate(text: str, others: Sequence[str], schema: GraphSchema, chance: Random) -> str:
    """The text after one to three mutations; ``others`` are texts that parts may be taken from."""
    mutant = text
    for _ in range(_choose(chance, (1, 1, 1, 2, 2, 3))):
        for _ in range(10):
            change = _choose(chance, _MUTATIONS)
            changed = change(tokens(mutant), _Context(others, schema, chance))
            if changed is not None and (joined := "".join(changed).strip()) not in ("", mutant):
                mutant = joined
                break
    return mutant


def shrunk(text: str, fails: Callable[[str], bool]) -> str:
    """The text with as many tokens left out as it can lose and still fail."""
    parts = tokens(text)
    lost = True
    while lost:
        lost = False
        for size in (16, 8, 4, 3, 2, 1):
            start = 0
            while start < len(parts):
                candidate = [*parts[:start], *parts[start + size :]]
                if candidate and fails("".join(candidate).strip()):
                    parts, lost = candidate, True
                else:
                    start += 1
    return "".join(parts).strip()


class _Context:
    def __init__(self, others: Sequence[str], schema: GraphSchema, chance: Random) -> None:
        self.others = others
        self.schema = schema
        self.chance = chance

    def choose(self, items: Sequence[_Item]) -> _Item:
        return _choose(self.chance, items)


def _choose(chance: Random, items: Sequence[_Item]) -> _Item:
    return items[chance.randrange(len(items))]


def _word(token: str) -> str:
    return token.strip().upper()


def _clauses(parts: Tokens) -> list[Tokens]:
    """The text cut before each clause outside of brackets."""
    cut: list[Tokens] = [[]]
    depth = 0
    for token in parts:
        word = _word(token)
        begins = depth == 0 and word in _CLAUSES and not (cut[-1] and _word(cut[-1][-1]) in _JOINED)
        if begins and cut[-1]:
            cut.append([])
        depth += (word in "([{") - (word in ")]}")
        cut[-1].append(token)
    return cut


def _joined(clauses: list[Tokens]) -> Tokens:
    return [
        token if index or token[:1].isspace() else " " + token for part in clauses for index, token in enumerate(part)
    ]


def _positions(parts: Tokens, wanted: Callable[[str], bool]) -> list[int]:
    return [index for index, token in enumerate(parts) if wanted(token.strip())]


def _variables(parts: Tokens) -> list[int]:
    """Where names stand that aren't labels, types, properties, functions or words of the language."""
    found = []
    for index, token in enumerate(parts):
        before = parts[index - 1].strip() if index else ""
        after = parts[index + 1].strip() if index + 1 < len(parts) else ""
        name = token.strip()
        bound = before in ("(", "[") and after == ":"
        used = before not in (":", ".", "|") and after not in (":", "(", "{")
        if re.fullmatch(r"[a-z]\w*", name) and (bound or used):
            found.append(index)
    return [index for index in found if _word(parts[index]) not in {"AS", "IN", "IS", "NULL", "TRUE", "FALSE", "BY"}]


def _drop_anchor(parts: Tokens, context: _Context) -> Tokens | None:
    at = _positions(parts, lambda token: token == "$customer_id")
    if not at:
        return None
    index = context.choose(at)
    if context.chance.random() < 0.3:
        return [*parts[:index], " " + context.choose(("$other", "'b01-v0'", "null", "''", "1001")), *parts[index + 1 :]]
    start, end = index, index
    while start and parts[start].strip() != "{":
        start -= 1
    while end < len(parts) - 1 and parts[end].strip() != "}":
        end += 1
    return [*parts[:start], *parts[end + 1 :]]


def _other_label(parts: Tokens, context: _Context) -> Tokens | None:
    at = _positions(parts, lambda token: token.strip("`") in context.schema.labels)
    if not at:
        return None
    index = context.choose(at)
    if context.chance.random() < 0.25 and index and parts[index - 1].strip() == ":":
        return [*parts[: index - 1], *parts[index + 1 :]]
    return [*parts[:index], context.choose(list(context.schema.labels)), *parts[index + 1 :]]


def _other_type(parts: Tokens, context: _Context) -> Tokens | None:
    types = [item.type for item in context.schema.relationships]
    at = _positions(parts, lambda token: token.strip("`") in types)
    if not at:
        return None
    index = context.choose(at)
    extra = context.choose(("", "", "", "*", "*1..2", "|" + context.choose(types)))
    return [*parts[:index], (parts[index] if extra else context.choose(types)) + extra, *parts[index + 1 :]]


def _other_property(parts: Tokens, context: _Context) -> Tokens | None:
    names = sorted({name for label in context.schema.labels.values() for name in label.properties})
    at = _positions(parts, lambda token: token in names)
    if not at:
        return None
    index = context.choose(at)
    return [*parts[:index], context.choose(names), *parts[index + 1 :]]


def _turn_arrow(parts: Tokens, context: _Context) -> Tokens | None:
    at = [
        (i, j)
        for i in _positions(parts, lambda token: token in ("-", "<-"))
        for j in range(i + 1, min(i + 12, len(parts)))
        if parts[j].strip() in ("->", "-") and parts[j - 1].strip() == "]"
    ]
    if not at:
        return None
    start, end = context.choose(at)
    left, right = context.choose((("<-", "-"), ("-", "->"), ("-", "-"), ("<-", "->")))
    return [*parts[:start], left, *parts[start + 1 : end], right, *parts[end + 1 :]]


def _drop_clause(parts: Tokens, context: _Context) -> Tokens | None:
    clauses = _clauses(parts)
    if len(clauses) < 2:
        return None
    clauses.pop(context.chance.randrange(len(clauses)))
    return _joined(clauses)


def _drop_where(parts: Tokens, context: _Context) -> Tokens | None:
    clauses = _clauses(parts)
    at = [index for index, clause in enumerate(clauses) if _word(clause[0]) == "WHERE"]
    if not at:
        return None
    clauses.pop(context.choose(at))
    return _joined(clauses)


def _repeat_clause(parts: Tokens, context: _Context) -> Tokens | None:
    clauses = _clauses(parts)
    copied = context.choose(clauses)
    clauses.insert(context.chance.randrange(len(clauses) + 1), copied)
    return _joined(clauses)


def _swap_clauses(parts: Tokens, context: _Context) -> Tokens | None:
    clauses = _clauses(parts)
    if len(clauses) < 3:
        return None
    index = context.chance.randrange(len(clauses) - 1)
    clauses[index], clauses[index + 1] = clauses[index + 1], clauses[index]
    return _joined(clauses)


def _take_clause(parts: Tokens, context: _Context) -> Tokens | None:
    clauses = _clauses(parts)
    taken = context.choose(_clauses(tokens(context.choose(context.others))))
    clauses.insert(context.chance.randrange(len(clauses) + 1), taken)
    return _joined(clauses)


def _cross(parts: Tokens, context: _Context) -> Tokens | None:
    mine, theirs = _clauses(parts), _clauses(tokens(context.choose(context.others)))
    head = mine[: context.chance.randrange(len(mine)) + 1]
    return _joined([*head, *theirs[context.chance.randrange(len(theirs)) :]])


def _new_clause(parts: Tokens, context: _Context) -> Tokens | None:
    label = context.choose(list(context.schema.labels))
    kind = context.choose(context.schema.relationships)
    prop = context.choose(list(context.schema.labels[label].properties))
    names = [parts[index].strip() for index in _variables(parts)] or ["x"]
    name = context.choose(names)
    text = context.choose(
        (
            f"MATCH (z:{label})",
            f"OPTIONAL MATCH (z:{label})",
            f"MATCH ({name})<-[:{kind.type}]-(z:{kind.start})",
            f"OPTIONAL MATCH ({name})-[:{kind.type}]->(z:{kind.end})",
            f"OPTIONAL MATCH ({name})-[:{kind.type}]-(z)",
            f"WITH *, COUNT {{ (z:{label}) }} AS zs",
            f"WHERE EXISTS {{ (z:{label}) }}",
            f"WHERE EXISTS {{ ({name})<-[:{kind.type}]-(:{kind.start}) }}",
            f"WITH * ORDER BY {name}.{prop} LIMIT 1",
            "WITH * LIMIT 1",
            "WITH * SKIP 1",
            f"WITH collect({name}) AS zs UNWIND zs AS {name}",
            f"CALL ({name}) {{ MATCH (z:{label}) RETURN count(z) AS zs }}",
            f"SET {name}.{prop} = null",
            f"CREATE ({name})-[:{kind.type}]->(z:{kind.end})",
            f"DETACH DELETE {name}",
        )
    )
    clauses = _clauses(parts)
    before_last = max(1, len(clauses) - 1)
    clauses.insert(context.chance.randrange(before_last) + 1, tokens(text))
    return _joined(clauses)


def _more_condition(parts: Tokens, context: _Context) -> Tokens | None:
    at = _positions(parts, lambda token: token.upper() == "WHERE")
    names = [parts[index].strip() for index in _variables(parts)]
    if not at or not names:
        return None
    label = context.choose(list(context.schema.labels))
    kind = context.choose(context.schema.relationships)
    prop = context.choose(list(context.schema.labels[label].properties))
    name = context.choose(names)
    text = context.choose(
        (
            f"EXISTS {{ (z:{label}) }}",
            f"EXISTS {{ ({name})<-[:{kind.type}]-(z) }}",
            f"COUNT {{ ({name})-[:{kind.type}]-() }} > 1",
            f"({name})<-[:{kind.type}]-(:{kind.start})",
            f"any(z IN [({name})-[:{kind.type}]->(y) | y.{prop}] WHERE z IS NOT NULL)",
            f"{name}.{prop} IS NOT NULL",
            f"{name}.{prop} = $other",
            "1 = 1",
        )
    )
    joint = context.choose((" OR", " AND", " AND NOT"))
    index = context.choose(at) + 1
    return [*parts[:index], " (", *tokens(text), " )", joint, *parts[index:]]


def _rename_one(parts: Tokens, context: _Context) -> Tokens | None:
    at = _variables(parts)
    if not at:
        return None
    index, other = context.choose(at), parts[context.choose(at)].strip()
    space = " " if parts[index][:1].isspace() else ""
    return [*parts[:index], space + other, *parts[index + 1 :]]


def _rename_all(parts: Tokens, context: _Context) -> Tokens | None:
    at = _variables(parts)
    if not at:
        return None
    old, new = parts[context.choose(at)].strip(), parts[context.choose(at)].strip()
    return [
        token.replace(old, new) if index in at and token.strip() == old else token for index, token in enumerate(parts)
    ]


def _drop_item(parts: Tokens, context: _Context) -> Tokens | None:
    """One item of a list with commas: a column, a name that WITH carries on, a part of a pattern."""
    commas = _positions(parts, lambda token: token == ",")
    if not commas:
        return None
    start = end = context.choose(commas)
    depth = 0
    while end + 1 < len(parts) and (depth or (_word(parts[end + 1]) not in (*_CLAUSES, ",", ")", "]", "}"))):
        end += 1
        depth += (parts[end].strip() in "([{") - (parts[end].strip() in ")]}")
    return [*parts[:start], *parts[end + 1 :]]


def _new_item(parts: Tokens, context: _Context) -> Tokens | None:
    clauses = _clauses(parts)
    at = [clause for clause in clauses if _word(clause[0]) in ("WITH", "RETURN")]
    names = [parts[index].strip() for index in _variables(parts)]
    if not at or not names:
        return None
    name = context.choose(names)
    label = context.choose(list(context.schema.labels))
    kind = context.choose(context.schema.relationships)
    prop = context.choose(list(context.schema.labels[label].properties))
    text = context.choose(
        (
            f"{name}",
            f"{name}.{prop} AS z",
            f"count({name}) AS z",
            f"collect({name}.{prop})[0] AS z",
            f"COUNT {{ ({name})<-[:{kind.type}]-() }} AS z",
            f"[({name})-[:{kind.type}]-(y) | y.{prop}] AS z",
            f"EXISTS {{ (:{label}) }} AS z",
            f"size([({name})<-[:{kind.type}]-(y:{kind.start}) | y]) AS z",
            "count(*) AS z",
            f"{name} {{.*}} AS z",
            f"properties({name}) AS z",
            f"id({name}) AS z",
            f"labels({name}) AS z",
        )
    )
    clause = context.choose(at)
    clause.extend(tokens(f", {text}"))
    return _joined(clauses)


def _anchor_aside(parts: Tokens, context: _Context) -> Tokens | None:
    """The anchor's clause into OPTIONAL MATCH or EXISTS, or after the others."""
    clauses = _clauses(parts)
    at = [i for i, clause in enumerate(clauses) if _word(clause[0]) == "MATCH" and "$customer_id" in "".join(clause)]
    if not at:
        return None
    anchor = clauses.pop(at[0])
    pattern = "".join(anchor[1:]).strip()
    match context.choose(("optional", "exists", "late", "label")):
        case "optional":
            clauses.insert(at[0], tokens(f"OPTIONAL MATCH {pattern}"))
        case "exists":
            names = [parts[index].strip() for index in _variables(parts)] or ["x"]
            label = context.choose(list(context.schema.labels))
            clauses.insert(at[0], tokens(f"MATCH ({context.choose(names)}:{label}) WHERE EXISTS {{ {pattern} }}"))
        case "late":
            clauses.insert(min(len(clauses), at[0] + 1), anchor)
        case _:
            customer, key = context.schema.customer_label, context.schema.customer_key
            clauses.insert(at[0], tokens(f"MATCH (w:{customer} {{{key}: $customer_id}}), (x:{customer})"))
    return _joined(clauses)


def _swap_word(parts: Tokens, context: _Context) -> Tokens | None:
    at = _positions(parts, lambda token: token.upper() in _SWAPS)
    if not at:
        return None
    index = context.choose(at)
    return [*parts[:index], " " + _SWAPS[_word(parts[index])], *parts[index + 1 :]]


def _drop_token(parts: Tokens, context: _Context) -> Tokens | None:
    index = context.chance.randrange(len(parts))
    return [*parts[:index], *parts[index + 1 :]]


def _repeat_token(parts: Tokens, context: _Context) -> Tokens | None:
    index = context.chance.randrange(len(parts))
    return [*parts[: index + 1], *parts[index:]]


def _foreign_token(parts: Tokens, context: _Context) -> Tokens | None:
    index = context.chance.randrange(len(parts))
    return [*parts[:index], context.choose(tokens(context.choose(context.others))), *parts[index + 1 :]]


def _swap_tokens(parts: Tokens, context: _Context) -> Tokens | None:
    first, second = context.chance.randrange(len(parts)), context.chance.randrange(len(parts))
    swapped = list(parts)
    swapped[first], swapped[second] = parts[second], parts[first]
    return swapped


_MUTATIONS: tuple[Callable[[Tokens, _Context], Tokens | None], ...] = (
    _drop_anchor, _other_label, _other_type, _other_property, _turn_arrow, _turn_arrow, _drop_clause, _drop_where,
    _repeat_clause, _swap_clauses, _take_clause, _cross, _new_clause, _new_clause, _more_condition, _rename_one,
    _rename_one, _rename_all, _drop_item, _new_item, _new_item, _anchor_aside, _swap_word, _swap_word, _drop_token,
    _repeat_token, _foreign_token, _swap_tokens,
)  # fmt: skip
