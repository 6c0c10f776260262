# SPDX-License-Identifier: GPL-2.0-or-later
"""The classic bug of unequal cores, explained with the figures of the cells."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from delayrig.base.durations import in_full
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.features.repro.look import Look, Show, say_nothing
from delayrig.features.repro.run_again import describe_evidence
from delayrig.features.repro.watched_lane import opener
from delayrig.hazards.artifacts import read_artifacts
from delayrig.judge.chip import margins_ns
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.lanes.stages import BOOTED, CONNECTED, ENDED
from delayrig.model.cell import Cell
from delayrig.model.events import Event, TraceLine, first, of_kind, parse_trace
from delayrig.model.kinds.agent import SubjectEnd, SubjectStart
from delayrig.model.kinds.hazard import Moved
from delayrig.model.kinds.pace import Window
from delayrig.model.phases import overshoots
from delayrig.model.result import CellResult, Verdict
from delayrig.plan.request import Request
from delayrig.run.runner import Quiet, run_request

PLAN = str(Path(__file__).with_suffix(".toml"))
"""The plan. It has no canary, so it proves nothing about a subject and is no shipped plan."""
TRACE = "pace.jsonl"
BUSY_PART_MIN = 0.5
"""The fraction of a window in which a core must be busy for its speed to be measured."""
DUE_PART_MIN = 0.95
"""The speeds are measured, so a wait that they explain may take a bit less than they predict."""
DUE_PART_MAX = 2
"""Rounding up from more than one turn for each microsecond at most doubles a wait."""
INTRODUCTION = """\
The classic bug of unequal cores
--------------------------------
flashrom up to 1.3 waits for short times by counting. As it starts, it measures once how often a
loop goes round in a known time, and believes that figure from then on. But the figure is one of
the core that it was measured on. Started on a slow core and moved to a fast one, as any scheduler
may do, each wait then ends too early, and the next command meets a chip that is still at work."""
SAME_WITH_OURS = """\
The same with our own delay layer
---------------------------------
The flashrom that comes with this rig counts nothing: it asks the system to wake it at a certain
time, and looks at the clock. Same guest, same cores, same move."""
DOUBTS = (Verdict.INCONCLUSIVE, Verdict.INFRA_ERROR)
LIMIT_S = 85.0
"""A cell in doubt is repeated only if all cells are then expected to end within this time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """A finished cell and what its folder shows."""

    cell: Cell
    result: CellResult
    events: Sequence[Event]
    trace: Sequence[TraceLine]
    stdout: str

    def time_ns_of(self, kind: type[SubjectStart | Moved | SubjectEnd]) -> int:
        """Returns when its subject started, was moved or ended; 0 if that did not happen."""
        found = first(self.events, kind)
        return found.t_ns if found else 0


def read_walk(cell: Cell, result: CellResult, folder: Path) -> Walk:
    """Reads the folder of a finished cell. A cell that was lost has no events."""
    if result.verdict is Verdict.INFRA_ERROR or not (folder / TRACE).is_file():
        return Walk(cell=cell, result=result, events=(), trace=(), stdout="")
    artifacts = read_artifacts(folder)
    return Walk(
        cell=cell,
        result=result,
        events=artifacts.events,
        trace=parse_trace((folder / TRACE).read_bytes(), source=TRACE),
        stdout=artifacts.stdout,
    )


def describe_stage(cell: Cell, stage: str, at_s: float) -> str:
    """Describes the stage that was just reached; empty if it is of no interest."""
    slow, fast = cell.mips[0], max(cell.mips)
    texts = {
        BOOTED: f"The guest is up. From now on its core 0 does {slow:g} MIPS (million instructions"
        f" a second), its fastest {fast:g}. {cell.subject} starts, on core 0.",
        CONNECTED: "It has started up, and connects to its programmer. Now it is moved.",
        ENDED: "Its job is done.",
    }
    return f"  [{at_s:5.1f} s] {texts[stage]}" if stage in texts else ""


def measured_mips(walk: Walk, core: int, since_ns: int, until_ns: int) -> float | None:
    """Returns the measured speed of a busy core in that time; None if it was idle."""
    windows = [
        window
        for window in of_kind(walk.trace, Window)
        if window.vcpu == core
        and window.from_ns >= since_ns
        and window.t_ns <= until_ns
        and window.active_ns >= BUSY_PART_MIN * (window.t_ns - window.from_ns)
    ]
    active_ns = sum(window.active_ns for window in windows)
    done = sum(window.instructions for window in windows)
    return done * 1000 / active_ns if active_ns else None


def describe_walk(walk: Walk) -> list[str]:
    """Describes calibration, move, request and result, each in one or more lines."""
    if not walk.events:
        return [f"   {walk.result.reason}"]
    began_ns, moved_ns = walk.time_ns_of(SubjectStart), walk.time_ns_of(Moved)
    moved = first(walk.events, Moved)
    core = moved.core if moved else 0
    here = measured_mips(walk, 0, began_ns, moved_ns)
    there = measured_mips(walk, core, moved_ns, walk.time_ns_of(SubjectEnd))
    stayed_ns = moved_ns - began_ns
    stayed = in_full(stayed_ns) if stayed_ns > 0 else "no time"
    calibration = (line.strip() for line in walk.stdout.splitlines() if "alibrat" in line)
    lines = [
        f"1. Started here:   core 0, {_speed(here)}, for {stayed}.",
        *(f"                   It said: {line}" for line in calibration),
        f"2. Moved there:    core {core}, {_speed(there)}.",
    ]
    if walk.result.verdict is Verdict.TOO_SHORT:
        return [*lines, *_describe_short(walk, here, there)]
    return [*lines, *_describe_kept(walk)]


