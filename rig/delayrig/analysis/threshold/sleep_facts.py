# SPDX-License-Identifier: GPL-2.0-or-later
"""What sleeping costs in a profile, as `sleep-facts` found it there (flashrom/bench/)."""

from pathlib import Path

import msgspec

from delayrig.base.errors import LostGuestError

SUBJECT = "sleep-facts"
NORMAL, SLACK, FIFO = "normal", "slack", "fifo"
"""Ways to sleep: as ever, with a timer slack of 1 ns, under SCHED_FIFO."""
ACCURACY = 10
"""A sleep is accurate where it is late by no more than a tenth of its length."""
SCHEMA = 1


class Sleep(msgspec.Struct, frozen=True, kw_only=True):
    """By how much plain sleeps of one length were late."""

    way: str
    length_us: int
    late_ns_min: int
    late_ns_p50: int
    late_ns_mean: int
    late_ns_max: int

    @property
    def is_accurate(self) -> bool:
        """The usual one of them is."""
        return self.late_ns_p50 * ACCURACY <= self.length_us * 1000


class SleepFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Of one profile. A switch is between two processes on one CPU; -1: not measured."""

    schema: int
    tries: int
    slack_ns: int
    resolution_ns: int
    yield_ns: int
    switch_ns: int
    sleeps: list[Sleep]

    def sleep(self, way: str, length_us: int) -> Sleep | None:
        """The row of that way and length; None where it could not be measured."""
        rows = (row for row in self.sleeps if (row.way, row.length_us) == (way, length_us))
        return next(rows, None)

    def best_way(self) -> str:
        """SCHED_FIFO where that was to be had."""
        return FIFO if any(row.way == FIFO for row in self.sleeps) else NORMAL

    def accurate_us(self, way: str) -> int | None:
        """The shortest measured length from which on all sleeps are accurate; None: none is."""
        found = None
        rows = sorted((row for row in self.sleeps if row.way == way), key=lambda r: -r.length_us)
        for row in rows:
            if not row.is_accurate:
                break
            found = row.length_us
        return found


def read_sleep_facts(folder: Path) -> SleepFacts:
    """From a cell's folder; raises `LostGuestError` where it holds none."""
    path = folder / "stdout.txt"
    try:
        return msgspec.json.decode(path.read_bytes(), type=SleepFacts)
    except (OSError, msgspec.DecodeError) as error:
        raise LostGuestError(f"{path}: {error}", hint="run it again, in another folder") from error


def accurate_everywhere_us(facts: list[SleepFacts]) -> int | None:
    """From which length on sleeps are accurate in each of the profiles, the best way each has."""
    lengths = [fact.accurate_us(fact.best_way()) for fact in facts]
    known = [length for length in lengths if length is not None]
    return max(known) if known and len(known) == len(lengths) else None
