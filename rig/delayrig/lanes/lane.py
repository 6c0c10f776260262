# SPDX-License-Identifier: GPL-2.0-or-later
"""The interface of a lane."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from delayrig.base.paths import Paths
from delayrig.lanes.scheduler import Grouping
from delayrig.lanes.stages import StageWatch
from delayrig.lanes.supplies import Supplies
from delayrig.machine.plugins import DelayWatch
from delayrig.model.cell import Cell
from delayrig.model.chips import ChipFacts
from delayrig.model.result import NotProvided, RunHeader
from delayrig.plan.request import Request
from delayrig.subjects.delay_function import DelayFunction
from delayrig.subjects.subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A cell to run now, with all of its inputs."""

    cell: Cell
    chip: ChipFacts
    chip_name: str
    """The subject's name for the chip."""
    subject: Subject
    folder: Path
    """The folder for everything by which the cell is judged."""
    cpu: int
    """The CPU of this machine that the cell may use while it runs."""
    watch: StageWatch
    marks: Path | None = None
    """The file in which QEMU records the guest's stages; None: not recorded."""
    delays: tuple[DelayFunction, ...] = ()
    """The subject's delay functions, which QEMU watches."""


class Lane(Protocol):
    """A lane with all inputs of the cells of one run, ready to run any of them."""

    @property
    def programs(self) -> list[Subject]:
        """Returns every subject that was packed."""

    def subject_of(self, cell: Cell) -> Subject | None:
        """Returns the cell's subject; None if it could not be provided."""

    def grouping(self, cell: Cell, /) -> Grouping:
        """Returns the cell's group. The cells of one group should run one after the other."""

    def missing(self, cell: Cell) -> NotProvided | None:
        """Returns what the archive did not deliver for the cell; None if nothing is missing."""

    def refusal(self, cell: Cell) -> str:
        """Returns why this lane cannot run the cell; empty if it can."""

    def header(self) -> RunHeader:
        """Returns the header of a run that begins now."""

    async def run_cell(self, assignment: Assignment) -> float:
        """Runs the cell; returns its host time in seconds. Raises `LostGuestError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestLane:
    """The common part of lanes whose cells run in guests."""

    request: Request
    supplies: Supplies
    paths: Paths

    @property
    def programs(self) -> list[Subject]:
        return self.supplies.programs

    def subject_of(self, cell: Cell) -> Subject | None:
        return self.supplies.subject_of(cell)

    def grouping(self, _cell: Cell, /) -> Grouping:
        return Grouping()

    def missing(self, cell: Cell) -> NotProvided | None:
        return self.supplies.missing_for(cell)

    def watch(self, scratch: Path, *, is_virtual: bool) -> DelayWatch:
        """Returns the watch of a cell's delays, with files in `scratch`."""
        return DelayWatch(
            plugin=self.paths.delay_plugin,
            request=scratch / "delays.request",
            out=scratch / "delays.out",
            is_virtual=is_virtual,
        )
