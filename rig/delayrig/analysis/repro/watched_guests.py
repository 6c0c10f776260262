# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual lane with somebody who looks on, or looks in.

Watched from the outside a cell is the very same. Looked at from within it is the same guest, from
the same snapshot, but its idle time passes as on a wall instead of being skipped (`sleep=on`), and
its CPUs and QEMU's main loop do not take turns: keys come when they come. What is seen in it stays
sound, since all clocks of the guest still agree; its times are exact no more.
"""

from dataclasses import dataclass
from pathlib import Path

from delayrig.analysis.repro.follow_files import Show, following, stage_lines, whole_lines
from delayrig.analysis.repro.look import EXTRA_S
from delayrig.analysis.repro.visit import Visit
from delayrig.hazards.of_cell import shape_of
from delayrig.lanes.lane import Assignment
from delayrig.lanes.virtual_lane import VirtualLane
from delayrig.machine.arguments import Hardware
from delayrig.machine.machine import Machine
from delayrig.machine.session import read_results


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedGuests(VirtualLane):
    """Guests of one cell, shown as it goes."""

    show: Show
    visit: Visit | None = None

    def pack(self, assignment: Assignment, scratch: Path) -> Hardware:
        """With what somebody inside needs, where there is somebody."""
        hardware = VirtualLane.pack(self, assignment, scratch)
        if self.visit is None:
            return hardware
        return self.visit.entered(hardware, assignment, self.supplies, scratch)

    async def finish(
        self, machine: Machine, assignment: Assignment, scratch: Path
    ) -> dict[str, bytes]:
        """What came of the cell; until then it is shown what is done."""
        if self.visit is None:
            return await self._watched(machine, assignment, scratch)
        await machine.resume()
        guest = machine.wait_paused(limit_s=EXTRA_S)
        await self.visit.beside(guest, assignment, self.paths, scratch)
        return await read_results(machine, shape_of(assignment.cell), scratch)

    async def _watched(
        self, machine: Machine, assignment: Assignment, scratch: Path
    ) -> dict[str, bytes]:
        files = {}
        if assignment.marks:
            files[assignment.marks] = stage_lines("stage")
        files[assignment.folder / "console.log"] = whole_lines("console")
        async with following(files, self.show):
            return await VirtualLane.finish(self, machine, assignment, scratch)
