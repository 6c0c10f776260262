# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one cell in a guest of the virtual lane, and leaves what was seen in the cell's folder."""

import asyncio
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from delayrig import dummy
from delayrig.cell import Cell
from delayrig.chips import ChipFacts
from delayrig.delay_probe import DelayFunction, read_trace, trace_lines
from delayrig.events import merge_events
from delayrig.guest.arguments import (
    BRIDGE_FW_CFG,
    CELL_FW_CFG,
    SUBJECT_FW_CFG,
    Hardware,
)
from delayrig.guest.machine import Machine
from delayrig.guest.qemu import QemuMachine
from delayrig.guest.session import finish_guest
from delayrig.guest.snapshot import (
    BOOT_LIMIT_S,
    boot_hardware,
    provide_whole,
    restored,
    restored_whole,
)
from delayrig.images.subject import Subject
from delayrig.paths import Paths
from delayrig.payload import SUBJECT_ROOT, write_payload
from delayrig.stages import KEEP, LOAD, PACK, READ_BACK, STOP, StageWatch
from delayrig.supplies import Supplies
from delayrig.workload import Region, region_of

EMBED = "embed"


async def run_cell(
    cell: Cell,
    *,
    chip: ChipFacts,
    chip_name: str,
    subject: Subject,
    supplies: Supplies,
    paths: Paths,
    connect: str | None,
    folder: Path,
    cpu: int,
    watch: StageWatch,
    marks: Path | None = None,
    delay: DelayFunction | None = None,
) -> float:
    """Runs the cell; writes events.jsonl, stdout.txt and the rest to `folder`.

    `delay` is probed where it is given.

    Returns the host time it took in seconds. Raises `LostGuestError`.
    """
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="flashrom-rig-") as name:
        scratch = Path(name)
        archive = await asyncio.to_thread(
            write_payload,
            cell,
            chip,
            chip_name,
            subject=subject,
            scratch=scratch,
            probe=trace_lines(delay, root=SUBJECT_ROOT, agent=paths.agent_of(cell.arch))
            if delay
            else (),
        )
        watch.ended(PACK)
        hardware = replace(
            boot_hardware(
                cell.shape,
                supplies.image_of(cell.shape),
                paths.turns,
                folder / "console.log",
            ),
            fw_cfg={CELL_FW_CFG: archive, **_programs(cell, subject, supplies)},
            marks=marks,
        )
        machine = await make_machine(
            hardware,
            supplies.snapshots.get(cell.shape),
            log=folder / "qemu.log",
            cpu=cpu,
            connect=connect,
            paths=paths,
        )
        try:
            await machine.start()
            if cell.shape not in supplies.snapshots:
                await machine.wait_paused(limit_s=BOOT_LIMIT_S)
            watch.ended(LOAD)
            entries = await finish_guest(machine, cell.shape, scratch)
            watch.ended(READ_BACK)
        finally:
            await asyncio.shield(machine.stop())
        watch.ended(STOP)
    # Reading debug information takes longer than other cells would want to wait.
    await asyncio.to_thread(write_entries, entries, folder, region_of(cell, chip), delay)
    watch.ended(KEEP)
    return time.monotonic() - began_s


async def make_machine(
    hardware: Hardware,
    snapshot: Path | None,
    *,
    log: Path,
    cpu: int,
    connect: str | None,
    paths: Paths,
) -> Machine:
    """Plain QEMU, or a domain of the libvirt at `connect` (`embed` is libvirt without a daemon).

    Without a snapshot it is a plain QEMU that boots.
    """
    if snapshot is None:
        return QemuMachine(hardware, log=log, cpu=cpu)
    if connect is None:
        return QemuMachine(restored(hardware, snapshot), log=log, cpu=cpu)
    # Loading libvirt takes longer than many a cell, so it is loaded where it is asked for.
    from delayrig.guest.libvirt_machine import LibvirtMachine, embed_uri

    await provide_whole(hardware, snapshot, cpu)
    uri = embed_uri(paths) if connect == EMBED else connect
    return LibvirtMachine(restored_whole(hardware, snapshot), uri=uri, cpu=cpu)


def _programs(cell: Cell, subject: Subject, supplies: Supplies) -> dict[str, Path]:
    programs = {SUBJECT_FW_CFG: Path(subject.archive)}
    if cell.bridged:
        programs[BRIDGE_FW_CFG] = Path(supplies.bridges[cell.arch].archive)
    return programs


def write_entries(
    entries: dict[str, bytes], folder: Path, region: Region, delay: DelayFunction | None = None
) -> None:
    """Puts what the guest sent into the cell's folder, all of its event streams as one.

    A part inside the subject stands for the emulator, which then served nobody.
    """
    agent = entries.pop("agent.jsonl", b"")
    emulator = entries.pop("events.jsonl", b"")
    if "dummy.jsonl" in entries:
        emulator = dummy.on_the_clock_of(agent, entries.pop("dummy.jsonl"))
    if "chip.bin" in entries:
        entries["image.sparse"] = dummy.sparse_image(entries.pop("chip.bin"), region)
    host = entries.pop("host.jsonl", b"")
    delays = read_trace(entries.pop("trace.txt", b"").decode(), delay) if delay else []
    (folder / "events.jsonl").write_bytes(merge_events(agent, emulator, host, delays))
    for entry, content in entries.items():
        (folder / entry).write_bytes(content)
