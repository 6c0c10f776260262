# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs on a cluster's workers give the results of one machine, even if workers are killed."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from delayrig.base import digest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.features.survey.survey import FILE_NAME as SURVEY
from delayrig.model.result import Verdict, read_results
from distributed import Client

from tests.rig.builders import compare_folders
from tests.rig.processes import command_line_of, parent_of, stat_of
from tests.rig.serving import free_address, serving

from .conftest import FinishedRun, launch
from .test_interruption import qemu_of, scratch_in

KILLS = 3
LIMIT_S = 240
LOOK_AGAIN_S = 0.05
QEMU = "qemu-system-x86_64"
WORKER = b"multiprocessing.forkserver"
CELLS = ("--plan", "smoke", "--cell", "canary*", "--cell", "control*", "--no-history")


def command(paths: Paths, *words: str) -> list[str]:
    return [str(paths.checkout / "rig" / "rig"), *words]


def is_there(group: int) -> bool:
    """Returns True if a process of that group runs. A zombie does not count."""
    found = (stat_of(int(entry.name)) for entry in Path("/proc").glob("[0-9]*"))
    return any(stat[0] != "Z" and int(stat[2]) == group for stat in found if stat)


def worker_of(scratch: Path, known: set[int]) -> int:
    """Waits for a worker with a guest in that folder, other than the known ones; returns its id."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        for guest in qemu_of(scratch):
            parent = parent_of(guest)
            if parent not in known and WORKER in command_line_of(parent):
                return parent
        time.sleep(LOOK_AGAIN_S)
    raise AssertionError("no worker of the run was ever seen")


def same_as_on_one_machine(out: Path, smoke: FinishedRun) -> None:
    """Checks that the run has each cell of the smoke run once, with equal results."""
    ours = read_results(out).cells
    assert len({cell.id for cell in ours}) == len(ours)
    assert not compare_folders(out, smoke.out).differences
    theirs = {cell.id: cell.events_sha256 for cell in smoke.results.cells}
    assert all(theirs[cell.id] == cell.events_sha256 for cell in ours)


def test_smoke_on_two_workers_is_the_same_as_on_one_machine(
    paths: Paths, tmp_path: Path, smoke: FinishedRun
) -> None:
    out = tmp_path / "out"
    done = launch(paths, "run", "--plan", "smoke", "--cluster", "local:2", "--out", str(out))
    assert done.returncode == ExitCode.PASS, done.stderr
    comparison = compare_folders(out, smoke.out)
    assert comparison.exit_code is ExitCode.PASS, comparison
    header = read_results(out).run
    assert len(header.workers) == 2, header.workers


@pytest.mark.long("a run more; quick: the same way as a run's")
def test_survey_of_two_workers_is_that_of_one_machine(paths: Paths, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    words = ("survey", "bundled", "--plan", "smoke", "--out")
    assert launch(paths, *words, str(here)).returncode == ExitCode.PASS
    done = launch(paths, *words, str(there), "--cluster", "local:2")
    assert done.returncode == ExitCode.PASS, done.stderr
    assert len(read_results(there).run.workers) == 2
    assert (here / SURVEY).read_bytes() == (there / SURVEY).read_bytes()


def test_run_goes_on_without_a_worker_that_was_killed(
    paths: Paths, tmp_path: Path, smoke: FinishedRun
) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    words = command(paths, "run", *CELLS, "--cluster", "local:2", "--out", str(out))
    run = subprocess.Popen(words, env=scratch_in(scratch), stdout=subprocess.DEVNULL)
    os.kill(worker_of(scratch, set()), signal.SIGKILL)
    assert run.wait(LIMIT_S) == ExitCode.PASS
    same_as_on_one_machine(out, smoke)
    assert not list(scratch.iterdir())
    assert not qemu_of(scratch)


@pytest.mark.long("three workers killed one after another; quick: one of them")
def test_cell_that_its_workers_die_with_is_lost(paths: Paths, tmp_path: Path) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    words = command(paths, "run", "--plan", "smoke", "--cell", "control-bus*", "--no-history")
    words += ["--cluster", "local:1", "--out", str(out)]
    run = subprocess.Popen(words, env=scratch_in(scratch), stdout=subprocess.DEVNULL)
    killed: set[int] = set()
    for _ in range(KILLS):
        killed.add(worker := worker_of(scratch, killed))
        os.kill(worker, signal.SIGKILL)
    assert run.wait(LIMIT_S) == ExitCode.RIG_FAULT
    (cell,) = read_results(out).cells
    assert cell.verdict is Verdict.INFRA_ERROR
    assert "3 workers ended with this cell" in cell.reason
    assert "killed by signal 9" in cell.reason


@pytest.mark.long("two runs; quick: tests/rig resumes runs of one machine")
def test_client_that_was_killed_is_gone_on_with(
    paths: Paths, tmp_path: Path, smoke: FinishedRun
) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    words = command(paths, "run", *CELLS, "--cluster", "local:2", "--out", str(out))
    run = subprocess.Popen(words, env=scratch_in(scratch), stdout=subprocess.DEVNULL)
    worker_of(scratch, set())
    run.kill()
    run.wait()
    deadline = time.monotonic() + LIMIT_S
    while qemu_of(scratch):
        assert time.monotonic() < deadline, "guests outlived the client"
        time.sleep(LOOK_AGAIN_S)
    again = subprocess.run(
        [*words, "--resume"], env=scratch_in(scratch), check=False, timeout=LIMIT_S
    )
    assert again.returncode == ExitCode.PASS
    same_as_on_one_machine(out, smoke)


def own_state(paths: Paths, folder: Path) -> dict[str, str]:
    """Makes a state folder with the builds only; returns the variable that selects it."""
    folder.mkdir()
    for built in paths.state.glob("build*"):
        (folder / built.name).symlink_to(built)
    return {"FLASHROM_RIG_STATE": str(folder)}


def wait_for_workers(address: str, count: int) -> None:
    """Blocks until the scheduler knows that number of workers."""
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=LIMIT_S)


def other_qemu(folder: Path) -> dict[str, str]:
    """Puts a wrapper of QEMU, which has another digest, first in PATH; returns that variable."""
    folder.mkdir()
    wrapper = folder / QEMU
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which(QEMU)} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.long("three workers; quick: tests/rig refuses and packs without guests")
def test_worker_gets_what_it_lacks_and_one_with_another_qemu_is_refused(
    paths: Paths, tmp_path: Path, smoke: FinishedRun
) -> None:
    address = f"tcp://{free_address()}"
    bare, out = own_state(paths, tmp_path / "bare"), tmp_path / "out"
    other = own_state(paths, tmp_path / "other") | other_qemu(tmp_path / "bin")
    where = ("--cluster", address, "--trust-everyone-here", "--no-history")
    cells = ("--plan", "smoke", "--cell", "canary*", *where)
    with serving("scheduler", address), serving("worker", address, environment=other):
        refused = launch(paths, "run", *cells, "--out", str(out))
        assert refused.returncode == ExitCode.BAD_INPUT, refused.stderr
        assert f"its qemu is {digest.of_file(tmp_path / 'bin' / QEMU)}" in refused.stderr
        assert smoke.results.run.image_digests["qemu"] in refused.stderr
        shutil.rmtree(out)
        with serving("worker", address, environment=bare):
            wait_for_workers(address, 2)
            done = launch(paths, "run", *cells, "--out", str(out))
            assert done.returncode == ExitCode.PASS, done.stderr
    same_as_on_one_machine(out, smoke)
    assert any((tmp_path / "bare" / "images").rglob("*.cpio"))
    assert not (tmp_path / "other" / "images").exists()


def test_interrupted_run_ends_its_workers(paths: Paths, tmp_path: Path) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    words = command(paths, "run", *CELLS, "--cluster", "local:2", "--out", str(out))
    run = subprocess.Popen(words, env=scratch_in(scratch), process_group=0)
    worker_of(scratch, set())
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(LIMIT_S) == 130
    assert not qemu_of(scratch)
    assert not list(scratch.iterdir())
    deadline = time.monotonic() + LIMIT_S
    while is_there(run.pid):
        assert time.monotonic() < deadline, "a process outlived the run"
        time.sleep(LOOK_AGAIN_S)
