# SPDX-License-Identifier: GPL-2.0-or-later
"""The backend for thousands of cells: QEMU as a child process, controlled by QMP."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qemu.qmp import EventListener, QMPClient, QMPError

from delayrig.base.die_with_parent import die_with_parent
from delayrig.base.durations import NS_PER_S
from delayrig.base.errors import LostGuestError, RigFaultError
from delayrig.base.private_net import words_into
from delayrig.machine.arguments import (
    LIBRARY_PATH,
    PRELOAD_NOTE,
    Hardware,
    has_state_in_memory,
    kept_to,
    preloading,
    qemu_arguments,
)
from delayrig.machine.machine import JOB, MIGRATION, STOP, Machine, overdue
from delayrig.machine.ram_reset import (
    CannotResetError,
    forget_translations,
    put_back,
    stale_stretches,
)

CONNECT_LIMIT_S = 20.0
COMMAND_LIMIT_S = 60.0
LOOK_EVERY_S = 2.0
USED, QUEUED = 0, 1
"""The fields of a thread's scheduling statistics."""
BUSY_PART = 0.5
"""A QEMU that used a CPU for this part of a limit is busy. One that hangs uses almost none."""
# Otherwise glibc asks the kernel for each further page of a thread's heap, a thousand times a cell.
TUNABLES = {"GLIBC_TUNABLES": "glibc.malloc.top_pad=4194304"}


class QemuMachine(Machine):
    """A `Machine` in a process of its own, restricted to one host CPU.

    QEMU's output goes to `log`.
    """

    def __init__(self, hardware: Hardware, *, log: Path, cpu: int) -> None:
        self._hardware = hardware
        self._log = log
        self._cpu = cpu
        self._process: asyncio.subprocess.Process | None = None
        self._qmp = QMPClient("guest")
        self._events = {name: EventListener(names=[name]) for name in (STOP, MIGRATION, JOB)}
        self._qtest: socket.socket | None = None
        self._opened: dict[Path, int] = {}

    async def start(self) -> None:
        ours, theirs = socket.socketpair()
        self._qtest, their_qtest = socket.socketpair()
        qtest_fd = their_qtest.fileno() if self._hardware.is_reset else None
        arguments = qemu_arguments(self._hardware, monitor_fd=theirs.fileno(), qtest_fd=qtest_fd)
        program, preload = [self._hardware.shape.platform.program, *arguments], {}
        if real := self._hardware.real:
            command = [*(words_into(real.net) if real.net else []), *die_with_parent(program)]
        else:
            command = die_with_parent([*kept_to(self._cpu), *program])
            preload = preloading(self._hardware.preload, os.environ.get(LIBRARY_PATH, ""))
        with theirs, their_qtest, self._log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(), *([] if qtest_fd is None else [qtest_fd])),
                env=os.environ | TUNABLES | preload,
            )
        for listener in self._events.values():
            self._qmp.register_listener(listener)
        self._qmp.logger.disabled = True
        try:
            await asyncio.wait_for(self._qmp.connect(ours), CONNECT_LIMIT_S)
        except (QMPError, OSError, TimeoutError) as error:
            raise LostGuestError(f"QEMU did not open its monitor: {self._messages()}") from error
        # ld.so ignores a library that it cannot preload, and times would no longer be exact.
        if preload and PRELOAD_NOTE not in self._messages():
            raise RigFaultError(
                f"{self._hardware.preload} has no effect in this QEMU: {self._messages()}",
                hint="`rig/rig setup` builds it anew",
            )
        if self._hardware.incoming is not None:
            await self._load(self._hardware.incoming)
        else:
            await self._execute("cont")

    async def reset(self, states: Path, content: Path) -> None:
        """Resets the machine to the pause of a snapshot, keeping translations of unchanged pages.

        `states` is a copy for this QEMU alone, `content` is the snapshot's RAM. Raises
        `CannotResetError` if a new machine is better.
        """
        hardware = self._hardware
        assert hardware.memory is not None
        assert self._qtest is not None
        assert self._process is not None
        process, ram = self._process.pid, hardware.memory.resolve()
        try:
            if states not in self._opened:
                await self.open_states(states, len(self._opened))
                self._opened[states] = len(self._opened)
            await self.load_states(self._opened[states])
            stretches = await asyncio.to_thread(stale_stretches, process, ram, content)
            base = hardware.shape.platform.ram_base
            await asyncio.to_thread(forget_translations, self._qtest, base, stretches)
            await asyncio.to_thread(put_back, process, ram, stretches, content)
            # A device with state in memory reads the memory when it is loaded, so it is loaded
            # again after the memory is restored. The first load must come before that, because it
            # resets devices, which may write to memory.
            if has_state_in_memory(hardware.shape):
                await self.load_states(self._opened[states])
        except (OSError, LostGuestError) as error:
            raise CannotResetError(str(error)) from error

    def move(self, cpu: int) -> None:
        assert self._process is not None
        for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {cpu})

    async def wait_gone(self) -> None:
        assert self._process is not None
        await self._process.wait()

    async def stop(self) -> None:
        """Kills QEMU. A cell needs no orderly shutdown."""
        with contextlib.suppress(QMPError, OSError, asyncio.TimeoutError, EOFError):
            await asyncio.wait_for(self._qmp.disconnect(), 5)
        if self._qtest is not None:
            self._qtest.close()
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _next(self, event: str, limit_s: float, what: str) -> dict[str, Any]:
        coming = asyncio.ensure_future(self._events[event].get())
        assert self._process is not None
        death = asyncio.ensure_future(self._process.wait())
        used_before_s = scheduled_s(self._process.pid, USED)
        try:
            await wait_for_first({coming, death}, limit_s=limit_s, queued_s=self._queued_s)
            if coming.done():
                message: dict[str, Any] = dict(coming.result())
                return dict(message.get("data", {}))
        finally:
            coming.cancel()
            death.cancel()
        if self._process.returncode is not None:
            raise LostGuestError(f"QEMU ended by itself: {self._messages()}")
        used_s = scheduled_s(self._process.pid, USED) - used_before_s
        raise overdue(limit_s, what, is_busy=used_s >= BUSY_PART * limit_s)

    def _forget(self, event: str) -> None:
        self._events[event].clear()

    async def _execute(self, command: str, arguments: dict[str, object] | None = None) -> Any:
        answer = asyncio.ensure_future(self._qmp.execute(command, arguments))
        try:
            await wait_for_first({answer}, limit_s=COMMAND_LIMIT_S, queued_s=self._queued_s)
            if answer.done():
                return answer.result()
        except QMPError as error:
            raise LostGuestError(f"QEMU refused {command}: {error}: {self._messages()}") from error
        finally:
            answer.cancel()
        raise overdue(COMMAND_LIMIT_S, f"QEMU's answer to {command}")

    def _queued_s(self) -> float:
        return scheduled_s(self._process.pid, QUEUED) if self._process is not None else 0

    def _messages(self) -> str:
        return self._log.read_text(errors="replace").strip() or "it said nothing"


