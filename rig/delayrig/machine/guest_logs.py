# SPDX-License-Identifier: GPL-2.0-or-later
"""The logs of a guest and of its QEMU: a limit of their size, and their last lines in errors."""

import asyncio
import os
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from delayrig.base.errors import LostGuestError
from delayrig.base.text import log_tail

T = TypeVar("T")
LOG_BYTES_MAX = 4 << 20
"""The limit of a log. A guest that boots and runs its cell writes some hundred bytes."""
LOOK_S = 0.5
"""The interval between two checks of the size of the logs."""
TAIL_LINES = 4
LOGS = ("console.log", "qemu.log")


def logs_of(folder: Path) -> list[Path]:
    return [folder / name for name in LOGS]


async def unless_flooded(work: Coroutine[Any, Any, T], logs: Sequence[Path]) -> T:
    """Returns the result of `work`; raises `LostGuestError` when a log exceeds the limit."""
    working = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait([working], timeout=LOOK_S))[0]:
            for log in logs:
                if _is_too_long(log):
                    raise LostGuestError(
                        f"the guest floods {log.name}: it is longer than {LOG_BYTES_MAX} bytes"
                    )
        return working.result()
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


def cut_logs(logs: Sequence[Path]) -> None:
    """Cuts logs to their limit, once nobody writes to them any more."""
    for log in filter(_is_too_long, logs):
        os.truncate(log, LOG_BYTES_MAX)


def _is_too_long(log: Path) -> bool:
    return log.is_file() and log.stat().st_size > LOG_BYTES_MAX


@contextmanager
def with_log_tails(folder: Path, names: Sequence[str]) -> Iterator[None]:
    """Adds the last lines of these logs to a `LostGuestError` of its block."""
    try:
        yield
    except LostGuestError as error:
        tails = "; ".join(f"{name}: {_end_of(folder / name)}" for name in names)
        error.message = f"{error.message}; {tails}"
        error.args = (error.message,)
        raise


def _end_of(log: Path) -> str:
    tail = log_tail(log.read_bytes(), TAIL_LINES) if log.is_file() else ""
    return tail or "nothing"
