# SPDX-License-Identifier: GPL-2.0-or-later
"""Small runs and gates on disk, for tests of reports."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from click.testing import Result
from delayrig.base import digest
from delayrig.base.errors import ExitCode
from delayrig.decision.decision import Decision, Excess, GateCell, Limits, Outcome, Side
from delayrig.decision.gate_judge import decide
from delayrig.model import phases
from delayrig.model.cell import Cell, Expect, Role
from delayrig.model.delays import CallSite, encode_delays
from delayrig.model.events import Event
from delayrig.model.lane import LaneName
from delayrig.model.result import CellResult, CpuTime, Results, SubjectFacts, Verdict, write_results
from rich.console import Console

from tests.rig.builders import (
    MS,
    SECOND,
    delay,
    delays_of,
    make_cell,
    make_evidence,
    make_result,
    run_of,
)
from tests.rig.event_builders import START_NS, as_lines, busy, early, serprog, sound_events, spi
from tests.rig.running import rig

HOSTILE = "<script>alert(1)</script>"


def run_report(*words: object) -> Result:
    return rig("report", *words)


def reported(*words: object) -> str:
    """Returns the output of `rig/rig report`, which must succeed."""
    done = run_report(*words)
    assert done.exit_code == 0, done.output
    return done.output


def shown(print_to: Callable[[Console], None], width: int = 80) -> str:
    """Returns what a function prints on a terminal of that width, without colours."""
    text = io.StringIO()
    print_to(Console(file=text, width=width, no_color=True))
    return text.getvalue()


def job_events(*, poll_ms: float = 10, is_early: bool = False) -> list[Event]:
    """Returns the events of a cell: 1 s of waiting, a polled erase, a page program, a read."""
    at = START_NS + 5 * MS
    nops = [
        serprog("NOP", empty=at - 10, read=at),
        serprog("SYNCNOP", empty=at + SECOND, read=at + SECOND + 10),
    ]
    at += 2 * SECOND
    bus = [*nops, spi("0x06", read=at), spi("0x20", read=at + MS, reply=at + MS + 10)]
    bus.append(busy("0x20", start=at + MS, until=at + 40 * MS))
    if is_early:
        bus.append(early("0x02", read=at + 2 * MS, margin=-38 * MS))
    poll_at = at + 3 * MS
    while poll_at < at + 40 * MS:
        bus.append(spi("0x05", read=poll_at, sr="0x03"))
        poll_at += int(poll_ms * MS)
    bus += [
        spi("0x05", read=at + 50 * MS),
        spi("0x06", read=at + 51 * MS),
        spi("0x02", read=at + 52 * MS),
        busy("0x02", start=at + 52 * MS, until=at + 53 * MS, kind="program"),
        spi("0x05", read=at + 54 * MS),
        spi("0x03", read=at + 60 * MS),
    ]
    return sound_events(*bus)


def keep_cell(run: Path, cell: Cell, events: list[Event], **changes: Any) -> CellResult:
    """Writes the cell's folder; returns its result."""
    folder = run / cell.id
    folder.mkdir(parents=True)
    (folder / "cell.json").write_bytes(msgspec.json.encode(cell))
    (folder / "events.jsonl").write_bytes(as_lines(events))
    plain: dict[str, Any] = {
        "subject": SubjectFacts(name=cell.subject, version="1.3.0"),
        "time_ns": phases.split_time(events, START_NS, 20 * SECOND),
        "cpu_ns": CpuTime(user=30 * MS, sys=7 * MS),
        "chip_busy_ns": phases.chip_busy_ns(events),
        "overshoot_ns": phases.overshoot_ns(events),
        "transfers": 9,
        "events_sha256": digest.of_file(folder / "events.jsonl"),
        "rerun": f"rig/rig run --plan smoke --cell {cell.id}",
    }
    return make_result(cell, **{**plain, **changes})


