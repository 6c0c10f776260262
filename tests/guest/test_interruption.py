# SPDX-License-Identifier: GPL-2.0-or-later
"""An interrupted run leaves no guest behind and keeps its finished cells."""

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from delayrig.base.errors import ExitCode
from delayrig.base.paths import Paths
from delayrig.machine.embedded_libvirt import embed_uri, provide_starter
from delayrig.model.result import Verdict, read_results

from tests.rig.processes import processes_with, rig_started_by

from .conftest import launch, run_plan
from .plans import cell, plan

INTERRUPTED = 130
LONG_CELL = plan(cell("long", 'mips = 250, cores = 1, job = "write", chip = "W25Q128JV"', 1024))
END_LIMIT_S = 60
"""This is long, because a process needs the CPU to end, and the machine may be busy."""
GUEST_LIMIT_S = 300
"""This only guards against a hang: the first run of a fresh checkout asks much before its guest."""
LOOK_AGAIN_S = 0.01
QUIET_LOOKS = 50


def qemu_of(mark: Path | str) -> list[int]:
    """Returns each QEMU with the mark on its command line: a folder, or libvirt's name of it."""
    return [n for n, words in processes_with(mark).items() if "qemu-system" in words]


def wait_for_guest(run: subprocess.Popen[Any], mark: Path | str) -> None:
    """Blocks until a QEMU of the run is there. Between two cells there is none for a moment."""
    deadline = time.monotonic() + GUEST_LIMIT_S
    while not qemu_of(mark):
        assert run.poll() is None, f"the run ended with {run.returncode} before a guest was seen"
        assert time.monotonic() < deadline, "no guest of the run was ever seen"
        time.sleep(LOOK_AGAIN_S)


def scratch_in(folder: Path) -> dict[str, str]:
    """Returns an environment that puts the scratch files of guests below `folder`."""
    return os.environ | {"TMPDIR": str(folder)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_leaves_no_guest_and_keeps_finished_cells(
    paths: Paths, tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "out"
    command = [str(paths.checkout / "rig" / "rig"), "run", "--no-color", "--plan", "smoke"]
    # A shell ignores SIGINT in background jobs, and their children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run = subprocess.Popen(
        [*command, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=scratch_in(tmp_path),
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


def test_cell_whose_guest_is_killed_is_run_again_and_tells_the_end_of_its_logs(
    paths: Paths, tmp_path: Path
) -> None:
    file, out = tmp_path / "plan.toml", tmp_path / "out"
    file.write_text(LONG_CELL)
    words = ["run", "--no-color", "--no-history", "--plan", str(file), "--out", str(out)]
    with subprocess.Popen(
        [str(paths.checkout / "rig" / "rig"), *words],
        stdout=subprocess.DEVNULL,
        env=scratch_in(tmp_path),
    ) as run:
        wait_for_guest(run, tmp_path)
        for guest in qemu_of(tmp_path):
            os.kill(guest, signal.SIGKILL)
    assert run.returncode == ExitCode.PASS
    (result,) = read_results(out).cells
    assert result.verdict is Verdict.PASS
    assert "; console.log: " in result.retried_after
    assert "; qemu.log: " in result.retried_after


def test_run_that_was_killed_is_gone_on_with_to_the_same_nanosecond(
    paths: Paths, tmp_path: Path
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    words = ["--no-history", "--plan", "smoke", "--cell", "write.*", "--cell", "control-*"]
    assert run_plan(paths, whole, *words).exit_code == 0
    with subprocess.Popen(
        [str(paths.checkout / "rig" / "rig"), "run", "--out", str(cut), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stderr is not None
        next(line for line in run.stderr if line.startswith("[2/"))
        run.kill()
    assert not (cut / "results.json").exists()
    again = run_plan(paths, cut, *words, "--resume")
    assert again.exit_code == 0, again.said
    assert "cells are done" in again.said
    assert launch(paths, "compare", "--exact", str(whole), str(cut)).returncode == 0


@pytest.mark.parametrize("connect", [[], ["--connect", "embed"]], ids=["plain", "libvirt"])
def test_guest_that_is_about_to_start_dies_with_a_run_that_is_killed(
    paths: Paths, tmp_path: Path, connect: list[str]
) -> None:
    out = tmp_path / "out"
    command = [str(paths.checkout / "rig" / "rig"), "run", "--no-color", "--plan", "smoke"]
    run = subprocess.Popen(
        [*command, *connect, "--out", str(out)], stdout=subprocess.DEVNULL, env=scratch_in(tmp_path)
    )
    mark = f"guest=flashrom-rig-{rig_started_by(run.pid)}-" if connect else tmp_path
    try:
        wait_for_guest(run, mark)
    finally:
        run.kill()
        run.wait(timeout=END_LIMIT_S)
    deadline, quiet = time.monotonic() + END_LIMIT_S, 0
    while quiet < QUIET_LOOKS:  # One look may miss a process inside execve(2).
        left = qemu_of(mark)
        quiet = 0 if left else quiet + 1
        assert time.monotonic() < deadline, f"guests {left} outlived their run"
        time.sleep(LOOK_AGAIN_S)


def test_questioned_qemu_of_a_rig_that_was_killed_is_ended_by_the_next(
    paths: Paths, tmp_path: Path
) -> None:
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
    deadline = time.monotonic() + END_LIMIT_S
    while qemu_of(root):
        assert time.monotonic() < deadline, "it is still there"
        time.sleep(LOOK_AGAIN_S)
    assert not root.exists()
    assert not link.is_symlink()


def test_number_of_a_rig_that_was_killed_may_be_ours(paths: Paths, tmp_path: Path) -> None:
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


def test_images_leave_libvirt_nothing_to_ask(paths: Paths, tmp_path: Path) -> None:
    pytest.importorskip("libvirt")
    from delayrig.machine.libvirt_machine import learn_about_qemu

    # The path of this state folder is longer than that of a socket may be.
    own = replace(paths, state=tmp_path / ("deep" * 30))
    learn_about_qemu(own)
    known = [path.read_text() for path in (own.state / "libvirt" / "cache").rglob("*.xml")]
    starter = provide_starter("qemu-system-x86_64", own)
    assert any(f"<emulator>{starter}</emulator>" in text for text in known)
