# SPDX-License-Identifier: GPL-2.0-or-later
"""Where readings are taken: the seam behind which this machine and the guests of a lane stand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from delayrig.lanes.payload import SUBJECT_ROOT
from delayrig.model.lane import LaneName

GUEST_LANES = (LaneName.VIRTUAL, LaneName.LIVE)
T = TypeVar("T")
Line = dict[str, Any]
"""A line of the measuring program, as it wrote it."""
WORDS_MAX = 60
"""Of a command line in a guest (images/agent/spec.h)."""
USUAL_SLACK_NS = 50_000
"""What init has, and hands down. The agent is a real-time process: what it starts has none."""
CYCLIC_OUTPUT = "/tmp/cyclictest.json"
CYCLIC_ENTRY = "cyclictest.json"
CYCLIC_LINE = f"collect {CYCLIC_ENTRY} {SUBJECT_ROOT}{CYCLIC_OUTPUT} 0 0"


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
    about: str = ""
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

    async def measure(self, words: Sequence[str]) -> list[Line]:
        """A line of the measuring program for each series, in their order."""

    async def cyclictest(self, words: Sequence[str], *, eaters: int) -> tuple[bytes, Windows]:
        """cyclictest's own JSON, and how the place kept up; `MissingError` where there is none."""

    async def set_governor(self, name: str) -> None:
        """Until the next one; an empty name puts back what was there."""


class MissingError(Exception):
    """Something that is measured with is not here; the message says what, and the remedy."""


def in_chunks(items: Sequence[T], length: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), length):
        yield items[start : start + length]


def cyclic_words(words: Sequence[str]) -> list[str]:
    return [word.replace("OUTPUT", CYCLIC_OUTPUT) for word in words]


def cyclic_json(entries: Mapping[str, bytes]) -> bytes:
    """What it wrote; raises `MissingError` with what it said where that is nothing."""
    if CYCLIC_ENTRY not in entries:
        said = entries.get("stdout.txt", b"").decode(errors="replace").strip()
        raise MissingError(f"cyclictest said: {said[:300]}")
    return entries[CYCLIC_ENTRY]
