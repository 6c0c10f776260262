# SPDX-License-Identifier: GPL-2.0-or-later
"""From a lane's name to the lane."""

from delayrig.lanes import LaneName
from delayrig.lanes.lane import Lane
from delayrig.paths import Paths
from delayrig.run.request import Request
from delayrig.run.supplies import CpuPool, Preparing


async def open_lane(request: Request, paths: Paths, pool: CpuPool, preparing: Preparing) -> Lane:
    """Provides what the request's cells need there; what another lane needs stays unasked for."""
    match request.lane:
        case LaneName.VIRTUAL:
            from delayrig.lanes.virtual import open_virtual_lane

            return await open_virtual_lane(request, paths, pool, preparing)
        case LaneName.LIVE:
            from delayrig.lanes.live import open_live_lane

            return await open_live_lane(request, paths, pool, preparing)
        case LaneName.HOST:
            from delayrig.lanes.host import open_host_lane

            return await open_host_lane(request, paths, preparing)
