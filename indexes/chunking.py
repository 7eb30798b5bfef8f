"""Markdown documents to chunks: by headings first, then to about 150 words.

A chunk never crosses a heading. Tables and lists stay whole where they fit; one that doesn't is cut
between rows (its head is repeated) or items, a long paragraph between sentences. A line that leads in to
what follows ("You need:") stays with it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from configs.packs.types import SourceDocument
from contracts.base import Frozen

MAX_WORDS = 150
#: Between the headings of a section's path.
SECTION_SEPARATOR = " > "

_LINE_END = re.compile(r"\r\n|\r|\n")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"\S+\s*")


class Chunk(Frozen):
    """A piece of a document. ``section`` is its path of headings (empty before the first), ``ordinal`` its
    position in the document (from 0), ``offset`` the characters of the body before it."""

    document_id: str
    section: str
    ordinal: int
    offset: int
    text: str


@dataclass(frozen=True)
class _Block:
    """A run of Markdown that is kept together. ``head`` is repeated before each part of a cut table."""

    text: str
    offset: int
    head: str = ""

    @property
    def markdown(self) -> str:
        return f"{self.head}\n{self.text}" if self.head else self.text

    @property
    def words(self) -> int:
        return len(self.text.split())


def chunks(document: SourceDocument) -> list[Chunk]:
    """The chunks of a document, in its order. A first heading that repeats the title is no section."""
    found: list[Chunk] = []
    for section, blocks in _sections(document):
        for group in _grouped(blocks):
            found.append(
                Chunk(
                    document_id=document.governance.document_id,
                    section=section,
                    ordinal=len(found),
                    offset=group[0].offset,
                    text="\n\n".join(block.markdown for block in group),
                )
            )
    return found


def heading(document: SourceDocument, section: str) -> str:
    """What a section goes by: its path of headings, and the document's title for the text before the first."""
    return section or document.governance.title


def _sections(document: SourceDocument) -> Iterator[tuple[str, list[_Block]]]:
    body = document.body
    starts = [0, *(end.end() for end in _LINE_END.finditer(body)), len(body)]
    path: list[tuple[int, str]] = []
    blocks: list[_Block] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    for at, token in enumerate(tokens):
        if token.level > 0 or token.map is None or token.type == "hr":
            continue
        if token.type != "heading_open":
            blocks.extend(_blocks(body, starts, token, tokens[at + 1 :]))
            continue
        if blocks:
            yield SECTION_SEPARATOR.join(title for _, title in path), blocks
            blocks = []
        depth, title = int(token.tag[1]), tokens[at + 1].content.strip()
        path = [entry for entry in path if entry[0] < depth]
        if title and title.casefold() != document.governance.title.casefold():
            path.append((depth, title))
    if blocks:
        yield SECTION_SEPARATOR.join(title for _, title in path), blocks


def _blocks(body: str, starts: list[int], token: Token, following: list[Token]) -> list[_Block]:
    """The block of a top-level token, or its parts where it is too long for a chunk."""
    whole = _lines(body, starts, token.map)
    if whole.words <= MAX_WORDS:
        return [whole] if whole.text else []
    inner = _inner(token, following)
    if token.type in ("bullet_list_open", "ordered_list_open"):
        items = [_lines(body, starts, item.map) for item in inner if item.type == "list_item_open" and item.level == 1]
        return [part for item in items for part in _cut(item)]
    if token.type == "table_open":
        rows = [_lines(body, starts, row.map) for row in inner if row.type == "tr_open"]
        head = body[whole.offset : rows[1].offset].strip() if len(rows) > 1 else ""
        return [_Block(row.text, row.offset, head) for row in rows[1:]] or [whole]
    return _cut(whole)


def _inner(token: Token, following: list[Token]) -> list[Token]:
    """The tokens between an opening one and its end."""
    end = next((at for at, inner in enumerate(following) if inner.level == token.level and inner.nesting == -1), 0)
    return following[:end]


def _lines(body: str, starts: list[int], lines: list[int] | None) -> _Block:
    first, last = lines or [0, 0]
    raw = body[starts[first] : starts[min(last, len(starts) - 1)]]
    return _Block(raw.strip(), starts[first] + len(raw) - len(raw.lstrip()))


def _cut(block: _Block) -> list[_Block]:
    """A block in parts of at most ``MAX_WORDS``: between sentences, and between words in a longer sentence."""
    if block.words <= MAX_WORDS:
        return [block]
    parts: list[tuple[int, int]] = []
    for start, end in _spans(block.text):
        if parts and len(block.text[parts[-1][0] : end].split()) <= MAX_WORDS:
            parts[-1] = (parts[-1][0], end)
        else:
            parts.append((start, end))
    return [_Block(block.text[start:end].strip(), block.offset + start) for start, end in parts]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    edges = [0, *(gap.end() for gap in _SENTENCE_END.finditer(text)), len(text)]
    for start, end in pairwise(edges):
        words = list(_WORD.finditer(text, start, end))
        for at in range(0, len(words), MAX_WORDS):
            yield words[at].start(), words[min(at + MAX_WORDS, len(words)) - 1].end()


def _grouped(blocks: list[_Block]) -> Iterator[list[_Block]]:
    """Neighbouring blocks together, as long as they fit; rows of one cut table are one block again."""
    group: list[_Block] = []
    for block in blocks:
        if group and sum(member.words for member in group) + block.words > MAX_WORDS:
            lead_in = [group.pop()] if len(group) > 1 and group[-1].text.endswith(":") else []
            yield group
            group = lead_in
        if group and block.head and group[-1].head == block.head:
            group[-1] = _Block(f"{group[-1].text}\n{block.text}", group[-1].offset, block.head)
        else:
            group.append(block)
    if group:
        yield group
