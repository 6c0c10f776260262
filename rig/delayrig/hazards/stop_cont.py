# SPDX-License-Identifier: GPL-2.0-or-later
"""The subject is stopped and goes on, as by a shell's job control or by a debugger."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from delayrig.hazards.hazard import ANYWHERE, Concern, Hazard, number_in
from delayrig.model.events import first

if TYPE_CHECKING:
    from delayrig.hazards.seen import Seen
    from delayrig.model.cell import Cell

RATES_HZ = range(1, 101)


class StopCont(Hazard):
    """SIGSTOP, and SIGCONT half a period later, from its first instruction to its end.

    What it measures of itself meanwhile, such as a loop that it calibrates, is wrong.
    """

    name = "stop-cont"
    form = "RATE"
    about = "the subject is stopped RATE times a second (1 to 100), half of the time"
    concern = Concern.SAFETY
    lanes = ANYWHERE

    def __init__(self, value: str) -> None:
        super().__init__(value)
        number_in(value, RATES_HZ)

    def spec_lines(self, cell: "Cell") -> Sequence[str]:  # noqa: ARG002
        """The agent does it."""
        return (f"stops_hz {self.value}",)

    def fault(self, cell: "Cell", seen: "Seen") -> str:  # noqa: ARG002
        """Whether it was stopped at all, where it lived for long enough."""
        began, ended = first(seen.events, "subject_start"), first(seen.events, "subject_end")
        stops = first(seen.events, "stops") or {"count": 0}
        lived_ns = ended["t_ns"] - began["t_ns"] if began and ended else 0
        if stops["count"] < lived_ns * int(self.value) // 1_000_000_000 // 2:
            return f"the subject was stopped {stops['count']} times only"
        return ""
