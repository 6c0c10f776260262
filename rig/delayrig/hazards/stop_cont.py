# SPDX-License-Identifier: GPL-2.0-or-later
"""The subject is stopped and goes on, as by a shell's job control or by a debugger."""

from collections.abc import Sequence

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import ANYWHERE, Concern, Hazard, lived_ns
from delayrig.model.cell import Cell
from delayrig.model.events import first
from delayrig.model.kinds.hazard import Stops

RATES_HZ = range(1, 101)


class StopCont(Hazard):
    """SIGSTOP, and SIGCONT half a period later, from its first instruction to its end.

    What it measures of itself meanwhile, such as a loop that it calibrates, is wrong.
    """

    name = "stop-cont"
    form = "RATE"
    values = RATES_HZ
    about = "the subject is stopped RATE times a second (1 to 100), half of the time"
    concern = Concern.SAFETY
    lanes = ANYWHERE

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        """The agent does it."""
        return (f"stops_hz {self.value}",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        """Whether it was stopped at all, where it lived for long enough."""
        stops = first(artifacts.events, Stops)
        count = stops.count if stops else 0
        if count < lived_ns(artifacts) * self.number // 1_000_000_000 // 2:
            return f"the subject was stopped {count} times only"
        return ""
