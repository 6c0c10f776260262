# SPDX-License-Identifier: GPL-2.0-or-later
"""The session's children: they start with the right settings, and none outlives the session.

The kernel kills a child when the session dies (PR_SET_PDEATHSIG), except a sandbox, which notices
that and ends by itself (images/confine/main.c). Processes that a child leaves behind become the
session's children (PR_SET_CHILD_SUBREAPER), so that it can find all of them and end them by id.
"""

import contextlib
import os
import resource
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from delayrig.base.die_with_parent import PR_SET_PDEATHSIG, become_subreaper, prctl

# Source: linux/prctl.h, linux/capability.h.
PR_CAPBSET_DROP, PR_SET_TIMERSLACK = 24, 29
CAP_SYS_NICE = 23
USUAL_SLACK_NS = 50_000
"""Linux's default timer slack: that of processes started by a shell.

A child of a real-time process would inherit a slack of 0.
"""

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "LANG": "C"}


def adopt_orphans(parent: int) -> None:
    """Makes this process the parent of its orphaned descendants.

    Ends the process if its own parent is gone. Call this before anything else.
    """
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    become_subreaper()
    if os.getppid() != parent:
        raise SystemExit(f"process {parent}, which started this one, is gone")


def die_with_session(session: int) -> None:
    """Makes a forked child die with the session, and ends it if the session is already gone."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != session:
        os._exit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSettings:
    cpus: Sequence[int] = ()
    """The CPUs of the child; empty: those of this process."""
    file_bytes_max: int
    memory_bytes_max: int = resource.RLIM_INFINITY
    realtime_denied: bool = False
    realtime_max: int = 0
    """The highest real-time priority it may take without further rights; 0: no change."""
    session: int = field(default_factory=os.getpid)
    dies_with_session: bool = True
    """False for a child that ends by itself when the session ends."""

    def take(self) -> None:
        if self.dies_with_session:
            die_with_session(self.session)
        prctl(PR_SET_TIMERSLACK, USUAL_SLACK_NS)
        if self.cpus:
            os.sched_setaffinity(0, self.cpus)
        _lower(resource.RLIMIT_FSIZE, self.file_bytes_max)
        _lower(resource.RLIMIT_AS, self.memory_bytes_max)
        _lower(resource.RLIMIT_CORE, 0)
        if self.realtime_max:
            with contextlib.suppress(ValueError):  # Root may lack CAP_SYS_RESOURCE.
                resource.setrlimit(resource.RLIMIT_RTPRIO, (self.realtime_max,) * 2)
        if self.realtime_denied:
            _lower(resource.RLIMIT_RTPRIO, 0)
            # Dropping needs CAP_SETPCAP; a process without it usually lacks CAP_SYS_NICE, too.
            with contextlib.suppress(PermissionError):
                prctl(PR_CAPBSET_DROP, CAP_SYS_NICE)


def _lower(limit: int, value: int) -> None:
    """Lowers the soft and the hard limit to the value; a limit that is as low already stays."""
    known = resource.getrlimit(limit)
    soft, hard = (min(each, value, key=_without_limit_last) for each in known)
    resource.setrlimit(limit, (soft, hard))


def _without_limit_last(value: int) -> tuple[bool, int]:
    return value == resource.RLIM_INFINITY, value


def start(
    words: Sequence[str],
    settings: ChildSettings,
    *,
    output: BinaryIO | int = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Starts a child without input, to be reaped by `os.wait4()`."""
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=ENVIRONMENT,
        pass_fds=pass_fds,
        preexec_fn=settings.take,
    )


def fork_loop(body: Callable[[], None], cpus: Sequence[int]) -> int:
    """Forks a child that runs `body` on those CPUs; returns its id."""
    session = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        die_with_session(session)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.sched_setaffinity(0, cpus)
        body()
    finally:
        os._exit(1)


def strike(pid: int, number: signal.Signals) -> None:
    """Sends a signal to a process, which may be gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def end(pid: int) -> None:
    strike(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def end_all() -> int:
    """Ends and reaps all children; returns their number."""
    ended = 0
    while True:
        for pid in _children():
            strike(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return ended
        ended += 1


def _children() -> list[int]:
    own = os.getpid()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        with contextlib.suppress(OSError, IndexError, ValueError):
            status = (entry / "stat").read_text(encoding="ascii", errors="replace")
            if int(status.rpartition(")")[2].split()[1]) == own:
                found.append(int(entry.name))
    return found


def may_take_realtime(pid: int) -> tuple[bool, int]:
    """Returns whether that process has CAP_SYS_NICE, and its highest real-time priority."""
    effective = _line_of(pid, "status", "CapEff:").split()[1]
    most = _line_of(pid, "limits", "Max realtime priority").split()[3]
    limit = resource.RLIM_INFINITY if most == "unlimited" else int(most)
    return bool(int(effective, 16) >> CAP_SYS_NICE & 1), limit


def _line_of(pid: int, name: str, begin: str) -> str:
    """Returns a line of /proc. prlimit(2) would need a capability for another user's process."""
    text = Path(f"/proc/{pid}/{name}").read_text(encoding="ascii", errors="replace")
    return next(line for line in text.splitlines() if line.startswith(begin))
