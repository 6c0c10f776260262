# SPDX-License-Identifier: GPL-2.0-or-later
"""The subject as a process: plain, or confined (`sandbox.py`, `images/confine/main.c`)."""

import os
import signal
import socket
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace

from delayrig.base.durations import NS_PER_S, NS_PER_US
from delayrig.lanes.host import children
from delayrig.lanes.host.spec import REPORT_FD

START_S = 20
END_S = 10
MESSAGE_BYTES = 256
CREDENTIALS = struct.Struct("3i")  # The struct ucred of unix(7).


class SubjectLostError(Exception):
    """The subject did not start, or its end is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    status: int
    """The status of wait(2)."""
    user_ns: int
    sys_ns: int
    voluntary_switches: int
    involuntary_switches: int
    left: int = 0
    """The number of processes that it left behind. They were ended."""


class PlainSubject:
    """A child that `go()` starts."""

    line = -1
    """A descriptor that is readable when its state changes; -1: only SIGCHLD shows its end."""

    def __init__(self, words: Sequence[str], settings: children.ChildSettings, output: int) -> None:
        self._words, self._settings, self._output = words, settings, output
        self.pid = 0

    def go(self) -> None:
        """Starts the child. os.wait4() must reap it, because only that reports its CPU time."""
        try:
            process = children.start(self._words, self._settings, output=self._output)
        except (OSError, subprocess.SubprocessError) as error:
            raise SubjectLostError(f"the subject did not start: {error}") from error
        process.returncode = 0
        self.pid = process.pid

    def look(self) -> Ended | None:
        """Returns how it ended; None while it runs."""
        return self._reap(os.WNOHANG)

    def end(self) -> Ended:
        os.kill(self.pid, signal.SIGKILL)
        ended = self._reap(0)
        assert ended is not None
        return ended

    def _reap(self, options: int) -> Ended | None:
        pid, status, usage = os.wait4(self.pid, options)
        if not pid:
            return None
        return Ended(
            status=status,
            user_ns=round(usage.ru_utime * NS_PER_S),
            sys_ns=round(usage.ru_stime * NS_PER_S),
            voluntary_switches=usage.ru_nvcsw,
            involuntary_switches=usage.ru_nivcsw,
        )


class BoxedSubject:
    """A process in a sandbox, which is set up when the constructor returns."""

    def __init__(self, words: Sequence[str], settings: children.ChildSettings, output: int) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket.settimeout(START_S)
        with theirs:
            fd = theirs.fileno()
            filled_in = [word.replace(REPORT_FD, str(fd)) for word in words]
            own = replace(settings, dies_with_session=False)
            self._sandbox = children.start(filled_in, own, output=output, pass_fds=[fd])
        self.pid = self._await_ready()
        self.line = self._socket.fileno()

    def _await_ready(self) -> int:
        """Returns the subject's id in this process's namespace."""
        try:
            room = socket.CMSG_SPACE(CREDENTIALS.size)
            message, ancillary, _, _ = self._socket.recvmsg(MESSAGE_BYTES, room)
        except TimeoutError:
            message, ancillary = b"", []
        if message != b"ready" or not ancillary:
            raise SubjectLostError("the subject's sandbox did not start")
        return int(CREDENTIALS.unpack(ancillary[0][2][: CREDENTIALS.size])[0])

    def go(self) -> None:
        """Lets the subject run its first instruction."""
        self._socket.send(b"!")
        self._socket.settimeout(0)

    def look(self) -> Ended | None:
        """Returns how it ended; None while it runs."""
        try:
            return self._hear()
        except BlockingIOError:
            return None

    def end(self) -> Ended:
        children.strike(self.pid, signal.SIGKILL)
        self._socket.settimeout(END_S)
        try:
            return self._hear()
        except TimeoutError as error:
            raise SubjectLostError("the subject's sandbox did not end") from error

    def _hear(self) -> Ended:
        try:
            message = self._socket.recv(MESSAGE_BYTES).decode(errors="replace")
        except ConnectionResetError:  # It ended before it read our last word.
            message = ""
        kind, *words = message.split() or [""]
        if kind == "failed":
            raise SubjectLostError(f"the subject did not start: {os.strerror(int(words[0]))}")
        if kind != "ended" or len(words) != 6:
            raise SubjectLostError("the subject's sandbox was lost")
        try:  # The sandbox ends with the process that reported the end.
            self._sandbox.wait(END_S)
        except subprocess.TimeoutExpired:
            children.end(self._sandbox.pid)
            self._sandbox.returncode = 0
        status, user_us, sys_us, voluntary, involuntary, left = map(int, words)
        return Ended(
            status=status,
            user_ns=user_us * NS_PER_US,
            sys_ns=sys_us * NS_PER_US,
            voluntary_switches=voluntary,
            involuntary_switches=involuntary,
            left=left,
        )


RunningSubject = PlainSubject | BoxedSubject
