# SPDX-License-Identifier: GPL-2.0-or-later
"""The work of a worker: describes itself, takes missing files, and runs batches of cells."""

import asyncio
import contextlib
import os
import signal
import socket
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from distributed import Worker, WorkerPlugin, get_worker

from delayrig.base import digest
from delayrig.base.atomic_file import replace_file
from delayrig.base.errors import RigFaultError
from delayrig.base.paths import Paths, find_paths
from delayrig.base.scratch import ScratchFolder
from delayrig.base.toml import complete_types
from delayrig.lanes.supplies import CpuPool
from delayrig.model.cell import Cell
from delayrig.model.platform import Arch
from delayrig.run.artifact_transfer import checked_name, pack_left
from delayrig.run.cell_runner import CellRunner, keep_result
from delayrig.run.cluster.kit import Kit, KitFile, brought_along, open_cell_runner
from delayrig.setup.scratch import sweep_scratch

PLUGIN = "flashrom-rig"
KIT_LIMIT_S = 60.0
BATCH_S = 2.0
"""The time after which a batch begins no further cell, so that a lost worker costs few results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A worker's description of itself."""

    cpus: int
    brings: dict[str, str]
    """The digests of its QEMUs and of their plugins, and the rig's version."""


class RigWorker(WorkerPlugin):
    """The parts that a Dask process needs to run cells: CPUs, and waiting guests."""

    name = PLUGIN

    def __init__(self, cpus: Sequence[int]) -> None:
        """Takes the worker's CPUs. This runs in the process that starts the worker."""
        self.cpus = list(cpus)

    def setup(self, worker: Worker) -> None:  # noqa: ARG002 (Dask's own signature)
        """Sets up the worker in its own process."""
        # The process that started the worker gets the signal, and ends the worker.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        complete_types()
        self.paths: Paths = find_paths()
        sweep_scratch(self.paths.state)
        # Several processes share the cells. With two waiting guests per CPU, more cells find one
        # that can be reset.
        self.pool = CpuPool(len(self.cpus), self.cpus, waiting=2 * len(self.cpus))
        self.cell_runners: dict[str, CellRunner] = {}
        self.settled: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        """By kit: set once the kit is open or refused here."""

    async def teardown(self, worker: Worker) -> None:  # noqa: ARG002
        """Ends the guests that wait."""
        await self.pool.guests.end()

    async def run(self, cell_runner: CellRunner, cell: Cell, cpu: int) -> bytes:
        """Runs a cell, and returns its files. Its folder is removed."""
        with ScratchFolder() as name:
            request = replace(cell_runner.request, out=Path(name))
            result = await replace(cell_runner, request=request).run(cell, cpu)
            keep_result(msgspec.structs.replace(result, worker=here()), request.out / cell.id)
            return await asyncio.to_thread(pack_left, request.out / cell.id)


def here() -> str:
    """Returns the name of this worker in results."""
    return f"{socket.gethostname()} ({os.getpid()})"


def _rig(worker: Worker) -> RigWorker:
    found = worker.plugins.get(PLUGIN)
    if not isinstance(found, RigWorker):
        raise RigFaultError("no worker of this rig", hint="start workers with `rig/rig worker`")
    return found


def offer(dask_worker: Worker) -> Offer:
    """Returns the description of this worker."""
    rig = _rig(dask_worker)
    return Offer(cpus=len(rig.cpus), brings=brought_along(rig.paths, list(Arch)))


def lacking(files: Sequence[KitFile], dask_worker: Worker) -> list[KitFile]:
    """Returns the files that are missing or damaged."""
    state = _rig(dask_worker).paths.state
    return [file for file in files if not _is_there(state / file.path, file)]


def _is_there(path: Path, file: KitFile) -> bool:
    return path.is_file() and digest.of_file(path) == file.sha256


def take_file(file: KitFile, content: bytes, dask_worker: Worker) -> None:
    """Writes the file; raises `RigFaultError` if its digest is wrong."""
    if digest.of_bytes(content) != file.sha256:
        raise RigFaultError(f"{file.path} arrived with another digest")
    path = _rig(dask_worker).paths.state / checked_name(file.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, content, mode=0o755 if file.runnable else 0o644)


def open_kit(kit: Kit, dask_worker: Worker) -> None:
    """Prepares the worker to run cells of that run."""
    rig = _rig(dask_worker)
    rig.cell_runners[kit.id] = open_cell_runner(kit, rig.paths, rig.pool)
    rig.settled[kit.id].set()


def refuse_kit(kit_id: str, dask_worker: Worker) -> None:
    """Records that the kit's cells are not for this worker."""
    _rig(dask_worker).settled[kit_id].set()


def close_kit(kit_id: str, dask_worker: Worker) -> None:
    """Forgets a run that is over."""
    rig = _rig(dask_worker)
    rig.cell_runners.pop(kit_id, None)
    rig.settled.pop(kit_id, None)


async def run_batch(batch: Sequence[tuple[str, Cell]]) -> list[bytes] | None:
    """Runs the cells, each with the id of its kit, until `BATCH_S` is over.

    Returns the files of these cells, or None if this worker has not opened one of their kits. A
    restarted worker waits for its kits. If it returned None at once, the client would submit a
    second task for the batch, for which Dask counts lost workers from 0 again.
    """
    rig = _rig(get_worker())
    for kit, _ in batch:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(rig.settled[kit].wait(), KIT_LIMIT_S)
        if kit not in rig.cell_runners:
            return None
    left: list[bytes] = []
    async with rig.pool.one() as cpu:
        end_s = time.monotonic() + BATCH_S
        for kit, cell in batch:
            left.append(await rig.run(rig.cell_runners[kit], cell, cpu))
            if time.monotonic() > end_s:
                break
    return left
