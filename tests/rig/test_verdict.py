# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts in the order of soundness, and the fold from a cell's folder to its result."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from delayrig import digest, workload
from delayrig.bus import MONOTONIC
from delayrig.cell import Cell, Job, Programmer
from delayrig.errors import LostGuestError
from delayrig.events import Event
from delayrig.evidence import Evidence, ObservedWait, Witness
from delayrig.hazards.busy_siblings import BusySiblings
from delayrig.lanes import LaneName
from delayrig.profile import Profile, Wait
from delayrig.result import CellResult, Verdict
from delayrig.seen import Seen
from delayrig.trust import rig_fault
from delayrig.verdict import Observed, find_verdict, judge_cell, subject_version
from delayrig.wait_classes import classify_waits, smallest_visible_short_ns

from tests.rig.builders import (
    DELAY,
    END_NS,
    ERASE_WAIT,
    MS,
    NOP,
    SECOND,
    START_NS,
    SYNC_WAIT,
    SYNCNOP,
    as_lines,
    busy,
    changed,
    early,
    make_cell,
    make_chip,
    make_evidence,
    make_profile,
    make_subject,
    serprog,
    sound_events,
    sparse_image,
    spi,
    without,
)

SYNC = "serprog-sync"
PROFILE = make_profile(SYNC_WAIT)
CALIBRATED = "Calibrating delay loop... OK.\n"


@dataclass(frozen=True, kw_only=True)
class Case:
    """What `find_verdict` looks at; as it stands, a pass."""

    cell: Cell = field(default_factory=make_cell)
    events: list[Event] = field(default_factory=sound_events)
    stdout: str = "flashrom 1.4.0 on Linux\nVERIFIED.\n"
    image: bytes | None = b""
    evidence: tuple[Evidence, ...] = ()
    judged: tuple[str, ...] = (SYNC,)
    unjudged: tuple[str, ...] = ()
    profile: Profile | None = PROFILE

    @property
    def seen(self) -> Seen:
        return Seen(
            events=self.events, output=self.stdout.encode(), image=self.image, read_back=None
        )

    def verdict(self) -> Verdict:
        return self.finding()[0]

    def finding(self) -> tuple[Verdict, str]:
        observed = Observed(
            evidence=list(self.evidence),
            judged=list(self.judged),
            unjudged=list(self.unjudged),
            profile=self.profile,
        )
        found = find_verdict(self.cell, self.seen, observed)
        return found.verdict, found.reason


Step = Callable[[Case], Case]


def with_event(event: Event) -> Step:
    return lambda case: replace(case, events=[*case.events, event])


def with_fields(kind: str, **fields: Any) -> Step:
    return lambda case: replace(case, events=changed(case.events, kind, **fields))


def with_evidence(evidence: Evidence) -> Step:
    return lambda case: replace(case, evidence=(*case.evidence, evidence))


# In the order in which they are asked.
QUESTIONS: list[tuple[Verdict, Step]] = [
    (Verdict.INFRA_ERROR, with_fields("emulator_end", exit_code=99)),
    (Verdict.TOO_SHORT, with_evidence(make_evidence())),
    (Verdict.HUNG, with_fields("subject_end", timed_out=True)),
    (Verdict.OP_FAILED, with_fields("subject_end", exit_code=3)),
    (Verdict.CORRUPT, with_evidence(make_evidence(Witness.IMAGE, "exact"))),
    (Verdict.INCONCLUSIVE, with_evidence(make_evidence(grade="assumed"))),
    (Verdict.INCONCLUSIVE, with_event(spi("0x02", read=START_NS, violation="wel"))),
    (Verdict.INCONCLUSIVE, lambda case: replace(case, unjudged=(SYNC,))),
]


def test_sound_cell_passes() -> None:
    verdict, reason = Case().finding()
    assert verdict is Verdict.PASS
    assert SYNC in reason


