# SPDX-License-Identifier: GPL-2.0-or-later
"""Booted guests on disk, one per shape: a cell starts from there in a tenth of a second.

A snapshot is a folder: the state of the devices, and RAM as a file of its own, which each restored
guest maps for itself. So nothing is read that the guest does not touch, and the host keeps one
copy of it for all guests. libvirt has no words for that: it gets all in one file, made when asked.
QEMU reads the kernel that it is given, 14 MB, though a restored guest has booted long ago: it is
given the first bytes alone, which it cannot do without.
"""

import asyncio
import contextlib
import os
import shutil
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

from delayrig.base import digest
from delayrig.base.atomic_file import place_folder
from delayrig.base.errors import LostGuestError
from delayrig.base.paths import Paths
from delayrig.images.guest_image import GuestImage
from delayrig.machine import arguments
from delayrig.machine.arguments import Hardware
from delayrig.machine.device_state import made_loadable
from delayrig.machine.live_image import LiveImage
from delayrig.machine.qemu import QemuMachine
from delayrig.machine.ram_reset import CannotResetError, write_digests
from delayrig.machine.session import finish_guest
from delayrig.machine.sparse_seal import add_to_seal, damaged, seal
from delayrig.model.shape import SHIFT_MAX, GuestShape
from delayrig.setup.scratch import scratch_beside

BOOT_LIMIT_S = 120.0
SAVE_LIMIT_S = 60.0
UNUSED_DROPPED_AFTER_S = 24 * 3600
RUN_ASKS_WITHIN_S = 6 * 3600
"""A run asks for its own at its start; hardly any lasts longer."""
ALL_BYTES_MAX = 6 << 30
"""Two sets of those that `default`, `live` and `gate` need."""
BLOCK_BYTES = 512
"""Of `st_blocks` (stat(2))."""
FORMAT = 10
STATE, RAM, WHOLE, KERNEL = "state", "ram", "whole", "kernel"
STATES = "states.qcow2"
"""To be reset to; not there for machines that cannot be."""
# Of the kernel: more than its real-mode part, which ends below 32 KiB (Linux x86 boot protocol);
# of arm64 its header would do.
KERNEL_BYTES = 1 << 16


def boot_hardware(
    shape: GuestShape, image: GuestImage | LiveImage, preload: Path, console: Path
) -> Hardware:
    """The machine that boots; where it gets a snapshot, up to the moment of that."""
    return Hardware(
        shape=shape,
        preload=preload,
        kernel=Path(image.kernel),
        initrd=Path(image.initrd),
        console=console,
    )


@cache
def qemu_sha256(name: str) -> str:
    """Which build of QEMU this is: another one may count instructions in another way."""
    program = shutil.which(name)
    return digest.of_file(Path(program)) if program else ""


def snapshot_path(shape: GuestShape, image: GuestImage, paths: Paths) -> Path:
    """Where the snapshot of that shape is, or will be; named by all that it is made of."""
    platform = shape.platform
    parts = [
        FORMAT,
        qemu_sha256(platform.program),
        digest.of_file(paths.qemu_preload),
        image.kernel_sha256,
        image.initrd_sha256,
        arguments.kernel_command_line(shape),
        arguments.timing_arguments(shape),
        [platform.machine, platform.cpu_model, platform.cpu_options, platform.firmware],
        [platform.pause_device, arguments.RAM_MIB],
        shape.cores,
    ]
    return paths.snapshots / f"{shape.name}-{digest.of_value(parts)[:16]}.snapshot"


async def provide_snapshot(shape: GuestShape, image: GuestImage, paths: Paths, cpu: int) -> Path:
    """The snapshot of that shape, booted and saved where it is not there yet.

    Two of one name behave the same to the nanosecond.
    """
    path = snapshot_path(shape, image, paths)
    if path.is_dir():
        os.utime(path)
        return path
    drop_unused(paths.snapshots, now_s=time.time())
    with scratch_beside(path) as scratch:
        snapshot = await _boot(shape, image, paths.qemu_preload, scratch, cpu)
        place_folder(snapshot, path)
    return path


def drop_damaged(path: Path) -> str:
    """Throws a snapshot away that is not as it was made, and tells what it was; empty: it is.

    Of 64 MB that takes 0.1 s, so whoever runs many cells from it asks once, before the first.
    """
    if not path.is_dir():
        return ""
    fault = damaged(path, (WHOLE,))
    if fault:
        # Guests that map its files keep what they have.
        with scratch_beside(path) as aside, contextlib.suppress(FileNotFoundError):
            path.rename(aside / path.name)  # where no other run found the same
    return fault


