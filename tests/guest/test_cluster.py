# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs on workers of a cluster have the results of one machine, even if workers are killed."""

import os
import shutil
import signal
import time
from collections.abc import Collection
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

from .conftest import FinishedRun, assert_same_cells, launch
from .victims import VictimRun, qemu_of
from .waiting import LOOK_AGAIN_S, wait_until

KILLS = 3
LIMIT_S = 240
QEMU = "qemu-system-x86_64"
WORKER = b"multiprocessing.forkserver"
CELLS = ("--plan", "smoke", "--cell", "canary*", "--cell", "control*")


@pytest.fixture
def victim_run(paths: Paths, tmp_path: Path) -> VictimRun:
    return VictimRun(paths=paths, words=(*CELLS, "--cluster", "local:2"), folder=tmp_path)


def is_group_running(group: int) -> bool:
    """Returns True if a process of that group runs. A zombie does not count."""
    found = (stat_of(int(entry.name)) for entry in Path("/proc").glob("[0-9]*"))
    return any(stat[0] != "Z" and int(stat[2]) == group for stat in found if stat)


def worker_of(run: VictimRun, known: Collection[int] = ()) -> int:
    """Waits for a worker that runs a guest, other than the known ones; returns its process id."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        for guest in qemu_of(run.scratch):
            parent = parent_of(guest)
            if parent not in known and WORKER in command_line_of(parent):
                return parent
        time.sleep(LOOK_AGAIN_S)
    raise AssertionError(f"found no worker of the run in {LIMIT_S} s")


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


@pytest.mark.long("two surveys; quick: a run on two workers")
def test_survey_on_two_workers_is_the_same_as_on_one_machine(paths: Paths, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    words = ("survey", "bundled", "--plan", "smoke", "--out")
    assert launch(paths, *words, str(here)).returncode == ExitCode.PASS
    done = launch(paths, *words, str(there), "--cluster", "local:2")
    assert done.returncode == ExitCode.PASS, done.stderr
    assert len(read_results(there).run.workers) == 2
    assert (here / SURVEY).read_bytes() == (there / SURVEY).read_bytes()


def test_run_goes_on_without_a_killed_worker(victim_run: VictimRun, smoke: FinishedRun) -> None:
    process = victim_run.start()
    os.kill(worker_of(victim_run), signal.SIGKILL)
    assert process.wait(LIMIT_S) == ExitCode.PASS
    assert_same_cells(victim_run.out, smoke.out)
    assert not list(victim_run.scratch.iterdir())
    assert not qemu_of(victim_run.scratch)


@pytest.mark.long("three workers killed one after another; quick: one of them")
def test_cell_is_lost_after_three_of_its_workers_were_killed(paths: Paths, tmp_path: Path) -> None:
    words = ("--plan", "smoke", "--cell", "control-bus*", "--cluster", "local:1")
    run = VictimRun(paths=paths, words=words, folder=tmp_path)
    process = run.start()
    killed: set[int] = set()
    for _ in range(KILLS):
        killed.add(worker := worker_of(run, killed))
        os.kill(worker, signal.SIGKILL)
    assert process.wait(LIMIT_S) == ExitCode.RIG_FAULT
    (cell,) = read_results(run.out).cells
    assert cell.verdict is Verdict.INFRA_ERROR
    assert "3 workers" in cell.reason
    assert "killed by signal 9" in cell.reason


def own_state(paths: Paths, folder: Path) -> dict[str, str]:
    """Makes a state folder that has only the builds; returns the variable that selects it."""
    folder.mkdir()
    for built in paths.state.glob("build*"):
        (folder / built.name).symlink_to(built)
    return {"FLASHROM_RIG_STATE": str(folder)}


def wait_for_workers(address: str, count: int) -> None:
    """Blocks until the scheduler knows that number of workers."""
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=LIMIT_S)


def other_qemu(folder: Path) -> dict[str, str]:
    """Puts a wrapper of QEMU, with another digest, first in PATH; returns that variable."""
    folder.mkdir()
    wrapper = folder / QEMU
    wrapper.write_text(f'#!/bin/sh\nexec {shutil.which(QEMU)} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.long("three workers; quick: tests/rig tests refusals and packages without guests")
def test_worker_gets_missing_files_and_one_with_another_qemu_is_refused(
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
    assert_same_cells(out, smoke.out)
    assert any((tmp_path / "bare" / "images").rglob("*.cpio"))
    assert not (tmp_path / "other" / "images").exists()


def test_interrupted_run_ends_its_workers(victim_run: VictimRun) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    process = victim_run.start(process_group=0)
    worker_of(victim_run)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(LIMIT_S) == 130
    assert not qemu_of(victim_run.scratch)
    assert not list(victim_run.scratch.iterdir())
    wait_until(lambda: not is_group_running(process.pid), "a process outlived the run", LIMIT_S)
