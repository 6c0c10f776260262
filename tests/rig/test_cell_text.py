# SPDX-License-Identifier: GPL-2.0-or-later
"""The report on a cell that was run again: it says if the same happened."""

import msgspec
import pytest
from delayrig.base.durations import in_full, in_unit_of
from delayrig.base.errors import ExitCode
from delayrig.decision.choice import Before
from delayrig.features.repro.run_again import (
    compare_reproduction,
    describe_cell,
    describe_evidence,
    describe_result,
)
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.lane import LaneName
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, Verdict

from tests.rig.builders import MS, SECOND, make_cell, make_chip, make_result

SHORT = Evidence(
    what="1 s synchronisation wait after the serprog NOPs was too short",
    witness=Witness.BUS,
    requested_ns=SECOND,
    actual_ns=(296 * MS, 298 * MS),
    margin_ns=-702 * MS,
    grade="profile",
    where=f"bus at {15 * SECOND} ns",
    count=3,
)


@pytest.mark.parametrize(
    ("ns", "words"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1000, "1.000 us"),
        (999_999, "999.999 us"),
        (10 * MS, "10.000 ms"),
        (SECOND, "1.000000 s"),
    ],
)
def test_duration_is_in_the_unit_of_its_size(ns: int, words: str) -> None:
    assert in_full(ns) == words


def test_duration_beside_another_has_the_unit_of_that_one() -> None:
    assert in_full(999_849_036, beside_ns=SECOND) == "0.999849 s"
    assert in_full(0, beside_ns=10 * MS) == "0.000 ms"


def test_evidence_says_what_was_asked_what_it_got_who_saw_it_and_where() -> None:
    text = "\n".join(describe_evidence(SHORT, 12 * SECOND))
    assert "(3 times, the worst is shown)" in text
    assert "asked for: 1.000000 s" in text
    assert "between 0.296000 s and 0.298000 s: at least 0.702000 s too little" in text
    assert "witness:   bus." in text
    assert "3.000000 s after the subject's start" in text
    assert f"find {15 * SECOND} in events.jsonl" in text
    assert " ns" not in text


def test_time_that_no_phase_has_is_named() -> None:
    times = TimeSplit(total=300 * MS, probe=100 * MS, write=150 * MS)
    lines = describe_result(make_result(make_cell(), time_ns=times), 0)
    assert any(
        "(probe 0.100000, write 0.150000, start-up and the rest 0.050000)" in x for x in lines
    )


def test_evidence_of_the_chip_says_by_how_much_a_command_came_too_early() -> None:
    early = msgspec.structs.replace(
        SHORT, witness=Witness.CHIP, requested_ns=None, actual_ns=None, margin_ns=-5 * MS
    )
    assert "  too early: by 5.000 ms" in describe_evidence(early)


def test_place_that_is_no_moment_on_the_bus_is_left_as_it_is() -> None:
    at_call = msgspec.structs.replace(SHORT, where="core/busy.c:154")
    assert describe_evidence(at_call, SECOND)[-1].endswith("core/busy.c:154")


def test_moment_of_a_call_is_told_from_the_start_of_the_subject() -> None:
    at_call = msgspec.structs.replace(SHORT, where=f"wait at {3 * SECOND} ns, thread 1: a.c:5")
    told = describe_evidence(at_call, SECOND)[-1]
    assert told.endswith("wait 2.000000 s after the subject's start, thread 1: a.c:5")


def test_cell_is_introduced_with_its_hazards_and_its_guest() -> None:
    text = "\n".join(describe_cell(make_cell(hazards=("low-res-timers",)), make_chip()))
    assert "hazard    low-res-timers: timers that fire at jiffies alone" in text
    assert "an x86_64 guest of 1 core at 250 MIPS, on the virtual lane" in text


def test_failure_is_told_with_its_reason_beside_the_evidence() -> None:
    result = result_of(verdict=Verdict.OP_FAILED, reason="exit code 3", evidence=[SHORT])
    assert "  exit code 3" in describe_result(result)


def result_of(**changes: object) -> CellResult:
    told = {"events_sha256": "a" * 64, "time_ns": TimeSplit(total=SECOND), **changes}
    return msgspec.structs.replace(make_result(make_cell(), verdict=Verdict.TOO_SHORT), **told)


IMAGES = {"kernel": "k", "subject bundled": "s"}


def before(**changes: object) -> Before:
    digests = {**IMAGES, "subject of another cell": "o"}
    return Before(result=result_of(**changes), seed=1, digests=digests, source="out/run")


def test_equal_results_are_equal_to_the_nanosecond() -> None:
    again = compare_reproduction(before(), result_of(), IMAGES)
    assert "The same thing happened again: too_short" in again.lines[0]
    assert "equal to the nanosecond" in again.lines[1]
    assert not again.is_rig_fault


def test_unequal_times_of_equal_images_are_a_fault_of_the_rig() -> None:
    now = result_of(events_sha256="b" * 64)
    again = compare_reproduction(before(), now, IMAGES)
    assert again.is_rig_fault
    assert again.exit_code(now) is ExitCode.RIG_FAULT


def test_unequal_times_of_unequal_images_name_what_differs_and_blame_nobody() -> None:
    now = result_of(events_sha256="b" * 64)
    again = compare_reproduction(before(), now, {**IMAGES, "kernel": "another"})
    assert "made with another kernel." in again.lines[1]
    assert not again.is_rig_fault


def test_other_verdict_is_said_with_the_one_before() -> None:
    again = compare_reproduction(before(), result_of(verdict=Verdict.PASS), IMAGES)
    assert again.lines[0] == ("Something else happened: pass; in the run before it was too_short.")


def test_lost_cell_has_no_times_to_compare() -> None:
    again = compare_reproduction(before(verdict=Verdict.INFRA_ERROR), result_of(), IMAGES)
    assert not again.is_rig_fault
    assert "was lost" in again.lines[1]


def test_times_of_a_real_clock_are_not_compared() -> None:
    now = result_of(lane=LaneName.HOST, events_sha256="b" * 64)
    again = compare_reproduction(before(lane=LaneName.HOST), now, IMAGES)
    assert "a real clock" in again.lines[1]
    assert not again.is_rig_fault


def test_cell_that_was_not_run_before_is_compared_with_nothing() -> None:
    now = result_of()
    again = compare_reproduction(None, now, IMAGES)
    assert "--from" in again.lines[0]
    assert again.exit_code(now) is ExitCode.UNSAFE


@pytest.mark.parametrize(
    ("ns", "words"),
    [(500_000_000, "0.5 s"), (1_230_000, "0.00123 s"), (5380, "5.38 us"), (0, "0 s")],
)
def test_rounded_duration_has_the_unit_of_another_that_is_not_a_thousand_times_longer(
    ns: int, words: str
) -> None:
    assert in_unit_of(1_000_000_000, ns) == words
