# SPDX-License-Identifier: GPL-2.0-or-later
"""The lanes of guests with somebody who looks on, or looks in.

Watched from the outside a cell is the very same. Looked at from within a virtual guest is from the
same snapshot, but its idle time passes as on a wall instead of being skipped (`sleep=on`), and
its CPUs and QEMU's main loop do not take turns: keys come when they come. What is seen in it stays
sound, since all clocks of the guest still agree; its times are exact no more.

With `sleep=on` QEMU's main loop has to set a timer for the end of the guest's idle time (10.0:
icount_start_warp_timer()), and now and then it sets none: its CPUs are halted, it waits without a
limit, and anything that has it go round once lets the guest go on. That was seen in a third of the
starts of gdb where a program in the guest asks for the time each millisecond. So it is woken.

The cores of a live guest have the speeds of the cell from the moment that the subject would have
started: a shell is as slow as the subject. What a cell does at a time counts from then, too.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

from delayrig.analysis.repro.guest_entry import Visit
from delayrig.analysis.repro.look import (
    EXTRA_S,
    Show,
    ShownWatch,
    Told,
    following,
    stage_lines,
    stages_told,
    whole_lines,
)
from delayrig.base.errors import LostGuestError
from delayrig.hazards.of_cell import shape_of
from delayrig.lanes.lane import Assignment
from delayrig.lanes.live_lane import LiveLane
from delayrig.lanes.virtual_lane import VirtualLane
from delayrig.machine.arguments import Hardware
from delayrig.machine.machine import Machine
from delayrig.machine.session import read_results

WAKE_EACH_S = 0.1


@contextlib.asynccontextmanager
async def kept_awake(machine: Machine) -> AsyncIterator[None]:
    """Wakes the machine's QEMU until this is left. Who waits for a lost guest is told elsewhere."""
    over = asyncio.Event()
    waking = asyncio.create_task(_wake_until(over, machine))
    try:
        yield
    finally:
        over.set()  # not cancelled: an answer that nobody waits for would end the connection
        await waking


async def _wake_until(over: asyncio.Event, machine: Machine) -> None:
    with contextlib.suppress(LostGuestError):
        while not over.is_set():
            await machine.wake()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WAKE_EACH_S):
                    await over.wait()


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedGuests(VirtualLane):
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
        async with kept_awake(machine):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedLiveGuests(LiveLane):
    show: Show
    told: Told | None = None
    """Is told of each stage instead, where somebody explains them."""

    async def run_cell(self, assignment: Assignment) -> float:
        """Shows stages and console; a visitor has the terminal alone, and sees the console."""
        if self.visitor is not None:
            return await LiveLane.run_cell(self, assignment)
        files = {assignment.folder / "console.log": whole_lines("console")}
        watch = ShownWatch(self.told or stages_told(self.show))
        async with following(files, self.show):
            return await LiveLane.run_cell(self, replace(assignment, watch=watch))
