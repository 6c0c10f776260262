# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the suitable workers of a Dask scheduler, and runs cells on them."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from itertools import count, islice
from typing import Any
from urllib.parse import urlsplit

from distributed import Client, KilledWorker
from distributed.client import FutureCancelledError
from distributed.scheduler import NoValidWorkerError

from delayrig.base.errors import BadInputError, RigFaultError
from delayrig.base.paths import Paths, Preparing
from delayrig.lanes.scheduler import Scheduler
from delayrig.model.cell import Cell
from delayrig.model.result import CellResult
from delayrig.plan.request import Request
from delayrig.run.cluster.connection import connect
from delayrig.run.cluster.kit import Kit, make_kit, refusal
from delayrig.run.cluster.task import (
    Offer,
    close_kit,
    lacking,
    offer,
    open_kit,
    refuse_kit,
    run_batch,
    take_file,
)
from delayrig.run.single_run import SingleRun

BATCH_CELLS_MAX = 16
LOG_LINES = 50
LOOKS_EACH_S = 1.0
"""The interval between two looks for new workers."""
WORKER_LOOKS = 60
NOT_READY_S = 0.1
"""The time after which a batch is sent again if a refused worker got it."""
Item = tuple[SingleRun, Cell]
Finished = Callable[[CellResult], None]


@asynccontextmanager
async def open_cluster(
    request: Request, paths: Paths, preparing: Preparing
) -> AsyncIterator["Cluster"]:
    """Opens the requested cluster. At the end it stops what it started, and nothing else."""
    assert request.cluster is not None
    asked = request.cluster
    of = f"{asked.queue.kind}, as soon as its jobs run" if asked.queue else asked.address
    preparing(f"ready: workers of {of or 'this machine'}")
    async with connect(asked, request.jobs, paths) as client:
        yield Cluster(client, paths, preparing, looks=None if asked.queue else WORKER_LOOKS)


