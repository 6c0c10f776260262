# SPDX-License-Identifier: GPL-2.0-or-later
"""What a worker does: it says what it offers, takes what it lacks, and runs batches of cells."""

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
from delayrig.lanes.supplies import CpuPool, Supplies
from delayrig.lanes.virtual_lane import VirtualLane
from delayrig.model.cell import Cell
from delayrig.model.lane import EXACT_LANE
from delayrig.model.platform import Arch, labelled
from delayrig.plan.request import Request
from delayrig.run.artifact_transfer import checked_name, pack_left
from delayrig.run.cell_runner import CellRunner, keep_result
from delayrig.run.cluster.kit import Kit, KitFile, brought_along, open_cell_runner
from delayrig.setup.scratch import sweep_scratch

PLUGIN = "flashrom-rig"
KIT_LIMIT_S = 60.0
BATCH_S = 2.0
"""After so long a batch is cut off behind its cell: results stream, and little is ever lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A worker in its own words."""

    host: str
    cpus: int
    lanes: list[str]
    archs: list[str]
    brings: dict[str, str]
    """Digests of its QEMUs and of what is loaded into them; which rig it is."""


class RigWorker(WorkerPlugin):
    """What a process of Dask's needs to run cells: CPUs, and guests that wait for their next."""

    name = PLUGIN

    def __init__(self, cpus: Sequence[int]) -> None:
        """Made where the worker is started from; `cpus` are the worker's machine's."""
        self.cpus = list(cpus)

    def setup(self, worker: Worker) -> None:  # noqa: ARG002 (Dask's own signature)
        """In the worker's own process."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it is told, and ends it
        self.paths: Paths = find_paths()
        sweep_scratch(self.paths.state)
        # Of two guests more cells are reset than of one where several processes share the cells.
        self.pool = CpuPool(len(self.cpus), self.cpus, waiting=2 * len(self.cpus))
        self.cell_runners: dict[str, CellRunner] = {}
        self.told: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        """By kit: set once it is open here, or refused."""

    async def teardown(self, worker: Worker) -> None:  # noqa: ARG002
        """Ends the guests that wait."""
        await self.pool.guests.end()

    def lane(self, request: Request, supplies: Supplies) -> VirtualLane:
        """Whose guests wait here between batches."""
        vm_pool = self.pool.guests if request.reuses_guests else None
        return VirtualLane(request=request, supplies=supplies, paths=self.paths, vm_pool=vm_pool)

    async def run(self, cell_runner: CellRunner, cell: Cell, cpu: int) -> bytes:
        """A cell, in a folder of which only what is returned is left."""
        with ScratchFolder() as name:
            request = replace(cell_runner.request, out=Path(name))
            result = await replace(cell_runner, request=request).run(cell, cpu)
            keep_result(msgspec.structs.replace(result, worker=here()), request.out / cell.id)
            return await asyncio.to_thread(pack_left, request.out / cell.id)


def here() -> str:
    """What results call this worker."""
    return f"{socket.gethostname()} ({os.getpid()})"


def _rig(worker: Worker) -> RigWorker:
    found = worker.plugins.get(PLUGIN)
    if not isinstance(found, RigWorker):
        raise RigFaultError("no worker of this rig", hint="start workers with `rig/rig worker`")
    return found


def offer(dask_worker: Worker) -> Offer:
    """What it can be used for."""
    rig = _rig(dask_worker)
    brings = brought_along(rig.paths, list(Arch))
    archs = [arch.value for arch in Arch if labelled("qemu", arch) in brings]
    return Offer(
        host=here(),
        cpus=len(rig.cpus),
        lanes=[EXACT_LANE.value],
        archs=archs,
        brings=brings,
    )


def lacking(files: Sequence[KitFile], dask_worker: Worker) -> list[KitFile]:
    """Those that are not there, or are damaged."""
    state = _rig(dask_worker).paths.state
    return [file for file in files if not _is_there(state / file.path, file)]


def _is_there(path: Path, file: KitFile) -> bool:
    return path.is_file() and digest.of_file(path) == file.sha256


def take_file(file: KitFile, content: bytes, dask_worker: Worker) -> None:
    """Keeps it; raises `RigFaultError` where it is not what it should be."""
    if digest.of_bytes(content) != file.sha256:
        raise RigFaultError(f"{file.path} arrived with another digest")
    path = _rig(dask_worker).paths.state / checked_name(file.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, content)
    path.chmod(0o755 if file.runnable else 0o644)


def open_kit(kit: Kit, dask_worker: Worker) -> None:
    """From now on it runs cells of that run."""
    rig = _rig(dask_worker)
    rig.cell_runners[kit.id] = open_cell_runner(kit, rig.paths, rig.lane)
    rig.told[kit.id].set()


def refuse_kit(kit_id: str, dask_worker: Worker) -> None:
    """Its cells are not for this worker."""
    _rig(dask_worker).told[kit_id].set()


def close_kit(kit_id: str, dask_worker: Worker) -> None:
    """The run is over."""
    rig = _rig(dask_worker)
    rig.cell_runners.pop(kit_id, None)
    rig.told.pop(kit_id, None)


async def run_batch(batch: Sequence[tuple[str, Cell]]) -> list[bytes] | None:
    """Runs as many of the cells, each with the id of its kit, as there is time for.

    Returns what they left; None where this worker is not for them. One that was only just started
    again waits for its kit: Dask counts by task how many workers were lost with it.
    """
    rig = _rig(get_worker())
    for kit, _ in batch:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(rig.told[kit].wait(), KIT_LIMIT_S)
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
