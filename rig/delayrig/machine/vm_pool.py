# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that run one cell after another, each from its snapshot.

Most of the cost of a short cell is the translation of the guest's code. A QEMU that is reset to a
snapshot has done that already, even for a snapshot of another speed, because kernels are at the
same address in all of them. The cell finds the same bytes as in a new QEMU, and has the same times:
`rig/rig selfcheck determinism` compares the two.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from delayrig.base.scratch import ScratchFolder
from delayrig.machine.arguments import Hardware, machine_of
from delayrig.machine.guest_logs import LOG_BYTES_MAX
from delayrig.machine.plugins import read_request, write_request, write_settings
from delayrig.machine.qemu import QemuMachine
from delayrig.machine.ram_reset import CannotResetError
from delayrig.machine.snapshot import RAM, STATES, restored

RESET_NOTE = "reset: cells that this QEMU ran before: "
"""A note in the QEMU log of a cell that ran in a reset guest."""
# emulators/qemu_preload/shared_files.c looks for this suffix.
REFILLED = ".refill"
# Each input file of a guest gets the next larger of these sizes, so that somewhat larger inputs of
# later cells fit, too. They suit a small cell, a flashrom with its libraries, one with many
# libraries, and cells with large chips.
ROOMS_BYTES = [1 << 18, *(mib << 20 for mib in (5, 10, 20, 40, 80))]
CELLS_MAX = 64
"""The most cells that one guest runs.

Each leaves some 2 MB of translations that nothing uses any more.
"""


def can_be_pooled(snapshot: Path) -> bool:
    return (snapshot / STATES).is_file()


class PooledVm:
    """A QEMU with a folder of its own, and files that are filled with the inputs of each cell."""

    def __init__(self, hardware: Hardware, snapshot: Path, cpu: int) -> None:
        self.snapshot = snapshot
        """The snapshot to which it was restored last."""
        self._kind = machine_of(hardware.shape)
        self._states: dict[Path, Path] = {}
        self._folder = ScratchFolder()
        folder = Path(self._folder.name)
        self._names = tuple(hardware.fw_cfg)
        self._files = {
            name: folder / f"{number}{REFILLED}" for number, name in enumerate(hardware.fw_cfg)
        }
        self._filled: dict[str, tuple[Path, int, int, int]] = {}
        """By name, the input that was copied: its path, inode, time of change and length."""
        self._log = folder / "qemu.log"
        self.logs = [folder / hardware.console.name, self._log]
        self._marks = folder / hardware.marks.name if hardware.marks else None
        self.delays = hardware.delays and replace(
            hardware.delays,
            request=folder / hardware.delays.request.name,
            out=folder / hardware.delays.out.name,
        )
        self.chip = hardware.chip and replace(
            hardware.chip, settings=folder / hardware.chip.settings.name
        )
        self._log_begins = dict.fromkeys([*self.logs, *filter(None, [self._marks])], 0)
        """The sizes of the logs when the current cell began."""
        self.machine = QemuMachine(
            replace(
                restored(hardware, snapshot),
                fw_cfg=self._files,
                console=self.logs[0],
                marks=self._marks,
                delays=self.delays,
                chip=self.chip,
                is_reset=True,
            ),
            log=self._log,
            cpu=cpu,
        )
        self._cells = 0

    def fits(self, hardware: Hardware) -> bool:
        return (
            self._cells < CELLS_MAX
            and self._kind == machine_of(hardware.shape)
            and self._names == tuple(hardware.fw_cfg)
            and bool(self._marks) == bool(hardware.marks)
            and bool(self.delays) == bool(hardware.delays)
            and bool(self.chip) == bool(hardware.chip)
            and all(
                path.stat().st_size <= self._files[name].stat().st_size
                for name, path in hardware.fw_cfg.items()
            )
        )

    async def start(self, hardware: Hardware) -> None:
        for name, path in hardware.fw_cfg.items():
            with self._files[name].open("wb") as file:
                size = path.stat().st_size
                file.truncate(next((room for room in ROOMS_BYTES if room >= size), size))
        self._fill(hardware)
        await self.machine.start()

    async def reset(self, hardware: Hardware, snapshot: Path, cpu: int) -> None:
        """Resets the guest to the pause of that snapshot. Raises `CannotResetError`."""
        self._fill(hardware)
        self.machine.move(cpu)
        self.snapshot = snapshot
        if snapshot not in self._states:
            copy = Path(self._folder.name) / f"{len(self._states)}-{STATES}"
            shutil.copyfile(snapshot / STATES, copy)
            self._states[snapshot] = copy
        self._log_begins = {log: log.stat().st_size for log in self._log_begins}
        await self.machine.reset(self._states[snapshot], snapshot / RAM)

    def deliver(self, hardware: Hardware) -> None:
        """Copies this cell's logs and delays to the files that a new machine would write."""
        for log, begin in self._log_begins.items():
            own = hardware.console.with_name(log.name)
            if log.is_file():
                with log.open("rb") as file:
                    file.seek(begin)
                    content = file.read(LOG_BYTES_MAX)
                if log == self._log and self._cells > 1:
                    content = f"{RESET_NOTE}{self._cells - 1}\n".encode() + content
                own.write_bytes(content)
        if self.delays is not None and hardware.delays is not None:
            hardware.delays.out.write_bytes(self.delays.saw())

    async def end(self, hardware: Hardware | None = None) -> None:
        """Ends the guest, after copying the logs of its last cell if its `hardware` is given."""
        await asyncio.shield(self.machine.stop())
        try:
            if hardware is not None:
                self.deliver(hardware)
        finally:
            self._folder.cleanup()

    def _fill(self, hardware: Hardware) -> None:
        self._cells += 1
        if self.delays is not None and hardware.delays is not None:
            write_request(self.delays.request, read_request(hardware.delays.request), self._cells)
        if self.chip is not None and hardware.chip is not None:
            write_settings(self.chip.settings, hardware.chip.values, self._cells)
        for name, path in hardware.fw_cfg.items():
            now, before = path.stat(), self._filled.get(name)
            content = (path, now.st_ino, now.st_mtime_ns, now.st_size)
            if content == before:
                continue
            with self._files[name].open("r+b") as file, path.open("rb") as source:
                shutil.copyfileobj(source, file)
                if before is not None:
                    file.write(bytes(max(before[-1] - now.st_size, 0)))
            self._filled[name] = content


