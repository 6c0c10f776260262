# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells: ids, guests, evidence and reproduction; and the shell commands that a user gives."""

import signal
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from delayrig.base import shell
from delayrig.base.durations import in_full, in_unit_of
from delayrig.base.errors import ExitCode
from delayrig.base.interruption import ENDING
from delayrig.base.shell import run_shell
from delayrig.decision.choice import Before
from delayrig.features.repro.run_again import (
    compare_reproduction,
    describe_cell,
    describe_evidence,
    describe_result,
)
from delayrig.hazards.busy_siblings import BusySiblings
from delayrig.hazards.kernel import LowResTimers
from delayrig.hazards.of_cell import hazards_of
from delayrig.model.cell import Job, Programmer
from delayrig.model.corner import Corner
from delayrig.model.evidence import Witness
from delayrig.model.lane import LaneName
from delayrig.model.phases import TimeSplit
from delayrig.model.result import CellResult, Verdict
from delayrig.model.shape import GuestShape, shift_for_mips

from tests.rig.builders import MS, SECOND, make_cell, make_chip, make_result, short_sync
from tests.rig.processes import is_running
from tests.rig.running import run_python, write_script


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "GD25Q16C-typ.write"),
        ({"programmer": Programmer.SERPROG_DEV}, "GD25Q16C-typ.serprog-dev.write"),
        ({"corner": "draw:17"}, "GD25Q16C-draw-17.write"),
        ({"region_kib": 64}, "GD25Q16C-typ.write"),
        ({"region_kib": 1024}, "GD25Q16C-typ.1024kib.write"),
    ],
)
def test_id_names_settings_that_are_not_the_default(changes: dict[str, Any], words: str) -> None:
    assert make_cell(**changes).id == f"group.bundled.250mips.1c.calm.{words}"


def test_cells_that_differ_have_different_ids() -> None:
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
    assert len({make_cell().id, *(cell.id for cell in others)}) == 1 + len(others)


def test_subjects_of_different_paths_have_different_plain_names() -> None:
    paths = ("/a/flashrom", "/b/flashrom", "/tmp/my flashrom[1]*,ü")
    names = [make_cell(subject=f"path:{path}").id.split(".")[1] for path in paths]
    assert len(set(names)) == 3
    assert names[0].startswith("path-flashrom-")
    assert set("".join(names)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-_")


def test_hazards_are_made_in_the_order_of_their_names() -> None:
    cell = make_cell(hazards=("low-res-timers", "busy-siblings"))
    assert [type(hazard) for hazard in hazards_of(cell)] == [LowResTimers, BusySiblings]


def test_bytes_are_forwarded_from_a_tty_and_from_the_live_lane() -> None:
    forwarding = [each for each in Programmer if make_cell(programmer=each).is_forwarded]
    assert forwarding == [Programmer.SERPROG_DEV]
    lanes = [lane for lane in LaneName if make_cell(lane=lane).is_forwarded]
    assert lanes == [LaneName.LIVE]


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
def test_other_speeds_have_no_shift(mips: float) -> None:
    assert shift_for_mips(mips) is None


def test_shapes_that_differ_have_different_names() -> None:
    shapes = [
        GuestShape(icount_shift=shift, cores=cores, kernel=kernel, kernel_words=words)
        for shift in range(11)
        for cores in (1, 2, 4)
        for kernel in ("", "rt")
        for words in ((), ("highres=off",), ("highres=off", "nohz=off"), ("x" * 60,), ("y" * 60,))
    ]
    assert len({shape.name for shape in shapes}) == len(shapes)
    assert shapes[0].name == "x86_64-1000mips-1c"


SHORT = msgspec.structs.replace(short_sync(296, 298), where=f"bus at {15 * SECOND} ns", count=3)


@pytest.mark.parametrize(
    ("ns", "beside_ns", "words"),
    [
        (0, 0, "0 ns"),
        (999, 0, "999 ns"),
        (1000, 0, "1.000 us"),
        (999_999, 0, "999.999 us"),
        (10 * MS, 0, "10.000 ms"),
        (SECOND, 0, "1.000000 s"),
        (999_849_036, SECOND, "0.999849 s"),
        (0, 10 * MS, "0.000 ms"),
    ],
)
def test_duration_has_the_unit_of_the_longer_of_two(ns: int, beside_ns: int, words: str) -> None:
    assert in_full(ns, beside_ns=beside_ns) == words


@pytest.mark.parametrize(
    ("ns", "words"),
    [(500_000_000, "0.5 s"), (1_230_000, "0.00123 s"), (5380, "5.38 us"), (0, "0 s")],
)
def test_rounded_duration_has_the_unit_of_another_unless_that_is_far_longer(
    ns: int, words: str
) -> None:
    assert in_unit_of(1_000_000_000, ns) == words


def test_evidence_states_request_duration_witness_and_place() -> None:
    text = "\n".join(describe_evidence(SHORT, 12 * SECOND))
    assert "(3 times, the worst is shown)" in text
    assert "asked for: 1.000000 s" in text
    assert "between 0.296000 s and 0.298000 s: at least 0.702000 s too little" in text
    assert "witness:   bus." in text
    assert "3.000000 s after the subject's start" in text
    assert f"find {15 * SECOND} in events.jsonl" in text
    assert " ns" not in text


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        (
            {"witness": Witness.CHIP, "requested_ns": None, "actual_ns": None, "margin_ns": -5},
            "  too early: by 5 ns",
        ),
        ({"where": "core/busy.c:154"}, "core/busy.c:154"),
        (
            {"where": f"wait at {3 * SECOND} ns, thread 1: a.c:5"},
            "wait 2.000000 s after the subject's start, thread 1: a.c:5",
        ),
    ],
)
def test_evidence_has_the_figures_and_the_place_of_its_witness(
    changes: dict[str, Any], end: str
) -> None:
    lines = describe_evidence(msgspec.structs.replace(SHORT, **changes), SECOND)
    assert any(line.endswith(end) for line in lines)


