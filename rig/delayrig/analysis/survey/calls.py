# SPDX-License-Identifier: GPL-2.0-or-later
"""What was asked for, call by call: of cells in which QEMU saw the delay functions."""

from collections.abc import Iterable, Sequence

import msgspec

from delayrig.analysis.figures.delays import whole_delays
from delayrig.analysis.figures.waste import Watched
from delayrig.hazards.of_cell import is_in_library
from delayrig.model.delays import DelayCall


class Requested(msgspec.Struct, frozen=True, kw_only=True):
    """All calls of one length in one job."""

    subject: str
    library: bool
    """Whether its libflashrom did the job, in our library client."""
    chip: str
    job: str
    requested_us: int
    count: int
    took_ns: int
    beyond_ns: int
    """What it took beyond what was asked for."""


def requested_of(watched: Iterable[Watched]) -> list[Requested]:
    """The shortest first, by subject, part and job in their order."""
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


def took_ns(calls: Iterable[DelayCall]) -> int:
    """All of them together."""
    return sum(call.seen_ns or 0 for call in calls)


SHORT_US = 100
"""The threshold that the proposal recommends: shorter waits are not slept there."""


def answer_of(calls: Sequence[Requested]) -> str:
    """What was asked for, in one sentence."""
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
