# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps in series: found where they are, and false ones no more often than the test allows."""

import numpy as np
import pytest
from delayrig.features.history.change_point import SIDE_MIN, change_points, values_min

DRAWS = 999
SERIES = 300


def test_step_far_beyond_the_noise_is_found_where_it_is() -> None:
    dice = np.random.default_rng(7)
    values = [*dice.normal(10, 0.1, 15), *dice.normal(11, 0.1, 10)]
    (found,) = change_points(values)
    assert found.at == 15
    assert found.p < 0.01
    assert (found.before, found.after) == pytest.approx((10, 11), abs=0.1)


def test_two_steps_are_both_found_in_their_order() -> None:
    dice = np.random.default_rng(7)
    values = np.concatenate([dice.normal(mean, 0.1, 20) for mean in (10, 12, 11)])
    assert [point.at for point in change_points(list(values))] == [20, 40]


@pytest.mark.parametrize("count", [12, 40])
def test_noise_without_a_step_is_called_one_no_more_often_than_stated(count: int) -> None:
    """Noise has heavy tails, as on machines. About 3 of 300 series may show a step, 10 at most."""
    dice = np.random.default_rng(11)
    wrong = sum(
        bool(change_points(list(10 + np.abs(dice.standard_t(2, count))), draws=DRAWS))
        for _ in range(SERIES)
    )
    assert wrong <= 10


def test_one_wild_value_is_no_step() -> None:
    values = [10.0 + 0.01 * (n * 7 % 5) for n in range(30)]
    values[17] = 1000.0
    assert change_points(values) == []


def test_few_values_claim_nothing_however_clear_they_look() -> None:
    count = values_min() - 1
    assert change_points([1.0] * (count // 2) + [9.0] * (count - count // 2)) == []
    assert change_points([]) == []
    assert change_points([1.0] * SIDE_MIN) == []


def test_as_many_values_as_are_asked_for_do() -> None:
    count = values_min()
    values = [1 + n / 100 for n in range(count // 2)]
    (found,) = change_points([*values, *(9 + value for value in values[: count - count // 2])])
    assert found.at == count // 2


def test_equal_values_have_no_step() -> None:
    assert change_points([5.0] * 50) == []


def test_same_values_give_the_same_answer() -> None:
    dice = np.random.default_rng(5)
    values = [*dice.normal(10, 1, 20), *dice.normal(11, 1, 20)]
    assert change_points(values) == change_points(values)