def drop_unused(snapshots: Path, *, now_s: float) -> None:
    """Removes those that no run asked for lately: each new agent or kernel leaves a set behind.

    What is left keeps to `ALL_BYTES_MAX`, but for those that a run may have asked for.
    """
    found = []
    for path in snapshots.glob("*.snapshot"):
        with contextlib.suppress(FileNotFoundError):
            found.append((now_s - path.stat().st_mtime, path))
    room = ALL_BYTES_MAX
    for unused_s, path in sorted(found):
        for file in path.glob("*"):
            with contextlib.suppress(FileNotFoundError):
                room -= file.stat().st_blocks * BLOCK_BYTES
        if unused_s > UNUSED_DROPPED_AFTER_S or (room < 0 and unused_s > RUN_ASKS_WITHIN_S):
            shutil.rmtree(path, ignore_errors=True)


def restored(hardware: Hardware, snapshot: Path) -> Hardware:
    """The same machine, which resumes from the snapshot instead of booting."""
    kernel, state, memory = (snapshot / name for name in (KERNEL, STATE, RAM))
    return replace(hardware, kernel=kernel, incoming=state, memory=memory)


def restored_whole(hardware: Hardware, snapshot: Path) -> Hardware:
    """The same from the one file with everything in it, which `provide_whole` made."""
    return replace(hardware, kernel=snapshot / KERNEL, incoming=snapshot / WHOLE)


async def provide_whole(hardware: Hardware, snapshot: Path, cpu: int) -> None:
    """Makes the one file, where it is not there yet, from a machine that never runs."""
    if (snapshot / WHOLE).is_file():
        return
    with scratch_beside(snapshot) as folder:
        machine = QemuMachine(
            restored(replace(hardware, console=folder / "console.log"), snapshot),
            log=folder / "qemu.log",
            cpu=cpu,
        )
        try:
            await machine.start()
            await machine.save(folder / WHOLE, whole=True, limit_s=SAVE_LIMIT_S)
        finally:
            await asyncio.shield(machine.stop())
        await asyncio.to_thread(add_to_seal, snapshot, folder / WHOLE)
        (folder / WHOLE).rename(snapshot / WHOLE)


async def _boot(
    shape: GuestShape, image: GuestImage, preload: Path, folder: Path, cpu: int
) -> Path:
    snapshot = folder / "snapshot"
    snapshot.mkdir()
    hardware = boot_hardware(shape, image, preload, folder / "console.log")
    hardware = replace(hardware, memory=snapshot / RAM)
    machine = QemuMachine(hardware, log=folder / "qemu.log", cpu=cpu)
    try:
        await machine.start()
        await machine.wait_paused(limit_s=BOOT_LIMIT_S)
        await machine.save(snapshot / STATE, whole=False, limit_s=SAVE_LIMIT_S)
        states = None
        if shape.platform.can_be_reset:
            await machine.save_states(folder / STATES)
            states = made_loadable(
                (folder / STATES).read_bytes(), cores=shape.cores, icount_shift=shape.icount_shift
            )
        with hardware.kernel.open("rb") as kernel:
            (snapshot / KERNEL).write_bytes(kernel.read(KERNEL_BYTES))
    finally:
        await asyncio.shield(machine.stop())
    if states is not None:
        write_digests(snapshot / RAM)
        (folder / STATES).write_bytes(states)
        if await _is_same_again(hardware, snapshot, folder, cpu):
            (folder / STATES).rename(snapshot / STATES)
    await asyncio.to_thread(seal, snapshot)
    return snapshot


async def _is_same_again(hardware: Hardware, snapshot: Path, folder: Path, cpu: int) -> bool:
    """Whether a guest without a cell tells the same in machines that are reset to it.

    One of them was started from it, and has run; the other one was told another speed.
    """
    shape = hardware.shape
    other = replace(shape, icount_shift=(shape.icount_shift + 1) % (SHIFT_MAX + 1))
    told: list[dict[str, bytes]] = []
    for started in (shape, other):
        machine = QemuMachine(
            replace(restored(hardware, snapshot), shape=started, is_reset=True),
            log=folder / "qemu.log",
            cpu=cpu,
        )
        states = folder / f"{started.name}-{STATES}"
        shutil.copyfile(folder / STATES, states)
        try:
            await machine.start()
            if started is shape:
                told.append(await finish_guest(machine, shape, folder))
            await machine.reset(states, snapshot / RAM)
            told.append(await finish_guest(machine, shape, folder))
        except (CannotResetError, LostGuestError):
            if not told:
                raise
            return False
        finally:
            await asyncio.shield(machine.stop())
    return all(again == told[0] for again in told)