def _describe_short(walk: Walk, here: float | None, there: float | None) -> list[str]:
    lines, steps = [], itertools.count(3)
    for item in walk.result.evidence:
        if item.requested_ns is None or item.actual_ns is None:
            lines += [
                f"   {line}" for line in describe_evidence(item, walk.time_ns_of(SubjectStart))
            ]
            continue
        what = item.what.removesuffix(" was too short")
        shortest, longest = (in_full(ns, beside_ns=item.requested_ns) for ns in item.actual_ns)
        times = f"; {item.count} times like that" if item.count > 1 else ""
        lines += [
            f"{next(steps)}. Asked for this: {in_full(item.requested_ns)} ({what})",
            f"{next(steps)}. Got that:       {shortest} to {longest},"
            f" seen by the {item.witness} witness{times}",
        ]
        if here and there:
            lines += _describe_cause(item.requested_ns, item.actual_ns, here, there)
    return lines


def _describe_cause(
    requested_ns: int, actual_ns: tuple[int, int], here: float, there: float
) -> list[str]:
    """Names the speeds as the cause, with what counting adds, only if the times agree with them."""
    shortest_ns, longest_ns = actual_ns
    due_ns = round(requested_ns * here / there)
    part = f"{here:.1f} / {there:.1f} of it is {in_full(due_ns, beside_ns=requested_ns)}"
    if longest_ns < DUE_PART_MIN * due_ns or shortest_ns > DUE_PART_MAX * due_ns:
        return [f"   Why:            not explained by the speeds: {part}"]
    lines = [
        f"   Why:            what was counted at {here:.1f} MIPS is over sooner at"
        f" {there:.1f} MIPS: {part}"
    ]
    if shortest_ns > due_ns:
        rest = in_full(shortest_ns - due_ns, beside_ns=requested_ns)
        lines.append(
            f"                   The other {rest}: it counts whole turns for each microsecond,"
            " rounded up, and the bus adds its own way."
        )
    return lines


def _describe_kept(walk: Walk) -> list[str]:
    events = list(walk.events)
    margins = [margin for margin in margins_ns(events) if margin >= 0]
    if not margins:
        return [f"3. {walk.result.verdict}: {walk.result.reason}"]
    longest = max(overshoots(events), key=lambda wait: wait.busy_ns, default=None)
    lines = []
    if longest is not None:
        lines += [
            f"3. The chip asked for this: {in_full(longest.busy_ns)}, its longest busy time"
            f" ({longest.kind})",
            f"4. It got that:    the next command came {in_full(longest.length_ns)} after that",
        ]
    lines.append(
        f"   Of {len(margins)} commands that had to wait for the chip the earliest came"
        f" {in_full(min(margins))} after it was ready."
    )
    return lines


def describe_answer(walks: Sequence[Walk]) -> str:
    outcomes = ", ".join(f"{walk.cell.subject}: {walk.result.verdict}" for walk in walks)
    verdicts = [walk.result.verdict for walk in walks]
    if verdicts == [Verdict.TOO_SHORT, Verdict.PASS]:
        return f"That is the bug, and its remedy: {outcomes}."
    if Verdict.INCONCLUSIVE in verdicts or Verdict.INFRA_ERROR in verdicts:
        return f"This host could not keep it up ({outcomes}). Try again while it has less to do."
    return f"Not what is expected here: {outcomes}."


def _speed(mips: float | None) -> str:
    return "idle" if mips is None else f"{mips:.1f} MIPS as measured"


async def walk_through(request: Request, paths: Paths, show: Show) -> ExitCode:
    """Runs the request's cells, the faulty subject's first; returns the exit code of `run`."""
    began_s = time.monotonic()
    walks: list[Walk] = []
    for number, cell in enumerate(request.cells):
        cell_began_s = time.monotonic()
        show(INTRODUCTION if number == 0 else f"\n{SAME_WITH_OURS}")
        show("")
        walk = await _run(cell, request, paths, show, attempt=1)
        tries = len(request.cells) - number
        ends_s = time.monotonic() + tries * (time.monotonic() - cell_began_s)
        if walk.result.verdict in DOUBTS and ends_s - began_s < LIMIT_S:
            show(f"  In doubt: {walk.result.reason}. Once more.")
            walk = await _run(cell, request, paths, show, attempt=2)
        walks.append(walk)
        show("")
        for line in describe_walk(walk):
            show(line)
        show(f"   Verdict:        {walk.result.verdict}")
    show(f"\n{describe_answer(walks)} ({time.monotonic() - began_s:.0f} s)")
    return exit_code_of_run([walk.result for walk in walks])


async def _run(cell: Cell, request: Request, paths: Paths, show: Show, *, attempt: int) -> Walk:
    out = request.out / f"{cell.id}-{attempt}"
    single = replace(request, cells=[cell], out=out, stages=False)

    def show_stage(stage: str, at_s: float) -> None:
        if line := describe_stage(cell, stage, at_s):
            show(line)

    opened = opener(Look.WATCH, say_nothing, show_stage)
    results = await run_request(single, paths, Quiet(lambda what: show(f"  making {what}")), opened)
    (result,) = results.cells
    return read_walk(cell, result, out / result.id)
