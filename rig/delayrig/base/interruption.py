# SPDX-License-Identifier: GPL-2.0-or-later
"""Ending in good order when this process is told to."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from delayrig.base.children import allow_children, end_children

R = TypeVar("R")

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CHILDREN_END_WITHIN_S = 5.0
"""Once they are told to; then they are killed."""


async def until_told_to_end(work: Coroutine[Any, Any, R]) -> R:
    """The work's result; raises `CancelledError` once the work is down after a signal to end.

    What falls over while all is taken down says nothing: it is the same interruption. A signal
    that this process was started to ignore stays ignored.
    """
    allow_children()
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    told = False

    def end() -> None:
        nonlocal told
        told = True
        end_children(signal.SIGTERM)
        loop.call_later(CHILDREN_END_WITHIN_S, end_children, signal.SIGKILL)
        task.cancel()

    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, end)
    try:
        return await task
    except Exception as error:
        if told:
            raise asyncio.CancelledError from error
        raise


async def whole_in_thread(work: Callable[..., R], *arguments: Any) -> R:
    """As `asyncio.to_thread`, but whoever is told to end waits for the end of the work.

    A thread cannot be stopped: what it writes would lie in folders that are removed meanwhile.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work, *arguments))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
