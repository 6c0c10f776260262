# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests whose console, or whose QEMU, has no end: they are lost before they fill the disk."""

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from delayrig.base.errors import LostGuestError

T = TypeVar("T")
LOG_BYTES_MAX = 4 << 20
"""A guest that boots and runs its cell leaves some hundred bytes."""
LOOK_S = 0.5
LOGS = ("console.log", "qemu.log")


def logs_of(folder: Path) -> list[Path]:
    """Of the guest of the cell in that folder."""
    return [folder / name for name in LOGS]


async def unless_flooded(work: Coroutine[Any, Any, T], logs: Sequence[Path]) -> T:
    """What `work` comes to; raises `LostGuestError` once a log is longer than any sound one."""
    working = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait([working], timeout=LOOK_S))[0]:
            for log in logs:
                _check(log)
        return working.result()
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


def _check(log: Path) -> None:
    if log.is_file() and log.stat().st_size > LOG_BYTES_MAX:
        raise LostGuestError(
            f"the guest floods {log.name}: it is longer than {LOG_BYTES_MAX} bytes"
        )


def cut_logs(logs: Sequence[Path]) -> None:
    """To their bound, once nobody writes to them any more."""
    for log in logs:
        if log.is_file() and log.stat().st_size > LOG_BYTES_MAX:
            with log.open("r+b") as file:
                file.truncate(LOG_BYTES_MAX)
