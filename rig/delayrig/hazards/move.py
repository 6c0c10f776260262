# SPDX-License-Identifier: GPL-2.0-or-later
"""A move of the subject from the first core, mostly the slowest, to the fastest."""

from collections.abc import Sequence

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import NS_PER_MS, Concern, Hazard, origin_ns
from delayrig.model.cell import Cell
from delayrig.model.events import first
from delayrig.model.kinds.agent import SubjectEnd
from delayrig.model.kinds.hazard import Moved
from delayrig.model.lane import LaneName
from delayrig.model.speed import Origin, moment_in

LATE_NS_MAX = 100_000_000


class Move(Hazard):
    """A move to a faster core, on which a loop calibrated on a slow core ends too early."""

    name = "move"
    form = "accept|accept+MS|MS"
    about = "the subject is moved from the first core to the fastest, when it is accepted or later"
    concern = Concern.SAFETY
    lanes = (LaneName.LIVE,)
    cores_min = 2

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.when = moment_in(value)

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        origin = "accept" if self.when.origin is Origin.ACCEPT else "start"
        return (f"move {origin} {self.when.after_ms:g} {fastest_core(cell.mips)}",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        since_ns = origin_ns(artifacts, self.when.origin)
        ended, moved = first(artifacts.events, SubjectEnd), first(artifacts.events, Moved)
        if since_ns is None or ended is None:
            return ""
        due_ns = since_ns + int(self.when.after_ms) * NS_PER_MS
        if moved is None:
            lived = ended.t_ns > due_ns + LATE_NS_MAX
            return "the subject was not moved" if lived else ""
        if moved.core != fastest_core(cell.mips):
            return f"the subject was moved to core {moved.core}"
        late_ns = moved.t_ns - due_ns
        return "the subject was moved too late" if late_ns > LATE_NS_MAX else ""


def fastest_core(speeds: Sequence[float]) -> int:
    """Returns the last of the fastest cores."""
    return max(range(len(speeds)), key=lambda core: (speeds[core], core), default=0)
