"""A Markdown passage to the sentences that can be read out: what is compared with a question, and quoted."""

import re

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'“(]?[A-ZÀ-Ý0-9])")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_RULE = re.compile(r"^\s*\|?[\s:|-]+\|?\s*$")
_MARKS = re.compile(r"(\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w))|!?\[([^\]]*)\]\([^)]*\)|^#+\s*")


def readable_sentences(markdown: str) -> list[str]:
    """The sentences of a Markdown passage as plain text: a list's items and a table's rows are one each."""
    sentences: list[str] = []
    header: list[str] = []
    for paragraph in re.split(r"\n\s*\n", markdown):
        lines: list[str] = []
        for line in paragraph.splitlines():
            if _RULE.match(line) and "-" in line:
                continue
            if line.lstrip().startswith("|"):
                cells = [_plain(cell) for cell in line.strip().strip("|").split("|")]
                if not header:
                    header = cells
                else:
                    sentences.append(_row(header, cells))
            elif _BULLET.match(line):
                sentences += _split(lines)
                lines = [_BULLET.sub("", line)]
            else:
                header = []
                lines.append(line)
        sentences += _split(lines)
    return [sentence for sentence in sentences if re.search(r"\w", sentence)]


def _row(header: list[str], cells: list[str]) -> str:
    pairs = [f"{name}: {cell}" if name else cell for name, cell in zip(header, cells, strict=False) if cell]
    return "; ".join(pairs) + "."


def _split(lines: list[str]) -> list[str]:
    text = _plain(" ".join(lines))
    return [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]


def _plain(markdown: str) -> str:
    return " ".join(_MARKS.sub(lambda match: match.group(2) or "", markdown).split())
