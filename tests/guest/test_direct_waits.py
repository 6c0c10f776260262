# SPDX-License-Identifier: GPL-2.0-or-later
"""The record of sleeps that QEMU writes of a subject without a delay function."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from delayrig.base.paths import Paths
from delayrig.judge.delay_waits import INTERRUPTED
from delayrig.model.delays import DelayCall, Delays, End
from delayrig.model.platform import Arch
from delayrig.model.result import Verdict, read_results
from delayrig.subjects.elf import LIBRARY_PATH
from delayrig.subjects.own_programs import library_folders

from tests.rig.delay_programs import READ, compiler, compiles

from .conftest import FinishedRun, run_plan
from .plans import cell, plan, write_plan

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
    """Builds the program without symbols and runs it in a cell."""
    arch: Arch = request.param
    folder = tmp_path_factory.mktemp("sleeps")
    program = folder / "sleeping"
    command, environment = compiler(arch)
    words = [*command, "-O2", "-s", "-o", str(program), str(SOURCE)]
    subprocess.run(words, check=True, env=environment)
    file = write_plan(folder, plan(cell("sleeps", f'{AT}, arch = "{arch}"')))
    # This machine may have no C library of that architecture; the compiler brings one.
    libraries = {LIBRARY_PATH: ":".join(library_folders(arch, paths))}
    return run_plan(
        paths,
        folder / "out",
        *("--plan", file, "--subject", f"path:{program}"),
        environment=os.environ | libraries,
    )


@pytest.fixture
def delays(ran: FinishedRun) -> Delays:
    return ran.delays


def calls_for(delays: Delays, ns: int) -> list[DelayCall]:
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
def test_each_sleep_is_recorded_with_its_times(delays: Delays, called: str, ns: int) -> None:
    (call,) = calls_for(delays, ns)
    assert delays.function_of(call).name.startswith(f"{called}() at ")
    assert (call.ended, call.result) == (End.SITE, 0)
    assert call.seen_ns is not None
    assert ns <= call.seen_ns < ns + 2 * MS


def test_absolute_sleep_has_a_deadline_and_no_requested_time(delays: Delays) -> None:
    (call,) = [call for call in delays.calls if call.until_ns is not None]
    assert (call.requested_ns, call.result) == (0, 0)


def test_sleep_that_is_a_tail_call_ends_where_it_returns_to(delays: Delays) -> None:
    calls = calls_for(delays, 2 * MS + 1)
    assert [(call.ended, call.result) for call in calls] == [(End.SITE, 0)] * 2


def test_resumed_sleep_requests_the_rest(delays: Delays) -> None:
    (first,) = calls_for(delays, 60 * MS + 1)
    after = delays.calls[delays.calls.index(first) + 1]
    assert (first.function, first.result, after.result) == (after.function, -1, 0)
    assert first.seen_ns is not None
    assert abs(first.requested_ns - first.seen_ns - after.requested_ns) < MS


def test_interrupted_sleep_alone_is_no_evidence(ran: FinishedRun, delays: Delays) -> None:
    (call,) = calls_for(delays, 70 * MS + 1)
    assert (call.ended, call.result) == (End.SITE, -1)
    (cell,) = ran.results.cells
    assert cell.verdict is Verdict.OP_FAILED
    assert cell.evidence == []
    assert INTERRUPTED in cell.unjudged


UNWATCHED = """\
from delayrig.run import cell_runner
from delayrig.main import main

cell_runner.find_watched = lambda subject, request: ()
main(prog_name="rig/rig", complete_var="_RIG_COMPLETE")
"""
SIGNALS_AT = 'job = "write", chip = "W25Q128JV", corner = "max", hazards = "signals:20"'
SIGNALS = plan(
    cell("signals", f"mips = 250, cores = CORES, {SIGNALS_AT}", 4),
    'subject = ["known-bad:direct-sleep-resumed", "known-bad:poll-as-a-sleep"]\n',
)


@pytest.mark.parametrize("cores", [1, 4])
def test_record_of_sleeps_does_not_change_the_guest(
    paths: Paths, tmp_path: Path, cores: int
) -> None:
    plan = write_plan(tmp_path, SIGNALS.replace("CORES", str(cores)))
    watched = run_plan(paths, tmp_path / "watched", "--plan", plan).results.cells
    words = ["run", "--plan", plan, "--out", str(tmp_path / "unwatched")]
    environment = {**os.environ, "PYTHONPATH": str(paths.checkout / "rig")}
    python = [sys.executable, "-c", UNWATCHED, *words]
    done = subprocess.run(python, check=False, capture_output=True, env=environment, text=True)
    assert (tmp_path / "unwatched" / "results.json").exists(), (done.returncode, done.stderr)
    unwatched = read_results(tmp_path / "unwatched").cells
    assert [cell.delays is None for cell in (*watched, *unwatched)] == [False] * 2 + [True] * 2
    assert [cell.events_sha256 for cell in watched] == [c.events_sha256 for c in unwatched]
