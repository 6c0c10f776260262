# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that threads wait for. They end when this process is asked to end.

A thread cannot be stopped, and the process waits for all of its threads. So the programs that they
wait for are ended.
"""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from typing import Any

from delayrig.base.errors import RigFaultError

_lock = threading.Lock()
_ending = threading.Event()
_running: set["subprocess.Popen[str]"] = set()


def run_child(
    argv: Sequence[str], *, given: str | None = None, **options: Any
) -> "subprocess.CompletedProcess[str]":
    """Runs a program as subprocess.run() does with text; `given` is its input.

    It leads a process group (setpgid(2)), so that the programs it starts are ended as well.
    `options` are those of Popen. Raises `RigFaultError` if this process was asked to end before.
    """
    with _lock:
        if _ending.is_set():
            raise RigFaultError(f"{argv[0]} was not started: told to end")
        child = subprocess.Popen(argv, text=True, errors="replace", process_group=0, **options)
        _running.add(child)
    try:
        with child:
            try:
                said, complained = child.communicate(given)
            except BaseException:
                _end(child, signal.SIGTERM)
                raise
    finally:
        _running.discard(child)
    return subprocess.CompletedProcess(argv, child.returncode, said, complained)


def pause(seconds: float) -> None:
    _ending.wait(seconds)


def allow_children() -> None:
    _ending.clear()


def end_children(number: signal.Signals) -> None:
    """Sends the signal to all running children, and allows no new ones."""
    with _lock:
        _ending.set()
        running = list(_running)
    for child in running:
        _end(child, number)


def _end(child: "subprocess.Popen[str]", number: signal.Signals) -> None:
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
