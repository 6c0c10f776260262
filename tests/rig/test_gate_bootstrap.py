# SPDX-License-Identifier: GPL-2.0-or-later
import random

import pytest
from delayrig.decision.performance import PAIRS_MIN, Interval, excess_interval


def noisy_pairs(excess: float, *, noise: float, count: int, seed: int) -> list[tuple[float, float]]:
    """Returns pairs of times with a common drift and noise of their own."""
    dice = random.Random(seed)
    pairs = []
    for number in range(count):
        machine = 1 + number / count
        first, second = (dice.gauss(0, noise) for _ in range(2))
        pairs.append((machine * (1 + first), machine * (1 + excess) * (1 + second)))
    return pairs


def test_pairs_without_noise_give_the_excess_itself() -> None:
    interval = excess_interval([(100.0 * n, 103.0 * n) for n in range(1, PAIRS_MIN + 1)])
    assert interval is not None
    assert interval.low == pytest.approx(0.03)
    assert interval.high == pytest.approx(0.03)


def test_equal_pairs_have_no_excess() -> None:
    assert excess_interval([(5.0, 5.0)] * PAIRS_MIN) == Interval(low=0.0, high=0.0)


@pytest.mark.parametrize("count", [0, 1, PAIRS_MIN - 1])
def test_too_few_pairs_claim_nothing(count: int) -> None:
    assert excess_interval([(1.0, 2.0)] * count) is None
    assert excess_interval([(1.0, 2.0)] * PAIRS_MIN) is not None


def test_baseline_that_took_no_time_claims_nothing() -> None:
    assert excess_interval([(0.0, 1.0), *[(1.0, 1.0)] * PAIRS_MIN]) is None


def test_interval_is_the_same_each_time() -> None:
    pairs = noisy_pairs(0.01, noise=0.02, count=8, seed=1)
    assert excess_interval(pairs) == excess_interval(pairs)


def test_drift_of_the_machine_widens_nothing() -> None:
    interval = excess_interval(noisy_pairs(0.03, noise=0.0, count=10, seed=1))
    assert interval is not None
    assert interval.high - interval.low < 1e-9


def test_interval_holds_the_true_excess_nearly_always() -> None:
    """Intervals of few pairs are a little narrow: 99 % are requested, at least 90 % must hold."""
    held = 0
    for seed in range(60):
        interval = excess_interval(noisy_pairs(0.02, noise=0.01, count=12, seed=seed))
        assert interval is not None
        held += interval.low <= 0.02 <= interval.high
    assert held >= 54


def test_one_of_many_intervals_is_wider() -> None:
    pairs = noisy_pairs(0.0, noise=0.05, count=10, seed=3)
    alone, among = excess_interval(pairs), excess_interval(pairs, of=20)
    assert alone is not None
    assert among is not None
    assert among.low < alone.low
    assert alone.high < among.high


def test_limit_is_excluded_on_either_side_only() -> None:
    interval = Interval(low=0.01, high=0.03)
    assert interval.excludes(0.005)
    assert not interval.excludes(0.01)
    assert not interval.excludes(0.02)
    assert interval.excludes(0.03)
    assert interval.excludes(0.04)
