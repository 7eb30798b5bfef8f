"""A load run's figures held against a profile's targets."""

from collections.abc import Mapping
from typing import Any

from contracts.base import Frozen

#: Above this share of one processor Locust's single thread can't keep up.
_GENERATOR_FULL = 0.9
#: Timers later than this (p95) add to the measured times what is not the service's.
_GENERATOR_LATE_MS = 250.0


class Targets(Frozen):
    """What a run does and must reach; a bound that is not given is not checked."""

    users: int
    turns: int
    think_time_s: float
    max_run_s: int
    min_answered_share: float
    max_wrong: int
    min_turns_per_s: float | None = None
    max_mean_ms: float | None = None


def missed_targets(report: Mapping[str, Any], processor_share: float, targets: Targets) -> list[str]:
    """One sentence for each target that the run missed; empty when it passed."""
    turns, failed = report["turns"], report["failed"]
    missed = []
    if turns < targets.turns:
        missed.append(f"{turns} of {targets.turns} turns were asked in {targets.max_run_s} s")
    answered = (turns - failed) / turns if turns else 0.0
    if answered < targets.min_answered_share:
        missed.append(f"{answered:.2%} of the turns were answered, at least {targets.min_answered_share:.2%} must be")
    if report["wrong"] > targets.max_wrong:
        missed.append(f"{report['wrong']} replies are wrong, at most {targets.max_wrong} may be")
    if targets.min_turns_per_s is not None and report["turns_per_s"] < targets.min_turns_per_s:
        missed.append(f"{report['turns_per_s']:.1f} turns/s, at least {targets.min_turns_per_s:g} are wanted")
    if targets.max_mean_ms is not None and report["mean_ms"] > targets.max_mean_ms:
        missed.append(f"a mean of {report['mean_ms']:.0f} ms, at most {targets.max_mean_ms:g} ms are wanted")
    if processor_share > _GENERATOR_FULL or report["lag_p95_ms"] > _GENERATOR_LATE_MS:
        missed.append(
            f"the generator was the bottleneck ({processor_share:.0%} of one processor, "
            f"timers late by {report['lag_p95_ms']:.0f} ms): these figures are not the service's"
        )
    return missed
