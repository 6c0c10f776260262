# SPDX-License-Identifier: GPL-2.0-or-later
"""The orderly end of this process after a signal."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from delayrig.base.children import allow_children, end_children

R = TypeVar("R")

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CHILDREN_END_WITHIN_S = 5.0
"""The time that children get after the signal to end. Then they are killed."""


def answer_interrupts() -> None:
    """Handles SIGINT again if this process was started with it ignored, as by `&` in a script.

    The key that leaves an inspected guest sends this signal.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


async def until_told_to_end(work: Coroutine[Any, Any, R]) -> R:
    """Awaits the work and returns its result.

    After a signal to end, it cancels the work, waits until it has stopped and raises
    `CancelledError`. Errors while the work stops are part of the interruption and are dropped. A
    signal that this process was started to ignore stays ignored.
    """
    allow_children()
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    told = False

    def end(number: signal.Signals) -> None:
        nonlocal told
        if told and number != signal.SIGINT:
            return  # the launcher passes on a signal that the whole group got already
        told = True
        end_children(signal.SIGTERM)
        loop.call_later(CHILDREN_END_WITHIN_S, end_children, signal.SIGKILL)
        task.cancel()

    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)
    try:
        return await task
    except Exception as error:
        if told:
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
