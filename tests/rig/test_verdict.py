# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts, and the order in which they are checked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest
from delayrig.hazards.artifacts import Artifacts
from delayrig.hazards.busy_siblings import BusySiblings
from delayrig.judge.bus import MONOTONIC
from delayrig.judge.judge import Observed, describe, find_verdict, subject_version
from delayrig.judge.trust import rig_fault, trust_of
from delayrig.judge.waits import NOTHING_JUDGED, JudgedWaits, classify_waits
from delayrig.model.cell import Cell, Programmer
from delayrig.model.events import Event
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.kinds.agent import (
    AgentError,
    ClockRate,
    EmulatorEnd,
    Guest,
    KernelMessage,
    SubjectEnd,
    SubjectStart,
)
from delayrig.model.kinds.emulator import Accept, Cycle, End, GaveUp, Start
from delayrig.model.kinds.hazard import SiblingsRunning, SiblingsStopped
from delayrig.model.kinds.kind import Kind, name_of
from delayrig.model.kinds.pace import Pace
from delayrig.model.lane import LaneName
from delayrig.model.programmers import BUILT_WITHOUT
from delayrig.model.result import Verdict

from tests.rig.builders import (
    MS,
    SECOND,
    SYNC_WAIT,
    make_cell,
    make_evidence,
    make_profile,
    make_subject,
)
from tests.rig.event_builders import (
    DELAY,
    END_NS,
    START_NS,
    changed,
    cycle,
    made,
    serprog,
    sound_events,
    spi,
    without,
)

SYNC = "serprog-sync"
PROFILE = make_profile(SYNC_WAIT)
CALIBRATED = "Calibrating delay loop... OK.\n"


@dataclass(frozen=True, kw_only=True)
class Case:
    """The arguments of `find_verdict()`; by default the verdict is a pass."""

    cell: Cell = field(default_factory=make_cell)
    events: list[Event] = field(default_factory=sound_events)
    stdout: str = "flashrom 1.4.0 on Linux\nVERIFIED.\n"
    image: bytes | None = b""
    evidence: tuple[Evidence, ...] = ()
    judged: tuple[str, ...] = (SYNC,)
    unjudged: tuple[str, ...] = ()
    gap: str = ""

    @property
    def artifacts(self) -> Artifacts:
        return Artifacts(
            events=self.events, output=self.stdout.encode(), image=self.image, read_back=None
        )

    def verdict(self) -> Verdict:
        return self.finding()[0]

    def finding(self) -> tuple[Verdict, str]:
        waits = JudgedWaits(judged=list(self.judged), unjudged=list(self.unjudged), gap=self.gap)
        trust = trust_of(self.cell, self.artifacts)
        observed = Observed(trust=trust, evidence=list(self.evidence), waits=waits)
        found = find_verdict(self.cell, self.artifacts, observed)
        return found.verdict, found.reason


Step = Callable[[Case], Case]


def with_event(event: Event) -> Step:
    return lambda case: replace(case, events=[*case.events, event])


def with_fields(kind: type[Kind], **fields: Any) -> Step:
    return lambda case: replace(case, events=changed(case.events, kind, **fields))


def with_evidence(*evidence: Evidence) -> Step:
    return lambda case: replace(case, evidence=(*case.evidence, *evidence))


def failing(code: int = 1, **changes: Any) -> Case:
    """Returns a case, with the changes, whose subject ended with that exit code."""
    return with_fields(SubjectEnd, exit_code=code)(Case(**changes))


EARLY = make_evidence()
# Problems and their verdicts, in the order in which `find_verdict()` checks them.
CHECKS: list[tuple[Verdict, Step]] = [
    (Verdict.INFRA_ERROR, with_fields(EmulatorEnd, exit_code=99)),
    (Verdict.TOO_SHORT, with_evidence(EARLY)),
    (Verdict.HUNG, with_fields(SubjectEnd, timed_out=True)),
    (Verdict.OP_FAILED, with_fields(SubjectEnd, exit_code=3)),
    (Verdict.CORRUPT, with_evidence(make_evidence(Witness.IMAGE, "exact"))),
    (Verdict.INCONCLUSIVE, with_evidence(make_evidence(grade="assumed"))),
    (Verdict.INCONCLUSIVE, with_event(spi("0x02", read=START_NS, violation="wel"))),
    (Verdict.INCONCLUSIVE, lambda case: replace(case, gap=NOTHING_JUDGED)),
]


def test_sound_cell_passes_and_its_reason_names_only_judged_waits() -> None:
    verdict, reason = Case().finding()
    assert verdict is Verdict.PASS
    assert SYNC in reason
    verdict, reason = Case(judged=(), unjudged=("erase-poll",)).finding()
    assert verdict is Verdict.PASS
    assert "it asked for no wait" in reason