class Cluster:
    """Workers, each known by its name, which it keeps when Dask restarts it."""

    def __init__(
        self, client: Client, paths: Paths, preparing: Preparing, *, looks: int | None
    ) -> None:
        """Takes the number of looks for a first worker; None: without limit."""
        self._client = client
        self._paths = paths
        self._preparing = preparing
        self._looks = looks
        self._kits: dict[SingleRun, Kit] = {}
        self._greeting = asyncio.Lock()
        self._greeted: dict[str, str] = {}
        """By a worker's address: why it was refused; empty if it is ready."""
        self._ready: dict[str, str] = {}
        """By the name of a ready worker: its present address."""
        self._slots = 0

    async def work(
        self, runs: Sequence[SingleRun], scheduler: Scheduler[Item], finished: Finished
    ) -> None:
        """Runs all scheduled cells."""
        self._kits = {
            run: await asyncio.to_thread(make_kit, run.cell_runner, self._paths) for run in runs
        }
        try:
            await self._first_worker()
            async with asyncio.TaskGroup() as group:
                await self._hire(group, scheduler, finished)
        finally:
            await self._leave()

    async def _hire(
        self, group: asyncio.TaskGroup, scheduler: Scheduler[Item], finished: Finished
    ) -> None:
        """Starts a slot for each thread of each worker, also of workers that come later."""
        slots: list[asyncio.Task[None]] = []
        known: set[str] = set()
        while not slots or not all(slot.done() for slot in slots):
            threads = await self._greet()
            for name in threads.keys() - known:
                new = [self._slot(scheduler, finished) for _ in range(threads[name])]
                slots += [group.create_task(slot) for slot in new]
                known.add(name)
            self._slots = len(slots)
            if slots:
                await asyncio.wait(slots, timeout=LOOKS_EACH_S)

    async def _slot(self, scheduler: Scheduler[Item], finished: Finished) -> None:
        """Runs one batch of cells at a time. There are as many slots as threads of workers.

        If workers were lost with a batch, each of its cells is run alone to find the one at fault.
        """
        todo: deque[Item] = deque()
        alone = False
        with closing(scheduler.work()) as more:
            while True:
                if not todo:
                    alone = False
                    todo.extend(islice(more, self._batch_cells(scheduler)))
                if not todo:
                    return
                results = await self._results([todo[0]] if alone else list(todo))
                alone = alone or not results
                for result in results:
                    finished(result)
                    todo.popleft()

    def _batch_cells(self, scheduler: Scheduler[Item]) -> int:
        """Returns the size of the next batch, which shrinks toward the end of the work.

        Otherwise a slow worker could still have many cells when all others are done.
        """
        fair = len(scheduler) // (2 * max(self._slots, 1))
        return max(1, min(BATCH_CELLS_MAX, fair))

    async def _results(self, batch: Sequence[Item]) -> list[CellResult]:
        """Runs a batch, and returns the results of its first cells, as many as a worker ran.

        Returns none if workers were lost with a batch of several cells.
        """
        try:
            left = await self._left(batch)
        except KilledWorker as error:
            if len(batch) > 1:
                return []
            ((run, cell),) = batch
            return [run.lose(cell, await self._last_words(error))]
        except (FutureCancelledError, NoValidWorkerError) as error:
            lost = "worker" if isinstance(error, NoValidWorkerError) else "scheduler"
            raise RigFaultError(
                f"--cluster: the {lost} is gone; finished cells are kept",
                hint="start it again, and go on with --resume",
            ) from error
        done = zip(batch, left, strict=False)
        return [run.take(cell, packed) for (run, cell), packed in done]

    async def _left(self, batch: Sequence[Item]) -> list[bytes]:
        """Returns the files of the first cells of a batch.

        Dask runs the batch on an idle thread, and again if its worker is lost. The allowed workers
        are named by host, because the replacement of a lost worker has another address. If a
        refused worker shares the host, they are named by address: the refused worker is idle, and
        would get every batch.
        """
        cells = [(self._kits[run].id, cell) for run, cell in batch]
        while True:
            future = self._client.submit(run_batch, cells, workers=self._places(), pure=False)
            try:
                left: list[bytes] | None = await future
            finally:
                future.release()
            if left is not None:
                return left
            await asyncio.sleep(NOT_READY_S)
            await self._greet()

    def _places(self) -> list[str]:
        shared = {_host(address) for address, refused in self._greeted.items() if refused}
        ready = self._ready.values()
        return sorted({name if _host(name) in shared else _host(name) for name in ready})

    async def _last_words(self, error: KilledWorker) -> str:
        """Returns why workers ended, from the logs of their nannies.

        These can be read only after a worker was restarted.
        """
        await self._await_worker()
        logs = await self._client.get_worker_logs(n=LOG_LINES, nanny=True)
        lines = {line for log in logs.values() for level, line in log if "killed" in line}
        workers = f"{error.allowed_failures + 1} workers ended with this cell"
        return "; ".join([workers, *sorted(lines)[-error.allowed_failures - 1 :]])

    async def _first_worker(self) -> None:
        """Waits until a worker is ready; raises `BadInputError` if there is none."""
        await self._await_worker()
        if not self._ready:
            refused = [f"{address}: {why}" for address, why in self._greeted.items()]
            raise BadInputError(
                "--cluster: no worker can run these cells\n  " + "\n  ".join(refused)
                if refused
                else "--cluster: there is no worker",
                hint="start workers of this rig, on machines with the same QEMU: rig/rig worker",
            )

    async def _await_worker(self) -> None:
        """Looks for workers until one is ready or was refused, or the last look is over."""
        for _ in count() if self._looks is None else range(self._looks):
            if await self._greet() or any(self._greeted.values()):
                break
            await asyncio.sleep(LOOKS_EACH_S)

    async def _greet(self) -> dict[str, int]:
        """Prepares new workers, and returns the threads of all ready ones by name."""
        async with self._greeting:
            scheduler = self._client.scheduler
            assert scheduler is not None
            known = (await scheduler.identity(n_workers=-1))["workers"]
            fresh = [address for address in known if address not in self._greeted]
            if fresh:
                await self._equip(await self._ask(fresh, offer))
            self._ready = {
                str(known[address]["name"]): address
                for address, refused in self._greeted.items()
                if address in known and not refused
            } or self._ready
        return {
            name: known[address]["nthreads"]
            for name, address in self._ready.items()
            if address in known
        }

    async def _equip(self, offers: Mapping[str, Any]) -> None:
        for address, offered in offers.items():
            if isinstance(offered, OSError):
                continue  # The worker has gone in the meantime.
            refused = self._refusal(offered)
            if refused:
                self._preparing(f"no use of the worker at {address}: {refused}")
                for kit in self._kits.values():
                    await self._ask([address], refuse_kit, kit.id)
            else:
                await self._bring(address)
            self._greeted[address] = refused

    def _refusal(self, offered: Offer | Exception) -> str:
        if not isinstance(offered, Offer):
            return f"it runs no rig like this one ({offered})"
        reasons = (refusal(kit.needs, offered.brings) for kit in self._kits.values())
        return next(filter(None, reasons), "")

    async def _bring(self, address: str) -> None:
        """Sends the worker the missing files one by one, then the kits."""
        for kit in self._kits.values():
            lacks = (await self._ask([address], lacking, kit.files))[address]
            for file in lacks:
                self._preparing(f"a copy of {file.path} at {address}")
                content = await asyncio.to_thread((self._paths.state / file.path).read_bytes)
                await self._ask([address], take_file, file, content)
            await self._ask([address], open_kit, kit)

    async def _ask(
        self, addresses: list[str], function: Callable[..., Any], *words: Any
    ) -> dict[str, Any]:
        answers: dict[str, Any] = await self._client.run(
            function, *words, workers=addresses, on_error="return"
        )
        return answers

    async def _leave(self) -> None:
        """Makes the workers forget this run, because those that others started keep running."""
        with contextlib.suppress(Exception):
            for kit in self._kits.values():
                await self._ask(list(self._ready.values()), close_kit, kit.id)


def _host(address: str) -> str:
    return urlsplit(address).hostname or ""