def keep_run(run: Path, *, lane: LaneName = LaneName.VIRTUAL, **header: Any) -> Results:
    """Writes a run of two subjects, each without and with a hazard, and a canary and a control.

    One subject is convicted. One cell is skipped, and the name of its subject contains HTML.
    """
    calm = make_cell(lane=lane)
    loaded = make_cell(name="loaded", lane=lane, cores=2, hazards=("busy-siblings",))
    convicted = msgspec.structs.replace(loaded, subject="debian:bookworm", expect=Expect.ANY)
    canary = make_cell(
        name="canary", lane=lane, role=Role.CANARY, subject="canary:chip", expect=Expect.TOO_SHORT
    )
    too_short: dict[str, Any] = {"verdict": Verdict.TOO_SHORT, "reason": f"short {HOSTILE}"}
    cells = [
        keep_cell(run, calm, job_events()),
        keep_cell(
            run, msgspec.structs.replace(calm, subject="debian:bookworm"), job_events(poll_ms=5)
        ),
        keep_cell(run, loaded, job_events()),
        keep_cell(
            run, convicted, job_events(is_early=True), evidence=[make_evidence()], **too_short
        ),
        keep_cell(run, canary, job_events(is_early=True), evidence=[make_evidence()], **too_short),
        keep_cell(run, make_cell(name="control", lane=lane, role=Role.CONTROL), job_events()),
        make_result(
            make_cell(name="skipped", lane=lane, subject=f"path:{HOSTILE}"),
            verdict=Verdict.SKIPPED,
            reason="no such part",
        ),
    ]
    results = run_of(*cells, cells_planned=len(cells), **header)
    write_results(results, run)
    return results


def keep_calls(run: Path, callers: list[str]) -> None:
    """Adds a call of a delay function, with these callers, to each cell of a run."""
    delays = delays_of(delay(10, took_ns=20_000, at=START_NS + MS))
    site = CallSite(site=1, callers=callers)
    written = encode_delays(msgspec.structs.replace(delays, sites={1: site}))
    for events in run.glob("*/events.jsonl"):
        (events.parent / "delays.jsonl").write_bytes(written)


def keep_gate(folder: Path, outcome: Outcome = Outcome.UNSAFE) -> Decision:
    """Writes a gate of two runs."""
    folder.mkdir(exist_ok=True)
    keep_run(folder / "baseline")
    results = keep_run(folder / "candidate")
    excess = Excess(
        figure="time",
        baseline_ns=SECOND,
        candidate_ns=2 * SECOND,
        low_pct=100,
        high_pct=100,
        limit_pct=2,
        outcome=Outcome.SLOWER,
    )
    cells = [
        GateCell(
            id=cell.id,
            lane=cell.lane,
            role=cell.role,
            outcome=outcome,
            why="it is so",
            baseline=cell.verdict,
            candidate=cell.verdict,
            margin_ns=-1,
            excess=[excess],
            rerun=cell.rerun,
        )
        for cell in results.cells
    ]
    decision = Decision(
        outcome=outcome,
        exit_code=ExitCode.UNSAFE,
        lines=["No, unsafe: one", "Safety: two", "Cost: three"],
        doubts=["a doubt"],
        blind=["nothing below 1 ms"],
        plan="gate",
        seed=1,
        limits=Limits(),
        baseline=Side(name="debian:bookworm"),
        candidate=Side(name="bundled"),
        cells=cells,
    )
    (folder / "gate.json").write_bytes(msgspec.json.encode(decision))
    return decision


LARGE = 24
SIDES = {"baseline": "debian:bookworm", "candidate": f"path:/home/somebody/{HOSTILE}/flashrom"}


def keep_large_gate(folder: Path) -> Decision:
    """Writes a gate of `LARGE` cells: the last is unsafe, all others take twice the CPU time."""
    runs = [_keep_side(folder / side, subject) for side, subject in SIDES.items()]
    decision = decide(runs[:1], runs[1:])
    (folder / "gate.json").write_bytes(msgspec.json.encode(decision))
    return decision


def _keep_side(run: Path, subject: str) -> Results:
    is_candidate = run.name == "candidate"
    cells = [
        keep_cell(
            run,
            make_cell(
                name=f"n{number}", subject=subject, side=run.name, hazards=("low-res-timers",)
            ),
            job_events(),
            cpu_ns=CpuTime(user=(1 + is_candidate) * (number + 1) * 5 * MS),
        )
        for number in range(LARGE - 1)
    ]
    early = msgspec.structs.replace(make_evidence(), what="PP (0x02) came 38000000 ns too early")
    worst = make_cell(name="worst", subject=subject, side=run.name)
    short: dict[str, Any] = {
        "verdict": Verdict.TOO_SHORT,
        "reason": early.what,
        "evidence": [early],
    }
    facts = short if is_candidate else {}
    cells.append(keep_cell(run, worst, job_events(is_early=is_candidate), **facts))
    canary = make_cell(
        name="canary", role=Role.CANARY, subject="canary:chip", expect=Expect.TOO_SHORT
    )
    control = make_cell(name="control", role=Role.CONTROL)
    if is_candidate:
        cells += [
            keep_cell(run, canary, job_events(is_early=True), **short),
            keep_cell(run, control, job_events()),
        ]
    results = run_of(*cells, cells_planned=len(cells))
    write_results(results, run)
    return results
