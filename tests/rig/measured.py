# SPDX-License-Identifier: GPL-2.0-or-later
"""Machines as `rig/rig latency` reports them, with simple figures."""

import dataclasses
from pathlib import Path
from typing import Any

import msgspec
from delayrig.features.latency.explain import doubt_of
from delayrig.features.latency.place import PlaceFacts
from delayrig.features.latency.program_output import INTERFACES
from delayrig.features.latency.result import (
    TESTS,
    Audit,
    Cyclic,
    Kind,
    LatencyReport,
    MachineReport,
    Reading,
    Section,
    Series,
    Statistics,
    Ticks,
    Timers,
)
from delayrig.features.latency.run import LatencyRequest
from delayrig.features.latency.series_plan import QUICK

US, MS, S = 1_000, 1_000_000, 1_000_000_000
JIFFY_NS = 4 * MS


LIVE = PlaceFacts(
    name="10:40",
    lane="live",
    arch="x86_64",
    cpus=(0, 1),
    core_mips=(10, 40),
    governors=("performance", "ondemand"),
)


def latency_request(out: Path, **changes: Any) -> LatencyRequest:
    """Returns a quick request that measures nothing, with the changes."""
    plain = LatencyRequest(
        guests=(),
        host_cpus=(),
        extent=QUICK,
        jobs=1,
        out=out,
        argv=[],
    )
    return dataclasses.replace(plain, **changes)


def make_wait(section: Section, *, late_ns: int, **keys: object) -> Reading:
    series = msgspec.convert({"kind": "wait", "section": section, "cpu": 0, **keys}, Series)
    took_ns = series.request_ns + late_ns
    statistics = Statistics(count=1, mean_ns=took_ns, deviation_ns=0, quantiles_ns=[took_ns] * 101)
    return Reading(series=series, statistics=statistics)


def make_machine(name: str = "host", *, high: bool = True, **keys: object) -> MachineReport:
    timers = Timers(
        resolution_ns=1 if high else JIFFY_NS,
        jiffy_ns=JIFFY_NS,
        high_resolution=high,
        tick="idle",
        event_handlers=["hrtimer_interrupt"],
        source="/proc/timer_list",
        sentence="High-resolution timers are on.",
    )
    plain = MachineReport(
        name=name,
        lane="host",
        arch="x86_64",
        mips=None,
        cpus=1,
        measured_cpus=[0],
        kernel="6.1",
        kernel_version="#1 SMP",
        cmdline="",
        clocksource="tsc",
        clockevent="lapic",
        idle_driver="",
        governors=[],
        idle_states=[],
        slack_ns=50_000,
        nice=0,
        timers=timers,
        audit=Audit(clock_read_ps=19_000, clock_call_ps=130_000, loop_ps=38_000, clock_step_ns=16),
        ticks=Ticks(span_ns=200 * MS, idle_interrupts=3, busy_interrupts=50),
        readings=[],
        cyclictest=[],
        missing=[],
        host_s=1.0,
    )
    return msgspec.structs.replace(plain, **keys)


def make_sweep(section: Section, elapsed_ns: list[int], *, step_ns: int = US) -> Reading:
    series = Series(
        kind=Kind.SWEEP,
        section=section,
        wait="select",
        from_ns=step_ns,
        to_ns=step_ns * len(elapsed_ns),
        step_ns=step_ns,
        cpu=0,
    )
    return Reading(series=series, elapsed_ns=elapsed_ns)


def full_machine(name: str = "host", *, high: bool = True) -> MachineReport:
    table = [
        make_wait(Section.TABLE, wait=wait, request_ns=ns, late_ns=60 * US, fifo=fifo)
        for fifo in (0, 1)
        for wait, ns in TESTS
    ]
    slack = [
        make_wait(Section.SLACK, wait="clock_nanosleep", request_ns=100 * US, slack_ns=s, late_ns=n)
        for s, n in ((50 * US, 70 * US), (1, 20 * US))
    ]
    return make_machine(
        name,
        high=high,
        readings=[
            *table,
            *slack,
            *growing("select", {10 * MS: 70 * US, 100 * MS: 120 * US, S: 1020 * US}),
            *growing("clock_nanosleep", {10 * MS: 70 * US, 100 * MS: 70 * US, S: 70 * US}),
            make_sweep(Section.SWEEP, [US * i + 60 * US for i in range(1, 2001)]),
            *(
                []
                if high
                else [make_sweep(Section.STEPS, [JIFFY_NS, 2 * JIFFY_NS], step_ns=3 * MS)]
            ),
        ],
        cyclictest=[
            Cyclic(
                interface=interface,
                loaded=False,
                cycles=10,
                min_ns=1,
                mean_ns=20_000 - 1000 * number,
                max_ns=30_000,
                command="cyclictest",
            )
            for number, interface in enumerate(INTERFACES)
        ],
    )


def behind_reading(*, windows: int = 4, not_kept: int = 1) -> Reading:
    """Makes a reading of a live guest, taken while the host did not keep up."""
    reading = make_wait(
        Section.SLACK,
        wait="clock_nanosleep",
        request_ns=100 * US,
        slack_ns=1,
        late_ns=70 * US,
    )
    return msgspec.structs.replace(reading, windows=windows, windows_not_kept=not_kept)


def live_machine(name: str = "10:40", *found: Reading) -> MachineReport:
    """Makes a live guest; if no readings are given, one of its readings is in doubt."""
    plain = full_machine(name)
    readings = found or (behind_reading(),)
    return msgspec.structs.replace(
        plain,
        lane="live",
        core_mips=[10.0, 40.0],
        about="cores of 10:40 MIPS",
        readings=[*readings, *plain.readings],
        doubt=doubt_of(readings),
    )


def growing(wait: str, late_ns: dict[int, int]) -> list[Reading]:
    return [
        make_wait(Section.JITTER, wait=wait, request_ns=ns, late_ns=late)
        for ns, late in late_ns.items()
    ]


def make_report(*machines: MachineReport, complete: bool = True) -> LatencyReport:
    return LatencyReport(
        rig_version="0",
        argv=["rig/rig", "latency"],
        started="2026-11-22T00:00:00+00:00",
        complete=complete,
        machines=list(machines),
    )
