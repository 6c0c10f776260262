# SPDX-License-Identifier: GPL-2.0-or-later
"""Where readings are taken: the seam behind which this machine and the guests of a lane stand.

A lane of guests is one more `Place`: its name goes into the options of
`commands/latency.py`, its making into `run.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from delayrig.model.lane import LaneName

GUEST_LANES = (LaneName.VIRTUAL, LaneName.LIVE)
"""Whose guests can be measured in."""
Line = dict[str, Any]
"""A line of the measuring program, as it wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Of a guest of real time: in how many of them this machine held a core to its speed or not."""

    count: int = 0
    not_kept: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceFacts:
    """What is known of a place without measuring."""

    name: str
    lane: str
    arch: str
    mips: float | None
    """Of the first CPU to measure on; None on this machine."""
    cpus: tuple[int, ...]
    """To measure on, in turn."""
    core_mips: tuple[float, ...] = ()
    """Of each core of a guest."""
    about: str = ""
    """What a reader should know of it besides."""
    usual_slack_ns: int = 0
    """To give an ordinary process, where it would not have what Linux gives; 0: leave it."""
    governors: tuple[str, ...] = ()
    """That can be set, the one in force first."""
    idle_states: tuple[str, ...] = ()
    idle_exit_us: tuple[int, ...] = ()
    """How long the machine takes to leave each of them."""

    @property
    def in_virtual_time(self) -> bool:
        """Where sleeping costs nothing, and computing does."""
        return self.lane == LaneName.VIRTUAL


class Place(Protocol):
    """Runs programs, one at a time."""

    @property
    def facts(self) -> PlaceFacts:
        """What is known of it."""
        ...

    async def measure(self, words: Sequence[str]) -> list[Line]:
        """The measuring program with those series; a line for each, in their order.

        A guest of real time adds `windows` and `windows_not_kept` to each.
        """
        ...

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> tuple[bytes, Windows]:
        """cyclictest's own JSON, and how the place kept up; `MissingError` where there is none."""
        ...

    async def set_governor(self, name: str) -> None:
        """Until the next one; an empty name puts back what was there."""
        ...


class MissingError(Exception):
    """Something that is measured with is not here; the message says what, and the remedy."""
