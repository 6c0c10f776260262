# SPDX-License-Identifier: GPL-2.0-or-later
"""Other cores at work while the subject starts, and idle when it counts."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from delayrig.events import first
from delayrig.hazards.hazard import Concern, Hazard

if TYPE_CHECKING:
    from delayrig.cell import Cell
    from delayrig.seen import Seen

# What flashrom 1.x prints before and after it calibrates; other messages may stand between.
CALIBRATION_BEGINS = b"Calibrating delay loop..."
CALIBRATION_WHOLE = re.compile(rb"Calibrating delay loop\.\.\..*\bOK\.", re.DOTALL)


class BusySiblings(Hazard):
    """A loop on every other core until the emulator accepts its client.

    One host CPU runs all cores of a guest in turn, so each busy sibling slows core 0, as a busy
    hyper-thread does. A calibration at start-up is slowed, and what comes after it is not.
    """

    name = "busy-siblings"
    about = "a loop on every other core until the emulator accepts the subject"
    concern = Concern.SAFETY
    cores_min = 2

    def spec_lines(self, cell: "Cell") -> Sequence[str]:
        """How many."""
        return (f"siblings {cell.cores - 1}",)

    def fault(self, cell: "Cell", seen: "Seen") -> str:
        """Whether the siblings ran exactly while they should, a calibration inside."""
        running = first(seen.events, "siblings_running")
        stopped = first(seen.events, "siblings_stopped")
        started = first(seen.events, "subject_start") or {}
        if running is None or running["count"] != cell.cores - 1:
            return "not all of the busy siblings were seen running"
        if running["t_ns"] > started["t_ns"]:
            return "the busy siblings came after the subject"
        if stopped is None:
            accepted = first(seen.events, "accept") is not None
            return "the busy siblings were not stopped" if accepted else ""
        before_stop = seen.output[: stopped["stdout_bytes"]]
        if CALIBRATION_BEGINS in seen.output and not CALIBRATION_WHOLE.search(before_stop):
            return "the subject's calibration was not inside the time of the busy siblings"
        return ""