def test_pass_without_a_judged_wait_claims_nothing_of_waits() -> None:
    verdict, reason = replace(Case(), judged=(), unjudged=("erase-poll",)).finding()
    assert verdict is Verdict.PASS
    assert "none of its waits could be judged" in reason


def test_pass_with_waits_left_to_the_programmer_says_so() -> None:
    late = spi("0x02", read=END_NS - MS, margin=5)
    delay = serprog(DELAY, empty=END_NS - 3 * MS, read=END_NS - 2 * MS)
    own = sound_events(late)
    left = sound_events(delay, late)
    assert classify_waits([], None, own)[0] == ["chip-busy"]
    judged, unjudged = classify_waits([], PROFILE, left)
    assert (judged, unjudged) == (
        [],
        ["chip-busy", "own delays (left to the programmer)", SYNC],
    )
    assert smallest_visible_short_ns([], [], own) == 6
    assert smallest_visible_short_ns([], [], left) is None
    verdict, reason = replace(Case(), unjudged=(unjudged[1],)).finding()
    assert verdict is Verdict.PASS
    assert reason.endswith("left its waits to the programmer, so its own delays were hardly tried")


def test_command_too_early_by_a_wait_left_to_the_programmer_is_still_too_short() -> None:
    delay = serprog(DELAY, empty=END_NS - 3 * MS, read=END_NS - 2 * MS)
    case = replace(Case(), events=sound_events(delay), evidence=(make_evidence(),))
    assert case.verdict() is Verdict.TOO_SHORT


@pytest.mark.parametrize(("verdict", "step"), QUESTIONS)
def test_each_doubt_alone_decides(verdict: Verdict, step: Step) -> None:
    assert step(Case()).verdict() is verdict


@pytest.mark.parametrize("first", range(len(QUESTIONS)))
def test_earlier_question_beats_every_later_one(first: int) -> None:
    case = Case()
    for _, step in reversed(QUESTIONS[first:]):
        case = step(case)
    assert case.verdict() is QUESTIONS[first][0]


def test_inconclusive_names_its_reason_in_the_same_order() -> None:
    doubts = [
        (QUESTIONS[5][1], "assumed figures alone"),
        (QUESTIONS[6][1], "broke the part's rules: wel"),
        (QUESTIONS[7][1], f"could not be judged: {SYNC}"),
    ]
    case = Case()
    for step, words in reversed(doubts):
        case = step(case)
        verdict, reason = case.finding()
        assert verdict is Verdict.INCONCLUSIVE
        assert words in reason


