"""What is left of a message after cleaning."""

import pytest

from contracts.errors import BadRequestError, TooLargeError
from serve_app.api.messages import clean_message


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("where   is\t\tit", "where is it"),
        ("where" + " " * 3_900 + "is it", "where is it"),
        ("where\u00a0\u2003\u3000is\u202fit", "where is it"),
        ("one\ntwo", "one\ntwo"),
        ("one\r\ntwo\rthree\u2028four\u2029five", "one\ntwo\nthree\nfour\nfive"),
        ("one\n\n \n\t\ntwo", "one\ntwo"),
        ("one \n two", "one\ntwo"),
        ("one\x07\x1b\x85two", "one two"),
        (" \n one \u3000\n", "one"),
        ("می\u200cخواهم 👩\u200d🔧", "می\u200cخواهم 👩\u200d🔧"),
    ],
)
def test_white_space_is_one_space_or_one_line_break(sent: str, kept: str) -> None:
    assert clean_message(sent, 4_000) == kept
    assert clean_message(kept, 4_000) == kept


def test_a_message_is_measured_as_it_came() -> None:
    with pytest.raises(TooLargeError):
        clean_message("a" + " " * 4_000, 4_000)


@pytest.mark.parametrize("sent", ["", "   ", "\n\u3000\u2028", "\x07", "a\0b"])
def test_what_holds_nothing_to_read_is_refused(sent: str) -> None:
    with pytest.raises(BadRequestError):
        clean_message(sent, 4_000)
