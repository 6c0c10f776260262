# SPDX-License-Identifier: GPL-2.0-or-later
"""What is done over QEMU's monitor, whoever holds it: the part that both backends share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from delayrig.base.errors import LostGuestError, OverdueGuestError
from delayrig.machine import device_state

LOAD_LIMIT_S = 60.0
STOP = "STOP"
MIGRATION = "MIGRATION"
JOB = "JOB_STATUS_CHANGE"
JOB_LIMIT_S = 60.0
OUR_JOB = "rig"


@dataclass(frozen=True, slots=True)
class _States:
    """QEMU's names for an image of states; it may have several open."""

    number: int

    @property
    def _file(self) -> str:
        return f"states-file-{self.number}"

    @property
    def _image(self) -> str:
        return f"states-{self.number}"

    @property
    def nodes(self) -> list[str]:
        """From the top."""
        return [self._image, self._file]

    def file_node(self, image: Path) -> dict[str, object]:
        # Nothing in there outlives a run, so nothing waits for a disk.
        cache = {"direct": False, "no-flush": True}
        return {"node-name": self._file, "driver": "file", "filename": str(image), "cache": cache}

    def new_disk(self) -> dict[str, object]:
        disk: dict[str, object] = {"driver": "qcow2", "file": self._file}
        return disk | {"size": 1 << 16, "cluster-size": device_state.CLUSTER_BYTES}

    def image_node(self) -> dict[str, object]:
        # qcow2 cleans its cache every ten minutes of the guest's time, by the main loop: the
        # guest's CPUs would wait for that, and for ever (emulators/qemu_preload/big_lock.c).
        uncleaned: dict[str, object] = {"cache-clean-interval": 0}
        return uncleaned | {"node-name": self._image, "driver": "qcow2", "file": self._file}

    def words(self) -> dict[str, object]:
        return {"tag": device_state.TAG, "vmstate": self._image, "devices": [self._image]}


def overdue(limit_s: float, what: str) -> LostGuestError:
    """The error of a wait that came to its limit."""
    return OverdueGuestError(
        f"waited {limit_s:.0f} s of host time for {what}",
        hint="the guest hangs: see console.log in the cell's folder",
    )


class MonitoredMachine(ABC):
    """A `Machine` but for its start and its end."""

    @abstractmethod
    async def start(self) -> None:
        """Of `Machine`."""

    @abstractmethod
    async def stop(self) -> None:
        """Of `Machine`."""

    @abstractmethod
    async def _execute(self, command: str, arguments: dict[str, object] | None = None) -> Any:
        """What QEMU answers to a command; raises `LostGuestError`."""

    @abstractmethod
    async def _next(self, event: str, limit_s: float, what: str) -> dict[str, Any]:
        """The details of the next event of that name; raises `LostGuestError`."""

    @abstractmethod
    def _forget(self, event: str) -> None:
        """Drops the events of that name that nobody waited for."""

    @abstractmethod
    def _said(self) -> str:
        """QEMU's own words, or where they are."""

    async def resume(self) -> None:
        """Lets the guest run on."""
        self._forget(STOP)
        await self._execute("cont")

    async def wait_paused(self, *, limit_s: float) -> None:
        """Waits for the guest's own pause."""
        await self._next(STOP, limit_s, "the guest to pause")

    async def wake(self) -> None:
        """Of `Machine`: an answer comes from QEMU's main loop."""
        await self._execute("query-status")

    async def save(self, path: Path, *, whole: bool, limit_s: float) -> None:
        """Writes the snapshot file."""
        self._forget(MIGRATION)
        await self._set_capabilities(
            {"events": True, "x-ignore-shared": not whole, "mapped-ram": whole}
        )
        await self._execute("migrate", {"uri": f"file:{path}"})
        await self._wait_migrated(limit_s)

    async def read_memory(self, address: int, size_bytes: int, path: Path) -> None:
        """Has QEMU write that memory to `path`."""
        await self._execute("pmemsave", {"val": address, "size": size_bytes, "filename": str(path)})

    async def save_states(self, image: Path) -> None:
        """Writes the paused machine without its RAM, for `load_states`, to a new image."""
        states = _States(0)
        size = {"driver": "file", "filename": str(image), "size": 0}
        await self._job("blockdev-create", {"options": size})
        await self._execute("blockdev-add", states.file_node(image))
        await self._job("blockdev-create", {"options": states.new_disk()})
        await self._execute("blockdev-add", states.image_node())
        await self._set_capabilities({"x-ignore-shared": True, "mapped-ram": False})
        await self._job("snapshot-save", states.words())
        for node in states.nodes:
            await self._execute("blockdev-del", {"node-name": node})

    async def open_states(self, image: Path, number: int) -> None:
        """For `load_states`. QEMU notes in the image which of its states is in use."""
        states = _States(number)
        await self._execute("blockdev-add", states.file_node(image))
        await self._execute("blockdev-add", states.image_node())

    async def load_states(self, number: int) -> None:
        """Resets the machine, and loads all but its RAM; it stays paused."""
        await self._job("snapshot-load", _States(number).words())

    async def _job(self, command: str, arguments: dict[str, object]) -> None:
        self._forget(JOB)
        await self._execute(command, {"job-id": OUR_JOB} | arguments)
        while (await self._next(JOB, JOB_LIMIT_S, command))["status"] != "concluded":
            pass
        jobs = await self._execute("query-jobs")
        await self._execute("job-dismiss", {"id": OUR_JOB})
        for job in jobs:
            if job["id"] == OUR_JOB and "error" in job:
                raise LostGuestError(f"QEMU's {command} failed: {job['error']}: {self._said()}")

    @abstractmethod
    async def wait_gone(self) -> None:
        """Until QEMU has ended, by itself or by somebody else."""

    async def cpu_threads(self) -> list[int]:
        """The thread of each CPU, by its number."""
        found = await self._execute("query-cpus-fast")
        return [int(cpu["thread-id"]) for cpu in sorted(found, key=lambda cpu: cpu["cpu-index"])]

    async def _load(self, state: Path) -> None:
        """Reads the state of a machine that waits for it, and whose RAM is there already."""
        await self._set_capabilities({"events": True, "x-ignore-shared": True})
        await self._execute("migrate-incoming", {"uri": f"file:{state}"})
        await self._wait_migrated(LOAD_LIMIT_S)

    async def _wait_loaded(self) -> None:
        await self._set_capabilities({"events": True})
        status = await self._execute("query-status")
        if status["status"] == "inmigrate":
            await self._wait_migrated(LOAD_LIMIT_S)

    async def _set_capabilities(self, states: dict[str, bool]) -> None:
        capabilities = [{"capability": name, "state": on} for name, on in states.items()]
        await self._execute("migrate-set-capabilities", {"capabilities": capabilities})

    async def _wait_migrated(self, limit_s: float) -> None:
        while True:
            details = await self._next(MIGRATION, limit_s, "the snapshot")
            match details["status"]:
                case "completed":
                    return
                case "failed":
                    raise LostGuestError(f"QEMU could not move the snapshot: {self._said()}")