def test_cell_is_described_with_its_hazards_and_its_guest() -> None:
    text = "\n".join(describe_cell(make_cell(hazards=("low-res-timers",)), make_chip()))
    assert "hazard    low-res-timers: timers that fire at jiffies alone" in text
    assert "an x86_64 guest of 1 core at 250 MIPS, on the virtual lane" in text


def test_failure_is_described_with_its_reason_and_the_time_outside_all_phases() -> None:
    times = TimeSplit(total=300 * MS, probe=100 * MS, write=150 * MS)
    result = result_of(
        verdict=Verdict.OP_FAILED, reason="exit code 3", evidence=[SHORT], time_ns=times
    )
    lines = describe_result(result, 0)
    assert "  exit code 3" in lines
    phases = "(probe 0.100000, write 0.150000, start-up and the rest 0.050000)"
    assert any(phases in line for line in lines)


def result_of(**changes: object) -> CellResult:
    facts = {"events_sha256": "a" * 64, "time_ns": TimeSplit(total=SECOND), **changes}
    return msgspec.structs.replace(make_result(make_cell(), verdict=Verdict.TOO_SHORT), **facts)


IMAGES = {"kernel": "k", "subject bundled": "s"}


def before(**changes: object) -> Before:
    digests = {**IMAGES, "subject of another cell": "o"}
    return Before(result=result_of(**changes), digests=digests)


OTHER_EVENTS = {"events_sha256": "b" * 64}


