# SPDX-License-Identifier: GPL-2.0-or-later
"""`survey.json`: computed from the cells of a run, with every call that QEMU saw.

The bus alone gives bounds of waits: the gaps between requests. A gap lasts from a reply to the next
request. No wait in a gap is longer than the gap. Program and guest also need service time for each
request, which the quickest gaps show. In the rest of a gap the program waited or worked, and the
bus cannot tell which.
"""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from delayrig.hazards.of_cell import is_in_library
from delayrig.judge.bus import observe_waits, wake_bound_ns
from delayrig.judge.waste import Watched, read_watched, took_ns, whole_delays
from delayrig.model.delays import DelayCall
from delayrig.model.events import Event, first, requests
from delayrig.model.evidence import ObservedWait
from delayrig.model.kinds.emulator import Start
from delayrig.model.lane import LaneName
from delayrig.model.result import Results, Verdict, read_results
from delayrig.subjects.profiles.profile import Profile, find_profile

STEPS = (1, 2, 5)
QUICK = 10
"""The quickest gaps, one in QUICK, show the service time. Others may contain a poll's 10 us."""
SIGN = 8
"""A gap shows a wait if it exceeds the service time by at least an eighth, and 1 us."""
SCHEMA = 1
FILE_NAME = "survey.json"
BOUNDS = (
    "all figures are bounds from the bus: no wait was longer than its gap. In the time by which a"
    " gap exceeds the usual one between two requests, the program waited or worked; the bus cannot"
    " tell which."
)
SHORT_US = 100
"""The threshold that the proposal recommends. Shorter waits do not sleep."""
USABLE = (Verdict.PASS, Verdict.TOO_SHORT, Verdict.INCONCLUSIVE)


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of the time from a reply to the next request."""

    opened_ns: int
    closed_ns: int
    shortest_ns: int
    longest_ns: int


class BusBound(msgspec.Struct, frozen=True, kw_only=True):
    """Gaps of about one length in one cell, as bounds of waits.

    If `from_us` is 0, the gaps show no sign of a wait.
    """

    subject: str
    chip: str
    job: str
    from_us: int
    count: int
    above_service_ns: int
    """The sum of the gaps' lower bounds, less service time: waits, or the program's own work."""
    at_most_ns: int
    """The sum of the gaps. The waits did not take more time."""
    service_ns: int


class KnownWait(msgspec.Struct, frozen=True, kw_only=True):
    """A wait that the profile of this version knows, and the sums of its bounds."""

    subject: str
    chip: str
    job: str
    what: str
    requested_us: int
    count: int
    at_least_ns: int
    at_most_ns: int


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """The witnesses of one cell compared: the calls, and the bus without service time."""

    subject: str
    chip: str
    job: str
    calls: int
    calls_ns: int
    bus_ns: int

    @property
    def off_pct(self) -> float:
        """Returns by how many percent the bus exceeds the calls."""
        return 100 * (self.bus_ns - self.calls_ns) / self.calls_ns


def gaps_of(events: list[Event]) -> list[Gap]:
    """Returns every gap before a request of the subject, in order."""
    wake_ns = wake_bound_ns(first(events, Start))
    gaps = []
    for before, after in pairwise(requests(events)):
        if after.read_ns <= before.reply_ns:
            continue
        woken_ns = 0 if wake_ns is None else after.read_ns - wake_ns
        gap = Gap(
            opened_ns=before.reply_ns,
            closed_ns=after.read_ns,
            shortest_ns=max(max(after.empty_ns, woken_ns) - before.reply_ns, 0),
            longest_ns=after.read_ns - before.reply_ns,
        )
        gaps.append(gap)
    return gaps


def service_ns(gaps: Sequence[Gap]) -> int:
    """Returns the longest gap of the quickest tenth."""
    longest = sorted(gap.longest_ns for gap in gaps)
    return longest[(len(longest) - 1) // QUICK] if longest else 0


def bounds_of(watched: Watched) -> Iterator[BusBound]:
    """Yields the bounds of a cell, the shortest first."""
    cell, gaps = watched.cell, gaps_of(watched.events)
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
    """Returns the largest of 1, 2, 5, 10, 20, ... up to that length; 0 below 1 us."""
    if us < 1:
        return 0
    decade = 10 ** (len(str(us)) - 1)
    return int(max(step * decade for step in STEPS if step * decade <= us))


def known_waits(watched: Watched, profile: Profile | None) -> list[KnownWait]:
    """Returns the waits that the profile knows; none without a profile of this version."""
    if profile is None:
        return []
    cell = watched.cell
    waits = observe_waits(watched.events, profile, cell.chip, is_forwarded=cell.is_forwarded)
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
    """Compares the witnesses. Returns None if no call, or no gap without a call, was seen.

    The median gap without a call is the service time.
    """
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


class Requested(msgspec.Struct, frozen=True, kw_only=True):
    """All calls of one length, in whole microseconds, in one job."""

    subject: str
    library: bool
    """True if its libflashrom did the job, in our library client."""
    chip: str
    job: str
    requested_us: int
    count: int
    took_ns: int
    beyond_ns: int


def requested_of(watched: Iterable[Watched]) -> list[Requested]:
    """Returns the requests by subject, part and job in their order, the shortest first."""
    found: dict[tuple[str, bool, str, str], dict[int, list[DelayCall]]] = {}
    for each in watched:
        cell = each.cell
        key = (cell.subject, is_in_library(cell), cell.chip, cell.job.value)
        for call in whole_delays(each.delays):
            found.setdefault(key, {}).setdefault(call.requested_ns // 1000, []).append(call)
    return [
        Requested(
            subject=subject,
            library=library,
            chip=chip,
            job=job,
            requested_us=requested_us,
            count=len(calls),
            took_ns=took_ns(calls),
            beyond_ns=took_ns(calls) - sum(call.requested_ns for call in calls),
        )
        for (subject, library, chip, job), lengths in found.items()
        for requested_us, calls in sorted(lengths.items())
    ]


def answer_of(calls: Sequence[Requested]) -> str:
    if not calls:
        return "No wait was seen call by call."
    count, took = sum(each.count for each in calls), sum(each.took_ns for each in calls)
    short = [each for each in calls if each.requested_us < SHORT_US]
    part = 100 * sum(each.took_ns for each in short) / max(took, 1)
    lengths = [each.requested_us for each in calls]
    return (
        f"{count:,} waits of {min(lengths):,} to {max(lengths):,} us were asked for, and took"
        f" {took / 1e9:.3f} s; {sum(each.count for each in short):,} of them, of less than"
        f" {SHORT_US} us, took {part:.1f} % of that."
    )


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `survey.json`. `lines` name the evidence and its limits."""

    schema: int = SCHEMA
    lines: list[str]
    calls: list[Requested]
    bus: list[BusBound]
    known: list[KnownWait]
    agreements: list[Agreement]


