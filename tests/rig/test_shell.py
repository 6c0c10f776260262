# SPDX-License-Identifier: GPL-2.0-or-later
"""Shell commands of the user: their output, and their remaining processes."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from delayrig.base.shell import run_shell

from tests.rig.builders import CHECKOUT
from tests.rig.processes import is_running

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
