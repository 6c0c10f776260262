# SPDX-License-Identifier: GPL-2.0-or-later
"""The lane of a cell, opened for somebody who watches it, or the commands behind it."""

import asyncio
import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths, Preparing
from delayrig.features.repro.guest_entry import Visit
from delayrig.features.repro.look import Look, Show, Told
from delayrig.features.repro.watchers import WatchedGuests, WatchedLiveGuests, WatchedSessions
from delayrig.hazards.of_cell import shape_of
from delayrig.lanes.choice import open_lane
from delayrig.lanes.host.spec import PORT, Spec, cpus_text
from delayrig.lanes.host_lane import ANY_PORT, HostLane, open_host_lane
from delayrig.lanes.lane import Lane
from delayrig.lanes.live_lane import LiveLane, PackedGuest, open_live_lane
from delayrig.lanes.supplies import CpuPool
from delayrig.lanes.virtual_lane import VirtualLane, open_virtual_lane
from delayrig.machine.arguments import LIBRARY_PATH, Hardware, pinned, preloading, qemu_arguments
from delayrig.machine.qemu import TUNABLES
from delayrig.machine.snapshot import restored
from delayrig.model.lane import LaneName
from delayrig.model.platform import Platform
from delayrig.plan.request import Request
from delayrig.run.runner import OpenLane, assignment_of
from delayrig.subjects.subject import provide_tool

GDBSERVER = "gdbserver"
DRY_PORT = 34567
LINE_PORT, STAGE_PORT = DRY_PORT + 1, DRY_PORT + 2


def opener(look: Look, show: Show, told: Told | None = None) -> OpenLane:
    """Returns a function that opens the lane for `run_request`.

    `told` is called with each stage of the live lane; without it, stages are listed.
    """

    async def opened(request: Request, paths: Paths, pool: CpuPool, preparing: Preparing) -> Lane:
        match request.lane:
            case LaneName.VIRTUAL:
                lane = await open_virtual_lane(request, paths, pool, preparing)
                return WatchedGuests(
                    request=request,
                    supplies=lane.supplies,
                    paths=paths,
                    show=show,
                    visit=await _visit(request, paths, preparing, look),
                )
            case LaneName.LIVE:
                live = await open_live_lane(request, paths, pool, preparing)
                return WatchedLiveGuests(
                    request=request,
                    supplies=live.supplies,
                    image=live.image,
                    paths=paths,
                    show=show,
                    told=told,
                    visitor=await _visit(request, paths, preparing, look),
                )
            case LaneName.HOST:
                host = await open_host_lane(request, paths, preparing)
                return WatchedSessions(
                    request=request,
                    paths=paths,
                    subjects=host.subjects,
                    libraries=host.libraries,
                    refused=host.refused,
                    not_provided=host.not_provided,
                    show=show,
                    look=look,
                    delay=request.delay,
                )

    return opened


async def _visit(request: Request, paths: Paths, preparing: Preparing, look: Look) -> Visit | None:
    """Returns the visit; None if nobody enters. Fetches gdbserver when it is first needed."""
    if look is Look.WATCH:
        return None
    server = None
    if look is Look.GDB:
        arch = request.cells[0].arch
        server = await asyncio.to_thread(
            provide_tool, GDBSERVER, request.recipes, paths, preparing, arch
        )
    return Visit(look=look, gdbserver=server, delay=request.delay)


async def packed_commands(
    request: Request, paths: Paths, preparing: Preparing, folder: Path
) -> list[str]:
    pool = CpuPool(1)
    lane = await open_lane(request, paths, pool, preparing)
    async with pool.one() as cpu:
        assignment = assignment_of(request, lane, folder, cpu)
        if isinstance(lane, VirtualLane):
            hardware = await asyncio.to_thread(lane.pack, assignment, folder)
            snapshot = await lane.supplies.snapshots.provide(shape_of(assignment.cell), cpu)
            return qemu_command(hardware, snapshot, cpu)
        if isinstance(lane, HostLane):
            spec = await asyncio.to_thread(lane.pack, assignment, folder)
            return host_commands(spec, folder)
        if isinstance(lane, LiveLane):
            ports = {"line_port": LINE_PORT, "port": DRY_PORT, "stage_port": STAGE_PORT}
            packed = await asyncio.to_thread(lane.pack, assignment, folder, **ports)
            return live_commands(packed, folder)
    raise BadInputError(f"--dry-run: nobody knows the commands of the lane {request.lane}")


