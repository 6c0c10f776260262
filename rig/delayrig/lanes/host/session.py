# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one cell with its emulator, subject and hazards, and always ends all of their processes.

python -m delayrig.lanes.host.session SPEC PARENT

It works in the folder of SPEC, and writes its own events there to `agent.jsonl`, beside the files
of emulator and subject. If a part of the rig failed, an `agent_error` describes it.
"""

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from delayrig.base.durations import NS_PER_MS, NS_PER_S
from delayrig.base.private_net import enter_private_net
from delayrig.base.text import log_tail
from delayrig.lanes.host import children
from delayrig.lanes.host.actions import Action, actions_of, cpus_at_start
from delayrig.lanes.host.record import Record, now_ns, read_clocks
from delayrig.lanes.host.sandbox import subject_uid
from delayrig.lanes.host.spec import PORT, REALTIME, Spec, cpus_text, read_spec
from delayrig.lanes.host.subject import (
    BoxedSubject,
    Ended,
    PlainSubject,
    RunningSubject,
    SubjectLostError,
)

OUTPUT = Path("stdout.txt")
LOG = Path("emulator.log")
EVENTS = Path("agent.jsonl")

READY_S = 20
EMULATOR_END_S = 30
ALONE_S = 5
"""The time for a subject to notice that its emulator is gone."""
GRACE_S = 1
"""The time for an emulator to notice that its subject is gone."""
PRIORITY = 40
"""The session's priority: above any ordinary subject, below the emulator."""
READY_BYTES = 256
EMULATOR_FILE_BYTES_MAX = 1 << 30
EMULATOR_MEMORY_BYTES_MAX = 3 << 30


class SessionError(Exception):
    """A part of the rig failed, so the cell says nothing about its subject."""


class EndRequested(BaseException):
    """The session got a signal to end."""


@dataclass(slots=True, kw_only=True)
class Emulator:
    """A running emulator. `arrived` and `release` are -1 if it has no barrier."""

    pid: int
    name: str
    """The port or the terminal for clients."""
    arrived: int
    release: int
    ended: int | None = None
    """The status of wait(2)."""

    def look(self) -> bool:
        if self.ended is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.ended = status if pid else None
        return self.ended is not None


def main(arguments: list[str]) -> int:
    path, parent = arguments
    children.adopt_orphans(int(parent))
    os.chdir(Path(path).parent)
    # Actions must run when they are due. If this user may not have real-time priority, the session
    # runs without it. Its children do not inherit it.
    with suppress(PermissionError):
        policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
        os.sched_setscheduler(0, policy, os.sched_param(PRIORITY))
    record = Record()
    try:
        with _woken() as wake:
            _run(read_spec(Path(path)), record, wake)
    except (SessionError, SubjectLostError, OSError, TimeoutError) as error:
        record.note("agent_error", message=str(error), detail=_log_tail())
    except EndRequested:
        return 1
    finally:
        if left := children.end_all():
            record.note("left_over", count=left)
        record.write(EVENTS)
    return 0


@contextmanager
def _woken() -> Iterator[int]:
    """Yields a descriptor that becomes readable when a child ends (SIGCHLD)."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _request_end)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(-1)


def _request_end(_number: int, _frame: FrameType | None) -> None:
    raise EndRequested


def _run(spec: Spec, record: Record, wake: int) -> None:
    record.machine()
    since = read_clocks()
    if spec.box:
        enter_private_net()
    actions = actions_of(spec, record)
    awaits_accept = any(action.awaits_accept for action in actions)
    emulator = _start_emulator(spec, record, awaits_accept=awaits_accept)
    for action in actions:
        action.begin()
    _run_subject(spec, record, emulator, actions, wake)
    _end_emulator(record, emulator, wake)
    record.clock_rate(since)


def _start_emulator(spec: Spec, record: Record, *, awaits_accept: bool) -> Emulator:
    """Starts the emulator with real-time priority and locked memory, or without if forbidden."""
    refusal = ""
    for rights in ([REALTIME], []):
        if emulator := _try_emulator(spec, rights, awaits_accept=awaits_accept):
            record.note("emulator_rights", realtime=bool(rights), reason=refusal)
            return emulator
        refusal = _log_tail()
    raise SessionError("the emulator did not start")


def _try_emulator(spec: Spec, rights: list[str], *, awaits_accept: bool) -> Emulator | None:
    """Starts the emulator; returns None if it ended before it was ready."""
    ready_out, ready_in = os.pipe()
    arrived, release, passed = -1, -1, [ready_in]
    words = [*spec.emulator, *rights, "--ready-fd", str(ready_in)]
    if awaits_accept:
        (arrived, their_arrived), (their_release, release) = os.pipe(), os.pipe()
        passed += [their_arrived, their_release]
        words += ["--barrier-fds", f"{their_arrived},{their_release}"]
    settings = children.ChildSettings(
        file_bytes_max=EMULATOR_FILE_BYTES_MAX, memory_bytes_max=EMULATOR_MEMORY_BYTES_MAX
    )
    with LOG.open("wb") as log:
        process = children.start(words, settings, output=log, pass_fds=passed)
    for fd in passed:
        os.close(fd)
    name = _await_ready(ready_out)
    if name:
        return Emulator(pid=process.pid, name=name, arrived=arrived, release=release)
    children.end(process.pid)
    process.returncode = 0
    if awaits_accept:
        os.close(arrived)
        os.close(release)
    return None


def _await_ready(ready: int) -> str:
    """Returns the emulator's port or terminal once it listens; empty if it ended or is too slow."""
    try:
        if not select.select([ready], [], [], READY_S)[0]:
            return ""
        return os.read(ready, READY_BYTES).decode().strip()
    finally:
        os.close(ready)


