# SPDX-License-Identifier: GPL-2.0-or-later
"""The actions of the session on a running subject: one class for each key of its specification.

To add one, write a class here, read its key in `actions_of()`, and add the host lane to `lanes` of
its hazard (delayrig/hazards/).
"""

import contextlib
import mmap
import os
import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from delayrig.base.durations import NS_PER_MS, NS_PER_S
from delayrig.lanes.host import children
from delayrig.lanes.host.record import Record, now_ns
from delayrig.lanes.host.spec import Spec

NEVER_NS = 1 << 63
STRIDE = 8
"""The number of 64-bit numbers in a cache line."""
LOOKS_MAX = 12_000
LOOK_S = 0.005


class Loops:
    """Processes that only run loops, one for each of `cpus`, which may contain a CPU several times.

    Every loop has completed at least one turn when the constructor returns.
    """

    def __init__(self, cpus: Sequence[int]) -> None:
        self._memory = mmap.mmap(-1, max(len(cpus), 1) * STRIDE * 8)
        self._turns = memoryview(self._memory).cast("Q")
        self._places = range(0, len(cpus) * STRIDE, STRIDE)
        self._pids = [self._start(number, cpu) for number, cpu in enumerate(cpus)]
        for _ in range(LOOKS_MAX):
            if not self._pids or self.turns_min:
                return
            time.sleep(LOOK_S)
        raise TimeoutError("a loop did not start")

    def _start(self, number: int, cpu: int) -> int:
        turns, at = self._turns, number * STRIDE

        def turn() -> None:
            while True:
                turns[at] += 1

        return children.fork_loop(turn, [cpu])

    @property
    def turns_min(self) -> int:
        """Returns the turns of the slowest loop, also after the loops have ended."""
        return min((self._turns[at] for at in self._places), default=0)

    def pause(self) -> None:
        """Stops each loop; all are stopped when this returns."""
        for pid in self._pids:
            os.kill(pid, signal.SIGSTOP)
        for pid in self._pids:
            os.waitpid(pid, os.WUNTRACED)

    def resume(self) -> None:
        for pid in self._pids:
            os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        """Ends the loops; all are gone when this returns."""
        while self._pids:
            children.end(self._pids.pop())


class Action:
    due_ns = NEVER_NS
    """The time of the next call of `act()`."""

    def __init__(self, record: Record) -> None:
        self.record = record

    @property
    def awaits_accept(self) -> bool:
        """Returns True if its class has `accepted()`."""
        return type(self).accepted is not Action.accepted

    def begin(self) -> None:
        """Acts before the subject starts."""

    def started(self, subject: int) -> None:
        """Acts just after the subject has started."""

    def accepted(self, subject: int, printed: Path) -> None:
        """Acts when the emulator has accepted the subject, which waits until this returns."""

    def act(self, now: int) -> None:
        """Acts at the due time."""

    def ended(self) -> None:
        """Acts after the subject has ended."""


class Load(Action):
    """Loops on some CPUs, from before the subject's start to its end."""

    def __init__(self, record: Record, cpus: Sequence[int]) -> None:
        super().__init__(record)
        self._cpus = cpus
        self.loops = Loops([])

    def begin(self) -> None:
        self.loops = Loops(self._cpus)

    def ended(self) -> None:
        self.loops.end()

    def note(self, event: str, **facts: object) -> None:
        turns = self.loops.turns_min
        self.record.note(event, count=len(self._cpus), turns_min=turns, **facts)


class Hogs(Load):
    """Loops on the subject's CPU."""

    def begin(self) -> None:
        super().begin()
        self.note("hogs_running")

    def ended(self) -> None:
        self.note("hogs_stopped")
        self.loops.end()


class Siblings(Load):
    """Loops on other CPUs, until the subject is accepted."""

    def begin(self) -> None:
        super().begin()
        self.note("siblings_running")

    def accepted(self, subject: int, printed: Path) -> None:
        self.loops.end()
        self.note("siblings_stopped", stdout_bytes=printed.stat().st_size)


