# SPDX-License-Identifier: GPL-2.0-or-later
"""The lane of a cell, opened for somebody who wants to see it."""

import asyncio
from pathlib import Path

from delayrig.analysis.repro.debugger import find_gdb
from delayrig.analysis.repro.dry_run import (
    DRY_PORT,
    LINE_PORT,
    STAGE_PORT,
    host_commands,
    live_commands,
    qemu_command,
)
from delayrig.analysis.repro.look import Look, Show, Told
from delayrig.analysis.repro.visit import Visit
from delayrig.analysis.repro.watched_guests import WatchedGuests, WatchedLiveGuests
from delayrig.analysis.repro.watched_sessions import WatchedSessions
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths
from delayrig.base.preparing import Preparing
from delayrig.hazards.of_cell import shape_of
from delayrig.images.subject import provide_tool
from delayrig.lanes.choice import open_lane
from delayrig.lanes.host_lane import HostLane, open_host_lane
from delayrig.lanes.lane import Lane
from delayrig.lanes.live_lane import LiveLane, open_live_lane
from delayrig.lanes.supplies import CpuPool
from delayrig.lanes.virtual_lane import VirtualLane, open_virtual_lane
from delayrig.model.cell import Cell
from delayrig.model.lane import LaneName
from delayrig.plan.request import Request
from delayrig.run.runner import OpenLane, assignment_of

GDBSERVER = "gdbserver"


def opener(look: Look, show: Show, told: Told | None = None) -> OpenLane:
    """For `run_request`; `told` explains the stages of the live lane, else they are listed."""

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


def check_look(cell: Cell, look: Look) -> None:
    """Raises what stands in the way before anything is started."""
    if look is Look.GDB:
        find_gdb(cell.arch)


async def _visit(request: Request, paths: Paths, preparing: Preparing, look: Look) -> Visit | None:
    """None where nobody comes in. gdbserver is fetched when the first guest needs it."""
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
    """The commands behind the request's one cell, and their files below `folder`."""
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
            packed = await asyncio.to_thread(
                lane.pack,
                assignment,
                folder,
                line_port=LINE_PORT,
                port=DRY_PORT,
                stage_port=STAGE_PORT,
            )
            return live_commands(packed, folder)
    raise BadInputError(f"--dry-run: nobody knows the commands of the lane {request.lane}")
