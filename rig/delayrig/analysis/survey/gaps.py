# SPDX-License-Identifier: GPL-2.0-or-later
"""What the bus alone tells of waits: the gaps between requests, as bounds.

No wait is longer than its gap between a reply and the next request; that is certain. Program and
guest need service time for each request as well, which is taken from the quick gaps. What a gap has
above it was waited or worked, and the bus cannot tell which.
"""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from delayrig.analysis.figures.waste import Watched, took_ns, whole_delays
from delayrig.images.profiles.profile import Profile
from delayrig.judge.bus import observe_waits, wake_bound_ns
from delayrig.model.cell import Cell
from delayrig.model.events import Event, Request, first, requests
from delayrig.model.evidence import ObservedWait
from delayrig.model.kinds.emulator import Start

STEPS = (1, 2, 5)
QUICK = 10
"""The quickest tenth of all gaps tells the service time: most may hold a wait of 10 us."""
SIGN = 8
"""A gap that is longer than the service time by less than an eighth of that shows no wait."""


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """From a reply to the next request: it was not shorter, and not longer."""

    opened_ns: int
    closed_ns: int
    shortest_ns: int
    longest_ns: int


class BusBound(msgspec.Struct, frozen=True, kw_only=True):
    """Gaps of about one length in one job, bounds of waits; `from_us` 0: no sign of a wait."""

    subject: str
    chip: str
    job: str
    from_us: int
    count: int
    above_service_ns: int
    """Waits, or work of the program's own."""
    at_most_ns: int
    """The gaps themselves: no wait was longer."""
    service_ns: int


class KnownWait(msgspec.Struct, frozen=True, kw_only=True):
    """A wait that the profile of this version knows; the gaps that hold it, with a round trip."""

    subject: str
    chip: str
    job: str
    what: str
    requested_us: int
    count: int
    at_least_ns: int
    at_most_ns: int


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two witnesses of one cell: the calls, and the bus less service time."""

    subject: str
    chip: str
    job: str
    calls: int
    calls_ns: int
    bus_ns: int

    @property
    def off_pct(self) -> float:
        """By how much the bus says more, in percent of what the calls took."""
        return 100 * (self.bus_ns - self.calls_ns) / self.calls_ns


def gaps_of(events: list[Event]) -> list[Gap]:
    """Every gap in which the subject had the next word, in their order."""
    wake_ns = wake_bound_ns(first(events, Start))
    return [
        _gap(before, after, wake_ns)
        for before, after in pairwise(requests(events))
        if after.read_ns > before.reply_ns
    ]


def _gap(before: Request, after: Request, wake_ns: int | None) -> Gap:
    empty_ns = after.empty_ns
    closed_ns = empty_ns if wake_ns is None else max(empty_ns, after.read_ns - wake_ns)
    return Gap(
        opened_ns=before.reply_ns,
        closed_ns=after.read_ns,
        shortest_ns=max(closed_ns - before.reply_ns, 0),
        longest_ns=after.read_ns - before.reply_ns,
    )


def service_ns(gaps: Sequence[Gap]) -> int:
    """The largest of the quickest tenth."""
    longest = sorted(gap.longest_ns for gap in gaps)
    return longest[(len(longest) - 1) // QUICK] if longest else 0


def bounds_of(watched: Iterable[Watched]) -> list[BusBound]:
    """By subject, part and job; the shortest first."""
    return [bound for each in watched for bound in _bounds(each.cell, gaps_of(each.events))]


def _bounds(cell: Cell, gaps: Sequence[Gap]) -> Iterator[BusBound]:
    service = service_ns(gaps)
    classes: dict[int, list[Gap]] = {}
    for gap in gaps:
        above_ns = gap.longest_ns - service
        shows_wait = above_ns >= max(1000, service // SIGN)
        classes.setdefault(class_us(above_ns // 1000 if shows_wait else 0), []).append(gap)
    for from_us, same in sorted(classes.items()):
        yield BusBound(
            subject=cell.subject,
            chip=cell.chip,
            job=cell.job.value,
            from_us=from_us,
            count=len(same),
            above_service_ns=sum(max(gap.shortest_ns - service, 0) for gap in same if from_us),
            at_most_ns=sum(gap.longest_ns for gap in same),
            service_ns=service,
        )


def class_us(us: int) -> int:
    """The largest of 1, 2, 5, 10, 20, ... that is not above it; 0 of 0."""
    if us < 1:
        return 0
    decade = 10 ** (len(str(us)) - 1)
    return int(max(step * decade for step in STEPS if step * decade <= us))


def known_waits(watched: Watched, profile: Profile | None) -> list[KnownWait]:
    """Those of the profile; none where there is no profile of this version."""
    if profile is None:
        return []
    cell = watched.cell
    waits = observe_waits(watched.events, profile, cell.chip, bridged=cell.bridged)
    kinds: dict[tuple[str, int], list[ObservedWait]] = {}
    for wait in waits:
        kinds.setdefault((wait.what, wait.requested_ns), []).append(wait)
    return [
        KnownWait(
            subject=cell.subject,
            chip=cell.chip,
            job=cell.job.value,
            what=what,
            requested_us=requested_ns // 1000,
            count=len(same),
            at_least_ns=sum(wait.shortest_ns for wait in same),
            at_most_ns=sum(wait.longest_ns for wait in same),
        )
        for (what, requested_ns), same in kinds.items()
    ]


def agreement_of(watched: Watched) -> Agreement | None:
    """None where no call, or no gap without one, was seen: their median is the service time."""
    cell, calls = watched.cell, whole_delays(watched.delays)
    gaps = gaps_of(watched.events)
    inside = [[c for c in calls if gap.opened_ns <= c.t_ns < gap.closed_ns] for gap in gaps]
    idle = [gap.longest_ns for gap, found in zip(gaps, inside, strict=True) if not found]
    waited = [(gap, found) for gap, found in zip(gaps, inside, strict=True) if found]
    if not idle or not waited:
        return None
    service = int(statistics.median(idle))
    return Agreement(
        subject=cell.subject,
        chip=cell.chip,
        job=cell.job.value,
        calls=sum(len(found) for _, found in waited),
        calls_ns=sum(took_ns(found) for _, found in waited),
        bus_ns=sum(gap.longest_ns - service for gap, _ in waited),
    )
