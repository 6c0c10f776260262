# SPDX-License-Identifier: GPL-2.0-or-later
"""The live lane with somebody who looks on, or looks in.

Looked at from within it is the same guest, whose cores have the speeds of the cell from the moment
that the subject would have started, so a shell is as slow as the subject will be. What a cell does
at a time after the subject's start counts from that moment, too.
"""

from dataclasses import dataclass, replace

from delayrig.analysis.repro.follow_files import Show, following, whole_lines
from delayrig.analysis.repro.stage_output import ShownWatch, Told, stages_told
from delayrig.lanes.lane import Assignment
from delayrig.lanes.live_lane import LiveLane


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedLiveGuests(LiveLane):
    """Guests of one cell, shown as it goes."""

    show: Show
    told: Told | None = None
    """Is told of each stage instead, where somebody explains them."""

    async def run_cell(self, assignment: Assignment) -> float:
        """The cell as ever; meanwhile its stages and its console are shown.

        A visitor has the terminal alone, and sees the console.
        """
        if self.visitor is not None:
            return await LiveLane.run_cell(self, assignment)
        files = {assignment.folder / "console.log": whole_lines("console")}
        watch = ShownWatch(self.told or stages_told(self.show))
        async with following(files, self.show):
            return await LiveLane.run_cell(self, replace(assignment, watch=watch))
