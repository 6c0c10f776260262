# SPDX-License-Identifier: GPL-2.0-or-later
"""What was asked for, call by call: of cells in which probes look at the delay function."""

from collections.abc import Iterable, Iterator

import msgspec

from delayrig.events import Event, first, of_kind
from delayrig.figures.waste import Watched


class Requested(msgspec.Struct, frozen=True, kw_only=True):
    """All calls of one length in one job: exact, but for what a probe costs, which is taken off."""

    subject: str
    library: bool
    """Whether its libflashrom did the job, in our host program."""
    chip: str
    job: str
    requested_us: int
    count: int
    took_ns: int
    beyond_ns: int
    """What it took beyond what was asked for."""


def requested_of(watched: Iterable[Watched]) -> list[Requested]:
    """The shortest first, by subject, part and job in their order."""
    sums: dict[tuple[str, bool, str, str], dict[int, list[int]]] = {}
    for each in watched:
        cell = each.cell
        key = (cell.subject, cell.in_library, cell.chip, cell.job.value)
        for requested_us, took_ns in calls_of(each.events):
            sums.setdefault(key, {}).setdefault(requested_us, []).append(took_ns)
    return [
        Requested(
            subject=subject,
            library=library,
            chip=chip,
            job=job,
            requested_us=requested_us,
            count=len(took),
            took_ns=sum(took),
            beyond_ns=sum(took) - len(took) * requested_us * 1000,
        )
        for (subject, library, chip, job), lengths in sums.items()
        for requested_us, took in sorted(lengths.items())
    ]


def calls_of(events: list[Event]) -> Iterator[tuple[int, int]]:
    """What each call asked for in us, and what it took in ns."""
    probe = first(events, "delay_probe")
    for call in of_kind(events, "delay") if probe else []:
        if call["end_ns"] is not None:
            yield call["requested_us"], took_ns(call, probe or {})


def took_ns(call: Event, probe: Event) -> int:
    """From entry to return, without the probe."""
    return max(int(call["end_ns"]) - int(call["t_ns"]) - int(probe["cost_ns"]), 0)
