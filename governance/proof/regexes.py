"""Regular expressions that mean the same to both engines, and that none can be kept busy with."""

import re

from governance.proof import syntax as s
from governance.proof.violation import RefusedError


def contained(pattern: s.Expression) -> tuple[s.Expression, bool] | None:
    """The text in ``'.*' + text + '.*'``, which means CONTAINS, and whether ``(?i)`` stands before it."""
    match pattern:
        case s.Binary("+", s.Binary("+", s.Literal(".*" | "(?i).*" as start), text), s.Literal(".*")):
            return text, start != ".*"
        case _:
            return None


#: A letter, '.', an escape or a class, repeated or not; a group of such, not repeated.
_PIECE = r"(?:\\[dwsDWSb.\-+*?()\[\]|/]|\[[\w \-.,äöüßÄÖÜ]+\]|[^\\()\[\]{}*+?|^$])(?:[?]|[*+](?![*+?]))?"
_SAFE_REGEX = re.compile(rf"(\(\?iu?\))?(?:{_PIECE}|\||\((?:\?:)?(?:{_PIECE}|\|)*\)(?![*+?{{]))*")
_MAX_REPEATS = 6


def safe_pattern(expression: s.Expression) -> str:
    """The pattern of ``=~``: literal, and of a kind that neither engine can be made slow with."""
    if not (isinstance(expression, s.Literal) and isinstance(expression.value, str)):
        raise RefusedError("regex", "The pattern of =~ must stand in the text; for a parameter use CONTAINS.")
    pattern = expression.value
    bare = pattern.removeprefix("^").removesuffix("$") if not pattern.endswith("\\$") else pattern
    if not _SAFE_REGEX.fullmatch(bare) or len(re.findall(r"[*+]", bare)) > _MAX_REPEATS:
        raise RefusedError(
            "regex",
            f"The pattern {pattern!r} is not allowed; use letters, '.', '.*', '|', classes and plain groups.",
        )
    # One engine folds ASCII letters alone unless told otherwise, the other all.
    return bare.replace("(?i)", "(?iu)", 1)
