# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that has the user's terminal for as long as it runs, Control-C included."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from delayrig.base.die_with_parent import die_with_parent


async def run_in_foreground(
    words: Sequence[str], *, cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> int:
    """Its exit code. It is ended where this is cancelled, and where this process ends."""
    has_terminal = sys.stdin.isatty()
    with _hand_over(sys.stdin.fileno()) if has_terminal else contextlib.nullcontext():
        process = await asyncio.create_subprocess_exec(
            *die_with_parent(words),
            cwd=cwd,
            env=None if environment is None else {**os.environ, **environment},
            process_group=0 if has_terminal else None,
        )
        if has_terminal:
            os.tcsetpgrp(sys.stdin.fileno(), process.pid)
            os.kill(process.pid, signal.SIGCONT)  # it may have asked for the terminal before
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await asyncio.shield(process.wait())


@contextlib.contextmanager
def _hand_over(fd: int) -> Iterator[None]:
    """The terminal comes back to whoever has it now."""
    ours = os.tcgetpgrp(fd)
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.tcsetpgrp(fd, ours)
        signal.signal(signal.SIGTTOU, before)