@pytest.mark.parametrize(
    ("old", "new", "images", "reason", "is_fault"),
    [
        ({}, {}, {}, "equal to the nanosecond", False),
        ({}, OTHER_EVENTS, {}, "", True),
        ({}, OTHER_EVENTS, {"kernel": "another"}, "had another kernel.", False),
        ({"verdict": Verdict.INFRA_ERROR}, {}, {}, "was lost", False),
        (
            {"lane": LaneName.HOST},
            {"lane": LaneName.HOST, **OTHER_EVENTS},
            {},
            "a real clock",
            False,
        ),
    ],
)
def test_different_events_are_a_rig_fault_unless_something_else_differs(
    old: dict[str, Any], new: dict[str, Any], images: dict[str, str], reason: str, is_fault: bool
) -> None:
    now = result_of(**new)
    again = compare_reproduction(before(**old), now, {**IMAGES, **images})
    assert reason in again.lines[1]
    assert again.is_rig_fault is is_fault
    assert again.exit_code(now) is (ExitCode.RIG_FAULT if is_fault else ExitCode.UNSAFE)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [(Verdict.TOO_SHORT, ["same", "too_short"]), (Verdict.PASS, ["else", "pass", "too_short"])],
)
def test_verdict_is_compared_with_that_of_the_earlier_run(
    verdict: Verdict, words: list[str]
) -> None:
    again = compare_reproduction(before(), result_of(verdict=verdict), IMAGES)
    assert all(word in again.lines[0] for word in words)


def test_cell_without_an_earlier_run_is_not_compared() -> None:
    now = result_of()
    again = compare_reproduction(None, now, IMAGES)
    assert "--from" in again.lines[0]
    assert again.exit_code(now) is ExitCode.UNSAFE


LIMIT_S = 60


@pytest.mark.parametrize(
    ("shown", "captured", "printed"),
    [
        (False, ("out\n", "err\n", 3), ""),
        (True, ("", "", 3), "out\nerr\n"),
    ],
)
def test_output_of_a_command_is_captured_or_shown_on_standard_error(
    shown: bool, captured: tuple[str, str, int], printed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    done = run_shell("cat; echo out; echo err >&2; exit 3", shown=shown)
    assert (done.stdout, done.stderr, done.returncode) == captured
    assert capfd.readouterr() == ("", printed)


def test_command_finds_programs_of_the_rigs_environment_after_those_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_script(tmp_path / "user/both", "echo user")
    for name in ("both", "one"):
        write_script(tmp_path / "rig" / name, "echo rig")
    monkeypatch.setattr(shell, "OWN_PROGRAMS", tmp_path / "rig")
    monkeypatch.setenv("PATH", str(tmp_path / "user"))
    assert run_shell("both; one").stdout == "user\nrig\n"


def test_command_that_does_not_start_leaves_no_signal_blocked() -> None:
    with pytest.raises(ValueError, match="null byte"):
        run_shell("a\0b")
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()).isdisjoint(ENDING)


@pytest.mark.parametrize("number", ["INT", "TERM", "HUP"])
@pytest.mark.parametrize("shown", [False, True])
def test_interrupted_command_leaves_no_process(tmp_path: Path, number: str, shown: bool) -> None:
    pid = tmp_path / "pid"
    script = (
        "import os; from delayrig.base.shell import run_shell;"
        f"run_shell('sleep 300 & echo $! > {pid}; kill -{number} {{}}; wait'"
        f".format(os.getpid()), shown={shown})"
    )
    done = run_python("-c", script, timeout=LIMIT_S)
    assert done.returncode != 0
    assert "KeyboardInterrupt" in done.stderr
    assert has_ended(int(pid.read_text()))


def has_ended(process: int) -> bool:
    """Returns True if the process ends within the limit; after a signal it needs some CPU time."""
    until_s = time.monotonic() + LIMIT_S
    while is_running(process) and time.monotonic() < until_s:
        time.sleep(0.02)
    return not is_running(process)


@pytest.mark.parametrize("more", [[], ["--bisect"]])
def test_gate_whose_build_is_interrupted_exits_with_130(tmp_path: Path, more: list[str]) -> None:
    pid = tmp_path / "pid"
    build = f"sleep 300 & echo $! > {pid}; kill -INT $PPID; wait"
    words = ["gate", "--baseline", "bundled", "--candidate", "path:x", "--build", build, *more]
    done = run_python("-m", "delayrig", *words, cwd=tmp_path, timeout=LIMIT_S)
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr
    assert has_ended(int(pid.read_text()))
