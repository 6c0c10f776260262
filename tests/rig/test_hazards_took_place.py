# SPDX-License-Identifier: GPL-2.0-or-later
"""A hazard that did not take place is a fault of the rig; one that the job did not meet is none."""

from typing import Any

import pytest
from delayrig.hazards import hazard_of
from delayrig.hazards.artifacts import Artifacts
from delayrig.judge.judge import Observed, find_verdict
from delayrig.judge.trust import missed_hazard, rig_fault
from delayrig.model.cell import Job
from delayrig.model.events import Event
from delayrig.model.kinds.agent import ClockRate, Guest, KernelMessage, SubjectEnd
from delayrig.model.kinds.emulator import Accept
from delayrig.model.kinds.hazard import (
    HogsRunning,
    HogsStopped,
    LeapAnnounced,
    LeapState,
    MemoryPressureBegin,
    MemoryPressureEnd,
    SiblingsRunning,
    SiblingsStopped,
    SubjectRights,
    WallClockStepped,
)
from delayrig.model.kinds.kind import Kind
from delayrig.model.kinds.library_client import HostStart
from delayrig.model.result import Verdict
from msgspec.structs import replace

from tests.rig.builders import (
    make_cell,
    make_evidence,
)
from tests.rig.event_builders import (
    END_NS,
    START_NS,
    Some,
    changed,
    made,
    seen_of,
    sound_events,
    without,
)
from tests.rig.hazard_builders import cell_of, seen_after

MS = 1_000_000
AT = START_NS


def mark(kind: type[Some], t_ns: int = START_NS - 1, **fields: Any) -> Some:
    return made(kind, t_ns=t_ns, **fields)


def spell(begin_ns: int, *, count: int = 3, turns: int = 5) -> list[Event]:
    """Returns siblings that run for 20 ms, with that number of turns."""
    return [
        mark(SiblingsRunning, begin_ns, count=count, turns_min=7),
        mark(SiblingsStopped, begin_ns + 20 * MS, count=count, turns_min=7 + turns),
    ]


HOGS = [mark(HogsRunning, count=2, turns_min=1), mark(HogsStopped, END_NS, turns_min=2)]
MEMORY = [
    mark(MemoryPressureBegin, reclaimed_pages=8),
    mark(MemoryPressureEnd, END_NS, reclaimed_pages=9),
]
RIGHTS = mark(SubjectRights, cap_sys_nice=0, rtprio_max=0)
THROTTLED = mark(KernelMessage, level=4, text="sched: RT throttling activated")
LEAP = [mark(LeapAnnounced, due_ns=AT + MS), mark(LeapState, END_NS, state=4)]

TOOK_PLACE = [
    ("busy-siblings:10-30", spell(AT + 10 * MS)),
    ("busy-siblings:10-30@90", [*spell(AT + 30 * MS), *spell(AT + 100 * MS)]),
    ("busy-siblings:accept,10-30", spell(AT + 1 + 10 * MS)),
    ("hogs:2", HOGS),
    ("memory-pressure", MEMORY),
    ("no-rt", [RIGHTS]),
    ("rt-throttle", [THROTTLED]),
    ("wall-clock-step:+1", [mark(WallClockStepped, AT + MS)]),
    ("leap-second", LEAP),
    ("leap-second", [LEAP[0], mark(LeapState, END_NS, state=3)]),
]
DID_NOT = [
    ("busy-siblings:10-30", []),
    ("busy-siblings:10-30", spell(AT + 10 * MS - 1)),
    ("busy-siblings:10-30", spell(AT + 30 * MS + 1)),
    ("busy-siblings:10-30", spell(AT + 10 * MS, count=2)),
    ("busy-siblings:10-30", spell(AT + 10 * MS, turns=0)),
    ("busy-siblings:10-30@90", [*spell(AT + 10 * MS), *spell(AT + 100 * MS, turns=0)]),
    ("busy-siblings:accept,10-30", spell(AT + 10 * MS)),
    ("hogs:2", []),
    ("hogs:3", HOGS),
    ("hogs:2", HOGS[:1]),
    ("hogs:2", [replace(HOGS[0], t_ns=AT + 1), HOGS[1]]),
    ("memory-pressure", []),
    ("memory-pressure", MEMORY[:1]),
    ("no-rt", []),
    ("no-rt", [replace(RIGHTS, cap_sys_nice=1)]),
    ("no-rt", [replace(RIGHTS, rtprio_max=1)]),
    ("wall-clock-step:+1", []),
    ("leap-second", []),
    ("leap-second", LEAP[:1]),
    ("leap-second", [LEAP[0], replace(LEAP[1], state=1)]),
]
LATE_LEAP = replace(LEAP[0], due_ns=END_NS + 1)
MET_NOTHING = [
    ("busy-siblings:10000-10001", []),
    ("busy-siblings:accept,9990-10001", []),
    ("hogs:2", [HOGS[0], replace(HOGS[1], turns_min=1)]),
    ("memory-pressure", [MEMORY[0], replace(MEMORY[1], reclaimed_pages=8)]),
    ("rt-throttle", []),
    ("rt-throttle", [replace(THROTTLED, text="something else is wrong")]),
    ("wall-clock-step:+1,10000", []),
    ("leap-second", [LATE_LEAP, LEAP[1]]),
    ("leap-second", [LATE_LEAP, replace(LEAP[1], state=1)]),
]


