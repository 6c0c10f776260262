# SPDX-License-Identifier: GPL-2.0-or-later
"""What sleeping costs in a profile, as `sleep-facts` found it there (flashrom/bench/).

The proposal's reasoning is put to the test by it. That has three figures: a switch to another
process takes about 2 us, so shorter waits are not worth a sleep; a sleep of 100 us is accurate to
10 % under SCHED_FIFO; and, in its tables, one at normal priority is some 60 us late.
"""

from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path

import msgspec

from delayrig.base.errors import LostGuestError

SUBJECT = "sleep-facts"
NORMAL, SLACK, FIFO = "normal", "slack", "fifo"
"""Ways to sleep: as ever, with a timer slack of 1 ns, under SCHED_FIFO."""
ACCURACY = 10
"""A sleep is accurate where it is late by no more than a tenth of its length."""
SWITCH_NS_MAX = 4_000
"""Twice the proposal's 2 us: what is more than that is another machine."""
TRIED_US = 100
COARSE_NS = 1_000_000
"""A timer that moves in steps of that is driven by the tick."""
US = 1000


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
        rows = sorted((row for row in self.sleeps if row.way == way), key=lambda r: -r.length_us)
        accurate = list(takewhile(lambda row: row.is_accurate, rows))
        return accurate[-1].length_us if accurate else None


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


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One claim in one profile."""

    claim: str
    profile: str
    holds: bool
    words: str


def reasoning(facts: Mapping[str, SleepFacts]) -> list[Finding]:
    """Each claim in each profile, in the order of claims."""
    found = [finding for name, fact in facts.items() for finding in _of_profile(name, fact)]
    claims = dict.fromkeys(finding.claim for finding in found)
    return [finding for claim in claims for finding in found if finding.claim == claim]


def _of_profile(name: str, fact: SleepFacts) -> Iterator[Finding]:
    if fact.switch_ns >= 0 and fact.resolution_ns < COARSE_NS:
        yield _switch(name, fact)
    for way, how in ((FIFO, "under SCHED_FIFO"), (NORMAL, "at normal priority")):
        if found := _accuracy(name, fact, way, how):
            yield found


def _switch(name: str, fact: SleepFacts) -> Finding:
    holds = fact.switch_ns <= SWITCH_NS_MAX
    words = f"a switch takes {fact.switch_ns / US:.1f} us at most, its pipes included"
    if not holds:
        words += ": waits up to about that long are not worth a sleep, not those up to 2 us"
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
    """What the lateness is made of, as far as the other rows tell."""
    sleep, without = fact.sleep(way, TRIED_US), fact.sleep(SLACK, TRIED_US)
    assert sleep is not None
    if fact.resolution_ns >= COARSE_NS:
        hz = round(1e9 / fact.resolution_ns)
        return (
            f"timers are of low resolution and fire at the tick alone,"
            f" each {fact.resolution_ns / 1e6:g} ms (HZ={hz}): any sleep lasts to the next one"
        )
    if way == NORMAL and without and sleep.late_ns_p50 > 2 * without.late_ns_p50:
        return (
            f"the timer slack of {fact.slack_ns / US:.0f} us; with a slack of 1 ns it is"
            f" {without.late_ns_p50 / US:.1f} us late"
        )
    return "that is how long this CPU takes to wake a process"
