# SPDX-License-Identifier: GPL-2.0-or-later
"""Opens a lane by its name."""

from dataclasses import dataclass, replace

import msgspec

from delayrig.base.paths import Paths, Preparing
from delayrig.lanes.lane import Assignment, Lane
from delayrig.lanes.scheduler import Grouping
from delayrig.lanes.supplies import CpuPool
from delayrig.model.cell import Cell
from delayrig.model.lane import EXACT_LANE, LaneName
from delayrig.model.result import NotProvided, RunHeader
from delayrig.plan.request import Request
from delayrig.subjects.subject import Subject

LOCK_STATES = ("same", "incomplete", "differs")
"""The states of `RunHeader.lock`, from the best to the worst."""


async def open_lane(request: Request, paths: Paths, pool: CpuPool, preparing: Preparing) -> Lane:
    """Returns the lane of the request's cells, ready to run them; `Lanes` if they name several."""
    lanes: dict[LaneName, Lane] = {}
    for name in dict.fromkeys(cell.lane for cell in request.cells) or [request.lane]:
        own = replace(request, lane=name, cells=[c for c in request.cells if c.lane is name])
        match name:
            case LaneName.VIRTUAL:
                from delayrig.lanes.virtual_lane import open_virtual_lane

                lanes[name] = await open_virtual_lane(own, paths, pool, preparing)
            case LaneName.LIVE:
                from delayrig.lanes.live_lane import open_live_lane

                lanes[name] = await open_live_lane(own, paths, pool, preparing)
            case LaneName.HOST:
                from delayrig.lanes.host_lane import open_host_lane

                lanes[name] = await open_host_lane(own, paths, preparing)
    return lanes[name] if len(lanes) == 1 else Lanes(lanes)


@dataclass(frozen=True, slots=True)
class Lanes:
    """Several lanes, for a plan whose cells name different lanes."""

    lanes: dict[LaneName, Lane]

    @property
    def programs(self) -> list[Subject]:
        programs = [program for lane in self.lanes.values() for program in lane.programs]
        return list({program.label: program for program in programs}.values())

    def subject_of(self, cell: Cell) -> Subject | None:
        return self.lanes[cell.lane].subject_of(cell)

    def grouping(self, cell: Cell, /) -> Grouping:
        return self.lanes[cell.lane].grouping(cell)

    def missing(self, cell: Cell) -> NotProvided | None:
        return self.lanes[cell.lane].missing(cell)

    def refusal(self, cell: Cell) -> str:
        return self.lanes[cell.lane].refusal(cell)

    def header(self) -> RunHeader:
        """Returns the header of the exact lane, else of the first, with the inputs of the others.

        An input of another lane is added if it is missing or different in that header. Its name
        then begins with its lane. `confined` is true if all lanes that have it are confined. `lock`
        is the worst of all lanes.
        """
        headers = {name: lane.header() for name, lane in self.lanes.items()}
        first = headers.get(EXACT_LANE) or next(iter(headers.values()))
        digests = {
            f"{name} {what}": digest
            for name, header in headers.items()
            for what, digest in header.image_digests.items()
            if first.image_digests.get(what) != digest
        }
        missing = {n.what: n for header in headers.values() for n in header.not_provided}
        confined = [h.confined for h in headers.values() if h.confined is not None]
        return msgspec.structs.replace(
            first,
            # The host lane has no version; all others have the same.
            qemu_version=max(header.qemu_version for header in headers.values()),
            libvirt_version=max(header.libvirt_version for header in headers.values()),
            lock=max((header.lock for header in headers.values()), key=LOCK_STATES.index),
            confined=all(confined) if confined else None,
            image_digests={**digests, **first.image_digests},
            not_provided=list(missing.values()),
            cells_planned=sum(header.cells_planned for header in headers.values()),
        )

    async def run_cell(self, assignment: Assignment) -> float:
        return await self.lanes[assignment.cell.lane].run_cell(assignment)
