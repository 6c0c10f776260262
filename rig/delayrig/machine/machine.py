# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest behind QEMU's monitor: the part that both backends share."""

from abc import ABC, abstractmethod
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


def overdue(limit_s: float, what: str, *, is_busy: bool = False) -> LostGuestError:
    return OverdueGuestError(
        f"waited {limit_s:.0f} s of host time for {what}",
        hint="the guest hangs: see console.log in the cell's folder",
        is_busy=is_busy,
    )


class Machine(ABC):
    """A guest from power-on to its end. Every wait takes a limit in seconds of host time.

    All methods raise `LostGuestError` if the guest dies, hangs or sends nonsense.
    """

    @abstractmethod
    async def start(self) -> None:
        """Starts the machine: it boots, or loads its snapshot and stays paused."""

    @abstractmethod
    async def stop(self) -> None:
        """Ends the machine and everything that belongs to it. Never fails, may be repeated."""

    @abstractmethod
    async def wait_gone(self) -> None:
        """Waits until QEMU has ended, for whatever reason."""

    @abstractmethod
    async def _execute(self, command: str, arguments: dict[str, object] | None = None) -> Any:
        """Sends a command to QEMU, and returns the answer."""

    @abstractmethod
    async def _next(self, event: str, limit_s: float, what: str) -> dict[str, Any]:
        """Returns the details of the next event of that name."""

    @abstractmethod
    def _forget(self, event: str) -> None:
        """Drops the events of that name that nobody waited for."""

    @abstractmethod
    def _messages(self) -> str:
        """Returns QEMU's own messages, or where they are."""

    async def resume(self) -> None:
        self._forget(STOP)
        await self._execute("cont")

    async def wait_paused(self, *, limit_s: float) -> None:
        """Waits until the guest pauses itself."""
        await self._next(STOP, limit_s, "the guest to pause")

    async def wake(self) -> None:
        """Makes QEMU's main loop check what is due. The guest does not change."""
        await self._execute("query-status")

    async def save(self, path: Path, *, whole: bool, limit_s: float) -> None:
        """Writes the paused machine to the file `path`.

        RAM in a file is written only if `whole`.
        """
        self._forget(MIGRATION)
        await self._set_capabilities(
            {"events": True, "x-ignore-shared": not whole, "mapped-ram": whole}
        )
        await self._execute("migrate", {"uri": f"file:{path}"})
        await self._wait_migrated(limit_s)

    async def read_memory(self, address: int, size_bytes: int, path: Path) -> None:
        """Copies physical memory of the paused machine to the file `path`."""
        await self._execute("pmemsave", {"val": address, "size": size_bytes, "filename": str(path)})

    async def save_states(self, image: Path) -> None:
        """Writes the paused machine without its RAM to a new image, for `load_states`."""
        size = {"driver": "file", "filename": str(image), "size": 0}
        await self._job("blockdev-create", {"options": size})
        file, disk = _nodes(image, 0)
        await self._execute("blockdev-add", file)
        new = {"driver": "qcow2", "file": file["node-name"], "size": 1 << 16}
        clusters = {"cluster-size": device_state.CLUSTER_BYTES}
        await self._job("blockdev-create", {"options": new | clusters})
        await self._execute("blockdev-add", disk)
        await self._set_capabilities({"x-ignore-shared": True, "mapped-ram": False})
        await self._job("snapshot-save", _states(0))
        for node in (disk, file):
            await self._execute("blockdev-del", {"node-name": node["node-name"]})

    async def open_states(self, image: Path, number: int) -> None:
        """Opens an image for `load_states`. QEMU records in it which state is in use."""
        for node in _nodes(image, number):
            await self._execute("blockdev-add", node)

    async def load_states(self, number: int) -> None:
        """Resets the machine, and loads all but its RAM; it stays paused."""
        await self._job("snapshot-load", _states(number))

    async def cpu_threads(self) -> list[int]:
        """Returns the thread of each CPU, in the order of the CPUs."""
        found = await self._execute("query-cpus-fast")
        return [int(cpu["thread-id"]) for cpu in sorted(found, key=lambda cpu: cpu["cpu-index"])]

    async def _job(self, command: str, arguments: dict[str, object]) -> None:
        self._forget(JOB)
        await self._execute(command, {"job-id": OUR_JOB} | arguments)
        while (await self._next(JOB, JOB_LIMIT_S, command))["status"] != "concluded":
            pass
        jobs = await self._execute("query-jobs")
        await self._execute("job-dismiss", {"id": OUR_JOB})
        for job in jobs:
            if job["id"] == OUR_JOB and "error" in job:
                raise LostGuestError(f"QEMU's {command} failed: {job['error']}: {self._messages()}")

    async def _load(self, state: Path) -> None:
        """Loads the state of a machine that waits for it, and whose RAM is there already."""
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
                    raise LostGuestError(
                        f"the snapshot was not saved or loaded: {self._messages()}"
                    )


def _nodes(image: Path, number: int) -> tuple[dict[str, object], dict[str, object]]:
    """Returns the file and the content of an image of states, as QEMU's block nodes."""
    # The image does not outlive the run, so nothing needs to wait for a disk.
    cache = {"direct": False, "no-flush": True}
    name = f"states-file-{number}"
    # qcow2 cleans its cache every ten minutes of the guest's time, in the main loop. The guest's
    # CPUs would wait for that forever (emulators/qemu_preload/big_lock.c).
    uncleaned: dict[str, object] = {"cache-clean-interval": 0, "driver": "qcow2", "file": name}
    return (
        {"node-name": name, "driver": "file", "filename": str(image), "cache": cache},
        uncleaned | {"node-name": f"states-{number}"},
    )


def _states(number: int) -> dict[str, object]:
    name = f"states-{number}"
    return {"tag": device_state.TAG, "vmstate": name, "devices": [name]}
