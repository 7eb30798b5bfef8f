"""What counts as a message: text for people, cleaned of what no reader sees."""

import re
import unicodedata

from contracts.errors import BadRequestError, TooLargeError

_WHITE_SPACE = re.compile(r"\s+")


def clean_message(message: str, max_characters: int) -> str:
    """The message with control characters as spaces, runs of white space as one character, and its ends trimmed.

    A run that holds a line break becomes one line break, any other becomes one space.
    Raises ``TooLargeError`` above ``max_characters`` (counted as it came), and ``BadRequestError``
    when it is binary data or nothing that can be read.
    """
    if len(message) > max_characters:
        raise TooLargeError(f"The message has {len(message):,} characters; at most {max_characters:,} are taken.")
    if "\0" in message:
        raise BadRequestError("The message holds binary data; write it as text.")
    cleaned = _WHITE_SPACE.sub(_one, "".join(map(_plain, message))).strip()
    if not any(unicodedata.category(character)[0] in "LNPS" for character in cleaned):
        raise BadRequestError("The message is empty: write what you want to know.")
    return cleaned


def _plain(character: str) -> str:
    """Line breaks of all kinds as ``\\n``; other control characters as spaces."""
    if character in "\n\r\u2028\u2029":
        return "\n"
    return " " if unicodedata.category(character) == "Cc" else character


def _one(run: re.Match[str]) -> str:
    return "\n" if "\n" in run[0] else " "
