# SPDX-License-Identifier: GPL-2.0-or-later
"""A subject's times over runs, as far as they are of the same work."""

from collections.abc import Sequence
from dataclasses import dataclass

from delayrig.analysis.history.schema import CellRow, RunRow
from delayrig.analysis.history.store import Entry
from delayrig.model.cell import Role
from delayrig.model.result import Verdict

TIMED = (Verdict.PASS, Verdict.TOO_SHORT, Verdict.INCONCLUSIVE)
"""What ended well or badly, but did its job; another's time is no measure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    run: RunRow
    cells: dict[str, CellRow]
    """Those that timed it, by id."""

    @property
    def times_ns(self) -> dict[str, int]:
        """Of each of its cells."""
        return {name: cell.total_ns for name, cell in self.cells.items()}

    @property
    def total_ns(self) -> int:
        return sum(self.times_ns.values())

    @property
    def cpu_ns(self) -> int:
        return sum(cell.user_ns + cell.sys_ns for cell in self.cells.values())

    @property
    def program(self) -> str:
        """What was run, as short as people name it."""
        cell = next(iter(self.cells.values()))
        return " ".join(filter(None, (cell.subject_version, cell.subject_sha256[:12])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Runs of one plan in one lane whose sets of timed cells are equal: their sums are, too."""

    plan: str
    lane: str
    points: list[Point]

    @property
    def name(self) -> str:
        count = len(self.points[0].cells)
        return f"{self.plan}, {self.lane}, {count} cell{'s' if count != 1 else ''}"


def points_of(entries: Sequence[Entry], subject: str) -> list[Point]:
    """Runs in which the subject was timed, the oldest first."""
    found = [Point(run=entry.run, cells=_timed(entry.cells, subject)) for entry in entries]
    return [point for point in found if point.cells]


def series_of(points: Sequence[Point]) -> list[Series]:
    """The points by what may be summed and set side by side, each series the oldest first."""
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
        and not cell.witness  # An older rig's probes cost time.
        and cell.verdict in TIMED
        and cell.total_ns > 0
    }
