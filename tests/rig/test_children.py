# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that the rig starts: they end with it, and one that is killed or silent is a rig fault.

A program that is not ended sleeps for LONG_S, and the test exceeds its limit.
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
    until_told_to_end,
)
from delayrig.base.paths import Paths
from delayrig.lanes import header
from delayrig.lanes.header import commit_of
from delayrig.lanes.live.emulator import running_emulator
from delayrig.machine.embedded_libvirt import provide_starter

from tests.rig.processes import left_running
from tests.rig.running import run_python

LONG_S = 3600
GONE_LIMIT_S = 30
STARTS_ANOTHER = 'sleep "$2" & echo begun > "$1"; wait; exit 3'
HEARS_NOTHING = 'trap "" TERM; echo begun > "$1"; sleep "$2"; sleep "$2"'


@pytest.fixture(autouse=True)
def _nobody_is_told_before_or_after() -> None:
    allow_children()


def words(script: str, begun: Path) -> list[str]:
    return ["sh", "-c", script, "sh", str(begun), f"{LONG_S}.{os.getpid()}"]


def tell_this_process(begun: Path) -> None:
    while not begun.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGTERM)


def run_until_told(script: str, begun: Path) -> None:
    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(run_child, words(script, begun)))
            group.create_task(asyncio.to_thread(tell_this_process, begun))
            group.create_task(asyncio.Event().wait())

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(until_told_to_end(work()))


@pytest.mark.parametrize("script", [STARTS_ANOTHER, HEARS_NOTHING])
def test_program_ends_with_those_that_it_started(script: str, tmp_path: Path) -> None:
    run_until_told(script, tmp_path / "begun")
    assert left_running(f"{LONG_S}.{os.getpid()}", GONE_LIMIT_S) == []


def test_none_is_started_and_none_waited_for_once_the_process_is_told() -> None:
    waiting = threading.Thread(target=pause, args=[LONG_S])
    waiting.start()
    end_children(signal.SIGTERM)
    waiting.join(GONE_LIMIT_S)
    assert not waiting.is_alive()
    with pytest.raises(RigFaultError, match="sleep was not started: this process is ending"):
        run_child(["sleep", str(LONG_S)])
    pause(LONG_S)


def test_what_a_program_is_given_and_says_is_as_subprocess_tells_it() -> None:
    done = run_child(
        ["sh", "-c", "cat; echo aside >&2; exit 3"],
        given="word",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "word", "aside\n")


def git_that(does: str, folder: Path, patch: pytest.MonkeyPatch) -> Paths:
    """Puts a script on PATH as git; returns a checkout."""
    (folder / "git").write_text(f"#!/bin/sh\n{does}\n", encoding="ascii")
    (folder / "git").chmod(0o755)
    patch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return Paths(checkout=folder, state=folder / "state")


def test_program_that_fails_has_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert commit_of(git_that("echo none; exit 128", tmp_path, monkeypatch)) == ""
    assert commit_of(git_that("echo abc", tmp_path, monkeypatch)) == "abc"


@pytest.mark.parametrize(
    ("does", "limit_s", "said"),
    [
        ("kill -KILL $$", 20, "was killed by SIGKILL"),
        ("kill -TERM $$", 20, "was killed by SIGTERM"),
        ("sleep 60", 0.2, "did not answer within"),
    ],
)
def test_program_that_could_not_answer_is_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, limit_s: float, said: str
) -> None:
    monkeypatch.setattr(header, "ANSWER_S", limit_s)
    with pytest.raises(RigFaultError, match=said) as caught:
        commit_of(git_that(f"exec /bin/sh -c '{does}'", tmp_path, monkeypatch))
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


def test_daemon_of_libvirt_is_reaped_while_another_child_waits_for_its_parent(
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
