# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of sleeping in a profile, measured by `sleep-facts` (flashrom/bench/).

It tests the proposal's reasoning, which rests on three figures. A switch to another process takes
about 2 us, so shorter waits are not worth a sleep. A sleep of 100 us is accurate to 10 % under
SCHED_FIFO. At normal priority such a sleep ends some 60 us late in the proposal's tables.
"""

from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path

import msgspec

from delayrig.base.errors import NOT_JSON, LostGuestError

SUBJECT = "sleep-facts"
NORMAL, SLACK, FIFO = "normal", "slack", "fifo"
"""Ways to sleep: by default, with a timer slack of 1 ns, and under SCHED_FIFO."""
ACCURACY = 10
"""An accurate sleep is late by at most its length divided by ACCURACY."""
SWITCH_NS_MAX = 4_000
"""The longest switch that agrees with the proposal: twice its 2 us."""
TRIED_US = 100
COARSE_NS = 1_000_000
"""Timers with this or a coarser resolution fire only at ticks."""
US = 1000


class Sleep(msgspec.Struct, frozen=True, kw_only=True):
    """The lateness of sleeps of one length, slept in one way."""

    way: str
    length_us: int
    late_ns_min: int
    late_ns_p50: int
    late_ns_mean: int
    late_ns_max: int

    @property
    def is_accurate(self) -> bool:
        """Returns True if the median sleep is accurate."""
        return self.late_ns_p50 * ACCURACY <= self.length_us * 1000


class SleepFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one profile.

    `switch_ns` is the time of a switch between two processes on one CPU, or -1 if not measured.
    """

    schema: int
    tries: int
    slack_ns: int
    resolution_ns: int
    yield_ns: int
    switch_ns: int
    sleeps: list[Sleep]

    def sleep(self, way: str, length_us: int) -> Sleep | None:
        """Returns the row of that way and length; None if it could not be measured."""
        rows = (row for row in self.sleeps if (row.way, row.length_us) == (way, length_us))
        return next(rows, None)

    def way_of(self, *, realtime: bool) -> str:
        """Returns how a program sleeps here: under SCHED_FIFO if it asks for that and gets it."""
        return FIFO if realtime and any(row.way == FIFO for row in self.sleeps) else NORMAL

    def accurate_us(self, way: str) -> int | None:
        """Returns the shortest measured length from which all sleeps are accurate, or None."""
        rows = sorted((row for row in self.sleeps if row.way == way), key=lambda r: -r.length_us)
        accurate = list(takewhile(lambda row: row.is_accurate, rows))
        return accurate[-1].length_us if accurate else None


def read_sleep_facts(folder: Path) -> SleepFacts:
    """Reads the figures of a cell's folder; raises `LostGuestError` if it has none."""
    path = folder / "stdout.txt"
    try:
        return msgspec.json.decode(path.read_bytes(), type=SleepFacts)
    except (OSError, *NOT_JSON) as error:
        raise LostGuestError(f"{path}: {error}", hint="run it again, in another folder") from error


def accurate_everywhere_us(facts: list[SleepFacts], *, realtime: bool) -> int | None:
    """Returns the length from which sleeps are accurate in every profile; None if one has none."""
    lengths = [fact.accurate_us(fact.way_of(realtime=realtime)) for fact in facts]
    known = [length for length in lengths if length is not None]
    return max(known) if known and len(known) == len(lengths) else None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The test of one claim in one profile."""

    claim: str
    profile: str
    holds: bool
    words: str


def reasoning(facts: Mapping[str, SleepFacts], *, realtime: bool) -> list[Finding]:
    """Returns the findings, grouped by claim; without `realtime` it omits those on SCHED_FIFO."""
    found = [
        finding
        for name, fact in facts.items()
        for finding in _of_profile(name, fact, realtime=realtime)
    ]
    claims = dict.fromkeys(finding.claim for finding in found)
    return [finding for claim in claims for finding in found if finding.claim == claim]


def _of_profile(name: str, fact: SleepFacts, *, realtime: bool) -> Iterator[Finding]:
    ways = [(FIFO, "under SCHED_FIFO")] if realtime else []
    if fact.switch_ns >= 0 and fact.resolution_ns < COARSE_NS:
        yield _switch(name, fact)
    for way, how in (*ways, (NORMAL, "at normal priority")):
        if found := _accuracy(name, fact, way, how):
            yield found


def _switch(name: str, fact: SleepFacts) -> Finding:
    holds = fact.switch_ns <= SWITCH_NS_MAX
    words = f"a switch takes {fact.switch_ns / US:.1f} us at most, its pipes included"
    if not holds:
        words += ": so waits up to about that length are not worth a sleep, not only up to 2 us"
    return Finding(
        claim="a context switch takes about 2 us", profile=name, holds=holds, words=words
    )


def _accuracy(name: str, fact: SleepFacts, way: str, how: str) -> Finding | None:
    sleep = fact.sleep(way, TRIED_US)
    if sleep is None:
        return None
    late = f"a sleep of {TRIED_US} us is {sleep.late_ns_p50 / US:.1f} us late {how}"
    from_us = fact.accurate_us(way)
    accurate = f"from {from_us} us on" if from_us else "at none of the lengths tried"
    since = f"sleeps are accurate {accurate}"
    reason = "" if sleep.is_accurate else f": {_why_late(fact, way)}; {since}"
    return Finding(
        claim=f"sleeps of {TRIED_US} us are accurate to 10 % {how}",
        profile=name,
        holds=sleep.is_accurate,
        words=f"{late}{reason}",
    )


def _why_late(fact: SleepFacts, way: str) -> str:
    """Explains why the sleep is late, from the resolution and the row of the smallest slack."""
    sleep, without = fact.sleep(way, TRIED_US), fact.sleep(SLACK, TRIED_US)
    assert sleep is not None
    if fact.resolution_ns >= COARSE_NS:
        hz = round(1e9 / fact.resolution_ns)
        return (
            "timers have a low resolution and fire only at ticks, one every"
            f" {fact.resolution_ns / 1e6:g} ms (HZ={hz}): each sleep lasts until a tick"
        )
    if way == NORMAL and without and sleep.late_ns_p50 > 2 * without.late_ns_p50:
        return (
            f"the timer slack of {fact.slack_ns / US:.0f} us; with a slack of 1 ns it is"
            f" {without.late_ns_p50 / US:.1f} us late"
        )
    return "this CPU takes that long to wake a process"
