# SPDX-License-Identifier: GPL-2.0-or-later
"""Scratch folders, files that are written whole or not at all, and locks of output folders."""

import errno
import fcntl
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from delayrig.base.atomic_file import place_folder, write_atomically
from delayrig.base.errors import BadInputError
from delayrig.base.scratch import ScratchFolder, full_scratch
from delayrig.model.result import FILE_NAME as RESULTS
from delayrig.run.out_folder import LOCK, Owner, hold_out
from delayrig.setup.scratch import scratch_beside, sweep_scratch

from tests.rig.processes import wait_for_content
from tests.rig.running import start_python

LIMIT_S = 60
HOLD_SCRATCH = """\
from delayrig.base.scratch import ScratchFolder
import time
with ScratchFolder() as name:
    print(name, flush=True)
    time.sleep(600)
"""
MAKE_FOLDER = """\
from delayrig.setup.scratch import scratch_beside
from pathlib import Path
import sys, time
with scratch_beside(Path(sys.argv[1])) as folder:
    print(folder, flush=True)
    time.sleep(600)
"""
INTERRUPT_AFTER_S = [0.15, 0.25, 0.35, 0.5, 0.7, 0.9]


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.fixture
def tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the folder for all temporary files of the test."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("delayrig.setup.scratch.ANY_PLACE", str(tmp_path))
    return tmp_path


def test_folder_of_a_killed_process_is_swept_up_and_that_of_a_live_one_is_not(tmp: Path) -> None:
    owners = [start_python("-c", HOLD_SCRATCH) for _ in range(2)]
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
    """Starts a process that makes `made`, and kills it; returns the scratch folder that it left."""
    owner = start_python("-c", MAKE_FOLDER, str(made))
    try:
        folder = Path(first_line(owner))
        (folder / "ram").write_bytes(bytes(1 << 20))
    finally:
        owner.kill()
        owner.communicate()
    return folder


@pytest.mark.parametrize("place", ["x.snapshot", "snapshots/x.snapshot", "images/guest/1234"])
def test_unfinished_folder_of_a_killed_process_is_swept_from_the_state(
    tmp: Path, place: str
) -> None:
    begun = killed_while_making(tmp / "state" / place)
    assert begun.parent == (tmp / "state" / place).parent
    assert begun.is_dir()
    assert sweep_scratch(tmp / "state") == 1
    assert not begun.exists()


def test_next_process_that_makes_the_folder_sweeps_the_unfinished_one(tmp: Path) -> None:
    begun = killed_while_making(tmp / "made")
    with scratch_beside(tmp / "made") as scratch:
        (scratch / "whole").mkdir()
        (scratch / "whole").rename(tmp / "made")
    assert list(tmp.iterdir()) == [tmp / "made"]
    assert not begun.exists()


def test_sweeping_threads_leave_the_folders_of_each_other(tmp: Path) -> None:
    def make(_: int) -> bool:
        with scratch_beside(tmp / "made") as scratch:
            (scratch / "part").mkdir()
            return sweep_scratch(tmp) >= 0 and (scratch / "part").is_dir()

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(make, range(800)))
    assert list(tmp.iterdir()) == []


def test_sweep_leaves_files_of_others_alone(tmp: Path) -> None:
    elsewhere = tmp / "elsewhere"
    elsewhere.mkdir()
    (tmp / "flashrom-rig-1-link").symlink_to(elsewhere)
    (tmp / "flashrom-rig-old").mkdir()
    (tmp / "flashrom-rig-1-file").write_bytes(b"")
    assert sweep_scratch(tmp) == 0
    assert len(list(tmp.iterdir())) == 4


def test_scratch_folder_is_deleted_by_its_owner_and_a_missing_tmpdir_is_named(
    tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScratchFolder() as name:
        assert Path(name).parent == tmp
        assert sweep_scratch(tmp) == 0
    assert list(tmp.iterdir()) == []
    monkeypatch.setenv("TMPDIR", str(tmp / "none"))
    with pytest.raises(BadInputError, match=f"TMPDIR {tmp}/none: No such file"):
        ScratchFolder()


def test_path_of_a_socket_in_a_scratch_folder_is_short_enough(
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


def test_full_scratch_is_recognised_by_the_file_of_the_error_or_by_free_space(
    tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*path: str) -> OSError:
        return OSError(errno.ENOSPC, "full", *path)

    assert full_scratch(full(str(tmp / "flashrom-rig-1-x" / "file"))) == tmp
    assert full_scratch(full(str(tmp.parent / "out" / "file"))) is None
    assert full_scratch(full()) is None
    small = shutil.disk_usage(tmp)._replace(free=4096)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: small)
    assert full_scratch(full()) == tmp


@pytest.mark.parametrize("after_s", INTERRUPT_AFTER_S)
def test_interrupt_in_the_first_second_is_reported_in_one_line(
    tmp_path: Path, after_s: float
) -> None:
    process = start(tmp_path)
    time.sleep(after_s)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=LIMIT_S)
    assert "Traceback" not in output, output
    assert process.returncode == 130, output
    (line,) = (line for line in output.splitlines() if "interrupted" in line)
    assert line.startswith("interrupted"), output


LIMIT = 4096


