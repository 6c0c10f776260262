# SPDX-License-Identifier: GPL-2.0-or-later
"""Booted guests on disk, one per shape: a cell starts from there in a tenth of a second."""

import asyncio
import shutil
import tempfile
from functools import cache
from pathlib import Path

from delayrig import digest
from delayrig.guest import arguments
from delayrig.guest.arguments import Hardware
from delayrig.guest.qemu import PROGRAM, QemuMachine
from delayrig.guest.shape import GuestShape
from delayrig.images.guest_image import GuestImage
from delayrig.paths import Paths

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
    """The snapshot of that shape, booted and saved where it is not there yet."""
    path = snapshot_path(shape, image, paths)
    if path.is_file():
        return path
    paths.snapshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=paths.snapshots, prefix="boot-") as scratch:
        folder = Path(scratch)
        hardware = boot_hardware(shape, image, folder / "console.log")
        machine = QemuMachine(hardware, log=folder / "qemu.log", cpu=cpu)
        try:
            await machine.start()
            await machine.wait_paused(limit_s=BOOT_LIMIT_S)
            await machine.save(folder / "snapshot", limit_s=SAVE_LIMIT_S)
        finally:
            await asyncio.shield(machine.stop())
        (folder / "snapshot").rename(path)
    return path
