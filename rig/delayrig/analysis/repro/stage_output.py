# SPDX-License-Identifier: GPL-2.0-or-later
"""The stages of a cell, told when they end."""

import time
from collections.abc import Callable

from delayrig.analysis.repro.follow_files import Show
from delayrig.lanes.stages import StageWatch

Told = Callable[[str, float], None]
"""Takes a stage, and the seconds of host time since the cell began."""


class ShownWatch(StageWatch):
    """Notes as ever, and tells."""

    def __init__(self, told: Told) -> None:
        super().__init__()
        self._told = told
        self._began_s = time.monotonic()

    def ended(self, stage: str) -> None:
        """That stage is over."""
        super().ended(stage)
        self._told(stage, time.monotonic() - self._began_s)


def stages_told(show: Show) -> Told:
    """A line for each."""
    return lambda stage, at_s: show(f"{'stage':8}| {at_s:6.2f} s  {stage}")
