# SPDX-License-Identifier: GPL-2.0-or-later
"""A missing hazard is a fault of the rig; one that the subject did not meet is a doubt."""

from typing import Any

import pytest
from delayrig.base.paths import find_paths
from delayrig.hazards import hazard_of, library_client
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.library_client import ASKED_US, NOTHING_TO_ASK
from delayrig.hazards.of_cell import hazards_of, is_in_library
from delayrig.judge.judge import Finding, Observed, find_verdict
from delayrig.judge.trust import missed_hazard, rig_fault, trust_of
from delayrig.judge.waits import JudgedWaits
from delayrig.lanes.payload import deadline_ms, subject_words
from delayrig.model.cell import Job
from delayrig.model.events import Event
from delayrig.model.evidence import Evidence
from delayrig.model.kinds import hazard as kinds
from delayrig.model.kinds.agent import ClockRate, Guest, KernelMessage, SubjectEnd, SubjectStart
from delayrig.model.kinds.emulator import Accept
from delayrig.model.kinds.kind import Kind
from delayrig.model.kinds.library_client import HostEnd, HostStart
from delayrig.model.result import Verdict
from delayrig.subjects.delay_function import Askable
from msgspec.structs import replace

from tests.rig.builders import MS, cell_of, delay, delays_of, make_cell, make_evidence, make_subject
from tests.rig.event_builders import (
    END_NS,
    START_NS,
    Some,
    changed,
    made,
    seen_after,
    seen_of,
    sound_events,
    without,
)
from tests.rig.running import run
from tests.rig.test_hazards import RIGHT

AT = START_NS


def mark(kind: type[Some], t_ns: int = START_NS - 1, **fields: Any) -> Some:
    return made(kind, t_ns=t_ns, **fields)


def siblings_run(begin_ns: int, *, count: int = 3, turns: int = 5) -> list[Event]:
    """Returns the events of siblings that run for 20 ms and make that number of turns."""
    return [
        mark(kinds.SiblingsRunning, begin_ns, count=count, turns_min=7),
        mark(kinds.SiblingsStopped, begin_ns + 20 * MS, count=count, turns_min=7 + turns),
    ]


HOGS = [mark(kinds.HogsRunning, count=2, turns_min=1), mark(kinds.HogsStopped, END_NS, turns_min=2)]
MEMORY = [
    mark(kinds.MemoryPressureBegin, reclaimed_pages=8),
    mark(kinds.MemoryPressureEnd, END_NS, reclaimed_pages=9),
]
RIGHTS = mark(kinds.SubjectRights, cap_sys_nice=0, rtprio_max=0)
THROTTLED = mark(KernelMessage, level=4, text="sched: RT throttling activated")
LEAP = [mark(kinds.LeapAnnounced, due_ns=AT + MS), mark(kinds.LeapState, END_NS, state=4)]

