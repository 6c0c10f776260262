# SPDX-License-Identifier: GPL-2.0-or-later
"""Stops of the subject, and processes that compete for its core, all cores, or the memory."""

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import ANYWHERE, Hazard, due_times
from delayrig.model.cell import Cell
from delayrig.model.events import first, needed
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.kinds.hazard import (
    CrowdRunning,
    CrowdStopped,
    HogsRunning,
    HogsStopped,
    Loops,
    MemoryPressureBegin,
    MemoryPressureEnd,
    Stops,
)
from delayrig.model.lane import LaneName

HOGS = range(1, 33)


class StopCont(Hazard):
    """SIGSTOP, and SIGCONT half a period later, from the subject's first instruction to its end.

    The stops falsify what the subject measures, such as the calibration of a delay loop.
    """

    name = "stop-cont"
    form = "RATE"
    values = range(1, 101)
    about = "the subject is stopped RATE times a second (1 to 100), half of the time"
    lanes = ANYWHERE
    spec = ("stops_hz {value}",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        stops = first(artifacts.events, Stops)
        count = stops.count if stops else 0
        due = due_times(artifacts, self.number)
        return f"the subject was stopped {count} times only" if 2 * count < due else ""


class _Hogs(Hazard):
    running: type[Loops]
    stopped: type[Loops]

    def count(self, cell: Cell) -> int:
        """Returns the number of loops."""
        return self.number

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        running = first(artifacts.events, self.running)
        if running is None or running.count != self.count(cell):
            return "not all of the hogs were seen running"
        if running.t_ns > needed(artifacts.events, SubjectStart).t_ns:
            return "the hogs came after the subject"
        return "" if first(artifacts.events, self.stopped) else "the hogs were not seen to the end"

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        turns = needed(artifacts.events, self.running).turns_min
        met = needed(artifacts.events, self.stopped).turns_min > turns
        return "" if met else "not every hog got its share while it ran"


class Hogs(_Hogs):
    """Loops of ordinary priority beside the subject, which gets its share of the core.

    A delay loop that is calibrated beside them counts too few turns. When the subject takes
    real-time priority, it has the core to itself and the loop is too short.
    """

    name = "hogs"
    form = "N"
    legend = f"N is {HOGS.start} to {HOGS[-1]}"
    values = HOGS
    about = "N loops of ordinary priority on the subject's own core"
    lanes = ANYWHERE
    spec = ("hogs {value}",)
    running, stopped = HogsRunning, HogsStopped


class HogsEach(_Hogs):
    name = "hogs-each"
    form = "N"
    values = range(1, 5)
    about = "N loops (1 to 4) of ordinary priority on every core, the subject on any"
    lanes = (LaneName.LIVE,)
    spec = ("hogs_each {value}", "anywhere 1")
    running, stopped = CrowdRunning, CrowdStopped

    def count(self, cell: Cell) -> int:
        return self.number * cell.cores


class MemoryPressure(Hazard):
    """A process that touches new memory all the time, so that any allocation may have to wait.

    Like `Hogs`, it also takes a share of the subject's core. So does the kernel when it reclaims.
    """

    name = "memory-pressure"
    about = "a process that touches new memory all the time, so that the kernel has to reclaim"
    spec = ("memory_pressure 1",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        before = first(artifacts.events, MemoryPressureBegin)
        after = first(artifacts.events, MemoryPressureEnd)
        return "" if before and after else "there was no pressure on memory"

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        before = needed(artifacts.events, MemoryPressureBegin)
        after = needed(artifacts.events, MemoryPressureEnd)
        met = after.reclaimed_pages > before.reclaimed_pages
        return "" if met else "no memory was reclaimed while it ran"
