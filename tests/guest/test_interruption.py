# SPDX-License-Identifier: GPL-2.0-or-later
"""An interrupted run leaves no guest behind and keeps its finished cells."""

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.machine.embedded_libvirt import embed_uri, provide_starter
from delayrig.model.result import Verdict, read_results

from tests.rig.processes import rig_started_by

from .conftest import assert_same_runs, rig_command, run_plan
from .plans import cell, plan, write_plan
from .victims import VictimRun, qemu_of, wait_until_none
from .waiting import wait_until

INTERRUPTED = 130
LONG_CELL = plan(cell("long", 'mips = 250, cores = 1, job = "write", chip = "W25Q128JV"', 1024))
END_LIMIT_S = 60
"""This limit is long, because a process needs the CPU to end, and the machine may be busy."""
GUEST_LIMIT_S = 300
"""This limit only ends a hang: the first run of a checkout takes long to start its guest."""


def wait_for_guest(run: subprocess.Popen[Any], mark: Path | str) -> None:
    """Waits until the run has a QEMU. Between two cells it has none for a short time."""

    def has_guest() -> bool:
        assert run.poll() is None, f"the run ended with {run.returncode} before a guest was seen"
        return bool(qemu_of(mark))

    wait_until(has_guest, "the run started no guest", GUEST_LIMIT_S)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_leaves_no_guest_and_keeps_finished_cells(
    paths: Paths, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "out"
    # A shell ignores SIGINT in background jobs, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run = subprocess.Popen(
        rig_command(paths, "run", "--no-color", "--plan", "smoke", "--out", str(out)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert run.stderr is not None
    for line in run.stderr:
        if line.startswith("[2/"):
            break
    wait_for_guest(run, tmp_path)
    run.send_signal(number)
    run.communicate(timeout=END_LIMIT_S)
    assert run.returncode == INTERRUPTED
    assert qemu_of(tmp_path) == []
    assert not list(tmp_path.glob("flashrom-rig-*"))
    results = read_results(out)
    assert results.run.interrupted
    assert 2 <= len(results.cells) < results.run.cells_planned


def test_cell_of_a_killed_guest_runs_again_with_its_logs_quoted(
    paths: Paths, tmp_path: Path
) -> None:
    run = VictimRun(paths=paths, words=("--plan", write_plan(tmp_path, LONG_CELL)), folder=tmp_path)
    with run.start() as process:
        wait_for_guest(process, run.scratch)
        for guest in qemu_of(run.scratch):
            os.kill(guest, signal.SIGKILL)
    assert process.returncode == ExitCode.PASS
    (result,) = read_results(run.out).cells
    assert result.verdict is Verdict.PASS
    assert "; console.log: " in result.retried_after
    assert "; qemu.log: " in result.retried_after


def test_killed_run_is_resumed_with_equal_results(paths: Paths, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    words = ["--no-history", "--plan", "smoke", "--cell", "write.*", "--cell", "control-*"]
    assert run_plan(paths, whole, *words).exit_code == 0
    with subprocess.Popen(
        rig_command(paths, "run", "--out", str(cut), *words),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stderr is not None
        next(line for line in run.stderr if line.startswith("[2/"))
        run.kill()
    assert not (cut / "results.json").exists()
    again = run_plan(paths, cut, *words, "--resume")
    assert again.exit_code == 0, again.output
    assert "cells are done" in again.output
    assert_same_runs(paths, whole, cut)


@pytest.mark.parametrize("connect", [[], ["--connect", "embed"]], ids=["plain", "libvirt"])
def test_guest_that_is_just_starting_ends_with_a_killed_run(
    paths: Paths, tmp_path: Path, connect: list[str]
) -> None:
    run = VictimRun(paths=paths, words=("--plan", "smoke", *connect), folder=tmp_path)
    process = run.start()
    mark = f"guest=flashrom-rig-{rig_started_by(process.pid)}-" if connect else run.scratch
    try:
        wait_for_guest(process, mark)
    finally:
        process.kill()
        process.wait(timeout=END_LIMIT_S)
    wait_until_none(lambda: qemu_of(mark), END_LIMIT_S)


def test_probed_qemu_of_a_killed_rig_is_ended_by_the_next_rig(paths: Paths, tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as dead:
        pass
    root, link = tmp_path / "root", tmp_path / "libvirt" / f"process-{dead.pid}"
    root.mkdir()
    link.parent.mkdir()
    link.symlink_to(root)
    subprocess.run(
        [
            *("qemu-system-x86_64", "-S", "-nodefaults", "-no-user-config", "-display", "none"),
            *("-machine", "none", "-pidfile", str(root / "pid"), "-daemonize"),
        ],
        check=True,
        timeout=END_LIMIT_S,
    )
    assert len(qemu_of(root)) == 1
    embed_uri(replace(paths, state=tmp_path))
    wait_until(lambda: not qemu_of(root), "QEMU is still running", END_LIMIT_S)
    assert not root.exists()
    assert not link.is_symlink()


def test_killed_rig_may_have_had_our_process_id(paths: Paths, tmp_path: Path) -> None:
    state, theirs = tmp_path / "state", tmp_path / "theirs"
    theirs.mkdir()
    link = state / "libvirt" / f"process-{os.getpid()}"
    link.parent.mkdir(parents=True)
    link.symlink_to(theirs)
    own = replace(paths, state=state)
    uri = embed_uri(own)
    assert not theirs.exists()
    assert uri == f"qemu:///embed?root={link.readlink()}"
    assert embed_uri(replace(own, other_snapshots=tmp_path)) == uri


def test_libvirt_finds_the_capabilities_of_qemu_in_its_cache(paths: Paths, tmp_path: Path) -> None:
    pytest.importorskip("libvirt")
    from delayrig.machine.libvirt_machine import learn_about_qemu

    # The path of this state folder is longer than the path of a socket may be.
    own = replace(paths, state=tmp_path / ("deep" * 30))
    learn_about_qemu(own)
    known = [path.read_text() for path in (own.state / "libvirt" / "cache").rglob("*.xml")]
    starter = provide_starter("qemu-system-x86_64", own)
    assert any(f"<emulator>{starter}</emulator>" in text for text in known)
