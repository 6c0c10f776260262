# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that threads wait for: when this process is told to end, they end with their children.

A program that is not ended sleeps for LONG_S, and the test exceeds its limit.
"""

import asyncio
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from delayrig.base.children import allow_children, end_children, pause, run_child
from delayrig.base.errors import RigFaultError
from delayrig.base.interruption import until_told_to_end

from tests.rig.processes import left_running

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
    end_children(signal.SIGTERM)
    with pytest.raises(RigFaultError, match="sleep was not started: told to end"):
        run_child(["sleep", str(LONG_S)])
    pause(LONG_S)


def test_who_is_told_in_a_pause_goes_on_at_once() -> None:
    waiting = threading.Thread(target=pause, args=[LONG_S])
    waiting.start()
    end_children(signal.SIGTERM)
    waiting.join(GONE_LIMIT_S)
    assert not waiting.is_alive()


def test_what_a_program_is_given_and_says_is_as_subprocess_tells_it() -> None:
    done = run_child(
        ["sh", "-c", "cat; echo aside >&2; exit 3"],
        given="word",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "word", "aside\n")
