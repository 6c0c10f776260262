# SPDX-License-Identifier: GPL-2.0-or-later
"""Booted guests on disk, one per shape: a cell starts from there in a tenth of a second."""

import asyncio
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from delayrig import digest
from delayrig.errors import LostGuestError
from delayrig.events import first, parse_events
from delayrig.guest import arguments
from delayrig.guest.arguments import Hardware
from delayrig.guest.qemu import PROGRAM, QemuMachine
from delayrig.guest.session import run_guest
from delayrig.guest.shape import GuestShape
from delayrig.images.guest_image import GuestImage
from delayrig.paths import Paths

# More than the agent takes between its two looks at the clock, less than any timer is away.
SKIPPED_INSTRUCTIONS_MAX = 50
BOOTS_MAX = 12
BOOT_LIMIT_S = 120.0
SAVE_LIMIT_S = 60.0


def boot_hardware(shape: GuestShape, image: GuestImage, console: Path) -> Hardware:
    """The machine that boots to the moment of the snapshot."""
    return Hardware(
        shape=shape, kernel=Path(image.kernel), initrd=Path(image.initrd), console=console
    )


@cache
def qemu_sha256() -> str:
    """Which build of QEMU this is: another one may count instructions in another way."""
    program = shutil.which(PROGRAM)
    return digest.of_file(Path(program)) if program else ""


def snapshot_path(shape: GuestShape, image: GuestImage, paths: Paths) -> Path:
    """Where the snapshot of that shape is, or will be; named by all that it is made of."""
    parts = [
        qemu_sha256(),
        image.kernel_sha256,
        image.initrd_sha256,
        arguments.kernel_command_line(shape),
        arguments.timing_arguments(shape),
        [arguments.MACHINE, arguments.CPU_MODEL, arguments.FIRMWARE, arguments.RAM_MIB],
        shape.cores,
    ]
    return paths.snapshots / f"{shape.name}-{digest.of_value(parts)[:16]}.snapshot"


async def provide_snapshot(shape: GuestShape, image: GuestImage, paths: Paths, cpu: int) -> Path:
    """The snapshot of that shape, booted and saved where it is not there yet.

    Two that are accepted behave the same to the nanosecond, whichever machine made them.
    """
    path = snapshot_path(shape, image, paths)
    if path.is_file():
        return path
    paths.snapshots.mkdir(parents=True, exist_ok=True)
    for _ in range(BOOTS_MAX):
        with tempfile.TemporaryDirectory(dir=paths.snapshots, prefix="boot-") as scratch:
            folder = Path(scratch)
            snapshot = await _boot(shape, image, folder, cpu)
            skipped_ns = await _skipped_ns(shape, image, snapshot, folder, cpu)
            if skipped_ns >> shape.icount_shift <= SKIPPED_INSTRUCTIONS_MAX:
                snapshot.rename(path)
                return path
    raise LostGuestError(
        f"{shape.name}: {BOOTS_MAX} snapshots in a row had idle time skipped while they stopped",
        hint="is this machine very busy? try again when it is not",
    )


async def _boot(shape: GuestShape, image: GuestImage, folder: Path, cpu: int) -> Path:
    hardware = boot_hardware(shape, image, folder / "console.log")
    machine = QemuMachine(hardware, log=folder / "qemu.log", cpu=cpu)
    try:
        await machine.start()
        await machine.wait_paused(limit_s=BOOT_LIMIT_S)
        await machine.save(folder / "snapshot", limit_s=SAVE_LIMIT_S)
    finally:
        await asyncio.shield(machine.stop())
    return folder / "snapshot"


async def _skipped_ns(
    shape: GuestShape, image: GuestImage, snapshot: Path, folder: Path, cpu: int
) -> int:
    """Restores it with no cell to run: the agent tells how far the clock went while it stopped."""
    hardware = replace(boot_hardware(shape, image, folder / "restored.log"), incoming=snapshot)
    machine = QemuMachine(hardware, log=folder / "qemu.log", cpu=cpu)
    try:
        entries = await run_guest(machine, folder)
    finally:
        await asyncio.shield(machine.stop())
    events = parse_events(entries["agent.jsonl"], source="the agent's events")
    resumed = first(events, "resumed")
    if resumed is None:
        raise LostGuestError(f"{shape.name}: the agent does not tell when it was resumed")
    return int(resumed["skipped_ns"])
