# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that the rig itself can be trusted in a cell, before any verdict on a subject."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.hazard import Hazard
from delayrig.hazards.of_cell import hazards_of, shape_of
from delayrig.judge.bus import MONOTONIC
from delayrig.model.cell import Cell
from delayrig.model.events import Event, first, needed, of_kind
from delayrig.model.evidence import ObservedWait
from delayrig.model.kinds.agent import (
    AgentError,
    ClockRate,
    EmulatorEnd,
    Guest,
    KernelMessage,
    SubjectEnd,
    SubjectStart,
)
from delayrig.model.kinds.emulator import Busy, Disconnect, End, Start
from delayrig.model.kinds.kind import Kind, name_of
from delayrig.model.kinds.pace import Pace
from delayrig.model.lane import LaneName
from delayrig.model.programmers import device_of

NOT_KEPT_UP = "this machine could not keep up"
SCRIPTED = "scripted"
CUT_OFF = "told to end while its client was there"
"""The emulator's message if a signal came too early (emulators/serprog/main.c)."""
LIVE_CLOCK_ERROR_PPM_MAX = 10_000
"""The largest error of a live guest's clock.

The error of a sound clock is too small for the readings to show. In one of 60 guests, the clock
jumped ahead by ten seconds.
"""
CLOCK_RATE_ERROR_PPM_MAX = 100
NOT_KEPT_PART_MAX = 0.1
"""The largest share of windows in which a core may miss its speed without a fault."""
LATE_HOST = re.compile(r"^hrtimer: interrupt took [0-9]+ ns")
"""The message of a guest's kernel if this machine held up its core in real time."""
WARNING = 4
"""The kernel's log level of warnings. Messages up to this level are complaints."""
NEEDED = (Guest, ClockRate, Start, SubjectStart, SubjectEnd, End)
"""The events that every cell must have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The reasons not to trust a cell. Each is empty if there is none."""

    fault: str = ""
    """The fault of the rig or of the guest. If there is one, nothing else is known."""
    lost_clock: str = ""
    """How the clock of a live guest failed."""
    doubt: str = ""
    """The reason against a pass: a busy machine, or a hazard that the subject did not meet."""
    altered_by: Sequence[str] = ()
    """The hazards that changed the subject's data."""


def trust_of(cell: Cell, artifacts: Artifacts, waits: Sequence[ObservedWait] = ()) -> Trust:
    if fault := rig_fault(cell, artifacts):
        return Trust(fault=fault)
    if lost := lost_clock(cell, artifacts.events):
        return Trust(lost_clock=f"{NOT_KEPT_UP}: {lost}")
    # In virtual time rig_fault() has reported a hazard that did not act.
    unlike = pace_fault(artifacts.events, waits) or hazard_fault(cell, artifacts)
    words = zip(cell.hazards, hazards_of(cell), strict=True)
    return Trust(
        doubt=f"{NOT_KEPT_UP}: {unlike}" if unlike else missed_hazard(cell, artifacts),
        altered_by=[word for word, hazard in words if hazard.alters_data(artifacts)],
    )


def rig_fault(cell: Cell, artifacts: Artifacts) -> str:
    """Returns why the rig or the guest cannot be trusted in this cell; empty if they can."""
    hazards, clocksource = hazards_of(cell), shape_of(cell).clocksource
    events = artifacts.events
    for error in of_kind(events, AgentError):
        who = "the session" if cell.lane is LaneName.HOST else "the guest's agent"
        return f"{who}: {error.message}: {error.detail}"
    for message in of_kind(events, KernelMessage):
        if message.level <= WARNING and not _is_explained(cell, hazards, message.text):
            return f"the guest's kernel complains: {message.text}"
    ended = first(events, EmulatorEnd)
    if ended is not None and ended.exit_code != 0:
        said = f": {artifacts.emulator_said}" if artifacts.emulator_said else ""
        return f"the emulator failed: see emulator.log in the cell's folder{said}"
    seen = {type(event) for event in events}
    missing = next((kind for kind in _needed(cell) if kind not in seen), None)
    if missing is not None:
        return f"the events hold no {name_of(missing)!r}"
    if fault := _clock_fault(cell, events, clocksource):
        return fault
    if CUT_OFF in artifacts.emulator_said and _hung_up_first(events):
        return "something ended the emulator while the subject was at work"
    if artifacts.image is None:
        return "the emulator left no image"
    return "" if cell.in_real_time else hazard_fault(cell, artifacts)


def _needed(cell: Cell) -> list[type[Kind]]:
    """Returns the kinds of events that the cell must have. A chip in QEMU has no process to end."""
    kinds: list[type[Kind]] = [*NEEDED]
    kinds += [] if device_of(cell) else [EmulatorEnd]
    return kinds + ([Pace] if cell.lane is LaneName.LIVE else [])


