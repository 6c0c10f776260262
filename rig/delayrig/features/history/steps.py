# SPDX-License-Identifier: GPL-2.0-or-later
"""A subject's times over runs, the runs at which they stepped, and what else changed there.

Virtual time is exact, so every difference is a step. In real time, each run gets an index: the
geometric mean, over its cells, of the ratio of a cell's time to the median of that cell's times in
all runs. So a run that lacks some cells can still be compared. A rank test, which assumes nothing
about the noise, looks for steps in the series of indices.

A cut splits a series in two. The ranks before the cut have a sum. The score of the cut is the
distance of that sum from its mean over random orders, in standard deviations. The largest score is
the statistic; p is the share of random orders that reach it. A step is claimed if p is at most
1 - confidence; then both parts are examined in the same way (binary segmentation).

If nothing changed, the first test alone decides. So a series without a step is reported to have one
with a probability of at most 1 - confidence, whatever the number of runs. One wild value makes no
step, because ranks are used and at least `SIDE_MIN` runs are on each side. A slow drift may be
reported as a step.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from math import comb
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from delayrig.base.text import counted
from delayrig.features.history.schema import CellRow, RunRow
from delayrig.model.cell import Role
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import Verdict

DRAWS = 9999
CHUNK = 500
"""The number of orders drawn at once, which limits the memory."""
SIDE_MIN = 3
SEED = 1
"""A fixed seed, so that the same runs give the same answer."""

Floats = NDArray[np.floating[Any]]
TIMED = (Verdict.PASS, Verdict.TOO_SHORT, Verdict.INCONCLUSIVE)
"""The verdicts of cells that did their job. The times of other cells cannot be compared."""
Times = dict[str, int]
"""Times of cells in ns, by their ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """A step. `at` is the index of the first value after it."""

    at: int
    p: float


def change_points(
    values: Sequence[float], *, confidence: float, draws: int = DRAWS
) -> list[ChangePoint]:
    """Returns all steps that can be claimed, in order."""
    dice = np.random.default_rng(SEED)
    return _cuts(np.asarray(values, dtype=float), 0, 1 - confidence, draws, dice)


