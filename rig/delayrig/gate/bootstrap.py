# SPDX-License-Identifier: GPL-2.0-or-later
"""How much slower, where time is real: an interval from pairs of measurements, by resampling.

Both halves of a pair were measured one right after the other, so that what the machine did to one
it did to the other as well. Pairs are drawn anew with replacement; of what each draw gives, the
middle part is the interval. Nothing is assumed of how the noise is spread.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

PAIRS_MIN = 6
"""Fewer claim nothing: of 5 pairs, all lean the same way by chance once in 16 times."""
DRAWS = 10_000
CONFIDENCE = 0.99
SEED = 1
"""Fixed, so that the same measurements give the same answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Where the true excess lies, as a part of the baseline: 0.02 is two percent slower."""

    low: float
    high: float

    def excludes(self, limit: float) -> bool:
        """Whether it lies on one side of the limit; exactly on it is within what is allowed."""
        return self.low > limit or self.high <= limit


def excess_interval(
    pairs: Sequence[tuple[float, float]], *, of: int = 1, confidence: float = CONFIDENCE
) -> Interval | None:
    """By how much the second of each pair exceeds the first, over all; None from too few pairs.

    `of` is how many such intervals one decision rests on: each is made wider, so that all of them
    hold at once with that confidence.
    """
    if len(pairs) < PAIRS_MIN or not all(baseline > 0 for baseline, _ in pairs):
        return None
    dice = random.Random(SEED)
    drawn = sorted(_excess(dice.choices(pairs, k=len(pairs))) for _ in range(DRAWS))
    outside = round((1 - confidence) / 2 / of * DRAWS)
    return Interval(low=drawn[outside], high=drawn[-1 - outside])


def _excess(pairs: Sequence[tuple[float, float]]) -> float:
    return sum(pair[1] for pair in pairs) / sum(pair[0] for pair in pairs) - 1