UNKNOWN = ["Error: Unknown chip 'M25P80' specified.", 'Unknown programmer "nicintel" (-p). Known:']


@pytest.mark.parametrize("message", UNKNOWN)
def test_subject_that_rejects_a_name_in_its_file_is_skipped(message: str) -> None:
    stdout = f"flashrom 1.4.0 on Linux\n{message}\nRun flashrom -L\n"
    assert failing(stdout=stdout).finding() == (Verdict.SKIPPED, f"the subject says: {message}")
    assert Case(stdout=stdout).verdict() is Verdict.PASS


def test_subject_that_was_built_without_the_driver_is_skipped() -> None:
    behind = make_cell(programmer=Programmer.NICINTEL)
    verdict, reason = failing(cell=behind, stdout=UNKNOWN[1]).finding()
    assert verdict is Verdict.SKIPPED
    assert reason.startswith(f"{BUILT_WITHOUT}nicintel")


@pytest.mark.parametrize("step", [with_event(spi("0x9f", read=START_NS)), with_evidence(EARLY)])
def test_subject_that_reached_the_part_is_not_skipped_whatever_it_says(step: Step) -> None:
    refused = failing(stdout=UNKNOWN[0])
    assert step(refused).verdict() in (Verdict.OP_FAILED, Verdict.TOO_SHORT)


def test_part_inside_a_subject_that_recorded_nothing_is_skipped() -> None:
    inside = make_cell(programmer=Programmer.DUMMY)
    assert Case(cell=inside).verdict() is Verdict.SKIPPED
    seen = with_event(spi("0x9f", read=START_NS))(Case(cell=inside))
    assert seen.verdict() is Verdict.PASS


@pytest.mark.parametrize("job", ["probe", "detect", "verify"])
def test_subject_that_sent_nothing_to_the_part_does_not_pass(job: str) -> None:
    idle = Case(cell=make_cell(job=job))
    assert idle.finding() == (
        Verdict.INCONCLUSIVE,
        f"the subject ended well, and sent nothing to the part: this was no {job}",
    )
    asked = spi("0x9f", read=END_NS - MS)
    assert Case(cell=make_cell(job=job), events=sound_events(asked)).verdict() is Verdict.PASS


@pytest.mark.parametrize(
    ("job", "verdict"), [("probe", Verdict.PASS), ("verify", Verdict.INCONCLUSIVE)]
)
def test_programmer_that_knows_the_part_probes_without_traffic(job: str, verdict: Verdict) -> None:
    cell = make_cell(job=job, programmer=Programmer.INTERNAL_HWSEQ)
    assert Case(cell=cell).verdict() is verdict


def test_pass_with_waits_left_to_the_programmer_says_so_and_convicts_early_commands() -> None:
    late = spi("0x02", read=END_NS - MS, margin=5)
    delay = serprog(DELAY, empty=END_NS - 3 * MS, read=END_NS - 2 * MS)
    own = sound_events(late)
    left = sound_events(delay, late)
    assert classify_waits([], None, own)[0] == ["chip-busy"]
    judged, unjudged = classify_waits([], PROFILE, left)
    assert (judged, unjudged) == ([], ["chip-busy", "own delays (left to the programmer)", SYNC])
    verdict, reason = Case(unjudged=(unjudged[1],)).finding()
    assert verdict is Verdict.PASS
    assert reason.endswith("left its waits to the programmer, so its own delays were hardly tried")
    early = Case(events=sound_events(delay), evidence=(EARLY,))
    assert early.verdict() is Verdict.TOO_SHORT


@pytest.mark.parametrize(("verdict", "step"), CHECKS)
def test_each_problem_alone_decides(verdict: Verdict, step: Step) -> None:
    assert step(Case()).verdict() is verdict


@pytest.mark.parametrize("first", range(len(CHECKS)))
def test_earlier_check_decides_before_every_later_one(first: int) -> None:
    case = Case()
    for _, step in reversed(CHECKS[first:]):
        case = step(case)
    assert case.verdict() is CHECKS[first][0]


def test_inconclusive_names_its_reason_in_the_same_order() -> None:
    doubts = [
        (CHECKS[5][1], "assumed figures alone"),
        (CHECKS[6][1], "broke the part's rules: wel"),
        (CHECKS[7][1], "--delay-symbol"),
    ]
    case = Case()
    for step, words in reversed(doubts):
        case = step(case)
        verdict, reason = case.finding()
        assert verdict is Verdict.INCONCLUSIVE
        assert words in reason


