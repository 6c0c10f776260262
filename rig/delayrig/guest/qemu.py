# SPDX-License-Identifier: GPL-2.0-or-later
"""The backend for thousands of cells: QEMU as a child process, spoken to over QMP."""

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Any

from qemu.qmp import EventListener, QMPClient, QMPError

from delayrig.errors import LostGuestError
from delayrig.guest.arguments import Hardware, pinned, qemu_arguments

CONNECT_LIMIT_S = 20.0
COMMAND_LIMIT_S = 60.0
PROGRAM = "qemu-system-x86_64"


class QemuMachine:
    """A `Machine` of its own process, kept to one host CPU. What QEMU says goes to `log`."""

    def __init__(self, hardware: Hardware, *, log: Path, cpu: int) -> None:
        self._hardware = hardware
        self._log = log
        self._cpu = cpu
        self._process: asyncio.subprocess.Process | None = None
        self._qmp = QMPClient("guest")
        self._stops = EventListener(names=["STOP"])
        self._migrations = EventListener(names=["MIGRATION"])

    async def start(self) -> None:
        """Starts QEMU; with a snapshot, returns when it is loaded and paused."""
        ours, theirs = socket.socketpair()
        arguments = qemu_arguments(self._hardware, monitor_fd=theirs.fileno())
        with theirs, self._log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *pinned(self._cpu, [PROGRAM, *arguments]),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(theirs.fileno(),),
            )
        await self._connect(ours)
        if self._hardware.incoming is not None:
            await self._wait_loaded()

    async def resume(self) -> None:
        """Lets the guest run on."""
        self._stops.clear()
        await self._execute("cont")

    async def wait_paused(self, *, limit_s: float) -> None:
        """Waits for the guest's own pause."""
        await self._next(self._stops, limit_s, "the guest to pause")

    async def save(self, path: Path, *, limit_s: float) -> None:
        """Writes the snapshot file."""
        self._migrations.clear()
        await self._enable_migration_events()
        await self._execute("migrate", {"uri": f"file:{path}"})
        await self._wait_migrated(limit_s)

    async def read_memory(self, address: int, size_bytes: int, path: Path) -> None:
        """Has QEMU write that memory to `path`."""
        await self._execute("pmemsave", {"val": address, "size": size_bytes, "filename": str(path)})

    async def stop(self) -> None:
        """Kills QEMU: nothing in a cell is worth an orderly shutdown."""
        with contextlib.suppress(QMPError, OSError, asyncio.TimeoutError, EOFError):
            await asyncio.wait_for(self._qmp.disconnect(), 5)
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _connect(self, monitor: socket.socket) -> None:
        self._qmp.register_listener(self._stops)
        self._qmp.register_listener(self._migrations)
        self._qmp.logger.disabled = True
        try:
            await asyncio.wait_for(self._qmp.connect(monitor), CONNECT_LIMIT_S)
        except (QMPError, OSError, TimeoutError) as error:
            raise LostGuestError(f"QEMU did not open its monitor: {self._said()}") from error

    async def _wait_loaded(self) -> None:
        await self._enable_migration_events()
        status = await self._execute("query-status")
        if status["status"] == "inmigrate":
            await self._wait_migrated(COMMAND_LIMIT_S)

    async def _enable_migration_events(self) -> None:
        capability = {"capability": "events", "state": True}
        await self._execute("migrate-set-capabilities", {"capabilities": [capability]})

    async def _wait_migrated(self, limit_s: float) -> None:
        while True:
            event = await self._next(self._migrations, limit_s, "the snapshot")
            match event["data"]["status"]:
                case "completed":
                    return
                case "failed":
                    raise LostGuestError(f"QEMU could not move the snapshot: {self._said()}")

    async def _next(self, listener: EventListener, limit_s: float, what: str) -> dict[str, Any]:
        event = asyncio.ensure_future(listener.get())
        assert self._process is not None
        death = asyncio.ensure_future(self._process.wait())
        try:
            await asyncio.wait({event, death}, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if event.done():
                return dict(event.result())
        finally:
            event.cancel()
            death.cancel()
        self._check_alive()
        raise LostGuestError(
            f"waited {limit_s:.0f} s of host time for {what}",
            hint="the guest hangs: see console.log in the cell's folder",
        )

    async def _execute(self, command: str, arguments: dict[str, object] | None = None) -> Any:
        try:
            return await asyncio.wait_for(self._qmp.execute(command, arguments), COMMAND_LIMIT_S)
        except (QMPError, TimeoutError) as error:
            raise LostGuestError(f"QEMU refused {command}: {error}: {self._said()}") from error

    def _check_alive(self) -> None:
        if self._process is None or self._process.returncode is not None:
            raise LostGuestError(f"QEMU ended by itself: {self._said()}")

    def _said(self) -> str:
        return self._log.read_text(errors="replace").strip() or "it said nothing"
