# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that layers start, each in its own session: none outlives the run."""

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

GRACE_S = ((signal.SIGINT, 10.0), (signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))
"""The signals that end a program, each with its time limit. On the first one pytest cleans up."""
POLL_S = 0.05
REAP_S = 1.0
AS_FROM_A_TERMINAL = ("env", "--default-signal=INT,HUP,QUIT")
"""Under nohup, and after `&` in a script, programs would ignore signals that `end()` sends."""
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The exit code of a program, and its CPU time with that of children that it waited for."""

    code: int
    cpu_s: float


class Children:
    """The programs that run now. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._closed = False

    def run(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path,
        env: Mapping[str, str],
        output: TextIO | None = None,
    ) -> Ended:
        """Runs a program until it ends; raises KeyboardInterrupt if `end()` was called."""
        process = self._start(command, cwd, env, output)
        try:
            _, status, usage = os.wait4(process, 0)
        except ChildProcessError:  # end() has waited for it.
            raise KeyboardInterrupt from None
        with self._lock:
            if self._closed:
                raise KeyboardInterrupt
            self._running.discard(process)
        code = os.waitstatus_to_exitcode(status)
        return Ended(code=code, cpu_s=usage.ru_utime + usage.ru_stime)

    def _start(
        self,
        command: Sequence[str | Path],
        cwd: Path,
        env: Mapping[str, str],
        output: TextIO | None,
    ) -> int:
        with self._lock:
            if self._closed:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                [*AS_FROM_A_TERMINAL, *map(str, command)],
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output and subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process.pid)
            process.returncode = 0  # run() waits for it: Popen does not report CPU time.
            return process.pid

    def adopt_orphans(self) -> None:
        """Makes this process the parent of orphaned descendants, also of those in other sessions.

        It reaps them, because tests of kills leave a thousand, and a zombie keeps its process ID.
        """
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        threading.Thread(target=self._reap_orphans, daemon=True).start()

    def _reap_orphans(self) -> None:
        while True:
            time.sleep(REAP_S)
            for process in _children_of_this():
                with contextlib.suppress(ChildProcessError, ProcessLookupError), self._lock:
                    # Other threads wait for what run() started, and for programs in our session.
                    if process not in self._running and os.getsid(process) != os.getsid(0):
                        os.waitpid(process, os.WNOHANG)

    def end(self) -> None:
        """Interrupts all programs, and kills those that do not end; none can start afterwards."""
        with self._lock:
            self._closed = True
        for number, grace_s in GRACE_S:
            self._signal(number)
            deadline_s = time.monotonic() + grace_s
            while self._alive() and time.monotonic() < deadline_s:
                time.sleep(POLL_S)

    def _signal(self, number: signal.Signals) -> None:
        for group in self._alive():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)

    def _alive(self) -> list[int]:
        """Returns the process groups that still exist, even if their first process has ended."""
        return [group for group in sorted(self._running) if _is_alive(group)]


def _is_alive(group: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(group, os.WNOHANG)  # A zombie exists until its parent waits for it.
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _children_of_this() -> list[int]:
    found: list[int] = []
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return found


def end_descendants() -> None:
    """Kills all descendants of this process."""
    while left := _descendants(os.getpid()):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(POLL_S)


def _descendants(ancestor: int) -> list[int]:
    """Returns the descendants of a process that still run, whatever their session."""
    parents = dict(_parent_of(int(entry.name)) for entry in Path("/proc").glob("[0-9]*"))
    found = [ancestor]
    for process in found:
        found += [each for each, parent in parents.items() if parent == process]
    return found[1:]


def _parent_of(process: int) -> tuple[int, int]:
    """Returns the process and its parent; the parent is 0 if the process has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return process, 0
    state, parent = stat.rpartition(")")[2].split()[:2]
    return process, 0 if state in "ZX" else int(parent)
