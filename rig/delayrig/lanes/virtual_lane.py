# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual lane: a cell runs in a guest of QEMU whose time is counted in instructions."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from delayrig.base.interruption import whole_in_thread
from delayrig.base.paths import Paths, Preparing
from delayrig.base.scratch import ScratchFolder
from delayrig.hazards import refusal_on
from delayrig.hazards.of_cell import hazards_of, shape_of
from delayrig.lanes.delay_record import request_text
from delayrig.lanes.header import make_header
from delayrig.lanes.lane import Assignment, GuestLane
from delayrig.lanes.payload import chip_values, device_entries, spec_text, write_payload
from delayrig.lanes.scheduler import Grouping
from delayrig.lanes.stages import KEEP, LOAD, PACK, READ_BACK, STOP
from delayrig.lanes.store_artifacts import write_delays, write_entries
from delayrig.lanes.supplies import CpuPool, Supplies, provide_supplies
from delayrig.machine.arguments import (
    BRIDGE_FW_CFG,
    CELL_FW_CFG,
    NO_FILE,
    SUBJECT_FW_CFG,
    Hardware,
    device_arguments,
    machine_of,
)
from delayrig.machine.guest_logs import LOGS, cut_logs, logs_of, unless_flooded, with_log_tails
from delayrig.machine.machine import Machine
from delayrig.machine.plugins import ChipPlugin, refusal_of_qemu, write_request, write_settings
from delayrig.machine.qemu import QemuMachine
from delayrig.machine.session import CELL_LIMIT_S, finish_guest
from delayrig.machine.snapshot import (
    BOOT_LIMIT_S,
    boot_hardware,
    provide_whole,
    restored,
    restored_whole,
)
from delayrig.machine.vm_pool import VmPool, can_be_pooled
from delayrig.model.cell import Cell
from delayrig.model.lane import LaneName
from delayrig.model.programmers import device_of, device_refusal
from delayrig.model.result import RunHeader
from delayrig.model.workload import region_of
from delayrig.plan.request import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualLane(GuestLane):
    vm_pool: VmPool | None = None
    """A pool of guests that have run other cells; None: each cell gets a new guest."""

    def refusal(self, cell: Cell) -> str:
        return (
            refusal_on(LaneName.VIRTUAL, cell.hazards)
            or device_refusal(cell)
            or self._qemu_refusal(cell)
        )

    def _qemu_refusal(self, cell: Cell) -> str:
        """Returns why this QEMU cannot have the cell's programmer; empty if it can."""
        device, shape = device_of(cell), shape_of(cell)
        if device is None:
            return ""
        if self.request.connect is not None:
            return f"{cell.programmer} is a device of plain QEMU: leave --connect out"
        platform = shape.platform
        words = ("-machine", platform.machine, *device_arguments(shape))
        return refusal_of_qemu(platform.program, self.paths.chip_plugin, device.front, words)

    def header(self) -> RunHeader:
        return make_header(self.request, self.supplies, self.paths)

    async def run_cell(self, assignment: Assignment) -> float:
        """Runs the cell in a guest restored from its snapshot, or booted if there is none."""
        cell, watch = assignment.cell, assignment.watch
        snapshot = await self.supplies.snapshots.provide(shape_of(cell), assignment.cpu)
        began_s = time.monotonic()
        with ScratchFolder() as name:
            scratch = Path(name)
            hardware = await whole_in_thread(self.pack, assignment, scratch)
            watch.ended(PACK)
            with with_log_tails(assignment.folder, LOGS):
                async with self._guest(hardware, snapshot, assignment) as (machine, logs):
                    watch.ended(LOAD)
                    entries = await unless_flooded(self.finish(machine, assignment, scratch), logs)
                    watch.ended(READ_BACK)
            watch.ended(STOP)
            saw = hardware.delays.saw() if hardware.delays else b""
        # Debug information takes long to read, so a thread reads it while other cells go on.
        folder, region = assignment.folder, region_of(cell, assignment.chip)
        await asyncio.to_thread(write_entries, entries, folder, region)
        if assignment.delays:
            insn_ns = 1 << shape_of(cell).icount_shift
            await asyncio.to_thread(write_delays, saw, folder, assignment.delays, insn_ns)
        watch.ended(KEEP)
        return time.monotonic() - began_s

    @asynccontextmanager
    async def _guest(
        self, hardware: Hardware, snapshot: Path | None, assignment: Assignment
    ) -> AsyncIterator[tuple[Machine, Sequence[Path]]]:
        """Yields a machine at the pause before the cell, and its logs."""
        if self.vm_pool is not None and snapshot is not None and can_be_pooled(snapshot):
            async with self.vm_pool.lend(hardware, snapshot, assignment.cpu) as guest:
                yield guest.machine, guest.logs
            return
        logs = logs_of(assignment.folder)
        machine = await make_machine(
            hardware,
            snapshot,
            log=assignment.folder / "qemu.log",
            cpu=assignment.cpu,
            connect=self.request.connect,
            paths=self.paths,
        )
        try:
            await machine.start()
            if snapshot is None:
                await machine.wait_paused(limit_s=BOOT_LIMIT_S)
            yield machine, logs
        finally:
            await asyncio.shield(machine.stop())
            cut_logs(logs)

    def grouping(self, cell: Cell, /) -> Grouping:
        """Returns the cell's group, whose cells can share a guest, and its shape as subgroup."""
        return Grouping((machine_of(shape_of(cell)), cell.bridged), shape_of(cell))

    def pack(self, assignment: Assignment, scratch: Path) -> Hardware:
        cell = assignment.cell
        spec = spec_text(cell, assignment.chip, assignment.chip_name, assignment.subject)
        archive = write_payload(cell, assignment.chip, spec, scratch)
        bridge = self.supplies.bridges[cell.arch] if cell.bridged else None
        fw_cfg = {
            CELL_FW_CFG: archive,
            SUBJECT_FW_CFG: Path(assignment.subject.archive),
            BRIDGE_FW_CFG: Path(bridge.archive) if bridge else NO_FILE,
        }
        image = self.supplies.image_of(shape_of(cell))
        console = assignment.folder / "console.log"
        # Each cell has a watch, because one guest runs cells of several subjects.
        watch = self.watch(scratch, is_virtual=True)
        write_request(watch.request, request_text(assignment.delays))
        return replace(
            boot_hardware(shape_of(cell), image, self.paths.qemu_preload, console),
            fw_cfg=fw_cfg,
            marks=assignment.marks,
            delays=watch,
            chip=self._chip(assignment, scratch),
        )

    def _chip(self, assignment: Assignment, scratch: Path) -> ChipPlugin | None:
        cell, device = assignment.cell, device_of(assignment.cell)
        if device is None:
            return None
        chip = ChipPlugin(
            plugin=self.paths.chip_plugin,
            front=device.front,
            settings=scratch / "chip.settings",
            values=chip_values(cell, region_of(cell, assignment.chip), scratch),
        )
        write_settings(chip.settings, chip.values)
        return chip

    async def finish(
        self, machine: Machine, assignment: Assignment, scratch: Path
    ) -> dict[str, bytes]:
        cell = assignment.cell
        limits_s = [hazard.host_limit_s for hazard in hazards_of(cell)]
        limit_s = min([CELL_LIMIT_S, *(limit for limit in limits_s if limit is not None)])
        entries = await finish_guest(machine, shape_of(cell), scratch, limit_s=limit_s)
        return entries | device_entries(cell, scratch)