class VmPool:
    """The guests of a run that wait for their next cell, at most `room` at a time."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._idle: list[PooledVm] = []

    @asynccontextmanager
    async def lend(self, hardware: Hardware, snapshot: Path, cpu: int) -> AsyncIterator[PooledVm]:
        """Yields a guest at the pause of that snapshot, with the files of `hardware`.

        It is used for another cell if this one ends well.
        """
        guest = await self._take(hardware, snapshot, cpu)
        try:
            yield guest
            await asyncio.to_thread(guest.deliver, hardware)
        except BaseException:
            await guest.end(hardware)
            raise
        self._idle.append(guest)
        await self._make_room(self._room)

    async def end(self) -> None:
        await self._make_room(0)

    async def _take(self, hardware: Hardware, snapshot: Path, cpu: int) -> PooledVm:
        while guest := self._take_idle(hardware, snapshot):
            try:
                await guest.reset(hardware, snapshot, cpu)
                return guest
            except CannotResetError:
                await guest.end()
            except BaseException:
                await guest.end()
                raise
        await self._make_room(self._room - 1)
        guest = PooledVm(hardware, snapshot, cpu)
        try:
            await guest.start(hardware)
        except BaseException:
            await guest.end(hardware)
            raise
        return guest

    def _take_idle(self, hardware: Hardware, snapshot: Path) -> PooledVm | None:
        """Takes a guest that fits, preferably of this snapshot.

        It is removed from the idle ones, so no other cell takes it.
        """
        fitting = [guest for guest in self._idle if guest.fits(hardware)]
        chosen = min(fitting, key=lambda guest: guest.snapshot != snapshot, default=None)
        if chosen is not None:
            self._idle.remove(chosen)
        return chosen

    async def _make_room(self, left: int) -> None:
        while len(self._idle) > left:
            await self._idle.pop(0).end()
