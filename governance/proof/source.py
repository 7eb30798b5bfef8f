"""From a query's text to Neo4j's own parse tree, in bounded time.

The grammar is Neo4j's (Cypher 25), as neo4j-guard carries it: its two generated modules are loaded by their
files, because importing that package replaces methods of the Neo4j driver. Parsing is the fast first stage of
ANTLR's two (SLL, give up at the first error; Parr, Harwell, Fisher: "Adaptive LL(*) Parsing", 2014), whose time
grows with the number of tokens: texts are measured by a plain scan first, and long or deep ones never parsed.
"""

import importlib.util
import re
import sys
import unicodedata
from pathlib import Path
from types import ModuleType
from typing import Any

from antlr4 import CommonTokenStream, InputStream, PredictionMode
from antlr4.error.ErrorListener import ErrorListener
from antlr4.error.Errors import ParseCancellationException, RecognitionException
from antlr4.error.ErrorStrategy import BailErrorStrategy

from governance.proof.violation import RefusedError

#: The longest text that is looked at; a longer one is refused unread.
MAX_TEXT_CHARACTERS = 4_000
#: Tokens and open brackets (or CASEs) at once: several times what a question needs, parsed in about 20 ms.
MAX_TOKENS = 700
MAX_DEPTH = 16

# Not a lexer: it only counts. A string or a quoted name is one token, a comment none.
_TOKEN = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|`(?:[^`]|``)*+`)|(?P<comment>//[^\r\n]*|/\*.*?\*/)"""
    r"""|(?P<word>\w++)|(?P<blank>[ \t\r\n]++)|(?P<mark>.)""",
    re.DOTALL,
)
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_PREFIXES = frozenset({"EXPLAIN", "PROFILE", "CYPHER"})
#: Signs and NOTs in a row: each is a level of its own to the parser.
_MAX_SIGNS = 3


def _generated(name: str) -> ModuleType:
    package = importlib.util.find_spec("neo4j_guard")
    if package is None or not package.submodule_search_locations:
        raise ImportError("neo4j-guard is not installed")
    file = Path(package.submodule_search_locations[0]) / "_parser" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"_cypher_grammar_{name}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"neo4j-guard has no {name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_Lexer = _generated("Cypher25Lexer").Cypher25Lexer
#: The generated parser's class; its nested ``…Context`` classes are the kinds of the tree's nodes.
Grammar: Any = _generated("Cypher25Parser").Cypher25Parser
#: Words that the language uses itself, in capitals.
KEYWORDS = frozenset(name for name in _Lexer.symbolicNames if name.replace("_", "").isalpha())


class _RefuseLexerErrors(ErrorListener):  # type: ignore[misc]
    def syntaxError(self, recognizer: Any, symbol: Any, line: int, column: int, msg: str, e: Any) -> None:  # noqa: N802
        raise RefusedError("syntax", f"The text can't be read at line {line}, column {column + 1}.")


def parse(text: str, *, room: int = 1) -> Any:
    """The parse tree (``StatementsContext``) of ``text``. Raises ``RefusedError`` with the place of the error.

    ``room`` multiplies the bounds: what we have printed ourselves may be longer than what it was printed from.
    """
    _measure(text, room)
    lexer = _Lexer(InputStream(text))
    lexer.removeErrorListeners()
    lexer.addErrorListener(_RefuseLexerErrors())
    tokens = CommonTokenStream(lexer)
    parser = Grammar(tokens)
    parser.removeErrorListeners()
    parser._interp.predictionMode = PredictionMode.SLL
    parser._errHandler = BailErrorStrategy()
    try:
        return parser.statements()
    except ParseCancellationException as error:
        raise RefusedError("syntax", _place(error, tokens)) from error


def _measure(text: str, room: int) -> None:
    """Raises ``RefusedError`` for what is too long, too deep, or not one plain statement."""
    if len(text) > room * MAX_TEXT_CHARACTERS:
        raise RefusedError("length", f"The query is longer than {MAX_TEXT_CHARACTERS:,} characters; shorten it.")
    if "\\u" in text or "\\U" in text:
        raise RefusedError("escape", "Escapes like \\u0041 are not allowed; write the character itself.")
    tokens = depth = signs = 0
    first = ""
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group()
        if kind == "blank":
            continue
        if kind == "comment":
            if not all(character.isprintable() or character in "\t\r\n" for character in token):
                raise RefusedError("characters", "A comment holds a character that can't be printed; remove it.")
            continue
        tokens += 1
        signs = signs + 1 if token in ("-", "+") or token.upper() == "NOT" else 0
        if kind == "word":
            first = first or token.upper()
            upper = token.upper()
            depth += (upper == "CASE") - (upper == "END" and depth > 0)
            # Full-width letters and the like would be another word to one engine and the same to the other.
            if not token.isascii() and unicodedata.normalize("NFKC", token) != token:
                raise RefusedError("characters", f"{token!r} has letters that look like others; write plain ones.")
        elif kind == "mark":
            depth += (token in _OPEN) - (token in _CLOSE)
            if not (token.isascii() and token.isprintable()):
                raise RefusedError("characters", f"The character {token!r} may stand in a text literal only.")
        elif not all(character.isprintable() or character in "\t\r\n" for character in token):
            raise RefusedError("characters", "A quoted text holds a character that can't be printed; remove it.")
        if tokens > room * MAX_TOKENS:
            raise RefusedError("length", f"The query has more than {MAX_TOKENS} words and signs; shorten it.")
        if signs > room * _MAX_SIGNS:
            raise RefusedError("depth", "The query has many signs or NOTs in a row; remove them.")
        if depth > room * MAX_DEPTH:
            raise RefusedError("depth", f"The query is nested more than {MAX_DEPTH} deep; split it by WITH.")
    if not tokens:
        raise RefusedError("syntax", "The query is empty.")
    if first in _PREFIXES:
        raise RefusedError("clause", f"{first} is not allowed; begin with MATCH.")


def _place(error: ParseCancellationException, tokens: CommonTokenStream) -> str:
    cause = error.args[0] if error.args else None
    token = cause.offendingToken if isinstance(cause, RecognitionException) else None
    if token is None:
        return "The query is not valid Cypher."
    if token.type == -1:
        return "The query is not valid Cypher: it ends too early."
    return f"The query is not valid Cypher at {token.text!r} (line {token.line}, column {token.column + 1})."
