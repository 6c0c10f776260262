# SPDX-License-Identifier: GPL-2.0-or-later
"""The live lane with somebody who looks on."""

from dataclasses import dataclass, replace

from delayrig.lanes.lane import Assignment
from delayrig.lanes.live import LiveLane
from delayrig.repro.follow import Show, following, whole_lines
from delayrig.repro.shown_watch import ShownWatch, Told, stages_told


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedLiveGuests(LiveLane):
    """Guests of one cell, shown as it goes."""

    show: Show
    told: Told | None = None
    """Is told of each stage instead, where somebody explains them."""

    async def run_cell(self, assignment: Assignment) -> float:
        """The cell as ever; meanwhile its stages and its console are shown."""
        files = {assignment.folder / "console.log": whole_lines("console")}
        watch = ShownWatch(self.told or stages_told(self.show))
        async with following(files, self.show):
            return await LiveLane.run_cell(self, replace(assignment, watch=watch))
