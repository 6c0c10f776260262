# SPDX-License-Identifier: GPL-2.0-or-later
"""Time limits, which do not count the time that a process waits for a CPU."""

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest
from delayrig.base.errors import LostGuestError
from delayrig.machine.machine import overdue
from delayrig.machine.qemu import QUEUED, USED, scheduled_s, wait_for_first
from delayrig.model.result import Verdict
from delayrig.run.cell_runner import verdict_of_lost

from tests.rig.builders import make_cell
from tests.rig.processes import stat_of


def waited_s(limit_s: float, queued: list[float]) -> float:
    """Returns the length of the wait; `queued` has the readings of the time in the run queue."""

    async def wait() -> float:
        never: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        began_s = time.monotonic()
        await wait_for_first(
            {never},
            limit_s=limit_s,
            queued_s=lambda: queued.pop(0) if len(queued) > 1 else queued[0],
        )
        return time.monotonic() - began_s

    return asyncio.run(wait())


def test_wait_ends_at_the_limit_and_does_not_count_time_in_the_run_queue() -> None:
    assert waited_s(0.05, [7.0]) >= 0.05
    assert waited_s(0.05, [7.0, 7.0, 7.2]) >= 0.25


def test_wait_ends_with_the_first_future_that_is_done() -> None:
    async def wait() -> bool:
        loop = asyncio.get_running_loop()
        never: asyncio.Future[Any] = loop.create_future()
        soon: asyncio.Future[Any] = loop.create_future()
        loop.call_later(0.01, soon.set_result, None)
        await wait_for_first({never, soon}, limit_s=600, queued_s=lambda: 0.0)
        return soon.done()

    assert asyncio.run(wait())


@pytest.mark.parametrize("bad", ["", "12", "x y z"])
def test_longest_time_of_any_thread_counts(tmp_path: Path, bad: str) -> None:
    for thread, text in (("41", "900 2500000000 3\n"), ("42", "900 500000000 3\n"), ("43", bad)):
        (tmp_path / "41/task" / thread).mkdir(parents=True)
        (tmp_path / "41/task" / thread / "schedstat").write_text(text, encoding="ascii")
    assert scheduled_s(41, QUEUED, tmp_path) == 2.5
    assert scheduled_s(41, USED, tmp_path) == 9e-7
    assert scheduled_s(40, QUEUED, tmp_path) == scheduled_s(40, USED, tmp_path) == 0


def test_time_in_the_run_queue_is_shorter_than_the_life_of_the_process() -> None:
    began_ticks = int(stat_of(os.getpid())[19])  # field 22 in proc_pid_stat(5)
    began_s = began_ticks / os.sysconf("SC_CLK_TCK")
    assert 0 <= scheduled_s(os.getpid(), QUEUED) < time.clock_gettime(time.CLOCK_BOOTTIME) - began_s


@pytest.mark.parametrize(
    ("error", "hazards", "verdict"),
    [
        (overdue(300, "the guest to pause", is_busy=True), [], Verdict.INCONCLUSIVE),
        (overdue(300, "the guest to pause"), [], Verdict.INFRA_ERROR),
        (overdue(45, "the guest to pause"), ["long-waits"], Verdict.INCONCLUSIVE),
        (LostGuestError("QEMU ended by itself"), [], Verdict.INFRA_ERROR),
    ],
)
def test_lost_guest_is_a_fault_of_the_rig_unless_it_was_busy_or_waits_are_long(
    error: LostGuestError, hazards: list[str], verdict: Verdict
) -> None:
    assert verdict_of_lost(make_cell(hazards=hazards), error)[0] is verdict
