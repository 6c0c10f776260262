# SPDX-License-Identifier: GPL-2.0-or-later
"""The ways to look at a cell, and its files and stages shown while it runs."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from enum import Enum
from pathlib import Path

from delayrig.lanes.stages import StageWatch, read_marks

LOOK_AGAIN_S = 0.05
Show = Callable[[str], None]
Lines = Callable[[str], list[str]]
"""A function from a file's content to the lines to show."""
OnStage = Callable[[str, float], None]
"""A function that is called with a stage and the seconds of host time since the cell began."""


class Look(Enum):
    WATCH = "watch"
    """The cell runs as usual; its output is shown at once."""
    SHELL = "shell"
    """A shell just before the subject starts."""
    GDB = "gdb"
    """The subject under gdb, stopped before it starts."""


LEAVE_KEY = b"\x1d"
"""Control and ]: ends everything, as in telnet."""
EXTRA_MS = 24 * 3600 * 1000
"""The additional time limit of the subject while a person looks at it."""
EXTRA_S = EXTRA_MS // 1000


def say_nothing(_line: str) -> None:
    """Drops a line."""


@asynccontextmanager
async def following(files: dict[Path, Lines], show: Show) -> AsyncIterator[None]:
    """Shows what is added to the files, which may not exist yet, until the context ends."""
    shown = dict.fromkeys(files, 0)

    def look() -> None:
        for path, lines in files.items():
            with suppress(OSError):
                found = lines(path.read_text(encoding="utf-8", errors="replace"))
                for line in found[shown[path] :]:
                    show(line)
                shown[path] = max(shown[path], len(found))

    async def look_again() -> None:
        while True:
            look()
            await asyncio.sleep(LOOK_AGAIN_S)

    task = asyncio.ensure_future(look_again())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        look()


def whole_lines(who: str) -> Lines:
    """Returns a function that returns complete lines, each with the name of their writer."""

    def lines(text: str) -> list[str]:
        whole, _, _ = text.rpartition("\n")
        return [f"{who:8}| {line.rstrip()}" for line in whole.splitlines()]

    return lines


def stage_lines(who: str) -> Lines:
    """Returns a function that returns the guest's finished stages, in host time since this call."""
    began_s = time.time()

    def lines(text: str) -> list[str]:
        whole, _, _ = text.rpartition("\n")
        return [f"{who:8}| {at_s - began_s:6.2f} s  {name}" for name, at_s in read_marks(whole)]

    return lines


class ShownWatch(StageWatch):
    def __init__(self, on_stage: OnStage) -> None:
        super().__init__()
        self._on_stage = on_stage
        self._began_s = time.monotonic()

    def ended(self, stage: str) -> None:
        super().ended(stage)
        self._on_stage(stage, time.monotonic() - self._began_s)


def show_stages(show: Show) -> OnStage:
    return lambda stage, at_s: show(f"{'stage':8}| {at_s:6.2f} s  {stage}")
