# SPDX-License-Identifier: GPL-2.0-or-later
"""From cells to figures: what each threshold cost in each profile. A pure fold over results."""

import statistics
from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from delayrig.analysis.threshold.guests import Profile, job_of, profile_of
from delayrig.analysis.threshold.recommend import Trial, pareto
from delayrig.analysis.threshold.sleep_facts import SleepFacts
from delayrig.judge.exit_code import UNSAFE
from delayrig.model.cell import Cell
from delayrig.model.result import CellResult, HostFacts, Verdict


class Standing(StrEnum):
    """Whether a value may be recommended at all."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DOUBT = "doubt"


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """One value in one profile: its jobs summed up, of several rounds the medians."""

    value_us: int
    profile: str
    standing: Standing
    why: str
    """Of what is not safe, the first reason."""
    time_ns: int
    cpu_ns: int
    chip_busy_ns: int
    wakeups: int
    """Times that it gave up the CPU or lost it."""
    overshoot_ns: int
    """From the part being ready until it noticed."""
    margin_ns: int | None
    """The least by which the part was given its time, negative where it was not."""
    on_front: bool = False
    """No other value takes less time or CPU without taking more of the other."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of one value, and its result in each round."""

    value_us: int
    cell: Cell
    results: list[CellResult]
    margin_ns: int | None


def skipped_jobs(measured: Sequence[Measured]) -> list[str]:
    """Jobs that some value could not do: they are left out for all."""
    return list(
        dict.fromkeys(
            job_of(each.cell)
            for each in measured
            if any(result.verdict is Verdict.SKIPPED for result in each.results)
        )
    )


def costs_of(measured: Sequence[Measured]) -> list[Cost]:
    """In the order of profiles, then values; jobs that somebody skipped are not in it."""
    left_out = set(skipped_jobs(measured))
    groups: dict[tuple[Profile, int], list[Measured]] = {}
    for each in measured:
        if job_of(each.cell) not in left_out:
            groups.setdefault((profile_of(each.cell), each.value_us), []).append(each)
    profiles = list(dict.fromkeys(profile for profile, _ in groups))
    return [
        _cost(value, profile, jobs)
        for wanted in profiles
        for (profile, value), jobs in sorted(groups.items(), key=lambda item: item[0][1])
        if profile == wanted
    ]


def _cost(value: int, profile: Profile, jobs: Sequence[Measured]) -> Cost:
    results = [result for job in jobs for result in job.results]
    standing, why = standing_of(results)
    margins = [job.margin_ns for job in jobs if job.margin_ns is not None]

    def summed(figure: Callable[[CellResult], int]) -> int:
        """Over the jobs, of each the median of its rounds."""
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
    """The gravest of them, and its reason."""
    unsafe = [result for result in results if result.verdict in UNSAFE]
    doubtful = [result for result in results if result.verdict is not Verdict.PASS]
    if unsafe:
        return Standing.UNSAFE, f"{unsafe[0].verdict} in {unsafe[0].id}: {unsafe[0].reason}"
    if doubtful:
        return Standing.DOUBT, f"{doubtful[0].verdict} in {doubtful[0].id}: {doubtful[0].reason}"
    return Standing.SAFE, ""


def trials_of(costs: Sequence[Cost]) -> list[Trial]:
    """What the rule takes: figures by value, the profiles in their order."""
    return [
        Trial(
            value_us=value,
            safe=all(cost.standing is Standing.SAFE for cost in costs if cost.value_us == value),
            time_ns=tuple(cost.time_ns for cost in costs if cost.value_us == value),
            cpu_ns=tuple(cost.cpu_ns for cost in costs if cost.value_us == value),
        )
        for value in sorted({cost.value_us for cost in costs})
    ]


def with_fronts(costs: Sequence[Cost]) -> list[Cost]:
    """Marks the Pareto front of each profile; what is not safe is on none."""
    fronts = {
        name: pareto(
            [
                (cost.value_us, cost.time_ns, cost.cpu_ns)
                for cost in costs
                if cost.profile == name and cost.standing is Standing.SAFE
            ]
        )
        for name in {cost.profile for cost in costs}
    }
    return [
        replace(
            cost, on_front=cost.standing is Standing.SAFE and cost.value_us in fronts[cost.profile]
        )
        for cost in costs
    ]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    lane: str
    seed: int
    jobs: list[str]
    costs: list[Cost]
    costs_by_round: list[list[Cost]]
    """The same for each round alone; one list where there is one round."""
    sleep: dict[str, SleepFacts]
    """By profile, those without jobs among them."""
    weights: dict[str, int] = {}
    """By profile; 1 where it is not in it. One of 0 counts for safety alone."""
    doubts: list[str]
    host: HostFacts
