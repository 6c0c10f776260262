# SPDX-License-Identifier: GPL-2.0-or-later
"""A cell: its name, its guest, the report on one that ran again, and a user's commands."""

import os
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from delayrig.base.durations import in_full, in_unit_of
from delayrig.base.errors import ExitCode
from delayrig.base.shell import run_shell
from delayrig.decision.choice import Before
from delayrig.features.repro.run_again import (
    compare_reproduction,
    describe_cell,
    describe_evidence,
    describe_result,
)
from delayrig.hazards.busy_siblings import BusySiblings
from delayrig.hazards.low_res_timers import LowResTimers
from delayrig.hazards.of_cell import hazards_of
from delayrig.model.cell import Job, Programmer
from delayrig.model.corner import Corner
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.lane import LaneName
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, Verdict
from delayrig.model.shape import GuestShape, shift_for_mips

from tests.rig.builders import CHECKOUT, MS, SECOND, make_cell, make_chip, make_result
from tests.rig.processes import is_running


def test_id_says_all_that_tells_cells_of_a_plan_apart() -> None:
    plain = make_cell()
    assert plain.id == "group.bundled.250mips.1c.calm.GD25Q16C-typ.write"
    others = [
        make_cell(name="other"),
        make_cell(subject="debian:trixie"),
        make_cell(icount_shift=4),
        make_cell(cores=2),
        make_cell(hazards=("low-res-timers",)),
        make_cell(hazards=("busy-siblings",)),
        make_cell(hazards=("low-res-timers", "busy-siblings")),
        make_cell(chip="M25P80"),
        make_cell(corner=Corner.MAX),
        make_cell(corner=Corner.ZERO),
        make_cell(corner="draw:1"),
        make_cell(corner="draw:2"),
        make_cell(corner="slow:2"),
        make_cell(region_kib=1024),
        make_cell(job=Job.READ),
        make_cell(programmer=Programmer.SERPROG_DEV),
        make_cell(programmer=Programmer.DUMMY),
    ]
    assert len({plain.id, *(cell.id for cell in others)}) == 1 + len(others)


def test_programmer_is_in_the_id_only_where_it_is_not_the_usual_one() -> None:
    cell = make_cell(programmer=Programmer.SERPROG_DEV)
    assert cell.id == "group.bundled.250mips.1c.calm.GD25Q16C-typ.serprog-dev.write"


def test_corner_with_a_number_is_a_plain_word_of_the_id() -> None:
    assert make_cell(corner="draw:17").id == "group.bundled.250mips.1c.calm.GD25Q16C-draw-17.write"


def test_region_is_in_the_id_only_where_it_is_not_the_usual_one() -> None:
    assert make_cell(region_kib=64).id == make_cell().id
    cell = make_cell(region_kib=1024)
    assert cell.id == "group.bundled.250mips.1c.calm.GD25Q16C-typ.1024kib.write"


def test_paths_that_end_alike_have_ids_of_their_own() -> None:
    ids = [make_cell(subject=f"path:{path}").id for path in ("/a/flashrom", "/b/flashrom")]
    assert ids[0] != ids[1]
    for id_ in ids:
        assert id_.startswith("group.path-flashrom-")
        assert "/" not in id_


def test_path_with_odd_characters_gives_a_plain_id() -> None:
    id_ = make_cell(subject="path:/tmp/my flashrom[1]*,ü").id
    assert set(id_.split(".")[1]) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")


def test_hazards_are_what_is_not_plain() -> None:
    assert make_cell().hazards == ()
    cell = make_cell(hazards=("low-res-timers", "busy-siblings"))
    assert [type(hazard) for hazard in hazards_of(cell)] == [LowResTimers, BusySiblings]


@pytest.mark.parametrize("programmer", Programmer)
def test_only_a_tty_has_a_bridge(programmer: Programmer) -> None:
    bridged = make_cell(programmer=programmer).bridged
    assert bridged is (programmer is Programmer.SERPROG_DEV)


@pytest.mark.parametrize(
    ("shift", "mips", "nominal"),
    [(0, 1000, 1000), (2, 250, 250), (4, 62.5, 62), (5, 31.25, 31), (6, 15.625, 16), (10, 0, 1)],
)
def test_speed_is_halved_with_every_shift(shift: int, mips: float, nominal: int) -> None:
    shape = GuestShape(icount_shift=shift, cores=1)
    assert shape.mips == (mips or 1000 / 1024)
    assert shape.nominal_mips == nominal
    assert shift_for_mips(shape.mips) == shift_for_mips(nominal) == shift


@pytest.mark.parametrize("mips", [0, -1, 0.4, 3, 63, 249, 999, 2000])
def test_speed_that_no_shift_gives_is_none(mips: float) -> None:
    assert shift_for_mips(mips) is None


def test_shapes_that_differ_have_snapshots_of_their_own() -> None:
    shapes = [
        GuestShape(icount_shift=shift, cores=cores, kernel=kernel, kernel_words=words)
        for shift in range(11)
        for cores in (1, 2, 4)
        for kernel in ("", "rt")
        for words in ((), ("highres=off",), ("highres=off", "nohz=off"), ("x" * 60,), ("y" * 60,))
    ]
    assert len({shape.name for shape in shapes}) == len(shapes)
    assert shapes[0].name == "x86_64-1000mips-1c"


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


LIMIT_S = 60


def test_words_are_kept_and_told_apart() -> None:
    done = run_shell("echo said; echo complained >&2; exit 3")
    assert (done.stdout, done.stderr, done.returncode) == ("said\n", "complained\n", 3)


def test_words_that_are_shown_go_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    done = run_shell("echo said; echo complained >&2", shown=True)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
    assert capfd.readouterr() == ("", "said\ncomplained\n")


def test_command_that_reads_gets_nothing() -> None:
    assert run_shell("cat").stdout == ""


@pytest.mark.parametrize("number", ["INT", "TERM", "HUP"])
@pytest.mark.parametrize("shown", [False, True])
def test_interrupted_command_leaves_nothing_running(
    tmp_path: Path, number: str, shown: bool
) -> None:
    pid = tmp_path / "pid"
    script = (
        "import os; from delayrig.base.shell import run_shell;"
        f"run_shell('sleep 300 & echo $! > {pid}; kill -{number} {{}}; wait'"
        f".format(os.getpid()), shown={shown})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "rig")},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode != 0
    assert "KeyboardInterrupt" in done.stderr
    assert ends(int(pid.read_text()))


def ends(process: int) -> bool:
    """Returns True if the process ends within the limit; to end, it needs the CPU once more."""
    until_s = time.monotonic() + LIMIT_S
    while is_running(process) and time.monotonic() < until_s:
        time.sleep(0.02)
    return not is_running(process)


@pytest.mark.parametrize("more", [[], ["--bisect"]])
def test_gate_whose_build_is_interrupted_convicts_nobody_and_ends_a_bisection(
    tmp_path: Path, more: list[str]
) -> None:
    pid = tmp_path / "pid"
    build = f"sleep 300 & echo $! > {pid}; kill -INT $PPID; wait"
    words = ["gate", "--baseline", "bundled", "--candidate", "path:x", "--build", build, *more]
    done = subprocess.run(
        [sys.executable, "-m", "delayrig", *words],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT / "rig")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr
    assert ends(int(pid.read_text()))
