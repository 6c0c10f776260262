# SPDX-License-Identifier: GPL-2.0-or-later
"""Facts of a cell's events for a report, computed once and small enough to be kept."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from delayrig.base import digest
from delayrig.base.durations import rounded
from delayrig.base.errors import BadInputError, LostGuestError
from delayrig.judge.bus import observe_waits
from delayrig.judge.chip import margins_ns
from delayrig.judge.delay_waits import observe_calls_of
from delayrig.judge.waits import CHIP_BUSY
from delayrig.judge.waste import (
    Cover,
    Span,
    Waste,
    Watched,
    phase_at,
    read_watched,
    summed,
    unreadable,
    waste_of,
)
from delayrig.model.events import Event, first, of_kind, requests, transactions
from delayrig.model.evidence import ObservedWait, Witness
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import Busy
from delayrig.model.phases import overshoots
from delayrig.model.result import CellResult
from delayrig.subjects.profiles.profile import find_profile

SILENCE_NS_MIN = 1_000_000
"""The shortest silence. Shorter gaps on the bus are round trips."""
START, END = "start", "end"


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """The time of a job, split into parts that add up to it."""

    busy_ns: int = 0
    wire_ns: int = 0
    overshoot_ns: int = 0
    fixed_ns: int = 0
    rest_ns: int = 0

    @property
    def total_ns(self) -> int:
        return sum(msgspec.structs.astuple(self))


class Silence(msgspec.Struct, frozen=True, kw_only=True):
    """The silences on the bus in one phase, between the same two requests, with the part ready."""

    subject: str
    phase: str
    after: str
    before: str
    count: int
    total_ns: int
    total_ns_max: int


class WaitMargin(msgspec.Struct, frozen=True, kw_only=True):
    """All waits of one class in a cell.

    The fields that may be null describe the worst of them: the judged wait with the least relative
    margin.
    """

    kind: str
    witness: Witness
    count: int
    judged: int
    short: int
    requested_ns: int | None = None
    actual_ns: tuple[int, int] | None = None
    margin_ns: int | None = None
    opened_ns: int | None = None
    """When the worst wait began; for waits for the chip, when the command after the wait came."""

    @property
    def relative_margin(self) -> float:
        """Returns the margin as a multiple of the request, or of 1 ms without a request.

        It is infinite if no wait was judged.
        """
        return float("inf") if self.margin_ns is None else _share(self.margin_ns, self.requested_ns)

    @property
    def took(self) -> str:
        """Returns the observed duration of the worst wait; empty if it is unknown."""
        return " to ".join(dict.fromkeys(rounded(ns) for ns in self.actual_ns or ()))


def _share(margin_ns: int, requested_ns: int | None) -> float:
    return margin_ns / (requested_ns or 1_000_000)


class CellFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a report takes from the events of a cell."""

    split: Split
    waste: Waste
    silences: list[Silence]
    waits: list[WaitMargin]


def cell_facts(place: Path, result: CellResult) -> CellFacts:
    """Returns the facts of the cell in that folder.

    Raises `BadInputError` if its events are not those that were judged.
    """
    watched = read_judged(place, result)
    try:
        return _facts(watched, result)
    except (ValueError, LostGuestError) as error:
        raise unreadable(place, error) from error


def read_judged(place: Path, result: CellResult) -> Watched:
    """Reads the cell's events, and checks that the result was made from them."""
    events = place / "events.jsonl"
    whole = "or give the run's results.json to report without events"
    if not events.is_file():
        raise BadInputError(
            f"{events}: is missing, but the run's results contain this cell",
            hint=f"bring the cell's folder back, {whole}",
        )
    if result.events_sha256 and digest.of_file(events) != result.events_sha256:
        raise BadInputError(
            f"{events}: these are not the events that were judged (key 'events_sha256')",
            hint=f"the file was changed or cut off: run the cell again, {whole}",
        )
    return read_watched(place)[0]


