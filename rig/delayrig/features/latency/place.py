# SPDX-License-Identifier: GPL-2.0-or-later
"""The interface of places where readings are taken: this machine, and the guests of a lane."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from delayrig.lanes.payload import SUBJECT_ROOT
from delayrig.model.lane import LaneName

GUEST_LANES = (LaneName.VIRTUAL, LaneName.LIVE)
Line = dict[str, Any]
"""A line of the measuring program's output."""
CYCLIC_OUTPUT = "/tmp/cyclictest.json"
CYCLIC_ENTRY = "cyclictest.json"
CYCLIC_LINE = f"collect {CYCLIC_ENTRY} {SUBJECT_ROOT}{CYCLIC_OUTPUT} 0 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """The number of windows of a guest in real time, and of those that missed a core's speed."""

    count: int = 0
    not_kept: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceFacts:
    """Facts of a place that are known without measuring."""

    name: str
    lane: str
    arch: str
    mips: float | None
    """The speed of the first measured CPU; None on this machine."""
    cpus: tuple[int, ...]
    """The CPUs to measure on, in turn."""
    core_mips: tuple[float, ...] = ()
    about: str = ""
    usual_slack_ns: int = 0
    """The timer slack to set in ordinary series; 0 where programs inherit Linux's default."""
    governors: tuple[str, ...] = ()
    """The governors that can be set, the present one first."""
    idle_states: tuple[str, ...] = ()
    idle_exit_us: tuple[int, ...] = ()
    """The time that the machine takes to leave each idle state."""

    @property
    def in_virtual_time(self) -> bool:
        """Returns True if sleeping costs no time of this machine, but computing does."""
        return self.lane == LaneName.VIRTUAL


class Place(Protocol):
    """A place that runs programs, one at a time."""

    @property
    def facts(self) -> PlaceFacts:
        """Returns the facts that are known without measuring."""

    async def measure(self, words: Sequence[str]) -> list[Line]:
        """Runs the measuring program, and returns its line for each series, in order."""

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> tuple[bytes, Windows]:
        """Runs cyclictest, and returns its JSON and the windows; raises `MissingError`."""

    async def set_governor(self, name: str) -> None:
        """Sets the governor until the next call; an empty name restores the old one."""


class MissingError(Exception):
    """Something needed for a measurement is missing. The message names it and the remedy."""


def cyclic_json(entries: Mapping[str, bytes]) -> bytes:
    """Returns the output file; if it is missing, raises `MissingError` with the printed message."""
    if CYCLIC_ENTRY not in entries:
        printed = entries.get("stdout.txt", b"").decode(errors="replace").strip()
        raise MissingError(f"cyclictest said: {printed[:300]}")
    return entries[CYCLIC_ENTRY]
