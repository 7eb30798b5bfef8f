"""How the steps of a proof say no."""

from contracts.graph import Violation


class RefusedError(Exception):
    """The text can't be proven. ``rule`` names the rule; ``message`` is a sentence its author can act on."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.violation = Violation(rule=rule, message=message)
