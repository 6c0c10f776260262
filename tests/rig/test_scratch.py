# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders: removed with their owner, removed after a killed one, and named if full."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from delayrig.base.errors import BadInputError
from delayrig.base.scratch import ScratchFolder, full_scratch
from delayrig.setup.scratch import scratch_beside, sweep_scratch

from tests.rig.builders import CHECKOUT
from tests.rig.test_out_lock import start as start_run

LIMIT_S = 60
HOLDS_ONE = """\
from delayrig.base.scratch import ScratchFolder
import time
with ScratchFolder() as name:
    print(name, flush=True)
    time.sleep(600)
"""
MAKES_ONE = """\
from delayrig.setup.scratch import scratch_beside
from pathlib import Path
import sys, time
with scratch_beside(Path(sys.argv[1])) as folder:
    print(folder, flush=True)
    time.sleep(600)
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(CHECKOUT / "rig")}
MOMENTS_S = [0.15, 0.25, 0.35, 0.5, 0.7, 0.9]


def first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a folder that all temporary files of the test use."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("delayrig.setup.scratch.ANY_PLACE", str(tmp_path))
    return tmp_path


def test_folder_of_a_killed_process_is_swept_up_and_that_of_a_live_one_is_not(tmp: Path) -> None:
    owners = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDS_ONE],
            stdout=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT | {"TMPDIR": str(tmp)},
        )
        for _ in range(2)
    ]
    try:
        killed, alive = (Path(first_line(owner)) for owner in owners)
        (killed / "chip.bin").write_bytes(bytes(1 << 20))
        assert sweep_scratch(tmp) == 0
        owners[0].send_signal(signal.SIGKILL)
        owners[0].wait(LIMIT_S)
        assert sweep_scratch(tmp) == 1
        assert [killed.exists(), alive.exists()] == [False, True]
    finally:
        for owner in owners:
            owner.kill()
            owner.communicate()


def killed_while_making(made: Path) -> Path:
    """Kills the process that makes an image; returns the scratch folder that it leaves."""
    owner = subprocess.Popen(
        [sys.executable, "-c", MAKES_ONE, str(made)],
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    try:
        folder = Path(first_line(owner))
        (folder / "ram").write_bytes(bytes(1 << 20))
    finally:
        owner.kill()
        owner.communicate()
    return folder


@pytest.mark.parametrize("place", ["x.snapshot", "snapshots/x.snapshot", "images/guest/1234"])
def test_what_a_killed_process_had_begun_in_the_state_is_swept_up(tmp: Path, place: str) -> None:
    begun = killed_while_making(tmp / "state" / place)
    assert begun.parent == (tmp / "state" / place).parent
    assert begun.is_dir()
    assert sweep_scratch(tmp / "state") == 1
    assert not begun.exists()


def test_who_makes_the_same_sweeps_up_what_a_killed_process_had_begun(tmp: Path) -> None:
    begun = killed_while_making(tmp / "made")
    with scratch_beside(tmp / "made") as scratch:
        (scratch / "whole").mkdir()
        (scratch / "whole").rename(tmp / "made")
    assert list(tmp.iterdir()) == [tmp / "made"]
    assert not begun.exists()


def test_folders_made_by_many_at_once_stay_though_each_sweeps(tmp: Path) -> None:
    def make(_: int) -> bool:
        with scratch_beside(tmp / "made") as scratch:
            (scratch / "part").mkdir()
            return sweep_scratch(tmp) >= 0 and (scratch / "part").is_dir()

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(make, range(800)))
    assert list(tmp.iterdir()) == []


def test_what_is_not_ours_is_left_alone(tmp: Path) -> None:
    elsewhere = tmp / "elsewhere"
    elsewhere.mkdir()
    (tmp / "flashrom-rig-1-link").symlink_to(elsewhere)
    (tmp / "flashrom-rig-old").mkdir()
    (tmp / "flashrom-rig-1-file").write_bytes(b"")
    assert sweep_scratch(tmp) == 0
    assert len(list(tmp.iterdir())) == 4


def test_folder_goes_with_its_owner(tmp: Path) -> None:
    with ScratchFolder() as name:
        assert Path(name).parent == tmp
        assert sweep_scratch(tmp) == 0
    assert list(tmp.iterdir()) == []


def test_missing_tmpdir_is_named(tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp / "none"))
    with pytest.raises(BadInputError, match=f"TMPDIR {tmp}/none: No such file"):
        ScratchFolder()


def test_socket_in_it_has_a_path_that_the_kernel_takes(
    tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, name = tmp / ("long" * 20), "asks-12345678901234567890"
    long.mkdir()
    for place in (Path("/tmp"), long):
        monkeypatch.setenv("TMPDIR", str(place))
        with ScratchFolder(len(name)) as folder, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"{folder}/{name}")
            assert Path(folder).parent == Path("/tmp")
    with ScratchFolder() as folder:
        assert Path(folder).parent == long


def test_full_place_is_told_by_the_file_that_found_no_room(tmp: Path) -> None:
    inside = OSError(errno.ENOSPC, "full", str(tmp / "flashrom-rig-1-x" / "file"))
    outside = OSError(errno.ENOSPC, "full", str(tmp.parent / "out" / "file"))
    assert full_scratch(inside) == tmp
    assert full_scratch(outside) is None


def test_full_place_is_told_by_its_room_where_no_file_is_named(
    tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = OSError(errno.ENOSPC, "full")
    assert full_scratch(error) is None
    small = shutil.disk_usage(tmp)._replace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: small)
    assert full_scratch(error) == tmp


@pytest.mark.parametrize("moment_s", MOMENTS_S)
def test_interrupt_in_the_first_second_is_told_in_one_line(tmp_path: Path, moment_s: float) -> None:
    process = start_run(tmp_path)
    time.sleep(moment_s)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=LIMIT_S)
    assert "Traceback" not in said, said
    assert process.returncode == 130, said
    (told,) = (line for line in said.splitlines() if "interrupted" in line)
    assert told.startswith("interrupted"), said
