# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps of the wall clock while the subject runs."""

import re
from collections.abc import Sequence

from delayrig.base.durations import NS_PER_MS
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import Hazard, ended_before, matched
from delayrig.model.cell import Cell
from delayrig.model.events import first, needed
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.hazard import LeapAnnounced, LeapState, WallClockStepped

EVERY_MS = 100
STEPPED_S_MAX = 1_000_000_000
"""The most that all steps of a minute may add up to.

Kernels keep wall clocks from 1970 to 2232; a guest's begins in 2024.
"""
_STEP = re.compile(r"([+-])([1-9][0-9]{0,8})(?:,([1-9][0-9]{0,5}))?")
LEAP_AFTER_MS = 300
DELETE = "delete"
LEAP_TAKEN_STATES = (3, 4)
"""The states TIME_OOP while the second lasts, and TIME_WAIT after it: adjtimex(2)."""


class WallClockStep(Hazard):
    name = "wall-clock-step"
    form = "{+,-}SECONDS[,EVERY_MS]"
    legend = (
        f"EVERY_MS is 1 to 999999, and {EVERY_MS} where it is left out; all steps of a minute"
        f" come to no more than {STEPPED_S_MAX} s"
    )
    about = f"the wall clock is stepped every {EVERY_MS} ms, or every EVERY_MS"
    ends_waits = True

    def __init__(self, value: str) -> None:
        super().__init__(value)
        match = matched(_STEP, value)
        if match[3] == str(EVERY_MS):
            raise ValueError(value)
        self.step_s = int(match[1] + match[2])
        self.every_ms = int(match[3] or EVERY_MS)
        self.phase_ns = self.every_ms * NS_PER_MS
        if abs(self.step_s) * max(60_000 // self.every_ms, 1) > STEPPED_S_MAX:
            raise ValueError(value)

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        return (f"wall_step {self.step_s} {self.every_ms}",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        started = needed(artifacts.events, SubjectStart)
        due_ns = started.t_ns + self.every_ms * NS_PER_MS
        stepped = first(artifacts.events, WallClockStepped) or ended_before(artifacts, due_ns)
        return "" if stepped else "the wall clock was not stepped"

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        stepped = first(artifacts.events, WallClockStepped)
        return "" if stepped else "it ended before the first step"


class LeapSecond(Hazard):
    """A leap second at midnight of UTC, 0.3 s after the subject's start.

    The kernel steps the wall clock by a second: back for an inserted one, as all leap seconds so
    far were; forward for a removed one, which the standard allows.
    """

    name = "leap-second"
    form = f"[{DELETE}]"
    values = ("", DELETE)
    about = f"the wall clock takes a leap second, or leaves one out, {LEAP_AFTER_MS} ms after start"

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        return (f"leap {self.value or 'insert'} {LEAP_AFTER_MS}",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        announced = first(artifacts.events, LeapAnnounced)
        if announced is None:
            return "the kernel was told of no leap second"
        taken = _is_taken(artifacts) or ended_before(artifacts, announced.due_ns)
        return "" if taken else "the kernel took no leap second"

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        announced = needed(artifacts.events, LeapAnnounced)
        ended = needed(artifacts.events, SubjectEnd)
        met = _is_taken(artifacts) and announced.due_ns <= ended.t_ns
        return "" if met else "it ended before the leap second"


def _is_taken(artifacts: Artifacts) -> bool:
    found = first(artifacts.events, LeapState)
    return found is not None and found.state in LEAP_TAKEN_STATES
