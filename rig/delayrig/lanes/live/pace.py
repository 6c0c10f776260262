# SPDX-License-Identifier: GPL-2.0-or-later
"""The speed of a live guest's cores: commands to the CPU plugin, and its results.

rig/docs/reference/cpu-plugin.md describes arguments, commands and the trace.
"""

import asyncio
import contextlib
import math
import os
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from delayrig.base.errors import LostGuestError
from delayrig.base.text import kernel_line
from delayrig.machine.machine import Machine
from delayrig.model.events import of_kind, parse_trace
from delayrig.model.kinds.pace import Pace as PaceKept
from delayrig.model.kinds.pace import Speed, Window
from delayrig.model.speed import SpeedChange

WINDOW_MS = 100
OFF_PART_MAX = 0.2
"""The largest tolerated deviation, as a part of a window."""
MIPS_MIN = 0.05
"""The lowest speed. The plugin takes 0 as no limit."""
NO_PARTS: Mapping[str, float] = {}
US_PER_MS = 1000
SOCKET_NAME_BYTES_MAX = len("asks-") + 20
ANSWER_S = 10.0
ANSWER_BYTES = 256
PRIORITY = 1
"""The priority of QEMU's threads with paced CPUs: above ordinary work, below the emulator."""
BUSY_PART_MAX = 0.7
"""The part of this host's CPU time that paced CPUs may use at that priority.

Other work needs the rest.
"""
HOST_MIPS = 300
"""The lowest speed at which a host CPU emulates, even for work at which QEMU is slow."""
RT_RUNTIME = "/proc/sys/kernel/sched_rt_runtime_us"


class Pace:
    """The CPU plugin of one guest. Its files are in `folder`, whose path must be short."""

    def __init__(
        self,
        core_mips: Sequence[float],
        folder: Path,
        governor_words: Sequence[str] = (),
        first_parts: Mapping[str, float] = NO_PARTS,
    ) -> None:
        """Takes the fraction of the speed that each hazard allows at first, by its name."""
        self.core_mips = list(core_mips)
        self._governor_words = list(governor_words)
        self._parts = {hazard: [part] * len(core_mips) for hazard, part in first_parts.items()}
        self._folder = folder
        self._control = folder / "pace"
        self.trace = folder / "pace.jsonl"

    @property
    def plugin_words(self) -> str:
        """Returns the plugin's arguments. All speeds except those of governors are set later."""
        files = (f"control={self._control}", f"trace={self.trace}")
        return ",".join([*(self._governor_words or ["mips=0"]), f"window_ms={WINDOW_MS}", *files])

    async def begin(self) -> None:
        for command in self.first_commands():
            await self.send(command)

    def first_commands(self) -> list[str]:
        if self._governor_words:
            return ["* auto"]
        return [self._speed_command(core, 0) for core in range(len(self.core_mips))]

    async def change(self, hazard: str, change: SpeedChange) -> None:
        """Changes a speed from now on. The factors of several hazards for a core are multiplied."""
        parts = self._parts[hazard]
        for core in range(len(parts)) if change.core is None else [change.core]:
            parts[core] = change.part
            await self.send(self._speed_command(core, change.ramp_ms))

    def _speed_command(self, core: int, ramp_ms: int) -> str:
        part = math.prod(parts[core] for parts in self._parts.values())
        mips = max(self.core_mips[core] * part, MIPS_MIN)
        return f"{core} {mips:.3f} {ramp_ms * US_PER_MS}"

    async def end(self) -> None:
        """Removes all limits, as during the boot."""
        await self.send("* 0")

    async def send(self, command: str) -> int:
        """Sends a command; returns when it took effect, on CLOCK_MONOTONIC."""
        answer = await asyncio.to_thread(self._ask, command)
        word, _, rest = answer.partition(" ")
        if word != "ok" or not rest.strip().isdecimal():
            raise LostGuestError(f"the CPU plugin answered {answer!r} to {command!r}")
        return int(rest)

    def _ask(self, command: str) -> str:
        own = self._folder / f"asks-{time.monotonic_ns()}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.bind(str(own))
            sender.settimeout(ANSWER_S)
            try:
                sender.sendto(f"{command}\n".encode(), str(self._control))
                return sender.recv(ANSWER_BYTES).decode(errors="replace")
            except OSError as error:
                raise LostGuestError(f"the CPU plugin is gone: {error}") from error
            finally:
                own.unlink()


async def prefer(machine: Machine, core_mips: Sequence[float]) -> list[int]:
    """Gives QEMU's threads priority over ordinary work on this host; returns these threads.

    Returns none and changes nothing if this user may not do that, if the guest needs more than
    `BUSY_PART_MAX` of the host's CPUs, or if the kernel does not limit real-time threads.
    """
    wanted = sum(core_mips) / HOST_MIPS / len(os.sched_getaffinity(0))
    if wanted > BUSY_PART_MAX or kernel_line(RT_RUNTIME) == "-1":
        return []
    threads = _threads_beside((await machine.cpu_threads())[0])
    for thread in threads:
        with contextlib.suppress(ProcessLookupError):
            try:
                os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(PRIORITY))
            except PermissionError:
                return []
    return threads


def _threads_beside(thread: int) -> list[int]:
    """Returns all threads of the process: a CPU's thread waits for locks that the others hold."""
    return [int(task.name) for task in Path(f"/proc/{thread}/task").iterdir()]


def put_back(threads: Sequence[int]) -> None:
    """Gives the threads ordinary priority again. Call this before the limits are removed."""
    for thread in threads:
        with contextlib.suppress(ProcessLookupError):
            os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))


def _is_off(window: Window) -> bool:
    """Returns True if the core was too fast or too slow by more than `OFF_PART_MAX` of the window.

    The plugin's own limit for `kept` is 2 %, which it can hold for a core that only computes. If
    the core sends packets or runs code for the first time, QEMU also does work of its own, which
    takes time as a bus or a cold cache does on a real machine.
    """
    span_ns = window.t_ns - window.from_ns
    return not window.kept and abs(window.short_ns) > OFF_PART_MAX * span_ns


def pace_events(trace: bytes, since_ns: int, until_ns: int) -> list[Speed | PaceKept]:
    """Returns the plugin's events of that time: speed changes, and how well speeds were held.

    A window counts if any part of it is in that time.
    """
    lines = parse_trace(trace, source="the CPU plugin's trace")
    windows = [w for w in of_kind(lines, Window) if w.from_ns < until_ns and w.t_ns > since_ns]
    speeds = [speed for speed in of_kind(lines, Speed) if since_ns <= speed.t_ns <= until_ns]
    changes = [speed for speed in speeds if speed.why != "governor"]
    not_kept = [window for window in windows if _is_off(window)]
    summary = PaceKept(
        t_ns=until_ns,
        since_ns=since_ns,
        window_ms=WINDOW_MS,
        windows=len(windows),
        windows_not_kept=len(not_kept),
        not_kept=sorted((window.from_ns, window.t_ns) for window in not_kept),
        windows_behind=sum(not window.kept for window in windows),
        short_ns_max=max((abs(window.short_ns) for window in windows), default=0),
        governor_changes=len(speeds) - len(changes),
        lost_ns=sum(window.lost_ns for window in windows),
    )
    return [*changes, summary]
