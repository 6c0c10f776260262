# SPDX-License-Identifier: GPL-2.0-or-later
"""Cores that come and go, and loops on all of them, in a guest with parallel cores."""

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import Concern, Hazard, due_times
from delayrig.hazards.load import NOT_TO_THE_END, missed_turns
from delayrig.model.cell import Cell
from delayrig.model.events import first
from delayrig.model.kinds.hazard import CrowdRunning, CrowdStopped, Hotplugs
from delayrig.model.lane import LaneName

ANYWHERE_LINE = "anywhere 1"


class Hotplug(Hazard):
    """A core that is taken from the kernel and given back. Its tasks continue elsewhere."""

    name = "hotplug"
    form = "RATE"
    values = range(1, 21)
    about = "RATE times a second (1 to 20) a core is taken away, or given back, as drawn"
    concern = Concern.SAFETY
    lanes = (LaneName.LIVE,)
    cores_min = 2
    spec = ("hotplug {value} {seed}", ANYWHERE_LINE)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        """Returns a fault if less than a third of the due changes took place: they are slow."""
        hotplugs = first(artifacts.events, Hotplugs)
        count = hotplugs.count if hotplugs else 0
        due = due_times(artifacts, self.number)
        return f"cores came and went {count} times where {due} were due" if count < due // 3 else ""


class HogsEach(Hazard):
    name = "hogs-each"
    form = "N"
    values = range(1, 5)
    about = "N loops (1 to 4) of ordinary priority on every core, the subject on any"
    concern = Concern.SAFETY
    lanes = (LaneName.LIVE,)
    spec = ("hogs_each {value}", ANYWHERE_LINE)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        running = first(artifacts.events, CrowdRunning)
        if running is None or running.count != self.number * cell.cores:
            return "not all of the hogs were seen running"
        return "" if first(artifacts.events, CrowdStopped) else NOT_TO_THE_END

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        return missed_turns(artifacts, CrowdRunning, CrowdStopped)
