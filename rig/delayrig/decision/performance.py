# SPDX-License-Identifier: GPL-2.0-or-later
"""The additional time of a candidate: exact in virtual time, an interval in real time.

Both halves of a pair in real time are measured one directly after the other, under the same
conditions. Intervals are computed from pairs by resampling.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from delayrig.decision.decision import Excess, GateCell, Limits, Outcome
from delayrig.hazards import hazard_of
from delayrig.hazards.scarcity import Refused
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult, Verdict

PAIRS_MIN = 6
"""The least number of pairs: 5 pairs all lean the same way by chance once in 16 times."""
DRAWS = 10_000
SEED = 1
CONFIDENCE = 0.99
TICK_NS = 4_000_000
"""The tick of the guest's kernel (250 Hz), up to which a difference does not count.

Any change of a program's code shifts its waits against the ticks.
"""

CELL_FLOOR_NS = 50_000_000
"""The largest excess that refuses nothing in a cell; if several cells have it, the total shows it.

With fewer than `TOTAL_CELLS_MIN` exact cells it applies to CPU time only, and `TICK_NS` to time.
Builds that query the part twice as often are legal, and cost up to 38 ms of CPU time in a cell. In
no cell did a legal change of flashrom/known_bad exceed both a tick and the limit in percent.
"""
TOTAL_CELLS_MIN = 5
"""The least number of cells for a total. A total of fewer shows no more than each cell does."""
MEAN_FLOOR_NS = 1_000_000
"""The excess that ticks may cause in a total, for each of its cells."""

Pairs = Sequence[tuple[int, int]]
T = TypeVar("T")


def middle_of_draws(
    values: Sequence[T],
    figure: Callable[[Sequence[T]], float],
    *,
    draws: int,
    confidence: float,
    of: int = 1,
) -> tuple[float, float]:
    """Returns the central interval of `figure` over random draws with replacement (bootstrap).

    No distribution of the noise is assumed. Draws are seeded, so the same measurements give
    the same answer.

    `of` is the number of such intervals behind one decision. Each is made wider, so that all of
    them hold at once with that confidence (Bonferroni).
    """
    dice = random.Random(SEED)
    drawn = sorted(figure(dice.choices(values, k=len(values))) for _ in range(draws))
    outside = round((1 - confidence) / 2 / of * draws)
    return drawn[outside], drawn[-1 - outside]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An interval for the true excess, as a fraction of the baseline: 0.02 is 2 % slower."""

    low: float
    high: float

    def excludes(self, limit: float) -> bool:
        """Returns True if it lies on one side of the limit; exactly on it is allowed."""
        return self.low > limit or self.high <= limit


def excess_interval(pairs: Sequence[tuple[float, float]], *, of: int = 1) -> Interval | None:
    """Returns by how much the second figures of all pairs exceed the first; None if unknown."""
    if len(pairs) < PAIRS_MIN or not all(baseline > 0 for baseline, _ in pairs):
        return None
    low, high = middle_of_draws(pairs, _excess_part, draws=DRAWS, confidence=CONFIDENCE, of=of)
    return Interval(low=low, high=high)


def _excess_part(pairs: Sequence[tuple[float, float]]) -> float:
    return sum(pair[1] for pair in pairs) / sum(pair[0] for pair in pairs) - 1


def excesses(
    rounds: Sequence[tuple[CellResult, CellResult]],
    limits: Limits,
    *,
    intervals: int,
    floor_ns: int,
) -> list[Excess]:
    """Returns the excess of time and CPU time.

    `intervals` is the number of intervals behind the decision; only cells in real time have them.
    `floor_ns` is the largest excess of time that refuses nothing in an exact cell.
    """
    times = [(b.time_ns.total, c.time_ns.total) for b, c in rounds]
    cpu_times = [(b.total_cpu_ns, c.total_cpu_ns) for b, c in rounds]
    # The required time that only the candidate waits does not count as its cost.
    added_ns = max(sum(b.not_waited_ns - c.not_waited_ns for b, c in rounds), 0)
    cpu_added_ns = added_ns
    # If system calls that wait are refused, all waits poll and take CPU time.
    if not any(isinstance(hazard_of(name), Refused) for name in rounds[0][1].hazards):
        cpu_added_ns = added_ns * _sums(cpu_times)[0] // max(_sums(times)[0], 1)
    figures: list[tuple[str, Pairs, float, int, int]] = [
        ("time", times, limits.slowdown_pct, floor_ns, added_ns),
        ("CPU time", cpu_times, limits.cpu_pct, CELL_FLOOR_NS, min(cpu_added_ns, added_ns)),
    ]
    return [
        _excess(figure, *_sums(pairs), limit_pct, floor_ns=its_floor_ns, added_ns=its_added_ns)
        if rounds[0][0].lane == EXACT_LANE
        else _likely_excess(figure, pairs, limit_pct, of=intervals)
        for figure, pairs, limit_pct, its_floor_ns, its_added_ns in figures
        if all(before > 0 for before, _ in pairs)
    ]


def is_measured(cell: CellResult) -> bool:
    """Returns True if a cell's time can be compared: it did the job, even with short waits."""
    return cell.verdict is Verdict.PASS or (cell.verdict is Verdict.TOO_SHORT and cell.job_done)


def floor_of(cells: int) -> int:
    """Returns the largest excess of an exact cell that refuses nothing, whatever its percentage."""
    return CELL_FLOOR_NS if cells >= TOTAL_CELLS_MIN else TICK_NS


def total_excesses(cells: Sequence[GateCell], limits: Limits) -> list[Excess]:
    """Returns the excess of all exact cells together: a small cost everywhere adds up."""
    compared = [cell for cell in cells if cell.lane == EXACT_LANE and cell.excess]
    if len(compared) < TOTAL_CELLS_MIN:
        return []
    total = []
    for figure, limit_pct in (
        ("time", limits.total_slowdown_pct),
        ("CPU time", limits.total_cpu_pct),
    ):
        found = [item for cell in compared for item in cell.excess if item.figure == figure]
        if found:
            before = sum(item.baseline_ns for item in found)
            after = sum(item.candidate_ns for item in found)
            floor_ns = max(TICK_NS, len(found) * MEAN_FLOOR_NS)
            total.append(_excess(figure, before, after, limit_pct, floor_ns=floor_ns))
    return total


def _excess(
    figure: str, before: int, after: int, limit_pct: float, *, floor_ns: int, added_ns: int = 0
) -> Excess:
    before += added_ns
    more = after - before
    slower = more > floor_ns and 100 * more > Fraction(str(limit_pct)) * before
    pct = 100 * more / before
    return Excess(
        figure=figure,
        baseline_ns=before,
        candidate_ns=after,
        added_ns=added_ns,
        low_pct=pct,
        high_pct=pct,
        limit_pct=limit_pct,
        floor_ns=floor_ns,
        outcome=Outcome.SLOWER if slower else Outcome.PASS,
    )


def _likely_excess(figure: str, pairs: Pairs, limit_pct: float, *, of: int) -> Excess:
    """Returns an excess with an interval. An interval that contains the limit is a doubt."""
    before, after = _sums(pairs)
    interval = excess_interval(pairs, of=of)
    outcome = Outcome.DOUBT
    if interval and interval.excludes(limit_pct / 100):
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
