# SPDX-License-Identifier: GPL-2.0-or-later
import asyncio
import os
import signal
import threading

import pytest
from delayrig.base.interruption import until_told_to_end, whole_in_thread


async def work_that_falls_over_when_it_is_cancelled() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        raise RuntimeError("the guest's monitor is gone") from None


async def work_that_fails() -> None:
    raise RuntimeError("nobody told it to end")


async def work_that_ends() -> int:
    return 7


def test_fault_after_a_signal_to_end_is_the_interruption() -> None:
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(until_told_to_end(work_that_falls_over_when_it_is_cancelled()))


def test_fault_without_a_signal_is_itself() -> None:
    with pytest.raises(RuntimeError, match="nobody told"):
        asyncio.run(until_told_to_end(work_that_fails()))


def test_work_that_nobody_disturbs_gives_its_result() -> None:
    assert asyncio.run(until_told_to_end(work_that_ends())) == 7


def test_work_in_a_thread_is_done_before_the_interruption_goes_on() -> None:
    begun, may_end, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        may_end.wait()
        done.set()

    async def interrupted() -> bool:
        task = asyncio.ensure_future(whole_in_thread(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        asyncio.get_running_loop().call_soon(may_end.set)
        with pytest.raises(asyncio.CancelledError):
            await task
        return done.is_set()

    assert asyncio.run(interrupted())
