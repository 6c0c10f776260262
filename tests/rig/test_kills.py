# SPDX-License-Identifier: GPL-2.0-or-later
"""Kills of runs on the host lane at random times: no process, no half-written file."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Bound
from tests.guest.victims import assert_whole

KILLS = os.environ.get("RIG_KILLS")
"""The number of kills, in place of the bound of the tier."""
SEED = 1
GONE_LIMIT_S = 300
LOOK_S = 0.02
QUIET_LOOKS = 10
KILL_AFTER_S = (0.0, 0.7)
"""The shortest and the longest time to the kill.

Of five kills, one counts from the start of the run, one from the first finished cell, and the
others from the first session.
"""
BEGIN_LIMIT_S = 60
PLAN = """\
schema = 1
about = "cells to be killed"
lane = "host"
subjects = ["bundled"]
[[group]]
name = "victim"
region_kib = 4
[group.over]
mips = [250]
cores = [1]
job = ["probe", "read", "write"]
chip = ["W25Q128JV", "GD25Q16C"]
programmer = ["serprog:ip", "serprog:dev"]
hazards = ["none", "hogs:1", "stop-cont:10"]
"""


def begin(plan: Path, out: Path) -> subprocess.Popen[bytes]:
    """Starts a run of many cells; its sessions have their files below `out`."""
    words = ["run", "--no-color", "--no-history", "--plan", str(plan), "--out", str(out / "run")]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "delayrig", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(out)},
    )


def at_work(out: Path) -> list[str]:
    """Returns the command lines of processes that name the folder or have it as cwd."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            place = str((process / "cwd").readlink())
        except (OSError, UnicodeDecodeError):
            continue
        if str(out) in words or place.startswith(str(out)):
            found.append(words)
    return found


def wait_for_session(out: Path) -> bool:
    """Returns True once a process besides the run itself is at work, False after the limit."""
    until_s = time.monotonic() + BEGIN_LIMIT_S
    while not (busy := len(at_work(out)) > 1) and time.monotonic() < until_s:
        time.sleep(LOOK_S)
    return busy


def wait_for_result(out: Path) -> None:
    """Waits for the first finished cell. On a busy machine most kills would come earlier."""
    until_s = time.monotonic() + BEGIN_LIMIT_S
    while not has_result(out) and time.monotonic() < until_s:
        time.sleep(LOOK_S)


def has_result(out: Path) -> bool:
    """Returns True if a cell is finished. `Path.rglob` would fail when a folder vanishes."""
    return any("result.json" in files for _, _, files in os.walk(out))


def left(out: Path) -> list[str]:
    """Returns the processes that are left after the limit. Each needs some CPU time to end.

    A process inside execve(2) has no arguments, so one look may miss it.
    """
    until_s = time.monotonic() + GONE_LIMIT_S
    quiet = 0
    while quiet < QUIET_LOOKS and time.monotonic() < until_s:
        quiet = 0 if at_work(out) else quiet + 1
        time.sleep(LOOK_S)
    return at_work(out)


@pytest.mark.bounds(kills=(10, 50))
def test_killed_run_leaves_no_process_and_no_half_written_file(
    tmp_path: Path, bound: Bound
) -> None:
    kills = int(KILLS or bound("kills"))
    draws, plan = random.Random(SEED), tmp_path / "victims.toml"
    plan.write_text(PLAN)
    busy = finished = 0
    for number in range(kills):
        out = tmp_path / f"out-{number}"
        out.mkdir()
        with begin(plan, out) as run:
            if number % 5:
                wait_for_session(out)
            if number % 5 == 1:
                wait_for_result(out)
            time.sleep(draws.uniform(*KILL_AFTER_S))
            if number % 5:  # The kill may come between two cells.
                busy += wait_for_session(out)
            run.send_signal(draws.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
        assert left(out) == [], f"kill {number}"
        assert_whole(out)
        finished += len(list(out.rglob("result.json")))
    # Some kills come before the first session or between two cells, but not most.
    assert busy > kills // 2
    assert finished > 0
