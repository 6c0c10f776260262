# SPDX-License-Identifier: GPL-2.0-or-later
"""How much slower, where time is real: an interval from pairs of measurements, by resampling.

Both halves of a pair were measured one right after the other, so that what the machine did to one
it did to the other as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from delayrig.analysis.resampling import middle_of_draws

PAIRS_MIN = 6
"""Fewer claim nothing: of 5 pairs, all lean the same way by chance once in 16 times."""
DRAWS = 10_000
CONFIDENCE = 0.99


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
    low, high = middle_of_draws(pairs, _excess, draws=DRAWS, confidence=confidence, of=of)
    return Interval(low=low, high=high)


def _excess(pairs: Sequence[tuple[float, float]]) -> float:
    return sum(pair[1] for pair in pairs) / sum(pair[0] for pair in pairs) - 1
