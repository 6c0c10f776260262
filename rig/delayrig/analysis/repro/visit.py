# SPDX-License-Identifier: GPL-2.0-or-later
"""Somebody inside a guest, whichever lane it is of: what it is given, and how it is met."""

import asyncio
import contextlib
import os
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from delayrig.analysis.repro import debugger, terminal
from delayrig.analysis.repro.debugger import delay_stops
from delayrig.analysis.repro.guest_entry import (
    GDBSERVER_STARTS,
    PROMPT,
    SUBJECT_STARTS,
    Entry,
    rewrite_cell,
    write_entered,
)
from delayrig.analysis.repro.look import EXTRA_S, Look
from delayrig.analysis.repro.terminal import run_in_foreground
from delayrig.base.errors import LostGuestError
from delayrig.base.paths import Paths
from delayrig.hazards.of_cell import shape_of
from delayrig.images.delay_function import DelayWish
from delayrig.images.subject import Subject
from delayrig.images.unpacked_subjects import provide_root
from delayrig.lanes.lane import Assignment
from delayrig.lanes.supplies import Supplies
from delayrig.machine.arguments import CELL_FW_CFG, SUBJECT_FW_CFG, Hardware
from delayrig.machine.session import CELL_LIMIT_S

SOCKET = "console.socket"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A shell or gdb, in a guest of one cell."""

    look: Look
    gdbserver: Subject | None
    delay: DelayWish

    @property
    def extra_s(self) -> int:
        return EXTRA_S

    def entered(
        self, hardware: Hardware, assignment: Assignment, supplies: Supplies, scratch: Path
    ) -> Hardware:
        """The machine with a console, and what the visitor needs; kept below `scratch`."""
        words = rewrite_cell(hardware.fw_cfg[CELL_FW_CFG], scratch)
        archive = Path(assignment.subject.archive)
        entry = self._entry(assignment, supplies)
        entered = write_entered(archive, entry, words, scratch)
        return replace(
            hardware,
            preload=None,
            talk=scratch / SOCKET,
            fw_cfg={**hardware.fw_cfg, SUBJECT_FW_CFG: entered},
        )

    def _entry(self, assignment: Assignment, supplies: Supplies) -> Entry:
        shape = shape_of(assignment.cell)
        image = supplies.images[shape.arch]
        return Entry(
            look=self.look,
            console=shape.platform.console,
            busybox=Path(image.initrd).parent / "busybox",
            gdbserver=provide_root(self.gdbserver) if self.gdbserver else None,
            terminal=terminal.terminal_size(),
            term=os.environ.get("TERM", "linux"),
        )

    async def beside(
        self, guest: Coroutine[Any, Any, T], assignment: Assignment, paths: Paths, scratch: Path
    ) -> T:
        """Until the guest is done, and the visitor is gone: gdb is its user's to the end."""
        visit = self._attend(assignment, paths, scratch)
        return await attended(guest, visit, stays=self.look is Look.GDB)

    async def _attend(self, assignment: Assignment, paths: Paths, scratch: Path) -> None:
        """Until the visitor leaves the subject alone."""
        socket = scratch / SOCKET
        if self.look is Look.SHELL:
            await terminal.talk(socket, prompt=PROMPT, until=SUBJECT_STARTS)
            return
        await terminal.await_words(socket, GDBSERVER_STARTS)
        words = debugger.remote_words(
            debugger.find_gdb(assignment.cell.arch),
            provide_root(assignment.subject),
            socket,
            debugger.source_folders(paths),
            delay_stops(assignment.subject, self.delay),
        )
        await run_in_foreground(words)
        await terminal.say(socket, debugger.KILL)


async def attended(
    guest: Coroutine[Any, Any, T], visit: Coroutine[Any, Any, None], *, stays: bool
) -> T:
    """Until the guest is done, soon after its visitor is gone; that one too where it `stays`."""
    done, visitor = asyncio.ensure_future(guest), asyncio.ensure_future(visit)
    try:
        await asyncio.wait({done, visitor}, return_when=asyncio.FIRST_COMPLETED)
        if not visitor.done():
            done.result()
            if stays:
                await visitor
            return done.result()
        visitor.result()
        return await asyncio.wait_for(done, CELL_LIMIT_S)
    except TimeoutError:
        raise LostGuestError(
            f"the guest did not end within {CELL_LIMIT_S:g} s after its visitor left"
        ) from None
    finally:
        for task in (done, visitor):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