async def open_virtual_lane(
    request: Request, paths: Paths, pool: CpuPool, preparing: Preparing
) -> VirtualLane:
    supplies = await provide_supplies(
        cells=request.cells,
        with_snapshots=not request.from_boot,
        recipes=request.recipes,
        paths=paths,
        pool=pool,
        preparing=preparing,
    )
    return make_virtual_lane(request, supplies, paths, pool)


def make_virtual_lane(
    request: Request, supplies: Supplies, paths: Paths, pool: CpuPool
) -> VirtualLane:
    """Returns the lane, whose guests wait in the pool for other cells if the request allows it."""
    vm_pool = pool.guests if request.reuses_guests and request.connect is None else None
    return VirtualLane(request=request, supplies=supplies, paths=paths, vm_pool=vm_pool)


async def make_machine(
    hardware: Hardware,
    snapshot: Path | None,
    *,
    log: Path,
    cpu: int,
    connect: str | None,
    paths: Paths,
) -> Machine:
    """Returns plain QEMU, or a domain of the libvirt at `connect` (`embed`: without a daemon).

    Without a snapshot it is a plain QEMU that boots.
    """
    if snapshot is None:
        return QemuMachine(hardware, log=log, cpu=cpu)
    if connect is None:
        return QemuMachine(restored(hardware, snapshot), log=log, cpu=cpu)
    # Loading libvirt takes longer than many cells do, so it is loaded only if requested.
    from delayrig.machine.libvirt_machine import make_libvirt_machine

    await provide_whole(hardware, snapshot, cpu)
    return make_libvirt_machine(
        restored_whole(hardware, snapshot), connect=connect, cpu=cpu, paths=paths, log=log
    )
