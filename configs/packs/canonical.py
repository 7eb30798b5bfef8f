"""The one printed form of a query's text, so that two texts that differ in layout alone compare equal."""

import re

# Literals and quoted names are kept as they are; comments count as white space, since the result is
# one line on which a line comment would swallow the rest. Only ASCII white space is layout: any
# other is left in, so that it never passes for a blank.
_LITERAL_OR_LAYOUT = re.compile(
    r"""('(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|`(?:[^`]|``)*+`)|(?://[^\n]*|/\*.*?\*/|[ \t\r\n])+""", re.DOTALL
)


def canonical(text: str) -> str:
    """``text`` on one line: runs of white space and comments become one blank, none at either end,
    no closing semicolon. What stands in quotes is untouched. Applying it twice changes nothing more.

    >>> canonical("MATCH (n:Label)\\n  RETURN n.name AS name;")
    'MATCH (n:Label) RETURN n.name AS name'
    """
    return _LITERAL_OR_LAYOUT.sub(lambda match: match.group(1) or " ", text).strip(" ").rstrip(" ;")