def _hung_up_first(events: Sequence[Event]) -> bool:
    """Returns True if the client's connection ended before the subject did.

    Otherwise the rig ended the emulator after its subject.
    """
    hung_up_ns = [event.t_ns for event in of_kind(events, Disconnect)]
    return bool(hung_up_ns) and hung_up_ns[-1] < needed(events, SubjectEnd).t_ns


def _is_explained(cell: Cell, hazards: Sequence[Hazard], text: str) -> bool:
    late = cell.lane is LaneName.LIVE and LATE_HOST.search(text) is not None
    return late or any(hazard.explains(text) for hazard in hazards)


def pace_fault(events: Sequence[Event], waits: Sequence[ObservedWait] = ()) -> str:
    """Returns what this host hid by holding up the guest's cores; empty if it hid nothing.

    A core that stood still makes waits longer, so a wait in such a window shows nothing. Faults may
    be hidden if all waits of one kind were in such windows, if there are too many of these windows,
    or if no wait is known.
    """
    pace = first(events, Pace)
    if pace is None or pace.windows_not_kept == 0:
        return ""
    missed = (
        f"{pace.windows_not_kept} of {pace.windows} windows of {pace.window_ms} ms in"
        " which a core was not kept to its speed"
    )
    spans = [(wait.kind, wait.opened_ns, wait.opened_ns + wait.longest_ns) for wait in waits]
    spans += [(busy.kind, busy.start_ns, busy.until_ns) for busy in of_kind(events, Busy)]
    if not spans or pace.windows_not_kept > pace.windows * NOT_KEPT_PART_MAX:
        return missed
    clear = {
        kind
        for kind, begin_ns, end_ns in spans
        if all(end_ns <= since_ns or begin_ns >= until_ns for since_ns, until_ns in pace.not_kept)
    }
    hidden = sorted({kind for kind, *_ in spans} - clear)
    return f"{missed}, and every {hidden[0]} was in one of them" if hidden else ""


def lost_clock(cell: Cell, events: list[Event]) -> str:
    """Returns how the clock of a live guest failed; empty if it did not.

    A subject that waits by this clock does not wait as long as it requested, and is not to blame.
    """
    rate = first(events, ClockRate)
    if (
        cell.lane is not LaneName.LIVE
        or rate is None
        or _is_at_rate(rate, LIVE_CLOCK_ERROR_PPM_MAX)
    ):
        return ""
    return (
        f"the guest's clock went {rate.monotonic_ns / 1e9:.6f} s"
        f" in {rate.raw_ns_min / 1e9:.6f} to {rate.raw_ns_max / 1e9:.6f} s of this machine's"
    )


def hazard_fault(cell: Cell, artifacts: Artifacts) -> str:
    """Returns which hazard did not act as it should have; empty if all did.

    In virtual time that is a fault of the rig. In real time this machine may have been busy.
    """
    faults = (hazard.fault(cell, artifacts) for hazard in hazards_of(cell))
    return next((fault for fault in faults if fault), "")


def missed_hazard(cell: Cell, artifacts: Artifacts) -> str:
    """Returns a text on the first hazard that the subject did not meet; empty if it met all.

    Nobody is at fault, so it is only a doubt.
    """
    for word, hazard in zip(cell.hazards, hazards_of(cell), strict=True):
        missed = hazard.missed(cell, artifacts)
        if missed:
            return f"the subject did not meet {word}: {missed}"
    return ""


def _clock_fault(cell: Cell, events: list[Event], right: str) -> str:
    """Returns the fault of the guest's or the emulator's clock; empty if there is none.

    In virtual time the guest's clock must also have the rate of the raw counter. In real time every
    bound includes the error of the rate.
    """
    kept = needed(events, Guest).clocksource
    if cell.lane is not LaneName.HOST and kept != right:
        return f"the guest keeps time by {kept!r}, not by {right!r}"
    clock = needed(events, Start).clock
    if cell.in_real_time:
        wrong = f"the emulator's clock was {clock!r}, not {MONOTONIC!r}"
        return "" if clock == MONOTONIC else wrong
    if clock == SCRIPTED:
        return "the emulator's clock was scripted, so its times mean nothing"
    rate = needed(events, ClockRate)
    if _is_at_rate(rate, CLOCK_RATE_ERROR_PPM_MAX):
        return ""
    return (
        f"the guest's clock went {rate.monotonic_ns} ns"
        f" in {rate.raw_ns_min} to {rate.raw_ns_max} ns"
    )


def _is_at_rate(rate: ClockRate, error_ppm_max: int) -> bool:
    slack_ns = rate.raw_ns_max * error_ppm_max // 1_000_000
    return rate.raw_ns_min - slack_ns <= rate.monotonic_ns <= rate.raw_ns_max + slack_ns
