"""Bounds on what the API takes in."""

from typing import Self

from configs.settings import Budgets
from contracts.base import Frozen


class ApiLimits(Frozen):
    """The first three are set by the installation's budgets; the rest is fixed.

    ``body_within_s``: a request's body has to be here this soon; what is taken in passes even a slow line in it.
    A guest's idempotency key stands for the guest until they have a token, so it must not be
    guessable. ``keep_alive_s``: a silent stream sends a comment this often, well below the 30 to 60 s
    after which proxies give a connection up.
    """

    max_message_characters: int
    max_body_bytes: int
    max_running_turns: int
    max_images: int = 4
    guest_key_min_characters: int = 16
    keep_alive_s: float = 5.0
    body_within_s: float = 10.0

    @classmethod
    def of(cls, budgets: Budgets) -> Self:
        """The limits that an installation's budgets set."""
        return cls(
            max_message_characters=budgets.max_message_characters,
            max_body_bytes=budgets.max_body_bytes,
            max_running_turns=budgets.max_running_turns,
        )