TOOK_PLACE = [
    ("busy-siblings:10-30", siblings_run(AT + 10 * MS)),
    ("busy-siblings:10-30@90", [*siblings_run(AT + 30 * MS), *siblings_run(AT + 100 * MS)]),
    ("busy-siblings:accept,10-30", siblings_run(AT + 1 + 10 * MS)),
    ("hogs:2", HOGS),
    ("memory-pressure", MEMORY),
    ("no-rt", [RIGHTS]),
    ("rt-throttle", [THROTTLED]),
    ("wall-clock-step:+1", [mark(kinds.WallClockStepped, AT + MS)]),
    ("leap-second", LEAP),
    ("leap-second", [LEAP[0], mark(kinds.LeapState, END_NS, state=3)]),
]
MISSING = [
    ("busy-siblings:10-30", []),
    ("busy-siblings:10-30", siblings_run(AT + 10 * MS - 1)),
    ("busy-siblings:10-30", siblings_run(AT + 30 * MS + 1)),
    ("busy-siblings:10-30", siblings_run(AT + 10 * MS, count=2)),
    ("busy-siblings:10-30", siblings_run(AT + 10 * MS, turns=0)),
    (
        "busy-siblings:10-30@90",
        [*siblings_run(AT + 10 * MS), *siblings_run(AT + 100 * MS, turns=0)],
    ),
    ("busy-siblings:accept,10-30", siblings_run(AT + 10 * MS)),
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
NOT_MET = [
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
    """Returns the artifacts of a sound cell, with these events in place of the siblings'."""
    plain = without(without(sound_events(), kinds.SiblingsRunning), kinds.SiblingsStopped)
    return seen_of(*plain, *events)


def fault_of(word: str, events: list[Event]) -> str:
    """Returns the fault that the hazard finds in these events, empty if none."""
    return hazard_of(word).fault(cell_of(word), seen_beside(events))


@pytest.mark.parametrize(("word", "events"), TOOK_PLACE)
def test_hazard_that_took_place_is_no_fault(word: str, events: list[Event]) -> None:
    assert fault_of(word, events) == ""
    assert missed_hazard(cell_of(word), seen_beside(events)) == ""


@pytest.mark.parametrize(("word", "events"), MISSING)
def test_missing_hazard_of_the_guest_is_a_fault_of_the_rig(word: str, events: list[Event]) -> None:
    assert fault_of(word, events)


@pytest.mark.parametrize(("word", "events"), NOT_MET)
def test_hazard_that_the_subject_did_not_meet_is_no_fault(word: str, events: list[Event]) -> None:
    assert fault_of(word, events) == ""
    assert missed_hazard(cell_of(word), seen_beside(events)).startswith(
        f"the subject did not meet {word}: "
    )


def test_siblings_that_wait_for_a_connection_may_never_run() -> None:
    artifacts = seen_of(*without(seen_beside([]).events, Accept))
    hazard = hazard_of("busy-siblings:accept,10-30")
    assert hazard.fault(cell_of(), artifacts) == ""
    assert hazard.missed(cell_of(), artifacts)


def test_hazard_unverified_needs_a_job_that_verifies() -> None:
    hazard = hazard_of("unverified")
    assert not hazard.missed(make_cell(job=Job.WRITE), seen_after())
    assert "erase" in hazard.missed(make_cell(job=Job.ERASE), seen_after())
    client = seen_after(made(HostStart, t_ns=0))
    assert "client verifies" in hazard.missed(make_cell(job=Job.WRITE), client)


def test_unmet_hazard_prevents_a_pass_only() -> None:
    cell = cell_of("wall-clock-step:+1,10000")

    def verdict(artifacts: Artifacts, *evidence: Evidence) -> Finding:
        trust = trust_of(cell, artifacts)
        observed = Observed(trust=trust, evidence=[*evidence], waits=JudgedWaits())
        return find_verdict(cell, artifacts, observed)

    unmet = verdict(seen_after())
    assert unmet.verdict is Verdict.INCONCLUSIVE
    assert "ended before the first step" in unmet.reason
    assert verdict(seen_after(), make_evidence()).verdict is Verdict.TOO_SHORT
    assert verdict(guest_with(SubjectEnd, exit_code=1)).verdict is Verdict.OP_FAILED


def guest_with(kind: type[Kind], **fields: Any) -> Artifacts:
    return seen_of(*changed(sound_events(), kind, **fields))


@pytest.mark.parametrize(
    ("word", "kind", "fields", "sound"),
    [
        *(
            ("no-nohz", ClockRate, {"timer_interrupts": ticks}, ticks >= 40)
            for ticks in (0, 39, 40, 50)
        ),
        ("kernel:6.12", Guest, {"kernel": "6.12.9-cloud"}, True),
        ("kernel:6.12", Guest, {"kernel": "6.1.0-9"}, False),
        ("preempt-rt", Guest, {"version": "#1 SMP PREEMPT_RT Debian"}, True),
        ("preempt-rt", Guest, {"version": "#1 SMP PREEMPT_DYNAMIC"}, False),
        ("clocksource:hpet", Guest, {"clocksource": "hpet"}, True),
        ("clocksource:hpet", Guest, {"clocksource": "tsc"}, False),
    ],
)
def test_guest_has_the_requested_kernel_and_clock(
    word: str, kind: type[Kind], fields: dict[str, Any], sound: bool
) -> None:
    cell, artifacts = cell_of(word), guest_with(kind, **fields)
    judged = rig_fault if word.startswith("clocksource") else hazard_of(word).fault
    assert (judged(cell, artifacts) == "") is sound


def test_kernel_message_is_excused_only_by_its_hazard() -> None:
    artifacts = seen_after(THROTTLED)
    assert rig_fault(cell_of("rt-throttle"), artifacts) == ""
    assert "complains" in rig_fault(cell_of(), artifacts)


REQUESTS_MAX = 64
LIBRARY_WORDS = ("library", "signals:20", "threads:2", "long-waits")


def test_library_does_the_job_if_any_hazard_needs_it() -> None:
    assert not is_in_library(make_cell(hazards=("low-res-timers", "stop-cont:10")))
    for word in LIBRARY_WORDS:
        assert is_in_library(make_cell(hazards=("low-res-timers", word)))


def test_hazards_add_options_of_library_client_or_flashrom() -> None:
    subject = make_subject(library=True, delay_address=0x1234)
    plain = subject_words(make_cell(), "x", subject)

    def options_of(*hazards: str) -> list[str]:
        return subject_words(make_cell(hazards=hazards), "x", subject)[len(plain) :]

    options = options_of("signals:20,usr1", "threads:2", "long-waits")
    assert options[:2] == ["--events", "/tmp/host.jsonl"]
    assert options[2:6] == ["--signals", "20,usr1", "--threads", "2"]
    assert options[6:9] == ["--delay", str(0x1234), "--ask"]
    assert options_of("stop-cont:10") == []
    assert options_of("stop-cont:10", "unverified") == ["-n"]


def test_library_client_accepts_each_hazard() -> None:
    program = find_paths().library_client
    if not program.is_file():
        pytest.skip("the library client is not built")
    for word in [word for word in RIGHT if is_in_library(make_cell(hazards=(word,)))]:
        options = hazard_of(word).subject_words(make_subject(delay_address=1))
        # It reports an unknown programmer only after it has read all other arguments.
        done = run(program, "-p", "none", "-c", "none", *options)
        assert "flashrom_programmer_init() failed" in done.stdout, (word, done.stderr)


def test_requested_delays_are_on_both_sides_of_each_boundary() -> None:
    requested = set(ASKED_US)
    assert len(requested) == len(ASKED_US) <= REQUESTS_MAX
    for boundary_ns in (2**31, 2**32):
        assert {boundary_ns // 1000, boundary_ns // 1000 + 1} <= requested
    assert {2**31 - 1, 2**31, 2**32 - 1} <= requested
    assert sum(ASKED_US) // 1000 * 2 < deadline_ms(make_cell(hazards=("long-waits",)))


def test_library_with_no_or_several_delay_functions_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hazard = hazard_of("long-waits")
    assert hazard.refusal(make_subject()) == NOTHING_TO_ASK
    monkeypatch.setattr(library_client, "askable_functions", lambda _: [Askable(1), Askable(2)])
    assert hazard.refusal(make_subject()) == "2 functions of its library delay"
    monkeypatch.undo()
    assert hazard.refusal(make_subject(delay_address=0x10)) == ""
    assert hazard_of("signals:20").refusal(make_subject()) == ""


def test_delay_function_is_called_in_its_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = [Askable(1, 1000)]
    monkeypatch.setattr(library_client, "askable_functions", lambda _: functions)
    times = hazard_of("long-waits").subject_words(make_subject())[-1]
    assert [int(word) for word in times.split(",")] == [us * 1000 for us in ASKED_US]
    functions[:] = [Askable(1, 1, 1)]
    assert hazard_of("long-waits").subject_words(make_subject())[-2:] == ("--argument", "1")


def host_events(**end: int) -> list[Event]:
    """Returns the events of a library client that ran for ten seconds if `end` has no time."""
    return [made(HostStart, t_ns=0), made(HostEnd, **{"t_ns": 10_000 * MS, **end})]


@pytest.mark.parametrize(
    ("word", "end", "fault", "missed"),
    [
        ("library", {}, "", ""),
        ("signals:20", {"signals": 200}, "", ""),
        ("signals:20", {"signals": 100}, "", ""),
        ("signals:20", {"signals": 99}, "", "it handled 99 signals where 200 were due"),
        (
            "signals:20",
            {"signals": 1, "t_ns": 150 * MS},
            "",
            "it handled 1 signals where 3 were due",
        ),
        ("signals:20", {}, "no signal was handled", "it handled 0 signals where 200 were due"),
        ("threads:2", {"turns": 1}, "", ""),
        ("threads:2", {}, "", "the other threads never ran"),
    ],
)
def test_events_of_the_library_client_show_a_missing_or_rare_hazard(
    word: str, end: dict[str, int], fault: str, missed: str
) -> None:
    hazard, cell = hazard_of(word), make_cell(hazards=(word,))
    seen = seen_after(*host_events(**end))
    assert (hazard.fault(cell, seen), hazard.missed(cell, seen)) == (fault, missed)


@pytest.mark.parametrize("word", LIBRARY_WORDS)
def test_library_client_without_events_is_a_fault(word: str) -> None:
    assert hazard_of(word).fault(make_cell(hazards=(word,)), seen_after())


def test_subject_that_was_rarely_stopped_is_a_fault() -> None:
    cell = make_cell(hazards=("stop-cont:10",))
    (hazard,) = hazards_of(cell)
    for count, ms, fault in (
        (20, 2000, ""),
        (9, 2000, "the subject was stopped 9 times only"),
        (1, 300, "the subject was stopped 1 times only"),
        (2, 300, ""),
    ):
        start, end = made(SubjectStart, t_ns=0), made(SubjectEnd, t_ns=ms * MS, exit_code=0)
        seen = seen_of(start, end, made(kinds.Stops, t_ns=1, count=count))
        assert hazard.fault(cell, seen) == fault


def test_long_waits_that_were_not_seen_are_reported() -> None:
    cell = make_cell(hazards=("long-waits",))
    (hazard,) = hazards_of(cell)
    missed = f"{len(ASKED_US)} of {len(ASKED_US)} calls were not seen"
    assert hazard.missed(cell, seen_after(*host_events())) == missed
    calls = [delay(us, took_ns=us * 1000) for us in ASKED_US]
    for count in (len(calls), len(calls) - 1):
        seen = replace(seen_after(*host_events()), delays=delays_of(*calls[:count]))
        assert bool(hazard.missed(cell, seen)) is (count < len(calls))
