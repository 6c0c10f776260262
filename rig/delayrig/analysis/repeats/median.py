# SPDX-License-Identifier: GPL-2.0-or-later
"""A median, and the interval that it lies in, by resampling; pure."""

import statistics
from collections.abc import Sequence

import msgspec

from delayrig.analysis.resampling import middle_of_draws

VALUES_MIN = 6
"""Fewer claim nothing: the median of 5 lies outside all of them once in 16 times."""
DRAWS = 4_000
CONFIDENCE = 0.95


class Median(msgspec.Struct, frozen=True, kw_only=True):
    """Of times in ns. `low` and `high` are null where there are too few to say."""

    value_ns: int
    low_ns: int | None = None
    high_ns: int | None = None

    @property
    def half_width(self) -> float | None:
        """Of the interval, as a part of the median."""
        if self.low_ns is None or self.high_ns is None or not self.value_ns:
            return None
        return (self.high_ns - self.low_ns) / 2 / self.value_ns

    def is_within(self, part: float) -> bool:
        """Whether it is known that well."""
        half = self.half_width
        return half is not None and half <= part


def median_of(values_ns: Sequence[int]) -> Median:
    """Of one value at least."""
    value = round(statistics.median(values_ns))
    if len(values_ns) < VALUES_MIN:
        return Median(value_ns=value)
    low, high = middle_of_draws(values_ns, statistics.median, draws=DRAWS, confidence=CONFIDENCE)
    return Median(value_ns=value, low_ns=round(low), high_ns=round(high))