def _facts(watched: Watched, result: CellResult) -> CellFacts:
    events = watched.events
    profile = find_profile(result.subject.version)
    on_bus = (
        observe_waits(events, profile, result.chip, is_forwarded=watched.cell.is_forwarded)
        if profile
        else []
    )
    delays = observe_calls_of(watched.delays, events) if watched.delays else []
    busy = [(each.start_ns, each.until_ns) for each in of_kind(events, Busy)]
    late = [(each.ready_ns, each.noticed_ns) for each in overshoots(events)]
    return CellFacts(
        split=_split(events, busy, late, on_bus),
        waste=waste_of([watched]),
        silences=summed(_silences(watched, result.subject_label, Cover([*busy, *late]))),
        waits=[*_chip_margins(events), *margins_of(on_bus), *margins_of(delays)],
    )


def _split(
    events: list[Event], busy: list[Span], late: list[Span], waits: list[ObservedWait]
) -> Split:
    """Splits the time of the job. Where parts overlap, the time belongs to the first of them."""
    job = job_of(events)
    if job is None:
        return Split()
    wire = [(event.read_ns, event.read_ns + event.wire_ns) for event in transactions(events)]
    fixed = [(wait.opened_ns, wait.opened_ns + wait.shortest_ns) for wait in waits]
    sums: list[int] = []
    spans: list[Span] = []
    before_ns = 0
    for part in (busy, wire, late, fixed, [job]):
        spans += part
        covered_ns = Cover(spans).within_ns(*job)
        sums.append(covered_ns - before_ns)
        before_ns = covered_ns
    return Split(**dict(zip(Split.__struct_fields__, sums, strict=True)))


def job_of(events: list[Event]) -> Span | None:
    """Returns the span from the subject's start to its end; None if one of them is unknown."""
    started, ended = first(events, SubjectStart), first(events, SubjectEnd)
    return (started.t_ns, ended.t_ns) if started and ended else None


def _silences(watched: Watched, subject: str, accounted: Cover) -> Iterator[Silence]:
    events = watched.events
    job = job_of(events)
    if job is None:
        return
    phase_of = phase_at(watched)
    moments = [(each.read_ns, each.reply_ns, each.name) for each in requests(events)]
    moments.append((job[1], job[1], END))
    since_ns, after = job[0], START
    for read_ns, reply_ns, name in moments:
        length_ns = read_ns - since_ns - accounted.within_ns(since_ns, read_ns)
        if length_ns >= SILENCE_NS_MIN:
            yield Silence(
                subject=subject,
                phase=phase_of(since_ns),
                after=after,
                before=name,
                count=1,
                total_ns=length_ns,
                total_ns_max=length_ns,
            )
        since_ns, after = max(since_ns, reply_ns), name


def _chip_margins(events: list[Event]) -> list[WaitMargin]:
    margins = margins_ns(events)
    if not margins:
        return []
    worst = (each.read_ns for each in transactions(events) if each.margin_ns == min(margins))
    return [
        WaitMargin(
            kind=CHIP_BUSY,
            witness=Witness.CHIP,
            count=len(margins),
            judged=len(margins),
            short=sum(margin < 0 for margin in margins),
            margin_ns=min(margins),
            opened_ns=next(worst, None),
        )
    ]


def margins_of(waits: Sequence[ObservedWait]) -> Iterator[WaitMargin]:
    """Yields the waits by class."""
    for kind in dict.fromkeys(wait.kind for wait in waits):
        alike = [wait for wait in waits if wait.kind == kind]
        judged = [wait for wait in alike if wait.is_judged]
        worst = min(judged, key=_certain_share, default=None)
        yield WaitMargin(
            kind=kind,
            witness=alike[0].witness,
            count=len(alike),
            judged=len(judged),
            short=sum(wait.is_short for wait in alike),
            requested_ns=worst.requested_ns if worst else None,
            actual_ns=(worst.shortest_ns, worst.longest_ns) if worst else None,
            margin_ns=_certain_margin_ns(worst) if worst else None,
            opened_ns=worst.opened_ns if worst else None,
        )


def _certain_share(wait: ObservedWait) -> float:
    return _share(_certain_margin_ns(wait), wait.requested_ns)


def _certain_margin_ns(wait: ObservedWait) -> int:
    """Returns the certain margin: the least that a short wait lacked or a good one had left."""
    return (wait.longest_ns if wait.is_short else wait.shortest_ns) - wait.requested_ns