async def wait_for_first(
    waiting: set[asyncio.Future[Any]], *, limit_s: float, queued_s: Callable[[], float]
) -> None:
    """Returns when one of `waiting` is done, or `limit_s` are over.

    Time in which QEMU waits for a CPU, by which `queued_s` grows, does not count: a guest that
    hangs does not wait for a CPU, it sleeps or spins.
    """
    began_s, queued_before_s = time.monotonic(), queued_s()
    while True:
        used_s = time.monotonic() - began_s - (queued_s() - queued_before_s)
        if used_s >= limit_s:
            return
        done, _ = await asyncio.wait(
            waiting,
            timeout=min(limit_s - used_s, LOOK_EVERY_S),
            return_when=asyncio.FIRST_COMPLETED,
        )
        if done:
            return


def scheduled_s(process: int, field: int, proc: Path = Path("/proc")) -> float:
    """Returns how long the busiest thread of a process `USED` a CPU, or was `QUEUED` for one.

    Returns 0 if the kernel does not report it, or the process is gone. Source: Linux
    Documentation/scheduler/sched-stats.rst.
    """
    times_ns = [0]
    for path in (proc / str(process) / "task").glob("*/schedstat"):
        try:
            times_ns.append(int(path.read_text(encoding="ascii").split()[field]))
        except (OSError, ValueError, IndexError):
            continue
    return max(times_ns) / NS_PER_S
