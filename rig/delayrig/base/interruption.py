# SPDX-License-Identifier: GPL-2.0-or-later
"""The orderly end of this process after a signal, and of the programs that its threads wait for.

A thread cannot be stopped, and the process waits for all of its threads. So the programs that they
wait for are ended.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from delayrig.base.errors import RigFaultError

R = TypeVar("R")

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CHILDREN_END_WITHIN_S = 5.0
"""The time that children get after the signal to end. Then they are killed."""
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
            raise RigFaultError(f"{argv[0]} was not started: this process is ending")
        child = subprocess.Popen(argv, text=True, errors="replace", process_group=0, **options)
        _running.add(child)
    try:
        with child:
            try:
                output, errors = child.communicate(given)
            except BaseException:
                _end(child, signal.SIGTERM)
                raise
    finally:
        _running.discard(child)
    return subprocess.CompletedProcess(argv, child.returncode, output, errors)


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


def answer_interrupts() -> None:
    """Handles SIGINT again if this process was started with it ignored, as by `&` in a script.

    The key that leaves an inspected guest sends this signal.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


async def until_signalled(work: Coroutine[Any, Any, R]) -> R:
    """Awaits the work and returns its result.

    After a signal to end, it cancels the work, waits until it has stopped and raises
    `CancelledError`. Errors while the work stops are part of the interruption and are dropped. A
    signal that this process was started to ignore stays ignored.
    """
    allow_children()
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    ending = False

    def end(number: signal.Signals) -> None:
        nonlocal ending
        if ending and number != signal.SIGINT:
            return  # the launcher forwards a signal that the whole process group got before
        ending = True
        end_children(signal.SIGTERM)
        loop.call_later(CHILDREN_END_WITHIN_S, end_children, signal.SIGKILL)
        task.cancel()

    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)
    try:
        return await task
    except Exception as error:
        if ending:
            raise asyncio.CancelledError from error
        raise


async def whole_in_thread(work: Callable[..., R], *arguments: Any) -> R:
    """Runs the work as `asyncio.to_thread` does, but waits for its end even if cancelled.

    A thread cannot be stopped. It would go on writing into folders that are being removed.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
