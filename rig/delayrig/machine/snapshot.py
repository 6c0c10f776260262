# SPDX-License-Identifier: GPL-2.0-or-later
"""Booted guests on disk, one per shape: a cell starts from there in a tenth of a second.

A snapshot is a folder with the state of the devices, and the RAM as a file of its own, which each
restored guest maps privately. So memory that the guest does not touch is not read, and the host
keeps one copy of it for all guests. libvirt cannot express that: it gets everything in one file,
which is made on request. QEMU reads all of its kernel file, 14 MB, even for a restored guest. So a
snapshot has a kernel file with the first bytes alone, which QEMU needs.
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
from delayrig.machine import arguments
from delayrig.machine.arguments import FW_CFG_NAMES, NO_FILE, Hardware
from delayrig.machine.device_state import made_loadable
from delayrig.machine.live_image import LiveImage
from delayrig.machine.plugins import ChipPlugin
from delayrig.machine.qemu import QemuMachine
from delayrig.machine.ram_reset import CannotResetError, write_digests
from delayrig.machine.session import finish_guest
from delayrig.model.cell import Programmer
from delayrig.model.programmers import DEVICES
from delayrig.model.shape import SHIFT_MAX, GuestShape
from delayrig.setup.scratch import scratch_beside
from delayrig.subjects.guest_image import GuestImage
from delayrig.subjects.seal import add_to_sparse_seal, seal_sparse, sparse_fault

BOOT_LIMIT_S = 120.0
SAVE_LIMIT_S = 60.0
UNUSED_DROPPED_AFTER_S = 24 * 3600
RUN_ASKS_WITHIN_S = 6 * 3600
"""The age from which a snapshot may be removed to make room.

A run marks a snapshot as used before the first cell of its shape, and few runs last longer than
this.
"""
ALL_BYTES_MAX = 6 << 30
"""The limit of all snapshots: twice the size of those that `default` and `gate` need."""
BLOCK_BYTES = 512
"""The unit of `st_blocks` (stat(2))."""
FORMAT = 11
STATE, RAM, WHOLE, KERNEL = "state", "ram", "whole", "kernel"
STATES = "states.qcow2"
"""The state for resets; missing if the machine cannot be reset."""
# The size of a snapshot's kernel file. It contains the kernel's real-mode part, which ends below
# 32 KiB (Linux x86 boot protocol). On arm64 the kernel's header would be enough.
KERNEL_BYTES = 1 << 16


def boot_hardware(
    shape: GuestShape, image: GuestImage | LiveImage, preload: Path, console: Path
) -> Hardware:
    """Returns the machine that boots and makes the snapshot.

    The firmware reads the list of fw_cfg files, so a guest boots with the names that it will need.
    """
    return Hardware(
        shape=shape,
        preload=preload,
        kernel=Path(image.kernel),
        initrd=Path(image.initrd),
        console=console,
        fw_cfg=dict.fromkeys(FW_CFG_NAMES, NO_FILE),
    )


@cache
def qemu_sha256(name: str) -> str:
    """Returns the digest of that QEMU; empty if it is missing.

    Another build may count instructions in another way.
    """
    program = shutil.which(name)
    return digest.of_file(Path(program)) if program else ""


def snapshot_path(shape: GuestShape, image: GuestImage, paths: Paths) -> Path:
    """Returns the path of the snapshot of that shape. Its name depends on all of its inputs."""
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
        *([platform.qemu_words] if platform.qemu_words else []),
        *([arguments.cpu_argument(shape)] if shape.cpu else []),
        *([arguments.device_arguments(shape)] if shape.programmer else []),
        *([digest.of_file(paths.chip_plugin)] if _has_device_of_plugin(shape) else []),
    ]
    return paths.snapshots / f"{shape.name}-{digest.of_value(parts)[:16]}.snapshot"


async def provide_snapshot(shape: GuestShape, image: GuestImage, paths: Paths, cpu: int) -> Path:
    """Returns the snapshot of that shape, after booting and saving it if it is missing.

    Two snapshots of one name behave the same to the nanosecond.
    """
    path = snapshot_path(shape, image, paths)
    if path.is_dir():
        os.utime(path)
        return path
    drop_unused(paths.snapshots, now_s=time.time())
    with scratch_beside(path) as scratch:
        snapshot = await _boot(shape, image, paths, scratch, cpu)
        place_folder(snapshot, path)
    return path


def drop_damaged(path: Path) -> str:
    """Removes a snapshot that is damaged, and returns the damage; empty if it is sound.

    The check takes 0.1 s for 64 MB, so a run does it once, before its first cell.
    """
    if not path.is_dir():
        return ""
    fault = sparse_fault(path, (WHOLE,))
    if fault:
        # Guests that map its files keep their content.
        with scratch_beside(path) as aside, contextlib.suppress(FileNotFoundError):
            path.rename(aside / path.name)  # Another run may have removed it for the same reason.
    return fault


def drop_unused(snapshots: Path, *, now_s: float) -> None:
    """Removes snapshots that no run used lately: a new agent or kernel makes the old ones useless.

    Of the others it keeps those used last, up to `ALL_BYTES_MAX` together, and all that a run may
    be using.
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
    """Returns the same machine, which resumes from the snapshot instead of booting."""
    kernel, state, memory = (snapshot / name for name in (KERNEL, STATE, RAM))
    return replace(hardware, kernel=kernel, incoming=state, memory=memory)


