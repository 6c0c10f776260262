# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the series of a place: a pure function of its facts.

Sleeping costs a virtual guest nothing, but computing does. A loaded series is limited to a number
of instructions there, and omitted if a single wait would need more.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from msgspec.structs import replace

from delayrig.features.latency.place import PlaceFacts
from delayrig.features.latency.program_output import INTERFACES, Round
from delayrig.features.latency.result import TESTS, Kind, Section, Series

US, MS, S = 1_000, 1_000_000, 1_000_000_000
LENGTHS_NS = (10 * MS, 100 * MS, 1 * S)
SLACKS_NS = (50 * US, 1)
FIFO_TABLE = 1
"""The least priority of SCHED_FIFO, as in `chrt --fifo 1`."""
FIFO_PERIODS = 92
TICKS_SPAN_NS = 200 * MS
SWEEP_TO_NS = 2_000 * US
SWEEPS = (("select", 0, 1), ("select", 1, 1), ("ppoll", 0, 2), ("poll", 0, 10))
"""Wait, slack and factor of the step: poll() takes only milliseconds, so few points show all."""
STEPS_NS = (50 * US, 12 * MS)
"""Step and end of a sweep over ticks: 3 of 4 ms. Kernels with another tick show more or fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    table: int = 16_384
    table_limit_ms: int = 4_000
    slack: int = 2_000
    jitter: tuple[int, int, int] = (40, 10, 4)
    """The number of waits of 10 ms, 100 ms and 1 s."""
    power: tuple[int, int, int] = (20, 5, 2)
    periods: int = 1_000
    sweep_step_ns: int = 1 * US
    eaters: int = 1
    """The number of eaters on each CPU of a loaded series."""


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
"""The most instructions that a loaded series may execute in a virtual guest."""
GUEST_LOOPS = 1000


def programme(facts: PlaceFacts, extent: Extent, *, low_resolution: bool) -> list[Series]:
    """Returns all series. At normal priority they have the usual slack, if none of their own."""
    first, *others = facts.cpus
    found = [*_table(first, extent, facts), *_slack(first, extent)]
    found += [*_jitter(first, extent, facts), *_power(first, extent, facts)]
    found += [
        *_periods(first, extent, facts),
        *_sweeps(first, extent, low_resolution=low_resolution),
    ]
    for cpu in others:
        found += [*_table(cpu, extent, facts), *_slack(cpu, extent)]
    usual_ns = facts.usual_slack_ns
    return [
        each if each.slack_ns or each.fifo else replace(each, slack_ns=usual_ns) for each in found
    ]


def _limit_ms(extent: Extent, facts: PlaceFacts, *, eaters: int) -> int:
    """Returns the time limit; 0 (none) for an idle virtual guest, where waits cost little."""
    if facts.virtual_mips is None:
        return extent.table_limit_ms
    return max(1, round(GUEST_INSTRUCTIONS / facts.virtual_mips / 1000)) if eaters else 0


def _table(cpu: int, extent: Extent, facts: PlaceFacts) -> Iterator[Series]:
    base = Series(kind=Kind.WAIT, section=Section.TABLE, cpu=cpu, count=extent.table)
    for eaters in (0, extent.eaters):
        limit_ms = _limit_ms(extent, facts, eaters=eaters)
        for fifo, (wait, request_ns) in product((0, FIFO_TABLE), TESTS):
            yield replace(
                base, wait=wait, request_ns=request_ns, limit_ms=limit_ms, fifo=fifo, eaters=eaters
            )


def _slack(cpu: int, extent: Extent) -> Iterator[Series]:
    """Yields the series of each length with both slacks in turn, so that conditions are equal."""
    base = Series(kind=Kind.WAIT, section=Section.SLACK, wait="clock_nanosleep", cpu=cpu)
    lengths_ns = (100 * US, 1 * MS, *LENGTHS_NS)
    counts = (extent.slack, extent.slack // 10, *extent.power)
    for request_ns, count in zip(lengths_ns, counts, strict=True):
        for slack_ns in SLACKS_NS:
            yield replace(base, request_ns=request_ns, count=count, slack_ns=slack_ns)


def _lengths(
    counts: tuple[int, int, int], base: Series, longest_ns: float = math.inf
) -> Iterator[Series]:
    """Yields a series for each length, with as many waits as there is time for."""
    for request_ns, count in zip(LENGTHS_NS, counts, strict=True):
        if fitting := int(min(count, longest_ns // request_ns)):
            yield replace(base, request_ns=request_ns, count=fitting)


def _jitter(cpu: int, extent: Extent, facts: PlaceFacts) -> Iterator[Series]:
    settings = ((0, 0), (FIFO_TABLE, 0), (0, extent.eaters))
    for (fifo, eaters), wait in product(settings, ("clock_nanosleep", "select")):
        base = Series(
            kind=Kind.WAIT, section=Section.JITTER, wait=wait, fifo=fifo, cpu=cpu, eaters=eaters
        )
        limited = eaters and facts.virtual_mips
        longest_ns = round(GUEST_INSTRUCTIONS / limited * 1000) if limited else math.inf
        counts = extent.power if fifo and wait == "select" else extent.jitter
        yield from _lengths(counts, base, longest_ns)


def _power(cpu: int, extent: Extent, facts: PlaceFacts) -> Iterator[Series]:
    """Yields series for each governor, and for each idle state with all deeper ones forbidden."""
    base = Series(kind=Kind.WAIT, section=Section.POWER, wait="clock_nanosleep", cpu=cpu)
    for governor in facts.governors:
        yield from _lengths(extent.power, replace(base, governor=governor))
    for hold_us in sorted(set(facts.idle_exit_us)):
        yield from _lengths(extent.power, replace(base, hold_us=hold_us))


def _periods(cpu: int, extent: Extent, facts: PlaceFacts) -> Iterator[Series]:
    for eaters, hold_us in product((0, extent.eaters), (None, 0)):
        yield Series(
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


def _sweeps(cpu: int, extent: Extent, *, low_resolution: bool) -> Iterator[Series]:
    base = Series(
        kind=Kind.SWEEP, section=Section.SWEEP, from_ns=1 * US, to_ns=SWEEP_TO_NS, cpu=cpu
    )
    for wait, slack_ns, factor in SWEEPS:
        yield replace(base, wait=wait, slack_ns=slack_ns, step_ns=extent.sweep_step_ns * factor)
    if low_resolution:
        step_ns, to_ns = STEPS_NS
        yield replace(
            base,
            section=Section.STEPS,
            wait="select",
            from_ns=step_ns,
            to_ns=to_ns,
            step_ns=step_ns,
        )


def cyclictest_rounds(facts: PlaceFacts, extent: Extent) -> list[Round]:
    """Returns the runs of cyclictest: each interface, idle and then loaded.

    A virtual guest's load is on core 0, so another core is measured idle only. While loaded, it
    executes instructions for the whole time, so it gets fewer loops.
    """
    loops = {0: extent.periods * 3 // 2, extent.eaters: extent.periods * 3 // 2}
    if mips := facts.virtual_mips:
        loops = {0: min(loops[0], GUEST_LOOPS)}
        if facts.cpus[0] == 0:
            loops[extent.eaters] = max(50, min(GUEST_LOOPS, round(100_000 / mips)))
    return [
        Round(interface=interface, eaters=eaters, loops=count, cpu=facts.cpus[0])
        for eaters, count in loops.items()
        for interface in INTERFACES
    ]
