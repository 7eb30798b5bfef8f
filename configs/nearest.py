"""A hint for a name that does not exist."""

from collections.abc import Iterable
from difflib import get_close_matches


def hint(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` where something known resembles ``name``, else what is known.

    >>> hint("Custmer", ["Customer", "City"])
    "; did you mean 'Customer'?"
    """
    names = sorted(known)
    near = get_close_matches(name, names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    shown = ", ".join(names[:10]) + (", …" if len(names) > 10 else "")
    return f"; known are {shown}" if names else "; there are none"