def values_min(confidence: float) -> int:
    """Returns the least number of values in which a step can be claimed.

    n different values can be split into halves in C(n, n/2) ways. In two of them, one half has all
    the large values, as after a step. So no p is less than 2 / C(n, n/2).
    """
    count = 2 * SIDE_MIN
    while 2 / comb(count, count // 2) > 1 - confidence:
        count += 1
    return count


def _cuts(
    values: Floats, start: int, alpha: float, draws: int, dice: np.random.Generator
) -> list[ChangePoint]:
    """Returns the steps in values that begin at index `start` of the whole series."""
    if len(values) < 2 * SIDE_MIN:
        return []
    ranks = _ranks(values)
    found, cut = _strongest(ranks[np.newaxis, :])
    p = _chance(ranks, float(found[0]), draws, dice)
    if p > alpha:
        return []
    at = int(cut[0])
    return [
        *_cuts(values[:at], start, alpha, draws, dice),
        ChangePoint(at=start + at, p=p),
        *_cuts(values[at:], start + at, alpha, draws, dice),
    ]


def _chance(ranks: Floats, found: float, draws: int, dice: np.random.Generator) -> float:
    """Returns the share of random orders whose statistic is at least `found`.

    The observed order counts as one of them.
    """
    reached = 0
    for begin in range(0, draws, CHUNK):
        rows = min(CHUNK, draws - begin)
        shuffled = dice.permuted(np.tile(ranks, (rows, 1)), axis=1)
        reached += int(np.count_nonzero(_strongest(shuffled)[0] >= found - 1e-9))
    return (1 + reached) / (1 + draws)


def _ranks(values: Floats) -> Floats:
    """Returns the ranks, 1 for the smallest; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean: Floats = (last - (counts - 1) / 2)[inverse]
    return mean


def _strongest(rows: Floats) -> tuple[Floats, NDArray[np.integer[Any]]]:
    """Returns the largest statistic of each row, and its position."""
    count = rows.shape[1]
    sizes = np.arange(SIDE_MIN, count - SIDE_MIN + 1)
    sums = np.cumsum(rows, axis=1)[:, sizes - 1]
    expected = sizes * (count + 1) / 2
    spread = np.sqrt(sizes * (count - sizes) * (count + 1) / 12)
    found = np.abs(sums - expected) / spread
    best = np.argmax(found, axis=1)
    return found[np.arange(len(rows)), best], sizes[best]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    run: RunRow
    cells: dict[str, CellRow]
    """The cells that timed the subject, by id."""

    @property
    def times_ns(self) -> dict[str, int]:
        return {name: cell.total_ns for name, cell in self.cells.items()}

    @property
    def total_ns(self) -> int:
        return sum(self.times_ns.values())

    @property
    def cpu_ns(self) -> int:
        return sum(cell.user_ns + cell.sys_ns for cell in self.cells.values())

    @property
    def program(self) -> str:
        """Returns the tested program: its version and the start of its digest."""
        cell = next(iter(self.cells.values()))
        return " ".join(filter(None, (cell.subject_version, cell.subject_sha256[:12])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Runs of one plan in one lane with equal sets of timed cells, so that their sums compare."""

    plan: str
    lane: str
    points: list[Point]

    @property
    def name(self) -> str:
        return f"{self.plan}, {self.lane}, {counted(len(self.points[0].cells), 'cell')}"


def points_of(runs: Sequence[RunRow], subject: str) -> list[Point]:
    """Returns the runs in which the subject was timed, the oldest first."""
    found = [Point(run=run, cells=_timed(run.cells, subject)) for run in runs]
    return [point for point in found if point.cells]


def series_of(points: Sequence[Point]) -> list[Series]:
    """Groups the points whose sums can be compared, each series with the oldest first."""
    series: dict[tuple[str, str, frozenset[str]], list[Point]] = {}
    for point in points:
        key = (point.run.plan, point.run.lane, frozenset(point.cells))
        series.setdefault(key, []).append(point)
    return [Series(plan=plan, lane=lane, points=found) for (plan, lane, _), found in series.items()]


def _timed(cells: Sequence[CellRow], subject: str) -> dict[str, CellRow]:
    return {
        cell.cell: cell
        for cell in cells
        if cell.subject == subject
        and cell.role == Role.MEASURE
        and not cell.witness  # Probes of an older rig cost time.
        and cell.verdict in TIMED
        and cell.total_ns > 0
    }


class CellStep(msgspec.Struct, frozen=True, kw_only=True):
    cell: str
    before_ns: int
    after_ns: int

    @property
    def pct(self) -> float:
        return 100 * (self.after_ns - self.before_ns) / self.before_ns


class Step(msgspec.Struct, frozen=True, kw_only=True):
    run: int
    previous: int
    started: str
    plan: str
    lane: str
    program: str
    previous_program: str
    same_program: bool
    same_inputs: bool | None
    """True if all that decides times, except the subject, was equal; null if unknown."""
    before_ns: int
    """The sum of the cells' times before the step.

    In exact time: in run `previous`, over the cells of `run` that no run between the two has. In
    real time: the median of each cell in the runs before the step.
    """
    after_ns: int
    p: float | None
    """The probability of chance; null if time is exact."""
    cells: list[CellStep]
    """The cells that changed, the largest change first; in real time all of them."""

    @property
    def pct(self) -> float:
        return 100 * (self.after_ns - self.before_ns) / self.before_ns

    @property
    def is_fault(self) -> bool:
        """Returns True if all inputs were equal but the exact time differs: a fault of the rig."""
        return self.p is None and self.same_program and self.same_inputs is True


class TooFew(msgspec.Struct, frozen=True, kw_only=True):
    """Runs in real time that are too few for any claim."""

    plan: str
    host: str
    runs: int
    runs_min: int


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The steps that were found. `confidence` is that of steps in real time."""

    subject: str
    runs: int
    confidence: float
    steps: list[Step]
    too_few: list[TooFew]


def find_steps(points: Sequence[Point], subject: str, *, confidence: float) -> Found:
    steps: list[Step] = []
    too_few: list[TooFew] = []
    for runs in _grouped(points):
        run = runs[0].run
        if run.lane == EXACT_LANE:
            steps += _exact(runs)
        elif len(runs) < values_min(confidence):
            count, least = len(runs), values_min(confidence)
            too_few.append(TooFew(plan=run.plan, host=run.host, runs=count, runs_min=least))
        else:
            steps += _likely(runs, confidence)
    steps.sort(key=lambda step: (step.started, step.run))
    return Found(
        subject=subject, runs=len(points), confidence=confidence, steps=steps, too_few=too_few
    )


def _grouped(points: Sequence[Point]) -> list[list[Point]]:
    """Groups comparable runs: by lane, and in real time also by plan and machine."""

    def key(point: Point) -> tuple[str, str, str]:
        run = point.run
        return (run.lane, "", "") if run.lane == EXACT_LANE else (run.lane, run.plan, run.host)

    # The sort is stable, so within a group the oldest stays first.
    return [list(group) for _, group in groupby(sorted(points, key=key), key=key)]


def _exact(runs: Sequence[Point]) -> list[Step]:
    """Returns the steps: a cell's time differs from that in the last earlier run with the cell."""
    last: dict[str, Point] = {}
    steps = []
    for point in runs:
        changed: dict[int, list[str]] = {}
        for name, cell in point.cells.items():
            if name in last and last[name].cells[name].total_ns != cell.total_ns:
                changed.setdefault(last[name].run.id, []).append(name)
        previous = {each.run.id: each for each in last.values()}
        for run, names in changed.items():
            times_ns = previous[run].times_ns.items()
            was = {name: ns for name, ns in times_ns if last[name].run.id == run}
            steps.append(_step(previous[run], point, was, point.times_ns, names, None))
        last.update(dict.fromkeys(point.cells, point))
    return steps


def _step(
    before: Point, after: Point, was: Times, now: Times, changed: Iterable[str], p: float | None
) -> Step:
    common = was.keys() & now.keys()
    both = before.cells.keys() & after.cells.keys() & common
    pairs = [(before.cells[name], after.cells[name]) for name in both]
    cells = [CellStep(cell=name, before_ns=was[name], after_ns=now[name]) for name in changed]
    known = all(cell.inputs_sha256 is not None for pair in pairs for cell in pair)
    return Step(
        run=after.run.id,
        previous=before.run.id,
        started=after.run.started,
        plan=after.run.plan,
        lane=after.run.lane,
        program=after.program,
        previous_program=before.program,
        same_program=all(b.subject_sha256 == a.subject_sha256 for b, a in pairs),
        same_inputs=all(b.inputs_sha256 == a.inputs_sha256 for b, a in pairs) if known else None,
        before_ns=sum(was[name] for name in common),
        after_ns=sum(now[name] for name in common),
        p=p,
        cells=sorted(cells, key=lambda cell: -abs(cell.pct)),
    )


def _likely(runs: Sequence[Point], confidence: float) -> list[Step]:
    """Returns the steps that the change-point test claims for the runs' indices."""
    medians_ns = _medians_ns(runs)
    index = [
        float(np.exp(np.mean([np.log(ns / medians_ns[name]) for name, ns in run.times_ns.items()])))
        for run in runs
    ]
    found = change_points(index, confidence=confidence)
    edges = [0, *(point.at for point in found), len(runs)]
    steps = []
    for number, point in enumerate(found):
        was = _medians_ns(runs[edges[number] : point.at])
        now = _medians_ns(runs[point.at : edges[number + 2]])
        names = sorted(was.keys() & now.keys())
        steps.append(_step(runs[point.at - 1], runs[point.at], was, now, names, point.p))
    return steps


def _medians_ns(runs: Sequence[Point]) -> Times:
    times: dict[str, list[int]] = {}
    for name, total_ns in chain(*(run.times_ns.items() for run in runs)):
        times.setdefault(name, []).append(total_ns)
    return {name: round(float(np.median(found))) for name, found in times.items()}
