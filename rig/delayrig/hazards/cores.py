# SPDX-License-Identifier: GPL-2.0-or-later
"""Moves of the subject between cores, which may have different speeds, and cores taken away."""

from collections.abc import Sequence

from delayrig.base.durations import NS_PER_MS
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import Hazard, due_times, origin_ns
from delayrig.model.cell import Cell
from delayrig.model.events import first
from delayrig.model.kinds.agent import SubjectEnd
from delayrig.model.kinds.hazard import Hotplugs, Migrations, Moved
from delayrig.model.lane import REAL_TIME, LaneName
from delayrig.model.speed import moment_in

MOVED_LATE_NS_MAX = 100_000_000
"""The most by which a move on the live lane may be late, by the clock of a busy machine."""


class Migrate(Hazard):
    """A move of the subject, RATE times a second, to another of its CPUs, drawn by the cell's seed.

    A measurement on one core, such as a calibrated loop, is valid only there.
    """

    name = "migrate"
    form = "RATE"
    values = range(1, 1001)
    about = "the subject is put on another of its CPUs RATE times a second (1 to 1000)"
    lanes = REAL_TIME
    cores_min = 2
    spec = ("migrate {value} {seed}",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        migrations = first(artifacts.events, Migrations)
        count = migrations.count if migrations else 0
        due = due_times(artifacts, self.number)
        fault = f"the subject was moved {count} times where {due} were due"
        return fault if 2 * count < due else ""


class Move(Hazard):
    """A move to a faster core, on which a loop calibrated on a slow core ends too early."""

    name = "move"
    form = "accept|accept+MS|MS"
    about = "the subject is moved from the first core to the fastest, when it is accepted or later"
    lanes = (LaneName.LIVE,)
    cores_min = 2

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.when = moment_in(value)

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        return (f"move {self.when.origin} {self.when.after_ms:g} {fastest_core(cell.mips)}",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        since_ns = origin_ns(artifacts, self.when.origin)
        ended, moved = first(artifacts.events, SubjectEnd), first(artifacts.events, Moved)
        if since_ns is None or ended is None:
            return ""
        due_ns = since_ns + int(self.when.after_ms) * NS_PER_MS
        if moved is None:
            lived = ended.t_ns > due_ns + MOVED_LATE_NS_MAX
            return "the subject was not moved" if lived else ""
        if moved.core != fastest_core(cell.mips):
            return f"the subject was moved to core {moved.core}"
        late_ns = moved.t_ns - due_ns
        return "the subject was moved too late" if late_ns > MOVED_LATE_NS_MAX else ""


def fastest_core(speeds: Sequence[float]) -> int:
    """Returns the last of the fastest cores."""
    return max(range(len(speeds)), key=lambda core: (speeds[core], core), default=0)


class Hotplug(Hazard):
    """A core that is taken from the kernel and given back. Its tasks continue elsewhere."""

    name = "hotplug"
    form = "RATE"
    values = range(1, 21)
    about = "RATE times a second (1 to 20) a core is taken away, or given back, as drawn"
    lanes = (LaneName.LIVE,)
    cores_min = 2
    spec = ("hotplug {value} {seed}", "anywhere 1")

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        """Returns a fault if less than a third of the due changes took place; changes are slow."""
        hotplugs = first(artifacts.events, Hotplugs)
        count = hotplugs.count if hotplugs else 0
        due = due_times(artifacts, self.number)
        return f"cores came and went {count} times where {due} were due" if 3 * count < due else ""
