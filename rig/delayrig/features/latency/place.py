# SPDX-License-Identifier: GPL-2.0-or-later
"""The interface of places where readings are taken: this machine, and the guests of a lane."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from delayrig.features.latency.result import Series
from delayrig.lanes.host.children import USUAL_SLACK_NS
from delayrig.model.lane import LaneName

GUEST_LANES = (LaneName.VIRTUAL, LaneName.LIVE)
Line = dict[str, Any]
"""A line of the measuring program's output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceFacts:
    """Facts of a place that are known without measuring."""

    name: str
    lane: str
    arch: str
    cpus: tuple[int, ...] = ()
    """The CPUs to measure on, in turn."""
    core_mips: tuple[float, ...] = ()
    """The speed of each core; empty on this machine."""
    about: str = ""
    governors: tuple[str, ...] = ()
    """The governors that can be set, the present one first."""
    idle_states: tuple[str, ...] = ()
    idle_exit_us: tuple[int, ...] = ()
    """The time that the machine takes to leave each idle state."""

    @property
    def usual_slack_ns(self) -> int:
        """Returns the timer slack to set in ordinary series; 0: programs inherit the default."""
        return USUAL_SLACK_NS if self.core_mips else 0

    @property
    def mips(self) -> float | None:
        """Returns the speed of the first measured CPU; None on this machine."""
        return self.core_mips[self.cpus[0]] if self.core_mips else None

    @property
    def virtual_mips(self) -> float | None:
        """Returns the speed of a guest in which sleeping costs no time here, but computing does."""
        return self.mips if self.lane == LaneName.VIRTUAL else None


class Place(Protocol):
    """A place that runs programs, one at a time."""

    @property
    def facts(self) -> PlaceFacts: ...

    async def measure(self, series: Sequence[Series]) -> list[Line]:
        """Runs the measuring program, and returns its line for each series, in order."""

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> tuple[bytes, Line]:
        """Runs cyclictest; raises `MissingError`.

        Returns its JSON, and the counts of windows as a line of the measuring program has them.
        """

    async def set_governor(self, name: str) -> None:
        """Sets the governor until the next call; an empty name restores the old one."""


class MissingError(Exception):
    """Something needed for a measurement is missing. The message names it and the remedy."""