def restored_whole(hardware: Hardware, snapshot: Path) -> Hardware:
    """Returns the same machine, resumed from the complete file of `provide_whole`."""
    return replace(hardware, kernel=snapshot / KERNEL, incoming=snapshot / WHOLE)


async def provide_whole(hardware: Hardware, snapshot: Path, cpu: int) -> None:
    """Makes the complete file, if it is missing, from a machine that never runs."""
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
        await asyncio.to_thread(add_to_sparse_seal, snapshot, folder / WHOLE)
        (folder / WHOLE).rename(snapshot / WHOLE)


def _has_device_of_plugin(shape: GuestShape) -> bool:
    return bool(shape.programmer) and DEVICES[Programmer(shape.programmer)].is_of_plugin


def plugin_without_chip(shape: GuestShape, plugin: Path, folder: Path) -> ChipPlugin | None:
    """Returns the chip plugin without a chip yet; None if it does not make the programmer."""
    if not _has_device_of_plugin(shape):
        return None
    settings = folder / "chip.settings"
    settings.touch()
    front = DEVICES[Programmer(shape.programmer)].front
    return ChipPlugin(plugin=plugin, front=front, settings=settings, values={})


async def _boot(shape: GuestShape, image: GuestImage, paths: Paths, folder: Path, cpu: int) -> Path:
    snapshot = folder / "snapshot"
    snapshot.mkdir()
    hardware = boot_hardware(shape, image, paths.qemu_preload, folder / "console.log")
    chip = plugin_without_chip(shape, paths.chip_plugin, folder)
    hardware = replace(hardware, memory=snapshot / RAM, chip=chip)
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
    await asyncio.to_thread(seal_sparse, snapshot)
    return snapshot


async def _is_same_again(hardware: Hardware, snapshot: Path, folder: Path, cpu: int) -> bool:
    """Returns True if a guest without a cell gives the same results after each kind of reset.

    The first machine is reset after a run from the snapshot, the second from another speed.
    """
    shape = hardware.shape
    other = replace(shape, icount_shift=(shape.icount_shift + 1) % (SHIFT_MAX + 1))
    results: list[dict[str, bytes]] = []
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
                results.append(await finish_guest(machine, shape, folder))
            await machine.reset(states, snapshot / RAM)
            results.append(await finish_guest(machine, shape, folder))
        except (CannotResetError, LostGuestError):
            if not results:
                raise
            return False
        finally:
            await asyncio.shield(machine.stop())
    return all(again == results[0] for again in results)
