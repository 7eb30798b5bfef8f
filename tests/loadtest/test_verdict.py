from pathlib import Path
from typing import Any

import pytest
import yaml

import loadtest
from loadtest.verdict import Targets, missed_targets

TARGETS = Targets(
    users=16,
    turns=1_000,
    think_time_s=0,
    max_run_s=300,
    min_answered_share=0.999,
    max_wrong=0,
    min_turns_per_s=15,
    max_mean_ms=1_100,
)
GOOD: dict[str, Any] = {
    "turns": 1_000,
    "failed": 1,
    "wrong": 0,
    "turns_per_s": 15.0,
    "mean_ms": 1_100.0,
    "lag_p95_ms": 250.0,
}


def missed(processor_share: float = 0.9, **changed: float) -> list[str]:
    return missed_targets({**GOOD, **changed}, processor_share, TARGETS)


def test_a_run_that_is_just_good_enough_passes() -> None:
    assert missed() == []


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"turns": 999, "failed": 0}, "999 of 1000 turns"),
        ({"failed": 2}, "99.80%"),
        ({"wrong": 1}, "1 replies are wrong"),
        ({"turns_per_s": 14.9}, "14.9 turns/s"),
        ({"mean_ms": 1_101.0}, "1101 ms"),
        ({"lag_p95_ms": 251.0}, "generator was the bottleneck"),
        ({"processor_share": 0.91}, "generator was the bottleneck"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_each_missed_target_is_told_with_its_figure(changed: dict[str, float], told: str) -> None:
    (line,) = missed(**changed)
    assert told in line


def test_all_that_was_missed_is_told() -> None:
    assert len(missed(0.95, turns=10, failed=10, wrong=3, turns_per_s=1, mean_ms=9_000)) == 6


def test_a_run_without_a_turn_has_missed() -> None:
    assert any("0.00%" in line for line in missed(turns=0, failed=0))


def test_a_bound_that_is_not_given_is_not_checked() -> None:
    unbounded = TARGETS.model_copy(update={"min_turns_per_s": None, "max_mean_ms": None})
    assert missed_targets({**GOOD, "turns_per_s": 0.1, "mean_ms": 99_999.0}, 0.1, unbounded) == []


def test_the_committed_targets_can_be_read_for_each_profile() -> None:
    found = yaml.safe_load((Path(loadtest.__file__).parent / "targets.yaml").read_text())
    targets = {name: Targets.model_validate(values) for name, values in found.items()}
    assert (targets["cpu"].turns, targets["cpu"].users, targets["cpu"].min_turns_per_s) == (1_000, 16, 15)
    assert (targets["gpu"].users, targets["gpu"].think_time_s, targets["gpu"].max_mean_ms) == (1_000, 10, 1_100)
