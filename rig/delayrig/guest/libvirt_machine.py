# SPDX-License-Identifier: GPL-2.0-or-later
"""The backend for machines behind libvirt: its embedded driver, or any other URI.

libvirt's calls block, so each runs in a thread; its events come from a thread of their own.
"""

import asyncio
import contextlib
import ctypes
import itertools
import json
import os
import shutil
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import libvirt
import libvirt_qemu

from delayrig.errors import LostGuestError, RigFaultError
from delayrig.guest.arguments import Hardware
from delayrig.guest.domain import domain_xml
from delayrig.guest.qemu import PROGRAM
from delayrig.paths import Paths

T = TypeVar("T")

EMBEDDED = "/embed"
# No daemon stands beside the embedded driver, so everything that one would do is turned off.
EMBED_CONFIGURATION = """\
stdio_handler = "file"
security_driver = "none"
namespaces = []
cgroup_controllers = []
"""
RUN_AS_ROOT = 'user = "root"\ngroup = "root"\ndynamic_ownership = 0\n'
PR_SET_CHILD_SUBREAPER = 36

_numbers = itertools.count()


def embed_uri(paths: Paths) -> str:
    """The URI of the embedded driver, its folder below the state made ready."""
    root = paths.state / "libvirt"
    configuration = root / "etc" / "qemu.conf"
    configuration.parent.mkdir(parents=True, exist_ok=True)
    as_root = RUN_AS_ROOT if os.geteuid() == 0 else ""
    configuration.write_text(EMBED_CONFIGURATION + as_root, encoding="utf-8")
    return f"qemu:///embed?root={root}"


@cache
def connect(uri: str) -> libvirt.virConnect:
    """The one connection of this process to that libvirt."""
    _run_events()
    try:
        connection = libvirt.open(uri)
        if EMBEDDED in uri:
            # Has libvirt ask QEMU what it can do; those processes it must not wait for.
            connection.getDomainCapabilities(shutil.which(PROGRAM))
            # Else a guest that ended is reaped by process 1 at its leisure, and libvirt waits.
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        return connection
    except libvirt.libvirtError as error:
        raise RigFaultError(
            f"libvirt at {uri}: {error}", hint="`rig/rig doctor` looks at libvirt"
        ) from error


@cache
def _run_events() -> None:
    libvirt.registerErrorHandler(lambda _context, _error: None, None)
    libvirt.virEventRegisterDefaultImpl()

    def run() -> None:
        while True:
            libvirt.virEventRunDefaultImpl()

    threading.Thread(target=run, name="libvirt-events", daemon=True).start()


class LibvirtMachine:
    """A `Machine` that is a domain of libvirt's."""

    def __init__(self, hardware: Hardware, *, uri: str, cpu: int) -> None:
        self._hardware = hardware
        self._uri = uri
        self._cpu = cpu
        self._name = f"flashrom-rig-{os.getpid()}-{next(_numbers)}"
        self._domain: libvirt.virDomain | None = None
        self._callback: int | None = None
        self._stopped = asyncio.Event()
        self._migrated = asyncio.Event()

    async def start(self) -> None:
        """Creates the domain; with a snapshot, returns when it is loaded and paused."""
        loop = asyncio.get_running_loop()
        incoming = self._hardware.incoming is not None
        flags = libvirt.VIR_DOMAIN_START_PAUSED if incoming else 0
        connection = await asyncio.to_thread(connect, self._uri)
        self._callback = libvirt_qemu.qemuMonitorEventRegister(
            connection, None, None, self._on_event, loop, 0
        )
        xml = domain_xml(
            self._hardware, name=self._name, emulator=shutil.which(PROGRAM) or "", cpu=self._cpu
        )
        self._domain = await self._call(lambda: connection.createXML(xml, flags))
        self._reap_when_ended()
        if incoming:
            await self._wait_loaded()

    async def resume(self) -> None:
        """Lets the guest run on."""
        self._stopped.clear()
        await self._command("cont")

    async def wait_paused(self, *, limit_s: float) -> None:
        """Waits for the guest's own pause."""
        await self._wait(self._stopped, limit_s, "the guest to pause")

    async def save(self, path: Path, *, limit_s: float) -> None:
        """Writes the snapshot file."""
        self._migrated.clear()
        await self._enable_migration_events()
        await self._command("migrate", {"uri": f"file:{path}"})
        await self._wait(self._migrated, limit_s, "the snapshot")

    async def read_memory(self, address: int, size_bytes: int, path: Path) -> None:
        """Has QEMU write that memory to `path`."""
        await self._command(
            "pmemsave", {"val": address, "size": size_bytes, "filename": str(path)}
        )

    async def stop(self) -> None:
        """Destroys the domain."""
        domain, self._domain = self._domain, None
        if self._callback is not None:
            libvirt_qemu.qemuMonitorEventDeregister(connect(self._uri), self._callback)
            self._callback = None
        if domain is not None:
            with contextlib.suppress(libvirt.libvirtError):
                await asyncio.to_thread(domain.destroy)

    def _on_event(  # noqa: PLR0913 - libvirt's signature
        self,
        _connection: object,
        domain: libvirt.virDomain,
        event: str,
        _seconds: int,
        _micros: int,
        details: str | None,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        if domain.name() != self._name:
            return
        if event == "STOP":
            loop.call_soon_threadsafe(self._stopped.set)
        elif event == "MIGRATION" and json.loads(details or "{}").get("status") == "completed":
            loop.call_soon_threadsafe(self._migrated.set)

    def _reap_when_ended(self) -> None:
        """The embedded driver's QEMU becomes our child; one that ended must be waited for."""
        if EMBEDDED not in self._uri:
            return
        root = Path(self._uri.partition("root=")[2])
        process = int((root / "run" / "qemu" / f"{self._name}.pid").read_text())

        def reap() -> None:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)

        threading.Thread(target=reap, name=f"reap-{process}", daemon=True).start()

    async def _wait_loaded(self) -> None:
        await self._enable_migration_events()
        status = await self._command("query-status")
        if status["status"] == "inmigrate":
            await self._wait(self._migrated, 60, "the snapshot")

    async def _enable_migration_events(self) -> None:
        capability = {"capability": "events", "state": True}
        await self._command("migrate-set-capabilities", {"capabilities": [capability]})

    async def _wait(self, event: asyncio.Event, limit_s: float, what: str) -> None:
        try:
            await asyncio.wait_for(event.wait(), limit_s)
        except TimeoutError:
            raise LostGuestError(
                f"waited {limit_s:.0f} s of host time for {what}",
                hint="the guest hangs: see console.log in the cell's folder",
            ) from None

    async def _command(self, name: str, arguments: dict[str, object] | None = None) -> Any:
        command = json.dumps({"execute": name, **({"arguments": arguments} if arguments else {})})
        domain = self._domain
        answer = await self._call(lambda: libvirt_qemu.qemuMonitorCommand(domain, command, 0))
        parsed = json.loads(answer)
        if "error" in parsed:
            raise LostGuestError(f"QEMU refused {name}: {parsed['error'].get('desc')}")
        return parsed["return"]

    async def _call(self, function: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(function)
        except libvirt.libvirtError as error:
            raise LostGuestError(f"libvirt: {error}") from error