FAULTS: dict[str, Step] = {
    "agent": with_event(made(AgentError, t_ns=1, message="mount", detail="EIO")),
    "kernel": with_event(made(KernelMessage, t_ns=1, level=3, text="TSC unstable")),
    "clocksource": with_fields(Guest, clocksource="hpet"),
    "rate": with_fields(ClockRate, monotonic_ns=101 * MS),
    "emulator": with_fields(EmulatorEnd, exit_code=1),
    "no emulator end": lambda case: replace(case, events=without(case.events, EmulatorEnd)),
    "image": lambda case: replace(case, image=None),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_of_the_rig_beats_every_conviction(name: str) -> None:
    case = FAULTS[name](Case())
    for _, step in CHECKS[1:]:
        case = step(case)
    verdict, reason = case.finding()
    assert verdict is Verdict.INFRA_ERROR
    assert reason == rig_fault(case.cell, case.artifacts) != ""


@pytest.mark.parametrize("kind", [Guest, ClockRate, Start, SubjectStart, SubjectEnd, End])
def test_cell_without_a_required_event_is_infra_error(kind: type[Kind]) -> None:
    case = Case(events=without(sound_events(), kind))
    assert case.finding() == (Verdict.INFRA_ERROR, f"the events hold no {name_of(kind)!r}")


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
    # 100 ppm of the larger bound are allowed on either side: 100,100 ns, rounded down.
    step = with_fields(
        ClockRate, raw_ns_min=1_000_000_100, raw_ns_max=1_001_000_010, monotonic_ns=monotonic
    )
    assert (step(Case()).verdict() is Verdict.PASS) is sound


def live_case(guest_ns: int) -> Case:
    """Returns a live cell whose guest's clock advances by `guest_ns` in a second of real time."""
    pace = made(Pace, t_ns=1, windows=9, windows_not_kept=0, not_kept=[])
    case = with_event(pace)(Case(cell=make_cell(lane=LaneName.LIVE)))
    bounds = {"raw_ns_min": SECOND - MS, "raw_ns_max": SECOND + MS}
    case = with_fields(Start, clock=MONOTONIC)(case)
    return with_fields(ClockRate, **bounds, monotonic_ns=guest_ns)(case)


@pytest.mark.parametrize("guest_ns", [11 * SECOND, SECOND // 2, SECOND + 12 * MS, SECOND - 12 * MS])
def test_live_guest_whose_clock_went_wrong_is_inconclusive(guest_ns: int) -> None:
    case = live_case(guest_ns)
    for _, step in CHECKS[1:]:  # The first is a fault of the rig.
        case = step(case)
    verdict, reason = case.finding()
    assert verdict is Verdict.INCONCLUSIVE
    assert reason.startswith("this machine could not keep up: the guest's clock went")


@pytest.mark.parametrize("guest_ns", [SECOND, SECOND + 10 * MS, SECOND - 10 * MS])
def test_live_guest_whose_clock_is_within_its_error_is_judged(guest_ns: int) -> None:
    assert live_case(guest_ns).verdict() is Verdict.PASS


def siblings_case(**changes: Any) -> Case:
    """Returns a cell of four cores in which flashrom calibrated its loop while siblings ran."""
    cell = make_cell(hazards=("busy-siblings",), cores=4)
    events = changed(
        sound_events(siblings=3), SiblingsStopped, stdout_bytes=len(CALIBRATED.encode())
    )
    return replace(Case(cell=cell, events=events, stdout=CALIBRATED + "done\n"), **changes)


LOOPED = "Calibrating delay loop... delay loop is unreliable,\ntrying to continue OK.\n"


@pytest.mark.parametrize(
    ("changes", "kind", "fields"),
    [
        ({}, SiblingsRunning, {}),
        ({}, SiblingsRunning, {"t_ns": START_NS}),
        ({"stdout": LOOPED}, SiblingsStopped, {"stdout_bytes": len(LOOPED)}),
        ({"stdout": "flashrom 1.4.0\n"}, SiblingsStopped, {"stdout_bytes": 0}),
    ],
    ids=["usual", "running as the subject starts", "other messages", "no calibration"],
)
def test_siblings_around_a_calibration_if_there_is_one_are_sound(
    changes: dict[str, str], kind: type[Kind], fields: dict[str, int]
) -> None:
    case = with_fields(kind, **fields)(siblings_case(**changes))
    assert case.verdict() is Verdict.PASS


@pytest.mark.parametrize(
    "step",
    [
        with_fields(SiblingsRunning, count=2),
        with_fields(SiblingsRunning, count=4),
        lambda case: replace(case, events=without(case.events, SiblingsRunning)),
        with_fields(SiblingsRunning, t_ns=START_NS + 1),
        lambda case: replace(case, events=without(case.events, SiblingsStopped)),
        with_fields(SiblingsStopped, stdout_bytes=len(CALIBRATED.encode()) - len("OK.\n")),
        with_fields(SiblingsStopped, stdout_bytes=0),
    ],
)
def test_siblings_that_did_not_run_as_they_should_are_infra_error(step: Step) -> None:
    case = step(with_evidence(EARLY)(siblings_case()))
    verdict, reason = case.finding()
    assert verdict is Verdict.INFRA_ERROR
    assert "siblings" in reason


def test_siblings_need_not_stop_if_the_subject_never_connected() -> None:
    events = without(without(siblings_case().events, SiblingsStopped), Accept)
    case = with_fields(SubjectEnd, exit_code=1)(siblings_case(events=events))
    assert case.verdict() is Verdict.OP_FAILED


@pytest.mark.parametrize("grade", ["datasheet", "secondary", "profile"])
def test_conviction_by_a_firm_figure_is_too_short_also_beside_assumed_ones(grade: str) -> None:
    firm = make_evidence(grade=grade)
    assumed = make_evidence(grade="assumed")
    assert with_evidence(firm)(Case()).verdict() is Verdict.TOO_SHORT
    assert with_evidence(assumed, firm)(Case()).verdict() is Verdict.TOO_SHORT


@pytest.mark.parametrize("evidence", [EARLY, make_evidence(grade="assumed")])
def test_early_command_to_a_part_slower_than_its_datasheet_is_op_failed(evidence: Evidence) -> None:
    patient = Case(cell=make_cell(corner="slow:3"))
    assert patient.verdict() is Verdict.PASS
    verdict, reason = with_evidence(evidence)(patient).finding()
    assert verdict is Verdict.OP_FAILED
    assert "slower than its datasheet allows: PP came too early" in reason


def timed(asked: int, shortest: int, longest: int, witness: Witness, grade: str) -> Evidence:
    return msgspec.structs.replace(
        make_evidence(witness, grade),
        requested_ns=asked,
        actual_ns=(shortest, longest),
        margin_ns=longest - asked,
    )


def test_reason_of_too_short_has_the_firm_figure_in_its_unit() -> None:
    firm = timed(SECOND, 1, 2 * MS, Witness.BUS, "profile")
    case = with_evidence(make_evidence(grade="assumed"), firm)(Case())
    assert case.finding()[1].endswith(
        ": 1.000000 s asked, 0.000000 s to 0.002000 s seen, at least 0.998000 s too little"
    )
    assert describe(timed(10_000, 9_996, 9_996, Witness.DELAY, "measured")).endswith(
        ": 10.000 us asked, 9.996 us seen, at least 0.004 us too little"
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
        (
            {"exit_code": 2},
            "Write Failed!\nYour chip is in an unknown state.\nPlease tell the list, thanks!\n",
            "the subject failed with exit code 2: Write Failed!",
        ),
        ({"exit_code": 2}, "one\ntwo\n", "the subject failed with exit code 2: two"),
        ({"exit_code": -1, "signal": 11}, "a\n", "the subject was ended by signal 11: a"),
    ],
)
def test_failed_subject_is_quoted(ended: dict[str, int], stdout: str, reason: str) -> None:
    case = with_fields(SubjectEnd, **ended)(Case(stdout=stdout))
    assert case.finding() == (Verdict.OP_FAILED, reason)


@pytest.mark.parametrize(
    ("addresses", "verdict"),
    [(range(9), Verdict.INCONCLUSIVE), ([0] * 9, Verdict.OP_FAILED)],
    ids=["other addresses", "one address"],
)
def test_full_record_fails_only_a_subject_that_repeats_itself(
    addresses: Sequence[int], verdict: Verdict
) -> None:
    program = [cycle("PROGRAM", op="0xa0", read=END_NS)]
    asked = [event for at in addresses for event in changed(program, Cycle, addr=at)]
    full = made(GaveUp, t_ns=END_NS, bound="records", count=9)
    found, reason = failing(events=[*sound_events(), *asked, full]).finding()
    assert found is verdict
    assert ("choose a smaller region" in reason) == (verdict is Verdict.INCONCLUSIVE)


def test_version_is_what_the_subject_prints_else_its_package_else_its_digest() -> None:
    known = "73d8e8076561977615d8c46c9feaf425d3cc8c333a5820c5228d0c973ad3b400"
    packaged = make_subject(package_version="1.2.1", program_sha256=known)
    assert subject_version("flashrom v1.4.0 on Linux", packaged) == "1.4.0"
    assert subject_version("flashrom unknown on Linux 6.1", packaged) == "1.2.1"
    bare = make_subject(program_sha256=known)
    assert subject_version("flashrom unknown on Linux 6.1", bare) == "1.3.0"
    assert subject_version("flashrom unknown on Linux 6.1", make_subject()) == ""


def test_calibration_after_bytes_that_are_not_text_is_found() -> None:
    output = b"\xff\xff\xff\xff\xff" + CALIBRATED.encode()
    case = with_fields(SiblingsStopped, stdout_bytes=len(output))(siblings_case())
    artifacts = Artifacts(events=case.events, output=output, image=None, read_back=None)
    assert BusySiblings("").fault(case.cell, artifacts) == ""
