# SPDX-License-Identifier: GPL-2.0-or-later
"""Spans of time that may overlap, made into ones that do not; all in nanoseconds."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

Span = tuple[int, int]
"""From, and to: the first moment that is not in it any more."""


class Cover:
    """All moments that lie in one span or another."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = _merged(spans)
        self._starts = [start for start, _ in self.spans]
        self._before = [0, *accumulate(end - start for start, end in self.spans)]

    def within_ns(self, start_ns: int, end_ns: int) -> int:
        """How much of that time is covered."""
        return max(self._until_ns(end_ns) - self._until_ns(start_ns), 0)

    def _until_ns(self, moment_ns: int) -> int:
        at = bisect_right(self._starts, moment_ns)
        if at == 0:
            return 0
        start, end = self.spans[at - 1]
        return self._before[at - 1] + min(moment_ns, end) - start


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(span for span in spans if span[1] > span[0]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
