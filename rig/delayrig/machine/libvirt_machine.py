# SPDX-License-Identifier: GPL-2.0-or-later
"""The backend for machines behind libvirt: its embedded driver, or any other URI.

libvirt's calls block, so each runs in a thread; its events come from a thread of their own.
"""

import asyncio
import contextlib
import itertools
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

# libvirt reads this when it is loaded. Otherwise it would warn of every option that it passes on
# unchanged, and of missing firmware tables. Real problems come as exceptions.
os.environ.setdefault("LIBVIRT_LOG_OUTPUTS", "4:file:/dev/null")

import libvirt
import libvirt_qemu

from delayrig.base.errors import LostGuestError, RigFaultError
from delayrig.base.paths import Paths
from delayrig.machine.arguments import LIBRARY_PATH, Hardware
from delayrig.machine.domain import domain_xml
from delayrig.machine.embedded_libvirt import (
    EMBED,
    EMBEDDED,
    GUEST_NAME,
    adopt_orphans,
    embed_uri,
    provide_starter,
)
from delayrig.machine.machine import MIGRATION, STOP, Machine, overdue
from delayrig.model.platform import PLATFORMS

T = TypeVar("T")
Listener = Callable[[str, dict[str, Any]], None]

LOOK_PAUSE_S = 0.25
END_LIMIT_S = 20.0
ROOT = "root="
LOOK_AT_LIBVIRT = "`rig/rig doctor` looks at libvirt"

_numbers = itertools.count()
_connecting = threading.Lock()


def libvirt_version() -> str:
    """Returns libvirt's version, such as 9.0.0."""
    number = libvirt.getVersion()
    return f"{number // 1000000}.{number // 1000 % 1000}.{number % 1000}"


class Host:
    """One connection to a libvirt, which passes QEMU's events to its machines."""

    def __init__(self, uri: str) -> None:
        if EMBEDDED in uri:  # QEMUs of the embedded driver are processes of ours.
            adopt_orphans()
        try:
            self.connection = libvirt.open(uri)
        except libvirt.libvirtError as error:
            raise RigFaultError(f"libvirt at {uri}: {error}", hint=LOOK_AT_LIBVIRT) from error
        self.listeners: dict[str, Listener] = {}
        """The function that gets the name and details of each event, by the domain's name."""
        libvirt_qemu.qemuMonitorEventRegister(self.connection, None, None, self._on_event, None, 0)

    def _on_event(
        self, _connection: object, domain: libvirt.virDomain, event: str, *more: Any
    ) -> None:
        _seconds, _micros, details, _opaque = more
        if listener := self.listeners.get(domain.name()):
            listener(event, json.loads(details or "{}"))


def find_host(uri: str) -> Host:
    """Returns this process's only connection to that libvirt."""
    with _connecting:
        _run_events()
        return _open_host(uri)


_open_host = cache(Host)


@cache
def _run_events() -> None:
    libvirt.registerErrorHandler(lambda _context, _error: None, None)
    libvirt.virEventRegisterDefaultImpl()

    def run() -> None:
        while True:
            libvirt.virEventRunDefaultImpl()

    threading.Thread(target=run, name="libvirt-events", daemon=True).start()


def learn_about_qemu(paths: Paths) -> None:
    """Makes the embedded driver ask QEMU for its capabilities, unless it knows them.

    libvirt starts a QEMU for that, which makes itself a daemon, so a rig that is killed just then
    leaves it behind. Raises `RigFaultError`.
    """
    host = find_host(embed_uri(paths))
    for program in {platform.program for platform in PLATFORMS.values() if platform.libvirt_arch}:
        try:
            host.connection.getDomainCapabilities(str(provide_starter(program, paths)))
        except libvirt.libvirtError as error:
            raise RigFaultError(
                f"libvirt cannot use {program}: {error}", hint=LOOK_AT_LIBVIRT
            ) from error


def _make_sure_it_ended(pid: int, name: str) -> None:
    deadline_s = time.monotonic() + END_LIMIT_S
    line = Path(f"/proc/{pid}/cmdline")
    while time.monotonic() < deadline_s:
        try:
            if f"guest={name},".encode() not in line.read_bytes():
                return
            os.kill(pid, signal.SIGKILL)
        except OSError:
            return
        time.sleep(LOOK_PAUSE_S)


