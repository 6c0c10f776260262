# SPDX-License-Identifier: GPL-2.0-or-later
"""Two runs beside each other, cell by cell: times are compared where all else is equal.

What decides times beside the subject must be the same: seed and digests of all that the guest is
made of; of real time also the machine. Else the names of what is unlike are given.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from delayrig.analysis.history.inputs import inputs_of
from delayrig.base.errors import ExitCode
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult, Results, Verdict


class CellPair(msgspec.Struct, frozen=True, kw_only=True):
    """A cell in both runs. `unlike` is empty where its times may be compared."""

    id: str
    lane: str
    verdicts: tuple[Verdict, Verdict]
    unlike: list[str]
    same_program: bool
    total_ns: tuple[int, int]
    cpu_ns: tuple[int, int]
    same_events: bool

    @property
    def pct(self) -> float | None:
        """How much longer the second took, in percent; None where that says nothing."""
        before, after = self.total_ns
        timed = before > 0 and after > 0 and not self.unlike
        return 100 * (after - before) / before if timed else None

    @property
    def is_fault(self) -> bool:
        """Whether exact time differs though nothing else does: the rig's to explain."""
        exact = self.lane == EXACT_LANE and self.same_program and not self.unlike
        ran = not {Verdict.SKIPPED, Verdict.INFRA_ERROR} & set(self.verdicts)
        return exact and ran and (self.total_ns[0] != self.total_ns[1] or not self.same_events)


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    pairs: list[CellPair]
    only_first: list[str]
    only_second: list[str]

    @property
    def comparable(self) -> list[CellPair]:
        return [pair for pair in self.pairs if pair.pct is not None]

    @property
    def exit_code(self) -> ExitCode:
        """0 where every cell could be compared, whatever came of it."""
        if any(pair.is_fault for pair in self.pairs):
            return ExitCode.RIG_FAULT
        doubt = self.only_first or self.only_second or any(pair.unlike for pair in self.pairs)
        return ExitCode.INCONCLUSIVE if doubt or not self.pairs else ExitCode.PASS


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Over the cells that may be compared, in ns."""

    total: tuple[int, int]
    cpu: tuple[int, int]


def compare_times(first: Results, second: Results) -> Beside:
    """In the order of the first run."""
    theirs = {cell.id: cell for cell in second.cells}
    ours = {cell.id for cell in first.cells}
    both = [cell for cell in first.cells if cell.id in theirs]
    return Beside(
        pairs=[_pair(cell, theirs[cell.id], first, second) for cell in both],
        only_first=[cell.id for cell in first.cells if cell.id not in theirs],
        only_second=[cell.id for cell in second.cells if cell.id not in ours],
    )


def sums_of(pairs: Sequence[CellPair]) -> Sums:
    return Sums(
        total=(sum(pair.total_ns[0] for pair in pairs), sum(pair.total_ns[1] for pair in pairs)),
        cpu=(sum(pair.cpu_ns[0] for pair in pairs), sum(pair.cpu_ns[1] for pair in pairs)),
    )


def _pair(ours: CellResult, theirs: CellResult, first: Results, second: Results) -> CellPair:
    before, after = inputs_of(ours, first.run), inputs_of(theirs, second.run)
    return CellPair(
        id=ours.id,
        lane=ours.lane,
        verdicts=(ours.verdict, theirs.verdict),
        unlike=sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n)),
        same_program=ours.subject.sha256 == theirs.subject.sha256,
        total_ns=(ours.time_ns.total, theirs.time_ns.total),
        cpu_ns=(ours.total_cpu_ns, theirs.total_cpu_ns),
        same_events=ours.events_sha256 == theirs.events_sha256,
    )
