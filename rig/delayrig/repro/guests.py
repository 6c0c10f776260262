# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual lane with somebody who looks on, or looks in.

Watched from the outside a cell is the very same. Looked at from within it is the same guest, from
the same snapshot, but its idle time passes as on a wall instead of being skipped (`sleep=on`), and
its CPUs and QEMU's main loop do not take turns: keys come when they come. What is seen in it stays
sound, since all clocks of the guest still agree; its times are exact no more.
"""

import asyncio
import contextlib
import os
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from delayrig.delay_probe import DelayWish
from delayrig.guest.arguments import CELL_FW_CFG, SUBJECT_FW_CFG, Hardware
from delayrig.guest.machine import Machine
from delayrig.guest.session import CELL_LIMIT_S, read_results
from delayrig.images.subject import Subject
from delayrig.images.unpacked import provide_root
from delayrig.lanes.lane import Assignment
from delayrig.lanes.virtual import VirtualLane
from delayrig.repro import debugger, terminal
from delayrig.repro.enter import (
    GDBSERVER_STARTS,
    PROMPT,
    SUBJECT_STARTS,
    Entry,
    rewrite_cell,
    write_entered,
)
from delayrig.repro.follow import Show, following, stage_lines, whole_lines
from delayrig.repro.foreground import run_in_foreground
from delayrig.repro.look import EXTRA_S, Look

SOCKET = "console.socket"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedGuests(VirtualLane):
    """Guests of one cell, shown as it goes."""

    show: Show
    look: Look = Look.WATCH
    gdbserver: Subject | None = None
    delay: DelayWish

    def pack(self, assignment: Assignment, scratch: Path) -> Hardware:
        """With what somebody inside needs, where there is somebody."""
        hardware = VirtualLane.pack(self, assignment, scratch)
        if self.look is Look.WATCH:
            return hardware
        words = rewrite_cell(hardware.fw_cfg[CELL_FW_CFG], scratch)
        archive = Path(assignment.subject.archive)
        entered = write_entered(archive, self._entry(assignment), words, scratch)
        return replace(
            hardware,
            turns=None,
            talk=scratch / SOCKET,
            fw_cfg={**hardware.fw_cfg, SUBJECT_FW_CFG: entered},
        )

    def _entry(self, assignment: Assignment) -> Entry:
        shape = assignment.cell.shape
        image = self.supplies.images[shape.arch]
        return Entry(
            look=self.look,
            console=shape.platform.console,
            busybox=Path(image.initrd).parent / "busybox",
            gdbserver=provide_root(self.gdbserver) if self.gdbserver else None,
            terminal=terminal.terminal_size(),
            term=os.environ.get("TERM", "linux"),
        )

    async def finish(
        self, machine: Machine, assignment: Assignment, scratch: Path
    ) -> dict[str, bytes]:
        """What came of the cell; until then it is shown what is done."""
        files = {}
        if assignment.marks:
            files[assignment.marks] = stage_lines("stage")
        if self.look is Look.WATCH:
            files[assignment.folder / "console.log"] = whole_lines("console")
            async with following(files, self.show):
                return await VirtualLane.finish(self, machine, assignment, scratch)
        await machine.resume()
        await attended(machine, self._attend(assignment, scratch), stays=self.look is Look.GDB)
        return await read_results(machine, assignment.cell.shape, scratch)

    async def _attend(self, assignment: Assignment, scratch: Path) -> None:
        socket = scratch / SOCKET
        if self.look is Look.SHELL:
            await terminal.talk(socket, prompt=PROMPT, until=SUBJECT_STARTS)
            return
        await terminal.await_words(socket, GDBSERVER_STARTS)
        words = debugger.remote_words(
            debugger.find_gdb(assignment.cell.arch),
            provide_root(assignment.subject),
            socket,
            debugger.source_folders(self.paths),
            debugger.delay_symbol_of(assignment.subject, self.delay),
        )
        await run_in_foreground(words)
        await terminal.say(socket, debugger.KILL)


async def attended(machine: Machine, visit: Coroutine[Any, Any, None], *, stays: bool) -> None:
    """Until the guest pauses, and the visitor is gone where that one `stays` for longer.

    A person has all the time in the world. Once the visitor is gone the guest has what any has.
    """
    paused = asyncio.ensure_future(machine.wait_paused(limit_s=EXTRA_S))
    visitor = asyncio.ensure_future(visit)
    try:
        await asyncio.wait({paused, visitor}, return_when=asyncio.FIRST_COMPLETED)
        if visitor.done():
            visitor.result()
            await asyncio.wait_for(paused, CELL_LIMIT_S)
        else:
            paused.result()
            if stays:
                await visitor
    finally:
        for task in (paused, visitor):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
