import pytest

from indexes.hybrid import fused


def test_a_passage_that_both_halves_found_comes_before_one_that_a_single_half_put_higher() -> None:
    # 1/12 + 1/12 against 1/11
    assert [number for number, _ in fused([(1.0, [7, 3]), (1.0, [9, 3])])] == [3, 7, 9]


def test_scores_are_the_weighted_reciprocals_of_the_ranks() -> None:
    scores = dict(fused([(2.0, [4, 5]), (1.0, [5])]))

    assert scores == pytest.approx({4: 2 / 11, 5: 2 / 12 + 1 / 11})


def test_equal_scores_keep_the_order_of_the_passages() -> None:
    assert [number for number, _ in fused([(1.0, [8]), (1.0, [2])])] == [2, 8]
