# SPDX-License-Identifier: GPL-2.0-or-later
"""Where readings are taken: the seam behind which this machine and the guests of a lane stand.

A lane of guests is one more `Place`: its name goes into the options of
`commands/latency.py`, its making into `run.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from delayrig.lanes import LaneName

GUEST_LANES = (LaneName.VIRTUAL,)
"""Whose guests can be measured in."""
Line = dict[str, Any]
"""A line of the measuring program, as it wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceFacts:
    """What is known of a place without measuring."""

    name: str
    lane: str
    arch: str
    mips: float | None
    cpus: tuple[int, ...]
    """To measure on, in turn."""
    usual_slack_ns: int = 0
    """To give an ordinary process, where it would not have what Linux gives; 0: leave it."""
    governors: tuple[str, ...] = ()
    """That can be set, the one in force first."""
    idle_states: tuple[str, ...] = ()
    idle_exit_us: tuple[int, ...] = ()
    """How long the machine takes to leave each of them."""


class Place(Protocol):
    """Runs programs, one at a time."""

    @property
    def facts(self) -> PlaceFacts:
        """What is known of it."""
        ...

    async def measure(self, words: Sequence[str]) -> list[Line]:
        """The measuring program with those series; a line for each, in their order."""
        ...

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> bytes:
        """cyclictest's own JSON; `MissingError` where there is no such program."""
        ...

    async def set_governor(self, name: str) -> None:
        """Until the next one; an empty name puts back what was there."""
        ...


class MissingError(Exception):
    """Something that is measured with is not here; the message says what, and the remedy."""
