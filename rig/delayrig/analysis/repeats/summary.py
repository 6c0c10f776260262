# SPDX-License-Identifier: GPL-2.0-or-later
"""What all rounds of a cell come to: medians of its times, and a count of its verdicts; pure."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from delayrig.analysis.repeats.median import Median, median_of
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult, Verdict

FILE_NAME = "repeats.json"
SCHEMA = 1
TIMED = (Verdict.PASS, Verdict.TOO_SHORT)
"""What ended as it should, so that its time says something. `inconclusive` had a slow machine."""


class CellSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One cell over all rounds."""

    id: str
    subject: str
    lane: str
    rounds: int
    verdicts: dict[str, int]
    """How often each came. One conviction is one: it is not outvoted."""
    expect: str
    timed: int
    """How many rounds the medians are of."""
    total: Median | None = None
    cpu: Median | None = None
    rerun: str

    def is_settled(self, part: float) -> bool:
        """Whether more rounds would say nothing new about its total time."""
        if self.lane == EXACT_LANE or set(self.verdicts) == {Verdict.SKIPPED}:
            return True
        return self.total is not None and self.total.is_within(part)


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The whole of `repeats.json`."""

    schema: int = SCHEMA
    plan: str
    seed: int
    within: float
    """How well medians were to be known: half of their intervals, as a part of them."""
    budget_s: float
    rounds: int
    budget_ended: bool
    """Whether some cell would have been run again, had there been time."""
    cells: list[CellSummary]


def summarise(results: Iterable[CellResult]) -> list[CellSummary]:
    """One for each id, in the order of their first appearance."""
    by_id: dict[str, list[CellResult]] = {}
    for result in results:
        by_id.setdefault(result.id, []).append(result)
    return [_summary(rounds) for rounds in by_id.values()]


def _summary(rounds: list[CellResult]) -> CellSummary:
    timed = [result for result in rounds if result.verdict in TIMED]
    counted = Counter(result.verdict.value for result in rounds)
    return CellSummary(
        id=rounds[0].id,
        subject=rounds[0].subject.name,
        lane=rounds[0].lane,
        rounds=len(rounds),
        verdicts=dict(counted.most_common()),
        expect=rounds[0].expect,
        timed=len(timed),
        total=median_of([result.time_ns.total for result in timed]) if timed else None,
        cpu=median_of([result.total_cpu_ns for result in timed]) if timed else None,
        rerun=rounds[0].rerun,
    )
