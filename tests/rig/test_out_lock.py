# SPDX-License-Identifier: GPL-2.0-or-later
"""Two runs into one folder: the second one names the first, and ends."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.paths import find_paths
from delayrig.model.result import FILE_NAME as RESULTS
from delayrig.run.out_lock import FILE_NAME, Owner, hold_out

from tests.rig.builders import CHECKOUT

LIMIT_S = 60
LOOK_S = 0.02
PLAN = """\
schema = 1
about = "two that want one folder"
lane = "host"
subjects = ["bundled"]
[[group]]
name = "long"
region_kib = 4
[group.over]
mips = [250]
cores = [1]
job = ["write", "erase", "verify", "read"]
chip = ["W25Q128JV"]
corner = ["max"]
"""


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    plan = folder / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8")
    words = ["run", "--no-color", "--no-history", "--plan", str(plan), "--out", str(folder / "out")]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "delayrig", *words, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=hold_sigint_back,
        env={
            **os.environ,
            "PYTHONPATH": str(CHECKOUT / "rig"),
            "FLASHROM_RIG_STATE": str(find_paths().state),
        },
    )


def hold_sigint_back() -> None:
    """Blocks SIGINT, as the launcher does until the rig's Python has started."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def wait_for(path: Path) -> None:
    until_s = time.monotonic() + LIMIT_S
    while not (path.exists() and path.stat().st_size) and time.monotonic() < until_s:
        time.sleep(LOOK_S)
    assert path.exists()


@pytest.mark.parametrize("more", [[], ["--resume"]])
def test_second_run_is_told_who_holds_the_folder(tmp_path: Path, more: list[str]) -> None:
    first = start(tmp_path)
    try:
        wait_for(tmp_path / "out" / "begun.json")
        first.send_signal(signal.SIGSTOP)  # the first run must not end before the second looks
        second = start(tmp_path, *more)
        said, _ = second.communicate(timeout=LIMIT_S)
        assert second.returncode == 2, said
        told = " ".join(said.split())
        assert f"another run is in it (process {first.pid} since 20" in told
        assert "delayrig/__main__.py run --no-color" in told
        assert "name another folder with --out" in told
        assert "Traceback" not in said
    finally:
        first.send_signal(signal.SIGCONT)
        said, _ = first.communicate(timeout=LIMIT_S)
    assert first.returncode in (0, 4), said
    assert (tmp_path / "out" / RESULTS).is_file()
    assert not (tmp_path / "out" / FILE_NAME).exists()


def test_two_runs_started_at_once_are_one_run_and_one_that_is_refused(tmp_path: Path) -> None:
    both = [start(tmp_path) for _ in range(2)]
    said = [process.communicate(timeout=LIMIT_S)[0] for process in both]
    codes = [process.returncode for process in both]
    assert codes.count(2) == 1, said
    assert all("Traceback" not in text for text in said), said


def test_killed_owner_leaves_no_lock(tmp_path: Path) -> None:
    first = start(tmp_path)
    wait_for(tmp_path / "out" / FILE_NAME)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=LIMIT_S)
    assert (tmp_path / "out" / FILE_NAME).is_file()
    with hold_out(tmp_path / "out", asked_s=time.time()):
        pass


def test_run_that_ended_meanwhile_is_not_written_over(tmp_path: Path) -> None:
    asked_s = time.time() - 1
    (tmp_path / RESULTS).write_bytes(b"{}")
    with (
        pytest.raises(BadInputError, match="another run began and ended there"),
        hold_out(tmp_path, asked_s=asked_s),
    ):
        pass
    with hold_out(tmp_path, asked_s=None):
        pass


def test_folder_is_held_once(tmp_path: Path) -> None:
    with (
        hold_out(tmp_path, asked_s=None),
        pytest.raises(BadInputError, match=f"process {os.getpid()} since"),
        hold_out(tmp_path, asked_s=None),
    ):
        pass


def test_child_of_a_killed_owner_that_is_not_past_its_start_is_waited_for(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    owner = Owner(pid=gone.pid, command="rig/rig run", since="2026-01-01T00:00:00+00:00")
    (tmp_path / FILE_NAME).write_bytes(msgspec.json.encode(owner))
    held = os.open(tmp_path / FILE_NAME, os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(held, fcntl.LOCK_EX)
    threading.Timer(0.2, os.close, [held]).start()
    with hold_out(tmp_path, asked_s=None):
        assert (tmp_path / FILE_NAME).is_file()
