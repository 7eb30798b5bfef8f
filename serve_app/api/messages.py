"""What counts as a message: text for people, cleaned of what no reader sees."""

import unicodedata

from contracts.errors import BadRequestError, TooLargeError

_KEPT_CONTROLS = frozenset("\n\t")


def clean_message(message: str, max_characters: int) -> str:
    """The message with control characters as spaces and its ends trimmed.

    Raises ``TooLargeError`` above ``max_characters`` (counted as it came), and ``BadRequestError``
    when it is binary data or nothing that can be read.
    """
    if len(message) > max_characters:
        raise TooLargeError(f"The message has {len(message):,} characters; at most {max_characters:,} are taken.")
    if "\0" in message:
        raise BadRequestError("The message holds binary data; write it as text.")
    cleaned = "".join(_plain(character) for character in message.replace("\r\n", "\n")).strip()
    if not any(unicodedata.category(character)[0] in "LNPS" for character in cleaned):
        raise BadRequestError("The message is empty: write what you want to know.")
    return cleaned


def _plain(character: str) -> str:
    is_control = unicodedata.category(character) == "Cc" and character not in _KEPT_CONTROLS
    return " " if is_control else character