class ScheduledSiblings(Siblings):
    """Loops on other CPUs in windows counted from the subject's start or acceptance."""

    def __init__(self, record: Record, cpus: Sequence[int], spec: Spec) -> None:
        super().__init__(record, cpus)
        windows = [[int(edge) for edge in window] for window in spec.values_of("siblings_window")]
        self._edges_ns = [edge * NS_PER_MS for window in windows for edge in window]
        self._period_ns = spec.number_of("siblings_period_ms") * NS_PER_MS
        self._from_accept = ["accept"] in spec.values_of("siblings_from")
        self._next = 0
        self._origin_ns = 0

    def begin(self) -> None:
        self.loops = Loops(self._cpus)
        self.loops.pause()

    def started(self, subject: int) -> None:
        if not self._from_accept:
            self._plan_from(now_ns())

    def accepted(self, subject: int, printed: Path) -> None:
        if self._from_accept:
            self._plan_from(now_ns())

    def _plan_from(self, origin_ns: int) -> None:
        self._origin_ns = origin_ns
        self.due_ns = origin_ns + self._edges_ns[0]

    def act(self, now: int) -> None:
        if self._next % 2 == 0:
            self.loops.resume()
            self.note("siblings_running")
        else:
            self.loops.pause()
            self.note("siblings_stopped")
        self._next += 1
        turn, at = divmod(self._next, len(self._edges_ns))
        again = turn == 0 or self._period_ns
        due_ns = self._origin_ns + turn * self._period_ns + self._edges_ns[at]
        self.due_ns = due_ns if again else NEVER_NS


class Repeated(Action):
    """An action at each beat, first one beat after the subject's start."""

    def __init__(self, record: Record, beat_ns: int) -> None:
        super().__init__(record)
        self._beat_ns = beat_ns
        self._subject = 0
        self._count = 0

    def started(self, subject: int) -> None:
        self._subject = subject
        self.due_ns = now_ns() + self._beat_ns


class Stops(Repeated):
    """An action that sends SIGSTOP, and SIGCONT half a period later."""

    def __init__(self, record: Record, rate_hz: int) -> None:
        super().__init__(record, NS_PER_S // rate_hz // 2)
        self._stopped = False

    def act(self, now: int) -> None:
        self._stopped = not self._stopped
        self._count += self._stopped
        children.strike(self._subject, signal.SIGSTOP if self._stopped else signal.SIGCONT)
        self.due_ns = now + self._beat_ns

    def ended(self) -> None:
        self.record.note("stops", count=self._count)


class Migration(Repeated):
    """A move of the subject at each beat to another of its CPUs, chosen at random from a seed.

    The subject starts on the first CPU.
    """

    def __init__(self, record: Record, rate_hz: int, seed: int, cpus: Sequence[int]) -> None:
        super().__init__(record, NS_PER_S // rate_hz)
        self._draws = random.Random(f"migrate {seed}")
        self._cpus = list(cpus)
        self._at = self._cpus[0]

    def act(self, now: int) -> None:
        self._at = self._draws.choice([cpu for cpu in self._cpus if cpu != self._at])
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(self._subject, [self._at])
            self._count += 1
        self.due_ns = now + self._beat_ns

    def ended(self) -> None:
        self.record.note("migrations", count=self._count)


class RealtimeDenied(Action):
    """A check of the subject's rights to real-time priority, once it is accepted."""

    def accepted(self, subject: int, printed: Path) -> None:
        """Records the rights. The subject's own program, not its sandbox, runs by now."""
        allowed, most = children.may_take_realtime(subject)
        self.record.note("subject_rights", cap_sys_nice=int(allowed), rtprio_max=most)


def actions_of(spec: Spec, record: Record) -> list[Action]:
    actions: list[Action] = []
    if hogs := spec.number_of("hogs"):
        actions.append(Hogs(record, spec.cpus[:1] * hogs))
    if siblings := spec.number_of("siblings"):
        others = spec.cpus[1 : siblings + 1]
        if spec.values_of("siblings_window"):
            actions.append(ScheduledSiblings(record, others, spec))
        else:
            actions.append(Siblings(record, others))
    if rate_hz := spec.number_of("stops_hz"):
        actions.append(Stops(record, rate_hz))
    for rate, seed in spec.values_of("migrate"):
        actions.append(Migration(record, int(rate), int(seed), spec.cpus))
    if spec.number_of("realtime_denied"):
        actions.append(RealtimeDenied(record))
    return actions


def cpus_at_start(spec: Spec) -> list[int]:
    """Returns the CPUs that the subject starts on; empty if it may use all.

    If a hazard loads CPUs or moves the subject, it starts on its first CPU, else on those that the
    user chose.
    """
    if any(spec.values_of(key) for key in ("hogs", "siblings", "migrate")):
        return spec.cpus[:1]
    return spec.cpus if spec.pinned else []
