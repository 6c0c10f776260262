# SPDX-License-Identifier: GPL-2.0-or-later
"""Other cores that are busy while the subject starts, or by a schedule."""

import itertools
import re
from collections.abc import Sequence

from delayrig.base.durations import NS_PER_MS
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import (
    ANYWHERE,
    LATE_NS_MAX,
    Hazard,
    ended_before,
    matched,
    origin_ns,
)
from delayrig.model.cell import Cell
from delayrig.model.events import first, needed, of_kind
from delayrig.model.kinds.agent import SubjectStart
from delayrig.model.kinds.emulator import Accept
from delayrig.model.kinds.hazard import SiblingsRunning, SiblingsStopped
from delayrig.model.speed import Origin

# flashrom 1.x prints these before and after it calibrates; other messages may be between them.
CALIBRATION_BEGINS = b"Calibrating delay loop..."
CALIBRATION_WHOLE = re.compile(rb"Calibrating delay loop\.\.\..*\bOK\.", re.DOTALL)
_WINDOW = re.compile(r"(0|[1-9][0-9]{0,5})-([1-9][0-9]{0,5})")
_SCHEDULE = re.compile(r"(accept,)?([0-9,-]+)(?:@([1-9][0-9]{0,6}))?")
WINDOWS_MAX = 16


class Schedule:
    """The times when siblings run: windows in ms from the subject's start or acceptance."""

    def __init__(self, text: str) -> None:
        match = matched(_SCHEDULE, text)
        self.origin = Origin.ACCEPT if match[1] else Origin.START
        windows = [matched(_WINDOW, part) for part in match[2].split(",")]
        self.windows_ms = [(int(window[1]), int(window[2])) for window in windows]
        self.period_ms = int(match[3] or 0)
        edges = [edge for window in self.windows_ms for edge in window]
        if any(late <= early for early, late in itertools.pairwise(edges)):
            raise ValueError(text)
        if len(self.windows_ms) > WINDOWS_MAX or 0 < self.period_ms < edges[-1]:
            raise ValueError(text)

    def spec_lines(self) -> list[str]:
        return [
            f"siblings_from {self.origin}",
            *(f"siblings_window {begin} {end}" for begin, end in self.windows_ms),
            *([f"siblings_period_ms {self.period_ms}"] if self.period_ms else []),
        ]

    def due_ns(self, artifacts: Artifacts) -> int | None:
        """Returns when the first window begins; None if its origin did not occur."""
        since_ns = origin_ns(artifacts, self.origin)
        return None if since_ns is None else since_ns + self.windows_ms[0][0] * NS_PER_MS


class BusySiblings(Hazard):
    """A loop on every other core until the emulator accepts its client, or by a schedule.

    In the virtual lane one host CPU runs all cores in turn, so each busy sibling slows core 0, as a
    busy hyper-thread does. Without a schedule this slows a calibration at start-up, but nothing
    after it.
    """

    name = "busy-siblings"
    form = "[[accept,]START-STOP,...[@PERIOD]]"
    legend = f"START, STOP and PERIOD in ms, one after another; up to {WINDOWS_MAX} windows"
    about = "a loop on every other core until the emulator accepts the subject, or by a schedule"
    lanes = ANYWHERE
    cores_min = 2
    why_uncounted = "other cores slow its own"

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.schedule = Schedule(value) if value else None

    def spec_lines(self, cell: Cell) -> Sequence[str]:
        lines = [f"siblings {cell.cores - 1}"]
        return lines + (self.schedule.spec_lines() if self.schedule else [])

    def fault(self, cell: Cell, artifacts: Artifacts) -> str:
        running = of_kind(artifacts.events, SiblingsRunning)
        if not running and self.schedule:
            due_ns = self.schedule.due_ns(artifacts)
            if due_ns is None or ended_before(artifacts, due_ns):
                return ""
        if not running or any(event.count != cell.cores - 1 for event in running):
            return "not all of the busy siblings were seen running"
        if self.schedule:
            return _schedule_fault(self.schedule, running, artifacts)
        return _start_up_fault(running[0], artifacts)

    def missed(self, cell: Cell, artifacts: Artifacts) -> str:
        running = of_kind(artifacts.events, SiblingsRunning)
        return "" if running else "it ended before the siblings were to be busy"


def _start_up_fault(running: SiblingsRunning, artifacts: Artifacts) -> str:
    stopped = first(artifacts.events, SiblingsStopped)
    if running.t_ns > needed(artifacts.events, SubjectStart).t_ns:
        return "the busy siblings came after the subject"
    if stopped is None:
        accepted = first(artifacts.events, Accept) is not None
        return "the busy siblings were not stopped" if accepted else ""
    before_stop = artifacts.output[: stopped.stdout_bytes or 0]
    if CALIBRATION_BEGINS in artifacts.output and not CALIBRATION_WHOLE.search(before_stop):
        return "the subject's calibration was not inside the time of the busy siblings"
    return ""


def _schedule_fault(
    schedule: Schedule, running: list[SiblingsRunning], artifacts: Artifacts
) -> str:
    due_ns = schedule.due_ns(artifacts)
    if due_ns is None or not due_ns <= running[0].t_ns <= due_ns + LATE_NS_MAX:
        return "the busy siblings did not start at their time"
    for begin, end in zip(running, of_kind(artifacts.events, SiblingsStopped), strict=False):
        if (end.turns_min or 0) <= (begin.turns_min or 0):
            return "not all of the busy siblings ran in their windows"
    return ""