def qemu_command(hardware: Hardware, snapshot: Path | None, cpu: int) -> list[str]:
    """Returns shell lines that boot, or restore the snapshot, with access to QEMU's monitor."""
    machine = restored(hardware, snapshot) if snapshot else hardware
    environment = TUNABLES | preloading(machine.preload, os.environ.get(LIBRARY_PATH, ""))
    before = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    words = [program_of(machine.shape.platform), *qemu_arguments(machine, monitor_fd=None)]
    lines = ["# QEMU, with its monitor on this terminal:"]
    lines += pasted(words, [*before, *pinned(cpu, [])])
    lines += ["# what the rig says over the monitor; type it there:"]
    if snapshot and machine.incoming:
        lines += [
            "migrate_set_capability x-ignore-shared on",
            f"migrate_incoming {_quoted(f'file:{machine.incoming}')}",
        ]
    lines += [
        "cont",
        "# the guest pauses itself when its cell is done; its console is in",
        f"#   {machine.console}",
        "quit",
    ]
    return lines


def program_of(platform: Platform) -> str:
    """Returns QEMU's name, or its path if the rig may have fetched it, where no shell looks."""
    found = shutil.which(platform.program) if platform.program_package else None
    return found or platform.program


def _quoted(word: str) -> str:
    """Returns the word, quoted for QEMU's monitor (monitor/hmp.c, get_str())."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def live_commands(packed: PackedGuest, folder: Path) -> list[str]:
    """Returns lines for five shells: two emulators, the guest's line, QEMU, the cores' speeds."""
    hardware, control = packed.hardware, "UNIX-SENDTO:pace"
    words = [hardware.shape.platform.program, *qemu_arguments(hardware, monitor_fd=None)]
    before = [f"{name}={shlex.quote(value)}" for name, value in TUNABLES.items()]
    return [
        "# the emulator, in a shell of its own:",
        f"cd {shlex.quote(str(packed.emulator_folder))}",
        *pasted(packed.emulator),
        "# the one before which the subject rehearses, in another one:",
        f"cd {shlex.quote(str(packed.stage_folder))}",
        *pasted(packed.stage),
        "# the line to the guest's agent, in another one (socat is not of the rig):",
        f"socat - TCP-LISTEN:{packed.line_port},bind=127.0.0.1,reuseaddr",
        "# QEMU, with its monitor on this terminal:",
        f"cd {shlex.quote(str(folder))}",
        *pasted(words, before),
        "# what the rig says over the monitor; type it there:",
        "cont",
        "# the speeds of the cores, once the line says `ready`; it boots with all there is:",
        f"cd {shlex.quote(str(folder))}",
        *(f"echo {shlex.quote(word)} | socat - {control}" for word in packed.speeds),
        "# what the rig says over the line; type it there (images/agent/channel.h):",
        "#   go        after `ready`: starts the subject",
        "#   accepted  when that one has connected: what the cell does then is done",
        "#   finish    after `ended`: the guest pauses itself, and its console is in",
        f"#   {hardware.console}",
    ]


def host_commands(spec: Spec, folder: Path) -> list[str]:
    port = str(DRY_PORT)
    emulator = [word.replace(ANY_PORT, f"tcp:127.0.0.1:{port}") for word in spec.emulator]
    subject = [word.replace(PORT, port) for word in spec.subject]
    start = ["taskset", "--cpu-list", cpus_text(spec.cpus)] if spec.pinned else []
    lines = [
        "# the emulator, in a shell of its own:",
        f"cd {shlex.quote(str(folder))}",
        *pasted(emulator),
        "# the subject, in another one:",
        f"cd {shlex.quote(str(folder))}",
        *pasted(subject, start),
    ]
    if spec.lines:
        lines += ["# what the session does to the subject meanwhile (images/agent/spec.h):"]
        lines += [f"#   {line}" for line in spec.lines]
    return lines


def pasted(words: Sequence[str], before: Sequence[str] = ()) -> list[str]:
    """Returns one command with a line for each option; its first line starts with `before`."""
    lines = [" ".join([*before, shlex.quote(words[0])])]
    for word in words[1:]:
        if word.startswith("-"):
            lines.append(f"    {shlex.quote(word)}")
        else:
            lines[-1] += f" {shlex.quote(word)}"
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]
