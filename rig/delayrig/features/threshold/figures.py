# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of each threshold in each profile, computed from results of cells by pure functions."""

import statistics
from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec

from delayrig.features.threshold.guests import Profile, job_of, profile_of
from delayrig.model.cell import Cell
from delayrig.model.result import UNSAFE, CellResult, Verdict


class Standing(StrEnum):
    """The certainty that a value is safe."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DOUBT = "doubt"


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one value in one profile: of each job the median of its rounds, summed up."""

    value_us: int
    profile: str
    standing: Standing
    why: str
    """The first reason why it is not safe."""
    time_ns: int
    cpu_ns: int
    chip_busy_ns: int
    wakeups: int
    """The number of context switches: waits that gave up the CPU, and preemptions."""
    overshoot_ns: int
    """The time from when the part is ready until the subject notices."""
    margin_ns: int | None
    """The least time from when the part is ready to the next command; negative if that is early."""
    on_front: bool = False
    """True if no other value takes less time or CPU without taking more of the other."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of one value, and its result in each round."""

    value_us: int
    cell: Cell
    results: list[CellResult]
    margin_ns: int | None


def skipped_jobs(measured: Sequence[Measured]) -> list[str]:
    """Returns the jobs that some value could not do. They are left out for all."""
    return list(
        dict.fromkeys(
            job_of(each.cell)
            for each in measured
            if any(result.verdict is Verdict.SKIPPED for result in each.results)
        )
    )


def costs_of(measured: Sequence[Measured]) -> list[Cost]:
    """Returns the costs in the order of profiles, then values, without skipped jobs."""
    left_out = set(skipped_jobs(measured))
    groups: dict[Profile, dict[int, list[Measured]]] = {}
    for each in measured:
        if job_of(each.cell) not in left_out:
            by_value = groups.setdefault(profile_of(each.cell), {})
            by_value.setdefault(each.value_us, []).append(each)
    return [
        _cost(value, profile, jobs)
        for profile, by_value in groups.items()
        for value, jobs in sorted(by_value.items())
    ]


def _cost(value: int, profile: Profile, jobs: Sequence[Measured]) -> Cost:
    results = [result for job in jobs for result in job.results]
    standing, why = standing_of(results)
    margins = [job.margin_ns for job in jobs if job.margin_ns is not None]

    def summed(figure: Callable[[CellResult], int]) -> int:
        """Returns the sum of each job's median over its rounds."""
        return sum(statistics.median_low(map(figure, job.results)) for job in jobs)

    return Cost(
        value_us=value,
        profile=profile.name,
        standing=standing,
        why=why,
        time_ns=summed(lambda result: result.time_ns.total),
        cpu_ns=summed(lambda result: result.total_cpu_ns),
        chip_busy_ns=summed(lambda result: result.chip_busy_ns),
        wakeups=summed(lambda result: result.context_switches),
        overshoot_ns=summed(lambda result: result.overshoot_ns),
        margin_ns=min(margins, default=None),
    )


def standing_of(results: Sequence[CellResult]) -> tuple[Standing, str]:
    """Returns the gravest standing of the results, and the first reason for it."""
    unsafe = [result for result in results if result.verdict in UNSAFE]
    doubtful = [result for result in results if result.verdict is not Verdict.PASS]
    for standing, found in ((Standing.UNSAFE, unsafe), (Standing.DOUBT, doubtful)):
        if found:
            return standing, f"{found[0].verdict} in {found[0].id}: {found[0].reason}"
    return Standing.SAFE, ""