class LibvirtMachine(Machine):
    def __init__(self, hardware: Hardware, *, uri: str, cpu: int, emulator: str, log: Path) -> None:
        self._hardware = hardware
        self._emulator = emulator
        self._uri = uri
        self._cpu = cpu
        self._log = log
        self._name = f"{GUEST_NAME}{os.getpid()}-{next(_numbers)}"
        self._domain: libvirt.virDomain | None = None
        self._host: Host | None = None
        self._events: dict[str, asyncio.Queue[dict[str, Any]]] = {
            name: asyncio.Queue() for name in (STOP, MIGRATION)
        }

    async def start(self) -> None:
        incoming = self._hardware.incoming is not None
        flags = libvirt.VIR_DOMAIN_START_PAUSED if incoming else 0
        self._loop = asyncio.get_running_loop()
        host = await asyncio.to_thread(find_host, self._uri)
        host.listeners[self._name] = self._on_event
        self._host = host
        xml = domain_xml(
            self._hardware,
            name=self._name,
            emulator=self._emulator,
            cpu=self._cpu,
            library_path=os.environ.get(LIBRARY_PATH, ""),
        )
        self._domain = await self._call(lambda: host.connection.createXML(xml, flags))
        if incoming:
            await self._wait_loaded()

    async def wait_gone(self) -> None:
        """Polls libvirt until it reports that the domain has ended."""
        domain = self._domain
        assert domain is not None
        with contextlib.suppress(libvirt.libvirtError):  # It no longer knows such a domain.
            while await asyncio.to_thread(domain.isActive):  # noqa: ASYNC110 - no event
                await asyncio.sleep(LOOK_PAUSE_S)

    async def stop(self) -> None:
        domain, self._domain = self._domain, None
        if self._host is not None:
            self._host.listeners.pop(self._name, None)
        if domain is not None:
            await asyncio.to_thread(self._destroy, domain)

    def _destroy(self, domain: libvirt.virDomain) -> None:
        """Destroys the domain. Kills QEMU if libvirt, on a busy host, does not do so in time."""
        root = Path(self._uri.partition(ROOT)[2])
        file = root / "run" / "qemu" / f"{self._name}.pid"
        pid = file.read_text(encoding="ascii") if ROOT in self._uri and file.is_file() else ""
        with contextlib.suppress(libvirt.libvirtError):
            domain.destroy()
        if pid.strip():
            _make_sure_it_ended(int(pid), self._name)
        log = root / "log" / "qemu" / f"{self._name}.log"
        if ROOT in self._uri and log.is_file():
            shutil.copyfile(log, self._log)

    def _on_event(self, event: str, details: dict[str, Any]) -> None:
        """Queues an event; libvirt's thread calls this."""
        if event in self._events:
            self._loop.call_soon_threadsafe(self._events[event].put_nowait, details)

    async def _next(self, event: str, limit_s: float, what: str) -> dict[str, Any]:
        try:
            return await asyncio.wait_for(self._events[event].get(), limit_s)
        except TimeoutError:
            raise overdue(limit_s, what) from None

    def _messages(self) -> str:
        return f"see libvirt's log of the domain {self._name}"

    def _forget(self, event: str) -> None:
        while not self._events[event].empty():
            self._events[event].get_nowait()

    async def _execute(self, command: str, arguments: dict[str, object] | None = None) -> Any:
        more = {"arguments": arguments} if arguments else {}
        request = json.dumps({"execute": command, **more})
        domain = self._domain
        answer = await self._call(lambda: libvirt_qemu.qemuMonitorCommand(domain, request, 0))
        parsed = json.loads(answer)
        if "error" in parsed:
            raise LostGuestError(f"QEMU refused {command}: {parsed['error'].get('desc')}")
        return parsed["return"]

    async def _call(self, function: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(function)
        except libvirt.libvirtError as error:
            raise LostGuestError(f"libvirt: {error}") from error


def make_libvirt_machine(
    hardware: Hardware, *, connect: str, cpu: int, paths: Paths, log: Path
) -> LibvirtMachine:
    """Returns a domain of the libvirt at `connect`, or of one without a daemon (`embed`)."""
    program = hardware.shape.platform.program
    emulator = shutil.which(program) or ""
    if connect == EMBED:
        connect, emulator = embed_uri(paths), str(provide_starter(program, paths))
    return LibvirtMachine(hardware, uri=connect, cpu=cpu, emulator=emulator, log=log)
