# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that do nothing but turn, each on a CPU of its own choice: hogs and busy siblings."""

import mmap
import os
import signal
import time
from collections.abc import Sequence

from delayrig.lanes.host import children

STRIDE = 8
"""Numbers of 64 bits in a cache line."""
LOOKS_MAX = 12_000
LOOK_S = 0.005


class Loops:
    """One for each of `cpus`, which may name one several times; all have turned once."""

    def __init__(self, cpus: Sequence[int]) -> None:
        self._memory = mmap.mmap(-1, max(len(cpus), 1) * STRIDE * 8)
        self._turns = memoryview(self._memory).cast("Q")
        self._pids = [self._start(number, cpu) for number, cpu in enumerate(cpus)]
        for _ in range(LOOKS_MAX):
            if not self._pids or self.turns_min:
                return
            time.sleep(LOOK_S)
        raise TimeoutError("a loop did not begin to turn")

    def _start(self, number: int, cpu: int) -> int:
        turns, at = self._turns, number * STRIDE

        def turn() -> None:
            while True:
                turns[at] += 1

        return children.fork_loop(turn, [cpu])

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._pids)

    @property
    def turns_min(self) -> int:
        """Of the one that got the least."""
        return min((self._turns[number * STRIDE] for number in range(self.count)), default=0)

    def pause(self) -> None:
        """Each is still when this returns."""
        for pid in self._pids:
            os.kill(pid, signal.SIGSTOP)
        for pid in self._pids:
            os.waitpid(pid, os.WUNTRACED)

    def resume(self) -> None:
        """Each goes on soon."""
        for pid in self._pids:
            os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        """They are gone when this returns."""
        while self._pids:
            children.end(self._pids.pop())
