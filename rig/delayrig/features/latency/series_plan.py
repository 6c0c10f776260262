# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the series of a place: a pure function of its facts.

Sleeping costs a virtual guest nothing, but computing does. A loaded series is limited to a number
of instructions there, and omitted if a single wait would need more.
"""

import dataclasses
from dataclasses import dataclass
from itertools import product

from msgspec.structs import replace

from delayrig.features.latency.place import PlaceFacts
from delayrig.features.latency.result import Kind, Section, Series

US, MS, S = 1_000, 1_000_000, 1_000_000_000
TABLE_COUNT = 16_384
TABLE = (("nop", 0), ("sched_yield", 0), ("nanosleep", 1 * US), ("nanosleep", 100 * US))
LENGTHS_NS = (10 * MS, 100 * MS, 1 * S)
SLACKS_NS = (50 * US, 1)
FIFO_TABLE = 1
"""The least priority of SCHED_FIFO, as in `chrt --fifo 1`."""
FIFO_PERIODS = 92
TICKS_SPAN_NS = 200 * MS
SWEEP_TO_NS = 2_000 * US
STEPS_JIFFIES = 3
STEPS_POINTS = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    table: int = TABLE_COUNT
    table_limit_ms: int = 4_000
    slack: int = 2_000
    jitter: tuple[int, int, int] = (40, 10, 4)
    """The number of waits of 10 ms, 100 ms and 1 s."""
    power: tuple[int, int, int] = (20, 5, 2)
    periods: int = 1_000
    sweep_step_ns: int = 1 * US
    eaters: int = 1
    """The number of eaters on each CPU of a loaded series."""
    loaded_instructions: int | None = None
    """The most instructions that a loaded series may execute in a guest."""


USUAL = Extent()
QUICK = Extent(
    table=1_000,
    table_limit_ms=500,
    slack=500,
    jitter=(20, 5, 1),
    power=(10, 2, 1),
    periods=200,
    sweep_step_ns=10 * US,
)
GUEST_INSTRUCTIONS = 400_000_000


def programme(facts: PlaceFacts, extent: Extent, *, low_resolution: bool) -> list[Series]:
    if facts.in_virtual_time:
        extent = dataclasses.replace(extent, loaded_instructions=GUEST_INSTRUCTIONS)
    first, *others = facts.cpus
    found = [
        *_table(first, extent, facts),
        *_slack(first, extent),
        *_jitter(first, extent, facts),
        *_power(first, extent, facts),
        *_periods(first, extent, facts),
        *_sweeps(first, extent),
        *([_steps(first)] if low_resolution else []),
    ]
    for cpu in others:
        found += [*_table(cpu, extent, facts), *_slack(cpu, extent)]
    return [_with_usual_slack(series, facts) for series in found]


def _with_usual_slack(series: Series, facts: PlaceFacts) -> Series:
    """Sets the usual slack, unless the series has its own or runs under SCHED_FIFO."""
    if series.slack_ns or series.fifo:
        return series
    return replace(series, slack_ns=facts.usual_slack_ns)


def _limit_ms(extent: Extent, facts: PlaceFacts, *, eaters: int) -> int:
    """Returns the time limit; 0 (none) for an idle virtual guest, where waits cost little."""
    if extent.loaded_instructions is None or facts.mips is None:
        return extent.table_limit_ms
    if not eaters:
        return 0
    return max(1, round(extent.loaded_instructions / facts.mips / 1000))


def _table(cpu: int, extent: Extent, facts: PlaceFacts) -> list[Series]:
    return [
        Series(
            kind=Kind.WAIT,
            section=Section.TABLE,
            wait=wait,
            request_ns=request_ns,
            count=extent.table,
            limit_ms=_limit_ms(extent, facts, eaters=eaters),
            fifo=fifo,
            cpu=cpu,
            eaters=eaters,
        )
        for eaters in (0, extent.eaters)
        for fifo in (0, FIFO_TABLE)
        for wait, request_ns in TABLE
    ]


def _slack(cpu: int, extent: Extent) -> list[Series]:
    """Returns the series of each length with both slacks in turn, so that conditions are equal."""
    short = [
        Series(
            kind=Kind.WAIT,
            section=Section.SLACK,
            wait="clock_nanosleep",
            request_ns=100 * US,
            count=extent.slack,
            slack_ns=slack_ns,
            cpu=cpu,
        )
        for slack_ns in SLACKS_NS
    ]
    longer = zip((1 * MS, *LENGTHS_NS), (extent.slack // 10, *extent.power), strict=True)
    return short + [
        replace(each, request_ns=request_ns, count=count)
        for request_ns, count in longer
        for each in short
    ]


def _lengths(counts: tuple[int, int, int], base: Series, longest_ns: int | None) -> list[Series]:
    """Returns a series for each length, with as many waits as there is time for."""
    found = []
    for request_ns, count in zip(LENGTHS_NS, counts, strict=True):
        fitting = count if longest_ns is None else min(count, longest_ns // request_ns)
        if fitting:
            found.append(replace(base, request_ns=request_ns, count=fitting))
    return found


def _jitter(cpu: int, extent: Extent, facts: PlaceFacts) -> list[Series]:
    found = []
    settings = ((0, 0), (FIFO_TABLE, 0), (0, extent.eaters))
    for (fifo, eaters), wait in product(settings, ("clock_nanosleep", "select")):
        base = Series(
            kind=Kind.WAIT, section=Section.JITTER, wait=wait, fifo=fifo, cpu=cpu, eaters=eaters
        )
        limited = extent.loaded_instructions if eaters else None
        longest_ns = round(limited / facts.mips * 1000) if limited and facts.mips else None
        counts = extent.power if fifo and wait == "select" else extent.jitter
        found += _lengths(counts, base, longest_ns)
    return found


def _power(cpu: int, extent: Extent, facts: PlaceFacts) -> list[Series]:
    """Returns series for each governor, and for each idle state with all deeper ones forbidden."""
    base = Series(kind=Kind.WAIT, section=Section.POWER, wait="clock_nanosleep", cpu=cpu)
    ways = [replace(base, governor=name) for name in facts.governors]
    ways += [replace(base, hold_us=us) for us in sorted(set(facts.idle_exit_us))]
    return [each for way in ways for each in _lengths(extent.power, way, None)]


def _periods(cpu: int, extent: Extent, facts: PlaceFacts) -> list[Series]:
    return [
        Series(
            kind=Kind.PERIODS,
            section=Section.PERIODS,
            request_ns=1 * MS,
            count=extent.periods,
            limit_ms=_limit_ms(extent, facts, eaters=eaters) if eaters else 0,
            fifo=FIFO_PERIODS,
            cpu=cpu,
            eaters=eaters,
            hold_us=hold_us,
        )
        for eaters in (0, extent.eaters)
        for hold_us in (None, 0)
    ]


def _sweeps(cpu: int, extent: Extent) -> list[Series]:
    """Returns the sweeps. poll() takes only milliseconds, so fewer points show everything."""
    step_ns = extent.sweep_step_ns
    ways = (("select", 0, 1), ("select", 1, 1), ("ppoll", 0, 2), ("poll", 0, 10))
    return [
        Series(
            kind=Kind.SWEEP,
            section=Section.SWEEP,
            wait=wait,
            from_ns=1 * US,
            to_ns=SWEEP_TO_NS,
            step_ns=step_ns * factor,
            slack_ns=slack_ns,
            cpu=cpu,
        )
        for wait, slack_ns, factor in ways
    ]


def _steps(cpu: int) -> Series:
    """Returns a sweep of select() over several ticks of 4 ms.

    Kernels with another tick show more or fewer of them.
    """
    to_ns = STEPS_JIFFIES * 4 * MS
    return Series(
        kind=Kind.SWEEP,
        section=Section.STEPS,
        wait="select",
        from_ns=to_ns // STEPS_POINTS,
        to_ns=to_ns,
        step_ns=to_ns // STEPS_POINTS,
        cpu=cpu,
    )
