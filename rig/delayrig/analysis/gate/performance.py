# SPDX-License-Identifier: GPL-2.0-or-later
"""How much more a candidate took: exact where time is virtual, an interval where it is not."""

from collections.abc import Sequence
from fractions import Fraction

from delayrig.analysis.gate.bootstrap import excess_interval
from delayrig.analysis.gate.decision import Excess, Limits, Outcome
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult

TICK_NS = 4_000_000
"""Of the guest's kernel (250 Hz). Where it meets a wait moves with every byte of a program, so no
more than this is no difference."""

Pairs = Sequence[tuple[int, int]]


def excesses(
    rounds: Sequence[tuple[CellResult, CellResult]], limits: Limits, *, intervals: int
) -> list[Excess]:
    """In time and in CPU time; rounds of real time are pairs. `intervals` is how many there are."""
    figures: list[tuple[str, Pairs, float]] = [
        ("time", [(b.time_ns.total, c.time_ns.total) for b, c in rounds], limits.slowdown_pct),
        ("CPU time", [(b.total_cpu_ns, c.total_cpu_ns) for b, c in rounds], limits.cpu_pct),
    ]
    return [
        exact_excess(figure, pairs, limit_pct)
        if rounds[0][0].lane == EXACT_LANE
        else likely_excess(figure, pairs, limit_pct, of=intervals)
        for figure, pairs, limit_pct in figures
        if all(before > 0 for before, _ in pairs)
    ]


def exact_excess(figure: str, pairs: Pairs, limit_pct: float) -> Excess:
    """Where each figure is what it is: beyond the limit or not."""
    before, after = _sums(pairs)
    more = after - before
    slower = more > TICK_NS and 100 * more > Fraction(str(limit_pct)) * before
    pct = 100 * more / before
    return Excess(
        figure=figure,
        baseline_ns=before,
        candidate_ns=after,
        low_pct=pct,
        high_pct=pct,
        limit_pct=limit_pct,
        outcome=Outcome.SLOWER if slower else Outcome.PASS,
    )


def likely_excess(figure: str, pairs: Pairs, limit_pct: float, *, of: int) -> Excess:
    """Where figures have noise: an interval that holds the limit claims nothing."""
    before, after = _sums(pairs)
    interval = excess_interval(pairs, of=of)
    if interval is None or not interval.excludes(limit_pct / 100):
        outcome = Outcome.DOUBT
    else:
        outcome = Outcome.SLOWER if interval.low > limit_pct / 100 else Outcome.PASS
    pct = 100 * (after - before) / before
    return Excess(
        figure=figure,
        baseline_ns=before,
        candidate_ns=after,
        low_pct=100 * interval.low if interval else pct,
        high_pct=100 * interval.high if interval else pct,
        limit_pct=limit_pct,
        outcome=outcome,
    )


def _sums(pairs: Pairs) -> tuple[int, int]:
    return sum(before for before, _ in pairs), sum(after for _, after in pairs)
