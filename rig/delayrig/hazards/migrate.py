# SPDX-License-Identifier: GPL-2.0-or-later
"""Moves of the subject between CPUs, which may have different speeds."""

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import Concern, Hazard, due_times
from delayrig.model.cell import Cell
from delayrig.model.events import first
from delayrig.model.kinds.hazard import Migrations
from delayrig.model.lane import REAL_TIME


class Migrate(Hazard):
    """A move of the subject, RATE times a second, to another of its CPUs, drawn by the cell's seed.

    A measurement on one core, such as a calibrated loop, is valid only there.
    """

    name = "migrate"
    form = "RATE"
    values = range(1, 1001)
    about = "the subject is put on another of its CPUs RATE times a second (1 to 1000)"
    concern = Concern.SAFETY
    lanes = REAL_TIME
    cores_min = 2
    spec = ("migrate {value} {seed}",)

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        migrations = first(artifacts.events, Migrations)
        count = migrations.count if migrations else 0
        due = due_times(artifacts, self.number)
        told = f"the subject was moved {count} times where {due} were due"
        return told if count < due // 2 else ""
