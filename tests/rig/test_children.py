# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that the rig starts end with it. One that is killed or does not answer is a rig fault.

A program that is left running sleeps for LONG_S, so the test exceeds its limit.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from delayrig.base.errors import RigFaultError
from delayrig.base.interruption import (
    allow_children,
    end_children,
    pause,
    run_child,
    until_signalled,
)
from delayrig.base.paths import Paths
from delayrig.lanes import header
from delayrig.lanes.header import commit_of
from delayrig.lanes.live.emulator import running_emulator
from delayrig.machine.embedded_libvirt import provide_starter

from tests.rig.processes import left_running
from tests.rig.running import run_python, write_script

LONG_S = 3600
GONE_LIMIT_S = 30
STARTS_A_CHILD = 'sleep "$2" & echo begun > "$1"; wait; exit 3'
IGNORES_SIGTERM = 'trap "" TERM; echo begun > "$1"; sleep "$2"; sleep "$2"'


@pytest.fixture(autouse=True)
def _allow_children() -> None:
    """Undoes the end of children by an earlier test."""
    allow_children()


def words(script: str, begun: Path) -> list[str]:
    return ["sh", "-c", script, "sh", str(begun), f"{LONG_S}.{os.getpid()}"]


def end_this_process(begun: Path) -> None:
    while not begun.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)


def run_until_sigterm(script: str, begun: Path) -> None:
    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(run_child, words(script, begun)))
            group.create_task(asyncio.to_thread(end_this_process, begun))
            group.create_task(asyncio.Event().wait())

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(until_signalled(work()))


@pytest.mark.parametrize("script", [STARTS_A_CHILD, IGNORES_SIGTERM])
def test_sigterm_ends_a_program_and_its_children(script: str, tmp_path: Path) -> None:
    run_until_sigterm(script, tmp_path / "begun")
    assert left_running(f"{LONG_S}.{os.getpid()}", GONE_LIMIT_S) == []


def test_ending_process_starts_no_child_and_does_not_pause() -> None:
    waiting = threading.Thread(target=pause, args=[LONG_S])
    waiting.start()
    end_children(signal.SIGTERM)
    waiting.join(GONE_LIMIT_S)
    assert not waiting.is_alive()
    with pytest.raises(RigFaultError, match="sleep was not started"):
        run_child(["sleep", str(LONG_S)])
    pause(LONG_S)


def test_input_and_outputs_of_a_child_are_those_of_subprocess() -> None:
    done = run_child(
        ["sh", "-c", "cat; echo error >&2; exit 3"],
        given="word",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "word", "error\n")


def install_git(script: str, folder: Path, patch: pytest.MonkeyPatch) -> Paths:
    """Puts a script on PATH as git; returns a checkout."""
    write_script(folder / "git", script)
    patch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return Paths(checkout=folder, state=folder / "state")


def test_commit_is_empty_if_git_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commit_of(install_git("echo none; exit 128", tmp_path, monkeypatch)) == ""
    assert commit_of(install_git("echo abc", tmp_path, monkeypatch)) == "abc"


@pytest.mark.parametrize(
    ("script", "limit_s", "message"),
    [
        ("kill -KILL $$", 20, "was killed by SIGKILL"),
        ("kill -TERM $$", 20, "was killed by SIGTERM"),
        ("sleep 60", 0.2, "did not answer within"),
    ],
)
def test_program_that_is_killed_or_too_slow_is_a_rig_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, limit_s: float, message: str
) -> None:
    monkeypatch.setattr(header, "ANSWER_S", limit_s)
    with pytest.raises(RigFaultError, match=message) as caught:
        commit_of(install_git(f"exec /bin/sh -c '{script}'", tmp_path, monkeypatch))
    assert caught.value.hint


REAPS_BEHIND_A_ZOMBIE = """\
import os, subprocess, sys, time
from delayrig.lanes.live.emulator import running_emulator
from delayrig.machine.embedded_libvirt import adopt_orphans

first = subprocess.Popen(["true"])
os.waitid(os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)
adopt_orphans()
daemon = int(subprocess.check_output(
    ["setsid", "--fork", "sh", "-c", 'echo $$; exec "$0" 0.5', sys.argv[1]]
))
while os.path.exists(f"/proc/{daemon}"):
    time.sleep(0.01)
assert first.wait() == 0
"""


def test_daemon_of_libvirt_is_reaped_while_another_child_is_a_zombie(
    tmp_path: Path,
) -> None:
    qemu = shutil.copy(str(shutil.which("sleep")), tmp_path / "qemu-system-none")
    done = run_python("-c", REAPS_BEHIND_A_ZOMBIE, qemu, timeout=2 * GONE_LIMIT_S)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("folder", [".", "missing"])
def test_emulator_that_does_not_start_leaves_no_process_and_no_descriptor(
    folder: str, tmp_path: Path
) -> None:
    begun, descriptors = tmp_path / "begun", Path("/proc/self/fd")

    async def start() -> None:
        never_ready = words('echo begun > "$1"; exec sleep "$2"', begun)
        async with running_emulator(never_ready, tmp_path / folder):
            pass

    async def cancel_once_begun() -> None:
        starting = asyncio.create_task(start())
        async with asyncio.timeout(GONE_LIMIT_S):
            while not (begun.exists() or starting.done()):  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.01)
        starting.cancel()
        await asyncio.wait({starting})

    before = len(list(descriptors.iterdir()))
    asyncio.run(cancel_once_begun())
    assert left_running(f"{LONG_S}.{os.getpid()}") == []
    assert len(list(descriptors.iterdir())) == before


def test_starter_of_another_version_is_replaced_and_stays_whole_for_its_reader(
    paths: Paths,
) -> None:
    starter = provide_starter("qemu-system-none", paths)
    text = starter.read_text()
    assert starter.stat().st_mode & 0o777 == 0o755
    starter.write_text("another version's")
    with starter.open() as reader:
        provide_starter("qemu-system-none", paths)
        assert reader.read() == "another version's"
    assert starter.read_text() == text
    assert list(starter.parent.iterdir()) == [starter]


TAKES_LIMITS = """
import resource
from delayrig.lanes.host.children import ChildSettings

resource.setrlimit(resource.RLIMIT_AS, (1 << 36, resource.RLIM_INFINITY))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 30))
ChildSettings(file_bytes_max=1 << 22, dies_with_session=False).take()
print(*resource.getrlimit(resource.RLIMIT_AS), *resource.getrlimit(resource.RLIMIT_FSIZE))
"""


def test_limits_of_a_child_are_never_above_those_of_the_session() -> None:
    done = run_python("-c", TAKES_LIMITS)
    assert done.stdout.split() == [f"{1 << 36}", "-1", f"{1 << 20}", f"{1 << 22}"], done.stderr
