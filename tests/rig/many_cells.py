# SPDX-License-Identifier: GPL-2.0-or-later
"""A synthetic run of any number of cells, for reports and histories of sweeps.

Its cells are as large as real ones: one in 20 is convicted as its plan expects, one in 1,000
although its plan expects a pass; one in 500 is inconclusive, one in 5,000 was lost.
"""

import random
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

import msgspec
from delayrig.base import digest
from delayrig.model.cell import Cell, Expect, Job, Role
from delayrig.model.phases import TimeSplit
from delayrig.model.result import (
    CellResult,
    CpuTime,
    DelayCount,
    EmulatorFacts,
    GuestFacts,
    Results,
    SubjectFacts,
    Verdict,
    write_results,
)

from tests.rig.builders import MS, make_cell, make_evidence, make_result, run_of

SUBJECTS = {"bundled": "0.1.0", "debian:bookworm": "1.3.0", "debian:trixie": "1.4.0"}
HAZARDS = (
    *((), ("busy-siblings",), ("low-res-timers",), ("no-nohz",), ("preempt-rt",), ("hogs:2",)),
    *(("busy-siblings", "low-res-timers"), ("low-res-timers", "no-nohz")),
)
CHIPS = ("GD25Q16C", "M25P80", "MT25QL128ABA", "MX25L6406E", "SST25VF016B", "W25Q128JV")
CORNERS = ("min", "typ", "max")
SHIFTS, CORES = (1, 2, 3, 4), (1, 2, 4)
CMDLINE = "console=ttyS0 loglevel=4 panic=-1 tsc=reliable " + "initcall_blacklist=something, " * 18
JUDGED = ["chip-busy", *(f"delay-from-{10**power}us" for power in range(1, 7)), "erase-poll"]
ODDS = (
    (5000, Verdict.INFRA_ERROR, Expect.PASS),
    (1000, Verdict.TOO_SHORT, Expect.PASS),
    (500, Verdict.INCONCLUSIVE, Expect.PASS),
    (20, Verdict.TOO_SHORT, Expect.TOO_SHORT),
)
"""Each row: of that many cells, one has this verdict and this expectation."""


def keep_many(run: Path, count: int) -> Results:
    """Writes the results of a run with that number of cells, and no other file."""
    draws = random.Random(count)
    numbered = enumerate(islice(_cells(count), count))
    cells = [_result(cell, number, draws) for number, cell in numbered]
    results = run_of(*cells, cells_planned=count, plan="sweep")
    run.mkdir(parents=True, exist_ok=True)
    write_results(results, run)
    return results


def _cells(count: int) -> Iterator[Cell]:
    """Yields a canary and a control, then at least `count` combinations of settings."""
    yield make_cell(name="canary", role=Role.CANARY, subject="canary:chip", expect=Expect.TOO_SHORT)
    yield make_cell(name="control", role=Role.CONTROL)
    words = product(range(count), HAZARDS, CHIPS, CORNERS, SHIFTS, CORES, Job, SUBJECTS)
    for group, hazards, chip, corner, shift, cores, job, subject in words:
        yield make_cell(
            name=f"sweep-{group}",
            hazards=hazards,
            chip=chip,
            corner=corner,
            icount_shift=shift,
            cores=cores,
            job=job,
            subject=subject,
        )


def _result(cell: Cell, number: int, draws: random.Random) -> CellResult:
    verdict, expect = _draw(cell, draws)
    short = verdict is Verdict.TOO_SHORT
    plain = make_result(msgspec.structs.replace(cell, expect=expect))
    total_ns = draws.randrange(400 * MS, 9000 * MS)
    return msgspec.structs.replace(
        plain,
        subject=SubjectFacts(
            name=cell.subject,
            version=SUBJECTS.get(cell.subject, "0.1.0"),
            sha256=digest.of_bytes(cell.subject.encode()),
            threshold_us=100,
        ),
        guest=GuestFacts(
            arch=cell.arch,
            mips=cell.mips,
            cores=cell.cores,
            kernel="6.1.0-50-cloud-amd64",
            cmdline=CMDLINE,
            clocksource="tsc",
        ),
        verdict=verdict,
        reason="a command came too early"
        if short
        else f"no command came too early, and no wait of these was too short: {', '.join(JUDGED)}",
        evidence=[make_evidence()] if short else [],
        judged=JUDGED,
        unjudged=["program-poll"],
        smallest_visible_short_ns=11,
        delays=DelayCount(seen=851, judged=851),
        time_ns=TimeSplit(total=total_ns, probe=20 * MS, erase=300 * MS, write=total_ns // 4),
        cpu_ns=CpuTime(user=draws.randrange(90 * MS), sys=draws.randrange(90 * MS)),
        chip_busy_ns=total_ns // 2,
        overshoot_ns=draws.randrange(50 * MS),
        transfers=draws.randrange(5000),
        context_switches=draws.randrange(5000),
        emulator=EmulatorFacts(realtime=True, wake_latency_ns_max=51688),
        events_sha256=digest.of_bytes(f"{number}".encode()),
        host_s=0.5,
        rerun=f"rig/rig run --plan sweep --seed 1 --subject {cell.subject} --cell {cell.id}",
    )


def _draw(cell: Cell, draws: random.Random) -> tuple[Verdict, Expect]:
    if cell.role is not Role.MEASURE:
        return (Verdict.PASS if cell.role is Role.CONTROL else Verdict.TOO_SHORT), cell.expect
    found = next((odd for odd in ODDS if not draws.randrange(odd[0])), None)
    return (found[1], found[2]) if found else (Verdict.PASS, Expect.PASS)
