# SPDX-License-Identifier: GPL-2.0-or-later
"""What a run asks of a lane."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from delayrig.base.paths import Paths
from delayrig.images.delay_function import DelayFunction
from delayrig.images.subject import Subject
from delayrig.lanes.scheduler import Grouping
from delayrig.lanes.stages import StageWatch
from delayrig.lanes.supplies import Supplies
from delayrig.machine.delay_watch import DelayWatch
from delayrig.model.cell import Cell
from delayrig.model.chips import ChipFacts
from delayrig.model.result import NotProvided, RunHeader
from delayrig.plan.request import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A cell that is to be run now, and all that it needs."""

    cell: Cell
    chip: ChipFacts
    chip_name: str
    """What this very flashrom calls the chip."""
    subject: Subject
    folder: Path
    """Where everything is left that the cell will be judged by."""
    cpu: int
    """Of this machine, lent for as long as the cell runs."""
    watch: StageWatch
    marks: Path | None = None
    """Where QEMU notes what the guest passed, where somebody wants to know."""
    delays: tuple[DelayFunction, ...] = ()
    """The subject's delay functions, which QEMU sees."""


class Lane(Protocol):
    """A lane with everything that the cells of one run need: ready to run any of them."""

    @property
    def programs(self) -> list[Subject]:
        """Every subject that was packed."""

    def subject_of(self, cell: Cell) -> Subject | None:
        """What is put to the test there; None where there is no such thing."""

    def grouping(self, cell: Cell, /) -> Grouping:
        """What cells share that had better run on one CPU, one after the other."""

    def missing(self, cell: Cell) -> NotProvided | None:
        """What the archive did not give of what the cell needs; None where all is there."""

    def refusal(self, cell: Cell) -> str:
        """Why this lane cannot run the cell, whatever its subject; empty where it can."""

    def header(self) -> RunHeader:
        """Of a run that begins now."""

    async def run_cell(self, assignment: Assignment) -> float:
        """Runs the cell; the host time that it took in seconds. Raises `LostGuestError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestLane:
    """What lanes have in common whose cells run in guests."""

    request: Request
    supplies: Supplies
    paths: Paths

    @property
    def programs(self) -> list[Subject]:
        return self.supplies.programs

    def subject_of(self, cell: Cell) -> Subject | None:
        return self.supplies.subject_of(cell)

    def missing(self, cell: Cell) -> NotProvided | None:
        return self.supplies.missing_for(cell)

    def watch(self, scratch: Path, *, is_virtual: bool) -> DelayWatch:
        """How a cell's delays are seen; its files are in `scratch`."""
        return DelayWatch(
            plugin=self.paths.delay_plugin,
            wish=scratch / "delays.wish",
            out=scratch / "delays.out",
            is_virtual=is_virtual,
        )
