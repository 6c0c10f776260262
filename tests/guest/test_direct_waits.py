# SPDX-License-Identifier: GPL-2.0-or-later
"""Every sleep of a subject that has no delay function, as QEMU saw it in a real guest."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from delayrig.base.paths import Paths
from delayrig.decision.decision import Outcome
from delayrig.features.selfcheck.known_bad import FILE_NAME, KnownBad
from delayrig.model.delays import DelayCall, Delays, End, read_delays
from delayrig.model.platform import Arch
from delayrig.model.result import Verdict, read_results
from delayrig.subjects.elf import LIBRARY_PATH
from delayrig.subjects.own_programs import library_folders

from tests.rig.delay_programs import READ, compiler, compiles

from .conftest import FinishedRun, launch, run_plan
from .plans import cell, plan

SOURCE = Path(__file__).with_name("sleeping.c")
AT = 'mips = 250, cores = 1, job = "probe", chip = "GD25Q16C"'
MS = 1_000_000
ARCHES = [
    pytest.param(arch, marks=pytest.mark.skipif(not compiles(arch), reason="no compiler"))
    for arch in READ
]


@pytest.fixture(scope="module", params=ARCHES)
def ran(
    paths: Paths, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> FinishedRun:
    """Builds the program without symbols and runs it in a cell of its own."""
    arch: Arch = request.param
    folder = tmp_path_factory.mktemp("sleeps")
    program, file = folder / "sleeping", folder / "plan.toml"
    command, environment = compiler(arch)
    words = [*command, "-O2", "-s", "-o", str(program), str(SOURCE)]
    subprocess.run(words, check=True, env=environment)
    file.write_text(plan(cell("sleeps", f'{AT}, arch = "{arch}"')), encoding="ascii")
    # This machine may have no C library of that architecture; the compiler brings one.
    libraries = {LIBRARY_PATH: ":".join(library_folders(arch, paths))}
    return run_plan(
        paths,
        folder / "out",
        *("--plan", str(file), "--subject", f"path:{program}"),
        environment=os.environ | libraries,
    )


@pytest.fixture
def delays(ran: FinishedRun) -> Delays:
    (cell,) = ran.results.cells
    found = read_delays(ran.out / cell.id)
    assert found is not None, ran.output
    return found


def asked(delays: Delays, ns: int) -> list[DelayCall]:
    """Returns the calls that request that time."""
    return [call for call in delays.calls if call.requested_ns == ns]


@pytest.mark.parametrize(
    ("called", "ns"),
    [
        ("nanosleep", 3 * MS + 1),
        ("clock_nanosleep", 4 * MS + 1),
        ("usleep", 5_001_000),
        ("poll", 6 * MS),
        ("select", 7_001_000),
        ("ppoll", 8 * MS + 1),
        ("sleep", 1000 * MS),
    ],
)
def test_each_sleep_is_seen_with_what_it_asks_for(delays: Delays, called: str, ns: int) -> None:
    (call,) = asked(delays, ns)
    assert delays.function_of(call).name.startswith(f"{called}() at ")
    assert (call.ended, call.result) == (End.SITE, 0)
    assert call.seen_ns is not None
    assert ns <= call.seen_ns < ns + 2 * MS


def test_sleep_until_a_moment_asks_for_no_length(delays: Delays) -> None:
    (call,) = [call for call in delays.calls if call.until_ns is not None]
    assert (call.requested_ns, call.result) == (0, 0)


def test_sleep_that_ends_its_function_returns_to_the_caller(delays: Delays) -> None:
    calls = asked(delays, 2 * MS + 1)
    assert [(call.ended, call.result) for call in calls] == [(End.SITE, 0)] * 2


def test_sleep_that_goes_on_asks_for_what_is_left(delays: Delays) -> None:
    (first,) = asked(delays, 60 * MS + 1)
    after = delays.calls[delays.calls.index(first) + 1]
    assert (first.function, first.result, after.result) == (after.function, -1, 0)
    assert first.seen_ns is not None
    assert abs(first.requested_ns - first.seen_ns - after.requested_ns) < MS


def test_sleep_that_a_signal_ended_convicts_nobody_that_asks_nothing(
    ran: FinishedRun, delays: Delays
) -> None:
    (call,) = asked(delays, 70 * MS + 1)
    assert (call.ended, call.result) == (End.SITE, -1)
    (cell,) = ran.results.cells
    assert cell.verdict is Verdict.OP_FAILED
    assert cell.evidence == []
    assert "delay (some sleeps ended early, and what followed was not seen)" in cell.unjudged


OF_A_DRIVER = {
    "direct-sleep-resumed": Outcome.PASS,
    "direct-sleep-then-clock": Outcome.PASS,
    "direct-sleep-interrupted": Outcome.UNSAFE,
    "direct-until-interrupted": Outcome.UNSAFE,
    "poll-as-a-sleep": Outcome.UNSAFE,
    "own-delay-interrupted": Outcome.UNSAFE,
}


def test_waits_of_a_driver_are_answered_by_whether_a_signal_ends_them(
    paths: Paths, tmp_path: Path
) -> None:
    out = tmp_path / "known-bad"
    only = [word for name in OF_A_DRIVER for word in ("--only", name)]
    done = launch(paths, "selfcheck", "known-bad", *only, "--out", str(out))
    answer = msgspec.json.decode((out / FILE_NAME).read_bytes(), type=KnownBad)
    assert {build.name: build.outcome for build in answer.builds} == OF_A_DRIVER, done.stdout


UNWATCHED = """\
from delayrig.run import cell_runner
from delayrig.main import main

cell_runner.find_watched = lambda subject, request: ()
main(prog_name="rig/rig", complete_var="_RIG_COMPLETE")
"""
SIGNALS = """\
schema = 1
about = "signals that end sleeps"
subjects = ["bundled"]

[[cell]]
name = "signals"
region_kib = 4
subject = ["known-bad:direct-sleep-resumed", "known-bad:poll-as-a-sleep"]
[cell.at]
mips = 250
cores = %d
job = "write"
chip = "W25Q128JV"
corner = "max"
hazards = "signals:20"
"""


@pytest.mark.parametrize("cores", [1, 4])
def test_guest_does_not_notice_whether_its_sleeps_are_watched(
    paths: Paths, tmp_path: Path, cores: int
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(SIGNALS % cores, encoding="ascii")
    watched = run_plan(paths, tmp_path / "watched", "--plan", str(plan)).results.cells
    words = ["run", "--plan", str(plan), "--out", str(tmp_path / "unwatched")]
    environment = {**os.environ, "PYTHONPATH": str(paths.checkout / "rig")}
    python = [sys.executable, "-c", UNWATCHED, *words]
    done = subprocess.run(python, check=False, capture_output=True, env=environment, text=True)
    assert (tmp_path / "unwatched" / "results.json").exists(), (done.returncode, done.stderr)
    unwatched = read_results(tmp_path / "unwatched").cells
    assert [cell.delays is None for cell in (*watched, *unwatched)] == [False] * 2 + [True] * 2
    assert [cell.events_sha256 for cell in watched] == [c.events_sha256 for c in unwatched]
