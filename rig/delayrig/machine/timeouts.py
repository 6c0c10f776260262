# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits of host time that a busy host does not use up.

A guest that hangs sleeps or spins. One that merely has to share its CPU waits in the queue for it,
and the kernel counts that wait for each thread (Documentation/scheduler/sched-stats.rst).
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOOK_EVERY_S = 2.0
NS_PER_S = 1_000_000_000


async def wait_for_first(
    waiting: set[asyncio.Future[Any]], *, limit_s: float, queued_s: Callable[[], float]
) -> None:
    """Returns when one of `waiting` is done, or `limit_s` are over.

    What `queued_s` has grown by meanwhile does not count.
    """
    began_s, queued_before_s = time.monotonic(), queued_s()
    while True:
        used_s = time.monotonic() - began_s - (queued_s() - queued_before_s)
        if used_s >= limit_s:
            return
        done, _ = await asyncio.wait(
            waiting,
            timeout=min(limit_s - used_s, LOOK_EVERY_S),
            return_when=asyncio.FIRST_COMPLETED,
        )
        if done:
            return


def queued_s_of(process: int, proc: Path = Path("/proc")) -> float:
    """How long the process was kept from a CPU by others: its thread that waited longest.

    0 where the kernel does not tell, or the process is gone.
    """
    waits_ns = [0]
    for path in (proc / str(process) / "task").glob("*/schedstat"):
        try:
            waits_ns.append(int(path.read_text(encoding="ascii").split()[1]))
        except (OSError, ValueError, IndexError):
            continue
    return max(waits_ns) / NS_PER_S