FAULTS: dict[str, Step] = {
    "agent": with_event({"ev": "agent_error", "t_ns": 1, "message": "mount", "detail": "EIO"}),
    "kernel": with_event({"ev": "kernel_message", "t_ns": 1, "level": 3, "text": "TSC unstable"}),
    "clocksource": with_fields("guest", clocksource="hpet"),
    "rate": with_fields("clock_rate", monotonic_ns=101 * MS),
    "emulator": with_fields("emulator_end", exit_code=1),
    "no emulator end": lambda case: replace(case, events=without(case.events, "emulator_end")),
    "image": lambda case: replace(case, image=None),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_of_the_rig_beats_every_conviction(name: str) -> None:
    case = FAULTS[name](Case())
    for _, step in QUESTIONS[1:]:
        case = step(case)
    verdict, reason = case.finding()
    assert verdict is Verdict.INFRA_ERROR
    assert reason == rig_fault(case.cell, case.seen) != ""


@pytest.mark.parametrize(
    "kind", ["guest", "clock_rate", "start", "subject_start", "subject_end", "end"]
)
def test_cell_without_one_of_its_marks_is_infra_error(kind: str) -> None:
    case = replace(Case(), events=without(sound_events(), kind))
    assert case.finding() == (Verdict.INFRA_ERROR, f"the events hold no {kind!r}")


@pytest.mark.parametrize(
    ("monotonic", "sound"),
    [
        (999_900_000 - 1, False),
        (999_900_000, True),
        (1_000_500_000, True),
        (1_001_100_110, True),
        (1_001_100_110 + 1, False),
    ],
)
def test_clock_rate_may_be_off_by_100_ppm_of_its_bracket(monotonic: int, sound: bool) -> None:
    # 100 ppm of the larger bound, 1.0011 s less the fraction, on either side.
    step = with_fields(
        "clock_rate", raw_ns_min=1_000_000_100, raw_ns_max=1_001_000_010, monotonic_ns=monotonic
    )
    assert (step(Case()).verdict() is Verdict.PASS) is sound


def live_case(guest_ns: int) -> Case:
    """A second of this machine's, in which the guest's clock went that far."""
    pace = {"ev": "pace", "t_ns": 1, "windows": 9, "windows_not_kept": 0, "not_kept": []}
    case = with_event(pace)(Case(cell=make_cell(lane=LaneName.LIVE)))
    bounds = {"raw_ns_min": SECOND - MS, "raw_ns_max": SECOND + MS}
    case = with_fields("start", clock=MONOTONIC)(case)
    return with_fields("clock_rate", **bounds, monotonic_ns=guest_ns)(case)


@pytest.mark.parametrize("guest_ns", [11 * SECOND, SECOND // 2, SECOND + 12 * MS, SECOND - 12 * MS])
def test_live_guest_that_lost_its_clock_tells_nothing_of_its_subject(guest_ns: int) -> None:
    case = live_case(guest_ns)
    for _, step in QUESTIONS[1:]:  # the first one is the rig's own fault
        case = step(case)
    verdict, reason = case.finding()
    assert verdict is Verdict.INCONCLUSIVE
    assert reason.startswith("this machine could not keep up: the guest's clock went")


@pytest.mark.parametrize("guest_ns", [SECOND, SECOND + 10 * MS, SECOND - 10 * MS])
def test_live_guest_whose_clock_may_be_read_that_wrong_is_judged(guest_ns: int) -> None:
    assert live_case(guest_ns).verdict() is Verdict.PASS


def siblings_case(**changes: Any) -> Case:
    """Four cores, the siblings running, a calibration while they ran."""
    cell = make_cell(hazards=("busy-siblings",), cores=4)
    events = changed(
        sound_events(siblings=3), "siblings_stopped", stdout_bytes=len(CALIBRATED.encode())
    )
    return replace(Case(cell=cell, events=events, stdout=CALIBRATED + "done\n"), **changes)


def test_siblings_around_the_calibration_are_sound() -> None:
    assert siblings_case().verdict() is Verdict.PASS


@pytest.mark.parametrize(
    "step",
    [
        with_fields("siblings_running", count=2),
        with_fields("siblings_running", count=4),
        lambda case: replace(case, events=without(case.events, "siblings_running")),
        with_fields("siblings_running", t_ns=START_NS + 1),
        lambda case: replace(case, events=without(case.events, "siblings_stopped")),
        with_fields("siblings_stopped", stdout_bytes=len(CALIBRATED.encode()) - len("OK.\n")),
        with_fields("siblings_stopped", stdout_bytes=0),
    ],
)
def test_siblings_that_did_not_run_as_they_should_are_infra_error(step: Step) -> None:
    case = step(with_evidence(make_evidence())(siblings_case()))
    verdict, reason = case.finding()
    assert verdict is Verdict.INFRA_ERROR
    assert "siblings" in reason


def test_siblings_seen_running_as_the_subject_starts_are_sound() -> None:
    case = with_fields("siblings_running", t_ns=START_NS)(siblings_case())
    assert case.verdict() is Verdict.PASS


def test_calibration_with_other_messages_in_between_is_whole() -> None:
    stdout = "Calibrating delay loop... delay loop is unreliable,\ntrying to continue OK.\n"
    step = with_fields("siblings_stopped", stdout_bytes=len(stdout))
    assert step(siblings_case(stdout=stdout)).verdict() is Verdict.PASS


def test_subject_that_does_not_calibrate_needs_no_calibration() -> None:
    step = with_fields("siblings_stopped", stdout_bytes=0)
    assert step(siblings_case(stdout="flashrom 1.4.0\n")).verdict() is Verdict.PASS


def test_siblings_go_on_where_the_subject_never_connected() -> None:
    events = without(without(siblings_case().events, "siblings_stopped"), "accept")
    case = with_fields("subject_end", exit_code=1)(siblings_case(events=events))
    assert case.verdict() is Verdict.OP_FAILED


def test_cell_without_siblings_asks_nothing_of_them() -> None:
    events = without(without(sound_events(), "siblings_running"), "siblings_stopped")
    assert replace(Case(), events=events).verdict() is Verdict.PASS


@pytest.mark.parametrize("grade", ["unsure", "assumed"])
def test_conviction_by_doubtful_figures_alone_is_inconclusive(grade: str) -> None:
    case = with_evidence(make_evidence(grade=grade))(Case())
    assert case.verdict() is Verdict.INCONCLUSIVE
    assert with_evidence(make_evidence())(case).verdict() is Verdict.TOO_SHORT


@pytest.mark.parametrize("evidence", [make_evidence(), make_evidence(grade="assumed")])
def test_early_command_to_a_part_slower_than_its_datasheet_is_op_failed(evidence: Evidence) -> None:
    case = with_evidence(evidence)(replace(Case(), cell=make_cell(corner="slow:3")))
    verdict, reason = case.finding()
    assert verdict is Verdict.OP_FAILED
    assert "slower than its datasheet allows: PP came too early" in reason


def test_subject_that_is_patient_with_a_slow_part_passes() -> None:
    assert replace(Case(), cell=make_cell(corner="slow:3")).verdict() is Verdict.PASS


@pytest.mark.parametrize("grade", ["datasheet", "recalled", "profile"])
def test_conviction_by_firm_figures_is_too_short(grade: str) -> None:
    assert with_evidence(make_evidence(grade=grade))(Case()).verdict() is Verdict.TOO_SHORT


def test_too_short_tells_of_the_firm_figure() -> None:
    firm = make_evidence(Witness.BUS, "profile")
    case = with_evidence(firm)(with_evidence(make_evidence(grade="assumed"))(Case()))
    timed = replace(
        case, evidence=(*case.evidence[:1], _timed(firm, asked=SECOND, shortest=1, longest=2 * MS))
    )
    assert timed.finding()[1].endswith(": 1.000000 s asked, 0.000000 to 0.002000 s seen")


def _timed(evidence: Evidence, *, asked: int, shortest: int, longest: int) -> Evidence:
    return Evidence(
        what=evidence.what,
        witness=evidence.witness,
        requested_ns=asked,
        actual_ns=(shortest, longest),
        margin_ns=longest - asked,
        grade=evidence.grade,
        where=evidence.where,
    )


@pytest.mark.parametrize(
    ("ended", "stdout", "reason"),
    [
        (
            {"exit_code": 1},
            "a\nError: no chip\n\n",
            "the subject failed with exit code 1: Error: no chip",
        ),
        ({"exit_code": 1}, "", "the subject failed with exit code 1: it printed nothing"),
        ({"exit_code": -1, "signal": 11}, "a\n", "the subject was ended by signal 11: a"),
    ],
)
def test_failed_subject_is_quoted(ended: dict[str, int], stdout: str, reason: str) -> None:
    case = with_fields("subject_end", **ended)(replace(Case(), stdout=stdout))
    assert case.finding() == (Verdict.OP_FAILED, reason)


def test_pass_without_a_profile_says_that_waits_are_unjudged() -> None:
    verdict, reason = replace(
        Case(), profile=None, unjudged=("bus (no profile for this version)",)
    ).finding()
    assert verdict is Verdict.PASS
    assert "no profile" in reason


def test_unjudged_class_that_need_not_be_judged_does_not_matter() -> None:
    profile = make_profile(SYNC_WAIT, ERASE_WAIT)
    assert replace(Case(), profile=profile, unjudged=("erase-poll",)).verdict() is Verdict.PASS


def test_bridged_cell_declares_no_class() -> None:
    cell = make_cell(programmer=Programmer.SERPROG_DEV)
    assert replace(Case(), cell=cell, unjudged=(SYNC,)).verdict() is Verdict.PASS


# A command after a busy time, in time.
KEPT = [spi("0x06", read=1, margin=5, grade="datasheet")]


def observed(kind: str, *, shortest: int, longest: int) -> ObservedWait:
    return ObservedWait(
        kind=kind,
        what=kind,
        requested_ns=100,
        shortest_ns=shortest,
        longest_ns=longest,
        opened_ns=0,
    )


def test_class_with_one_unjudged_wait_is_unjudged() -> None:
    waits = [
        observed(SYNC, shortest=100, longest=120),
        observed("erase-poll", shortest=100, longest=120),
        observed("erase-poll", shortest=99, longest=120),
    ]
    assert classify_waits(waits, PROFILE, KEPT) == (["chip-busy", SYNC], ["erase-poll"])


def test_command_at_the_very_end_of_a_busy_time_puts_it_to_the_test() -> None:
    events = [spi("0x06", read=1, empty=1, margin=0, grade="datasheet")]
    assert "chip-busy" in classify_waits([], PROFILE, events)[0]


@pytest.mark.parametrize(("margin", "judged"), [(4, False), (5, True)])
def test_command_that_may_have_come_before_the_part_was_ready_is_unjudged(
    margin: int, judged: bool
) -> None:
    events = [spi("0x06", read=100, empty=95, margin=margin, grade="datasheet")]
    assert ("chip-busy" in classify_waits([], PROFILE, events)[0]) is judged
    assert ("chip-busy" in classify_waits([], PROFILE, events)[1]) is not judged


@pytest.mark.parametrize(("clock", "judged"), [("tsc", True), ("monotonic", False)])
def test_latency_measured_before_bounds_later_ones_in_a_guest_alone(
    clock: str, judged: bool
) -> None:
    start = {"ev": "start", "t_ns": 0, "clock": clock, "wake_latency_ns_max": 3}
    events = [start, spi("0x06", read=100, empty=90, margin=4, grade="datasheet")]
    assert ("chip-busy" in classify_waits([], PROFILE, events)[0]) is judged


def test_class_that_must_be_judged_and_did_not_come_up_is_unjudged() -> None:
    assert classify_waits([], PROFILE, KEPT) == (["chip-busy"], [SYNC])


def test_convicted_wait_is_judged() -> None:
    waits = [observed(SYNC, shortest=0, longest=99)]
    assert classify_waits(waits, PROFILE, KEPT) == (["chip-busy", SYNC], [])


def test_without_a_profile_the_bus_judges_nothing() -> None:
    assert classify_waits([], None, KEPT) == (["chip-busy"], ["bus (no profile for this version)"])


def test_busy_times_that_no_command_put_to_the_test_are_unjudged() -> None:
    events = [spi("0x05", read=1, sr="0x03"), spi("0x05", read=2)]
    waits = [observed(SYNC, shortest=100, longest=120)]
    assert classify_waits(waits, PROFILE, events) == ([SYNC], ["chip-busy"])


@pytest.mark.parametrize(
    ("margins", "visible"),
    [([], 21), ([None], 21), ([20], 21), ([19], 20), ([0, 50], 1), ([-5], 1)],
)
def test_smallest_visible_shortening_is_the_least_of_judged_waits_and_margins(
    margins: list[int | None], visible: int
) -> None:
    waits = [
        observed(SYNC, shortest=100, longest=120),
        observed("erase-poll", shortest=99, longest=101),
    ]
    events = [spi("0x06", read=1, margin=margin) for margin in margins]
    assert smallest_visible_short_ns(waits, [SYNC], events) == visible


def test_without_judged_waits_no_shortening_is_visible() -> None:
    waits = [observed("erase-poll", shortest=99, longest=101)]
    assert smallest_visible_short_ns(waits, [], [spi("0x05", read=1)]) is None


def test_version_is_what_the_subject_prints_else_its_package_else_its_digest() -> None:
    known = "73d8e8076561977615d8c46c9feaf425d3cc8c333a5820c5228d0c973ad3b400"
    packaged = make_subject(package_version="1.2.1", program_sha256=known)
    assert subject_version("flashrom v1.4.0 on Linux", packaged) == "1.4.0"
    assert subject_version("flashrom unknown on Linux 6.1", packaged) == "1.2.1"
    bare = make_subject(program_sha256=known)
    assert subject_version("flashrom unknown on Linux 6.1", bare) == "1.3.0"
    assert subject_version("flashrom unknown on Linux 6.1", make_subject()) == ""


# From here on whole folders are judged, with the profile of flashrom 1.x that comes with the rig.

POLL_NS = 11 * MS


def bus_of_write(*, sync_ns: int = SECOND, poll_ns: int = POLL_NS) -> list[Event]:
    """A synchronisation, an erase of 17 ms with three polls, a program, and reading back."""
    at = START_NS + 100 * MS
    begun = at + sync_ns + 20 * MS
    erased = begun + 17 * MS
    second = begun + 100 + poll_ns + 50
    third = second + 10 + poll_ns + 50
    programmed = erased + 40 * MS
    return [
        serprog(NOP, empty=at, read=at + 200_000),
        serprog(SYNCNOP, empty=at + sync_ns + 200_000, read=at + sync_ns + 250_000),
        spi("0x9f", read=begun - 10 * MS),
        spi("0x06", read=begun - MS),
        spi("0x20", read=begun, sr="0x03"),
        busy("0x20", start=begun, until=erased),
        spi("0x05", read=begun + 50, reply=begun + 100, sr="0x03"),
        spi("0x05", empty=second - 50, read=second, sr="0x03"),
        spi("0x05", empty=third - 50, read=third, sr="0x00"),
        spi("0x06", read=programmed - MS, margin=39 * MS, grade="datasheet"),
        spi("0x02", read=programmed, sr="0x03"),
        busy("0x02", start=programmed, until=programmed + MS, kind="program"),
        spi("0x05", read=programmed + 2 * MS, sr="0x00"),
        spi("0x03", read=programmed + 3 * MS, margin=MS, grade="datasheet"),
    ]


REGION = workload.region_of(make_cell(), make_chip())


def left_by(
    folder: Path,
    *bus: Event,
    events: list[Event] | None = None,
    cell: Cell | None = None,
    stdout: str = "flashrom 1.4.0 on Linux 6.1\nVERIFIED.\n",
    image: bytes | None = None,
    read_back: bytes | None = None,
) -> CellResult:
    """The result of a folder with those events, or with that on the bus of a sound cell."""
    cell = cell or make_cell()
    left = sound_events(*bus) if events is None else events
    (folder / "events.jsonl").write_bytes(as_lines(left))
    (folder / "stdout.txt").write_text(stdout, encoding="utf-8")
    whole = sparse_image(workload.final_content(cell, REGION))
    (folder / "image.sparse").write_bytes(whole if image is None else image)
    if read_back is not None:
        (folder / "read.bin").write_bytes(read_back)
    return judge_cell(
        cell, make_chip(), folder, subject=make_subject(), host_s=1.5, rerun="rig/rig run"
    )


def test_folder_of_a_sound_write_passes_with_its_figures(tmp_path: Path) -> None:
    result = left_by(tmp_path, *bus_of_write())
    assert (result.verdict, result.evidence) == (Verdict.PASS, [])
    assert result.judged == ["chip-busy", "erase-poll", "serprog-sync"]
    assert result.unjudged == []
    assert (result.subject.version, result.subject.threshold_us) == ("1.4.0", 100_000)
    assert (result.guest.kernel, result.guest.clocksource) == ("6.1.0", "tsc")
    assert (result.guest.mips, result.guest.cores) == ([250.0], 1)
    assert (result.cpu_ns.user, result.cpu_ns.sys) == (30 * MS, 7 * MS)
    assert result.context_switches == 42
    assert (result.region_bytes, result.transfers) == (65536, len(bus_of_write()) - 4)
    assert (result.chip_busy_ns, result.wire_ns) == (18 * MS, 0)
    assert result.overshoot_ns == 5 * MS + 210 + MS
    assert result.time_ns.total == END_NS - START_NS
    # The sync gap is at most 250 us longer than asked, polls at most 1 ms and 50 ns.
    assert result.smallest_visible_short_ns == 250_000 + 1
    assert result.events_sha256 == digest.of_file(tmp_path / "events.jsonl")
    assert (result.host_s, result.rerun) == (1.5, "rig/rig run")


def test_folder_judged_twice_gives_the_same_result(tmp_path: Path) -> None:
    bus = bus_of_write(sync_ns=SECOND // 2)
    assert left_by(tmp_path, *bus) == left_by(tmp_path, *bus)


def test_folder_with_a_cut_synchronisation_is_too_short(tmp_path: Path) -> None:
    result = left_by(tmp_path, *bus_of_write(sync_ns=300 * MS))
    assert result.verdict is Verdict.TOO_SHORT
    (evidence,) = result.evidence
    assert (evidence.witness, evidence.requested_ns) == (Witness.BUS, SECOND)
    assert evidence.actual_ns == (300 * MS, 300 * MS + 250_000)


def test_folder_with_a_cut_poll_is_too_short(tmp_path: Path) -> None:
    result = left_by(tmp_path, *bus_of_write(poll_ns=9 * MS))
    assert result.verdict is Verdict.TOO_SHORT
    assert [item.requested_ns for item in result.evidence] == [10 * MS]


def test_folder_of_an_unknown_version_convicts_no_wait(tmp_path: Path) -> None:
    result = left_by(
        tmp_path, *bus_of_write(sync_ns=1, poll_ns=1), stdout="flashrom 7.0 on Linux\n"
    )
    assert (result.verdict, result.evidence) == (Verdict.PASS, [])
    assert result.judged == ["chip-busy"]
    assert result.unjudged == ["bus (no profile for this version)"]
    assert result.smallest_visible_short_ns == MS + 1


def test_folder_with_an_early_command_is_too_short_without_any_profile(tmp_path: Path) -> None:
    event = early("0x02", read=START_NS + 5, margin=-7)
    result = left_by(tmp_path, event, stdout="flashrom 7.0 on Linux\n")
    assert result.verdict is Verdict.TOO_SHORT
    assert result.evidence[0].margin_ns == -7


def test_folder_without_the_owed_synchronisation_is_inconclusive(tmp_path: Path) -> None:
    result = left_by(tmp_path, *bus_of_write()[2:])
    assert (result.verdict, result.unjudged) == (Verdict.INCONCLUSIVE, ["serprog-sync"])


def test_wrong_byte_in_the_part_is_corrupt(tmp_path: Path) -> None:
    content = bytearray(workload.final_content(make_cell(), REGION))
    content[5 * 4096 + 17] ^= 1
    result = left_by(tmp_path, *bus_of_write(), image=sparse_image(bytes(content)))
    assert result.verdict is Verdict.CORRUPT
    assert result.evidence[0].where == hex(workload.REGION_OFFSET_BYTES + 5 * 4096)


def test_byte_outside_the_region_is_corrupt(tmp_path: Path) -> None:
    image = sparse_image(workload.final_content(make_cell(), REGION))
    image += sparse_image(b"\0" * 4096, offset=0x1000)
    result = left_by(tmp_path, *bus_of_write(), image=image)
    assert (result.verdict, result.evidence[0].where) == (Verdict.CORRUPT, "0x1000")


@pytest.mark.parametrize(
    "image",
    [b"\0" * 4103, sparse_image(b"\0" * 4096, offset=2 << 20), sparse_image(b"\0" * 4096) * 2],
)
def test_image_that_makes_no_sense_is_a_lost_guest(tmp_path: Path, image: bytes) -> None:
    with pytest.raises(LostGuestError):
        left_by(tmp_path, *bus_of_write(), image=image)


@pytest.mark.parametrize(("flip", "verdict"), [(0, Verdict.PASS), (1, Verdict.CORRUPT)])
def test_read_must_give_what_is_in_the_part(tmp_path: Path, flip: int, verdict: Verdict) -> None:
    cell = make_cell(job=Job.READ)
    content = bytearray(workload.initial_content(cell, REGION))
    content[-1] ^= flip
    result = left_by(tmp_path, *bus_of_write(), cell=cell, read_back=bytes(content))
    assert result.verdict is verdict


@pytest.mark.parametrize("broken", [b"{}\n", b"not JSON\n"])
def test_folder_with_nonsense_events_is_a_lost_guest(tmp_path: Path, broken: bytes) -> None:
    (tmp_path / "events.jsonl").write_bytes(broken)
    with pytest.raises(LostGuestError):
        judge_cell(make_cell(), make_chip(), tmp_path, subject=make_subject(), host_s=0, rerun="")


def test_empty_folder_is_a_lost_guest(tmp_path: Path) -> None:
    with pytest.raises(LostGuestError):
        judge_cell(make_cell(), make_chip(), tmp_path, subject=make_subject(), host_s=0, rerun="")


def test_wait_owed_by_a_profile_keeps_its_class_name() -> None:
    assert Wait(kind="x", what="", opens="", requested_us=2).requested_ns("any") == 2000


@pytest.mark.parametrize("read_back", [None, b""])
def test_read_that_reports_success_and_left_nothing_is_corrupt(
    tmp_path: Path, read_back: bytes | None
) -> None:
    cell = make_cell(job=Job.READ)
    result = left_by(tmp_path, *bus_of_write(), cell=cell, read_back=read_back)
    assert result.verdict is Verdict.CORRUPT


def test_event_without_a_key_that_it_owes_is_a_lost_guest(tmp_path: Path) -> None:
    nonsense = {"ev": "spi", "op": "0x05", "read_ns": 1}
    with pytest.raises(LostGuestError):
        left_by(tmp_path, nonsense)


def test_calibration_after_bytes_that_are_not_text_is_seen() -> None:
    output = b"\xff\xff\xff\xff\xff" + CALIBRATED.encode()
    case = with_fields("siblings_stopped", stdout_bytes=len(output))(siblings_case())
    seen = Seen(events=case.events, output=output, image=None, read_back=None)
    assert BusySiblings("").fault(case.cell, seen) == ""


def test_command_earlier_by_less_than_the_error_of_the_clock_is_inconclusive(
    tmp_path: Path,
) -> None:
    bus = early("0x02", read=START_NS + 5, margin=-7)
    result = left_by(tmp_path, events=changed(sound_events(bus), "start", clock_step_ns=8))
    assert result.verdict is Verdict.INCONCLUSIVE
    assert result.reason.startswith("less than the error of the clock: ")


def test_scripted_clock_is_a_fault_of_the_rig(tmp_path: Path) -> None:
    result = left_by(tmp_path, events=changed(sound_events(), "start", clock="scripted"))
    assert result.verdict is Verdict.INFRA_ERROR
    assert "scripted" in result.reason


def test_failure_after_faults_on_request_names_them(tmp_path: Path) -> None:
    faults = [
        {"ev": "fault", "t_ns": START_NS + at, "kind": kind, "at": "request", "nth": at}
        for at, kind in ((3, "nak"), (4, "drop"), (5, "nak"))
    ]
    failed = changed(sound_events(*faults), "subject_end", exit_code=1)
    result = left_by(tmp_path, events=failed)
    assert result.verdict is Verdict.OP_FAILED
    assert result.reason.endswith("(after 3 faults on request: drop, nak)")