def seen_beside(events: list[Event]) -> Artifacts:
    """Returns a sound cell in which these events replace those of the siblings."""
    plain = without(without(sound_events(), SiblingsRunning), SiblingsStopped)
    return seen_of(*plain, *events)


def trust(word: str, events: list[Event]) -> str:
    """Returns the fault that the hazard finds in these events, empty if none."""
    return hazard_of(word).fault(cell_of(word), seen_beside(events))


@pytest.mark.parametrize(("word", "events"), TOOK_PLACE)
def test_hazard_that_took_place_is_no_fault(word: str, events: list[Event]) -> None:
    assert trust(word, events) == ""
    assert missed_hazard(cell_of(word), seen_beside(events)) == ""


@pytest.mark.parametrize(("word", "events"), DID_NOT)
def test_hazard_of_the_guest_that_did_not_take_place_is_a_fault(
    word: str, events: list[Event]
) -> None:
    assert trust(word, events)


@pytest.mark.parametrize(("word", "events"), MET_NOTHING)
def test_hazard_that_the_subject_did_not_meet_is_nobodys_fault(
    word: str, events: list[Event]
) -> None:
    assert trust(word, events) == ""
    assert missed_hazard(cell_of(word), seen_beside(events)).startswith(
        f"the subject did not meet {word}: "
    )


def test_siblings_wait_for_a_subject_that_is_never_accepted() -> None:
    artifacts = seen_of(*without(seen_beside([]).events, Accept))
    hazard = hazard_of("busy-siblings:accept,10-30")
    assert hazard.fault(cell_of(), artifacts) == ""
    assert hazard.missed(cell_of(), artifacts)


def test_job_that_verifies_nothing_has_nothing_to_leave_out() -> None:
    hazard = hazard_of("unverified")
    assert not hazard.missed(make_cell(job=Job.WRITE), seen_after())
    assert "erase" in hazard.missed(make_cell(job=Job.ERASE), seen_after())
    client = seen_after(made(HostStart, t_ns=0))
    assert "client verifies" in hazard.missed(make_cell(job=Job.WRITE), client)


def test_cell_whose_hazard_came_too_late_is_in_doubt_unless_it_says_something_else() -> None:
    cell = cell_of("wall-clock-step:+1,10000")
    unmet = find_verdict(cell, seen_after(), Observed(evidence=[]))
    assert unmet.verdict is Verdict.INCONCLUSIVE
    assert "ended before the first step" in unmet.reason
    short = find_verdict(cell, seen_after(), Observed(evidence=[make_evidence()]))
    assert short.verdict is Verdict.TOO_SHORT
    failed = guest_with(SubjectEnd, exit_code=1)
    assert find_verdict(cell, failed, Observed(evidence=[])).verdict is Verdict.OP_FAILED


def guest_with(kind: type[Kind], **fields: Any) -> Artifacts:
    return seen_of(*changed(sound_events(), kind, **fields))


@pytest.mark.parametrize(("ticks", "sound"), [(0, False), (39, False), (40, True), (50, True)])
def test_idle_core_without_nohz_ticks_all_the_time(ticks: int, sound: bool) -> None:
    artifacts = guest_with(ClockRate, timer_interrupts=ticks)
    assert (hazard_of("no-nohz").fault(cell_of("no-nohz"), artifacts) == "") is sound


@pytest.mark.parametrize(("release", "sound"), [("6.12.9-cloud", True), ("6.1.0-9", False)])
def test_kernel_of_another_release_says_its_version(release: str, sound: bool) -> None:
    artifacts = guest_with(Guest, kernel=release)
    assert (hazard_of("kernel:6.12").fault(cell_of("kernel:6.12"), artifacts) == "") is sound


@pytest.mark.parametrize(
    ("version", "sound"), [("#1 SMP PREEMPT_RT Debian", True), ("#1 SMP PREEMPT_DYNAMIC", False)]
)
def test_realtime_kernel_says_that_it_is_one(version: str, sound: bool) -> None:
    artifacts = guest_with(Guest, version=version)
    assert (hazard_of("preempt-rt").fault(cell_of("preempt-rt"), artifacts) == "") is sound


@pytest.mark.parametrize(("clock", "sound"), [("hpet", True), ("tsc", False)])
def test_clocksource_in_force_is_the_one_asked_for(clock: str, sound: bool) -> None:
    cell = cell_of("clocksource:hpet")
    assert (rig_fault(cell, guest_with(Guest, clocksource=clock)) == "") is sound


def test_message_of_the_kernel_is_explained_by_the_hazard_that_caused_it_alone() -> None:
    artifacts = seen_after(THROTTLED)
    assert rig_fault(cell_of("rt-throttle"), artifacts) == ""
    assert "complains" in rig_fault(cell_of(), artifacts)