def survey_run(folder: Path) -> Survey:
    """Surveys a run; raises `BadInputError` if there is none."""
    results = read_results(folder)
    usable = {cell.id: cell for cell in results.cells if cell.verdict in USABLE}
    watched = [each for each in read_watched(folder) if each.cell.id in usable]
    profiles = {name: find_profile(cell.subject.version) for name, cell in usable.items()}
    return Survey(
        lines=_lines(results, watched),
        calls=requested_of(watched),
        bus=[bound for each in watched for bound in bounds_of(each)],
        known=[known for each in watched for known in known_waits(each, profiles[each.cell.id])],
        agreements=[found for each in watched if (found := agreement_of(each))],
    )


def _lines(results: Results, watched: Sequence[Watched]) -> list[str]:
    names = dict.fromkeys(cell.subject.name for cell in results.measured)
    lines = [f"{name}: {_source([w for w in watched if w.cell.subject == name])}" for name in names]
    if results.run.interrupted:
        count, planned = len(results.cells), results.run.cells_planned
        lines.append(f"interrupted: the run holds {count} of {planned} cells.")
    failed = [cell for cell in results.cells if cell.verdict not in (*USABLE, Verdict.SKIPPED)]
    return [*lines, *(f"left out: {cell.id} was {cell.verdict}" for cell in failed)]


def _source(watched: Sequence[Watched]) -> str:
    """Returns a sentence that says how the subject's waits are known in these cells."""
    seen = [each.delays for each in watched if each.delays]
    called = dict.fromkeys(d.function_of(call).name for d in seen for call in whole_delays(d))
    if called:
        return f"seen call by call, by QEMU, in {', '.join(called)}."
    if seen:
        return f"no call of its delay functions was seen, so {BOUNDS}"
    if any(each.cell.lane is LaneName.HOST for each in watched):
        return f"nobody sees delays on the host lane, so {BOUNDS}"
    return f"no delay function of it is known, so {BOUNDS}"
