# SPDX-License-Identifier: GPL-2.0-or-later
"""Stops of the subject, as by a shell's job control or a debugger."""

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import ANYWHERE, Concern, Hazard, due_times
from delayrig.model.cell import Cell
from delayrig.model.events import first
from delayrig.model.kinds.hazard import Stops


class StopCont(Hazard):
    """SIGSTOP, and SIGCONT half a period later, from the subject's first instruction to its end.

    The subject's measurements, such as a calibrated loop, are wrong.
    """

    name = "stop-cont"
    form = "RATE"
    values = range(1, 101)
    about = "the subject is stopped RATE times a second (1 to 100), half of the time"
    concern = Concern.SAFETY
    lanes = ANYWHERE
    spec = ("stops_hz {value}",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        stops = first(artifacts.events, Stops)
        count = stops.count if stops else 0
        due = due_times(artifacts, self.number)
        return f"the subject was stopped {count} times only" if count < due // 2 else ""