def _run_subject(
    spec: Spec, record: Record, emulator: Emulator, actions: list[Action], wake: int
) -> None:
    with OUTPUT.open("wb") as output:
        subject = _make_subject(spec, emulator, output.fileno())
        record.note("subject_start", cpus=cpus_text(cpus_at_start(spec)))
        deadline_ns = now_ns() + spec.deadline_ms * NS_PER_MS
        subject.go()
    for action in actions:
        action.started(subject.pid)
    ended = _accompany(subject, emulator, actions, wake, deadline_ns)
    _note_end(record, ended or subject.end(), timed_out=ended is None)
    for action in actions:
        action.ended()


def _make_subject(spec: Spec, emulator: Emulator, output: int) -> RunningSubject:
    words = [word.replace(PORT, emulator.name) for word in [*spec.box, *spec.subject]]
    denied = bool(spec.number_of("realtime_denied"))
    uid = subject_uid() if spec.box else 0
    settings = children.ChildSettings(
        cpus=cpus_at_start(spec),
        file_bytes_max=spec.subject_file_bytes_max,
        realtime_denied=denied,
        realtime_max=PRIORITY - 1 if uid and not denied else 0,
    )
    if not spec.box:
        return PlainSubject(words, settings, output)
    for path in spec.writable if uid else []:
        os.chown(path.replace(PORT, emulator.name), uid, -1)
    try:
        return BoxedSubject(words, settings, output)
    except SubjectLostError as error:
        said = log_tail(OUTPUT.read_bytes()) or "it printed nothing"
        raise SessionError(f"{error}: {said}") from error


def _note_end(record: Record, ended: Ended, *, timed_out: bool) -> None:
    code, number = _how(ended.status, unless_exited=-1)
    record.note(
        "subject_end",
        exit_code=code,
        signal=number,
        timed_out=timed_out,
        user_ns=ended.user_ns,
        sys_ns=ended.sys_ns,
        voluntary_switches=ended.voluntary_switches,
        involuntary_switches=ended.involuntary_switches,
    )
    if ended.left:
        record.note("left_over", count=ended.left)


def _how(status: int, *, unless_exited: int) -> tuple[int, int]:
    """Returns exit code and signal of an ended process."""
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status), 0
    return unless_exited, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def _accompany(
    subject: RunningSubject, emulator: Emulator, actions: list[Action], wake: int, deadline_ns: int
) -> Ended | None:
    """Runs the due actions; returns how the subject ended, or None if its time was up."""
    arrived = emulator.arrived
    while True:
        if ended := subject.look():
            return ended
        now = now_ns()
        if now >= deadline_ns:
            return None
        if emulator.look():
            deadline_ns = min(deadline_ns, now + ALONE_S * NS_PER_S)
        for action in actions:
            if action.due_ns <= now:
                action.act(now)
        due_ns = min([deadline_ns, *(action.due_ns for action in actions)])
        fds = [fd for fd in (wake, arrived, subject.line) if fd >= 0]
        for fd in select.select(fds, [], [], max(due_ns - now_ns(), 0) / NS_PER_S)[0]:
            if fd != subject.line:
                os.read(fd, READY_BYTES if fd == wake else 1)
            if fd == arrived:
                arrived = -1  # There is only one client.
                _on_accept(emulator, subject.pid, actions)


def _on_accept(emulator: Emulator, subject: int, actions: list[Action]) -> None:
    """Runs the actions for the acceptance, and then makes the emulator serve its client."""
    for action in actions:
        action.accepted(subject, OUTPUT)
    try:
        os.write(emulator.release, b"\0")
    except BrokenPipeError as error:
        raise SessionError("the emulator is gone") from error


def _end_emulator(record: Record, emulator: Emulator, wake: int) -> None:
    """Waits for the emulator's end after that of its client, and kills it if it is overdue.

    The emulator gets SIGTERM only after `GRACE_S`, because it may still have requests to read. It
    needs the signal if it never had a client.
    """
    if not _ends_within(GRACE_S, emulator, wake):
        os.kill(emulator.pid, signal.SIGTERM)
    if not _ends_within(EMULATOR_END_S, emulator, wake):
        os.kill(emulator.pid, signal.SIGKILL)
        _, emulator.ended = os.waitpid(emulator.pid, 0)
    assert emulator.ended is not None
    code, number = _how(emulator.ended, unless_exited=255)
    record.note("emulator_end", exit_code=code, signal=number)


def _ends_within(limit_s: int, emulator: Emulator, wake: int) -> bool:
    deadline_ns = now_ns() + limit_s * NS_PER_S
    while not emulator.look():
        left_ns = deadline_ns - now_ns()
        if left_ns <= 0:
            return False
        if select.select([wake], [], [], left_ns / NS_PER_S)[0]:
            os.read(wake, READY_BYTES)
    return True


def _log_tail() -> str:
    try:
        return log_tail(LOG.read_bytes())
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