def error_at_the_limit(path: Path, content: bytes) -> str:
    """Returns the error of a write in a process whose files may have LIMIT bytes; empty if none."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
        try:
            write_atomically(path, content)
        except BadInputError as refusal:
            os.write(theirs, f"{refusal.message}|{refusal.hint}".encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        error = pipe.read()
    os.waitpid(child, 0)
    return error


def test_atomic_write_leaves_only_its_file(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.json", b"one")
    write_atomically(tmp_path / "a.json", b"two")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_bytes() == b"two"


def test_two_writers_of_one_file_do_not_disturb_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = tmp_path / "a.json", Path.write_bytes

    def write_after_another(place: Path, content: bytes) -> int:
        written = write(place, content)
        monkeypatch.setattr(Path, "write_bytes", write)
        write_atomically(path, b"another's")
        return written

    monkeypatch.setattr(Path, "write_bytes", write_after_another)
    write_atomically(path, b"ours")
    assert path.read_bytes() == b"ours"
    assert list(tmp_path.iterdir()) == [path]


def test_full_disk_leaves_the_old_file_and_the_error_names_file_and_remedy(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(b"the old one")
    error = error_at_the_limit(path, b"x" * (LIMIT + 1))
    assert error.startswith(f"{path}: could not be written: File too large|")
    assert "free some space" in error
    assert path.read_bytes() == b"the old one"
    assert [left.name for left in tmp_path.iterdir()] == [path.name]
    assert error_at_the_limit(path, b"x" * LIMIT) == ""
    assert path.stat().st_size == LIMIT


def test_device_is_not_replaced_and_a_folder_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="No space left on device"):
        write_atomically(Path("/dev/full"), b"x")
    assert Path("/dev/full").is_char_device()
    with pytest.raises(BadInputError, match="No such file or directory"):
        write_atomically(tmp_path / "none" / "a.json", b"x")


def test_folder_that_another_process_made_meanwhile_stays(tmp_path: Path) -> None:
    made, folder = tmp_path / "made", tmp_path / "folder"
    for place in (made, folder):
        place.mkdir()
        (place / "whose").write_text(place.name, encoding="utf-8")
    place_folder(made, folder)
    assert (folder / "whose").read_text(encoding="utf-8") == "folder"


def test_folder_that_cannot_be_placed_is_an_error(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    with pytest.raises(FileNotFoundError):
        place_folder(made, tmp_path / "nowhere" / "folder")
    place_folder(made, tmp_path / "folder")
    assert (tmp_path / "folder").is_dir()


PLAN = """\
schema = 1
about = "runs that want one folder"
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
    )


def hold_sigint_back() -> None:
    """Blocks SIGINT, as the launcher does until the rig can handle it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


@pytest.mark.parametrize("more", [[], ["--resume"]])
def test_second_run_is_refused_with_the_process_that_holds_the_folder(
    tmp_path: Path, more: list[str]
) -> None:
    first = start(tmp_path)
    try:
        wait_for_content(tmp_path / "out" / "begun.json")
        first.send_signal(signal.SIGSTOP)  # It must not end before the second run looks.
        second = start(tmp_path, *more)
        output, _ = second.communicate(timeout=LIMIT_S)
        assert second.returncode == 2, output
        message = " ".join(output.split())
        assert f"another run is in it (process {first.pid} since 20" in message
        assert "delayrig/__main__.py run --no-color" in message
        assert "name another folder with --out" in message
        assert "Traceback" not in output
    finally:
        first.send_signal(signal.SIGCONT)
        output, _ = first.communicate(timeout=LIMIT_S)
    assert first.returncode in (0, 4), output
    assert (tmp_path / "out" / RESULTS).is_file()
    assert not (tmp_path / "out" / LOCK).exists()


def test_two_runs_started_at_once_are_one_run_and_one_that_is_refused(tmp_path: Path) -> None:
    both = [start(tmp_path) for _ in range(2)]
    outputs = [process.communicate(timeout=LIMIT_S)[0] for process in both]
    codes = [process.returncode for process in both]
    assert codes.count(2) == 1, outputs
    assert all("Traceback" not in output for output in outputs), outputs


def test_lock_file_of_a_killed_owner_locks_nothing(tmp_path: Path) -> None:
    first = start(tmp_path)
    wait_for_content(tmp_path / "out" / LOCK)
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=LIMIT_S)
    assert (tmp_path / "out" / LOCK).is_file()
    with hold_out(tmp_path / "out", asked_s=time.time()):
        pass


def test_folder_is_refused_if_held_or_if_a_run_ended_there_meanwhile(tmp_path: Path) -> None:
    with (
        hold_out(tmp_path, asked_s=None),
        pytest.raises(BadInputError, match=f"process {os.getpid()} since"),
        hold_out(tmp_path, asked_s=None),
    ):
        pass
    (tmp_path / RESULTS).write_bytes(b"{}")
    with (
        pytest.raises(BadInputError, match="another run began and ended there"),
        hold_out(tmp_path, asked_s=time.time() - 1),
    ):
        pass
    with hold_out(tmp_path, asked_s=None):
        pass


def test_lock_that_a_starting_child_of_a_dead_owner_holds_is_waited_for(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    owner = Owner(pid=gone.pid, command="rig/rig run", since="2026-01-01T00:00:00+00:00")
    (tmp_path / LOCK).write_bytes(msgspec.json.encode(owner))
    held = os.open(tmp_path / LOCK, os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(held, fcntl.LOCK_EX)
    threading.Timer(0.2, os.close, [held]).start()
    with hold_out(tmp_path, asked_s=None):
        assert (tmp_path / LOCK).is_file()
