# SPDX-License-Identifier: GPL-2.0-or-later
"""A run: its cells are spread over host CPUs, and each is judged from the files that it left."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import Protocol

from delayrig.base.errors import BadInputError, NotProvidedError
from delayrig.base.paths import Paths, Preparing
from delayrig.lanes.choice import open_lane
from delayrig.lanes.lane import Assignment, Lane
from delayrig.lanes.scheduler import Scheduler
from delayrig.lanes.supplies import CpuPool
from delayrig.model.cell import WATCHING, Cell, place_of
from delayrig.model.chips import ChipFacts
from delayrig.model.lane import EXACT_LANE, LaneName
from delayrig.model.result import CellResult, Results
from delayrig.plan.cluster import ClusterOptions
from delayrig.plan.request import Request, default_jobs
from delayrig.run.cell_runner import make_cell_runner
from delayrig.run.out_folder import hold_out
from delayrig.run.single_run import SingleRun
from delayrig.setup.scratch import sweep_scratch
from delayrig.subjects.delay_function import DelayOptions
from delayrig.subjects.recipes import Recipes
from delayrig.subjects.saved_programs import save_programs


class Progress(Protocol):
    def preparing(self, what: str) -> None:
        """Reports that something is being provided before cells can run."""

    def started(self, cells: int) -> None:
        """Reports that cells begin."""

    def finished(self, result: CellResult) -> None:
        """Reports one finished cell."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """The progress of a single cell: reports only what is made. The caller gets the result."""

    preparing: Preparing

    def started(self, cells: int) -> None:
        """Does nothing, because there is one cell."""

    def finished(self, result: CellResult) -> None:
        """Does nothing, because the caller gets the result."""


OpenLane = Callable[[Request, Paths, CpuPool, Preparing], Awaitable[Lane]]
"""A function that opens the lane of a request: `open_lane`, or one that shows cells to a user."""


async def run_request(
    request: Request, paths: Paths, progress: Progress, opened: OpenLane = open_lane
) -> Results:
    """Runs the whole request. Finished cells are kept even if it is interrupted."""
    (results,) = await run_side_by_side([request], paths, progress, opened)
    return results


async def run_side_by_side(
    requests: Sequence[Request], paths: Paths, progress: Progress, opened: OpenLane = open_lane
) -> list[Results]:
    """Runs several requests, taking turns by cell, so that they meet the same conditions.

    Each has a folder of its own, as if it ran alone, and locks it until all have ended. The first
    request decides the number of jobs, the cluster, and which cells run first.
    """
    await asyncio.to_thread(sweep_scratch, paths.state)
    with ExitStack() as held:
        for request in requests:
            # A resumed run continues with the results in its folder, even with those that another
            # run has written there since the request.
            asked_s = None if request.resume else request.asked_s
            held.enter_context(hold_out(request.out, asked_s=asked_s))
        return await _run_held(requests, paths, progress, opened)


async def _run_held(
    requests: Sequence[Request], paths: Paths, progress: Progress, opened: OpenLane
) -> list[Results]:
    async with _dask_loaded(requests[0]):
        pool = CpuPool(requests[0].jobs)
        runs = [
            SingleRun(request, await opened(request, paths, pool, progress.preparing))
            for request in requests
        ]
    for run, request in zip(runs, requests, strict=True):
        if request.keeps_programs:
            sides = {cell.subject: cell.side for cell in request.cells}
            save_programs(run.lane.programs, request.keeps_programs, sides)
        if run.kept:
            progress.preparing(f"the rest: {len(run.kept)} of {len(request.cells)} cells are done")
    _check_watched(runs)
    first = await asyncio.to_thread(requests[0].first)
    progress.started(sum(len(request.cells) for request in requests))
    for run, cell in _in_turn(runs):
        if result := run.known(cell):
            progress.finished(result)
    finished = False
    try:
        # Cells in real time come last, so that no virtual cell disturbs them.
        for lane in LaneName:
            scheduler = Scheduler(
                ((run, c) for run, c in _in_turn(runs) if c.lane is lane and not run.known(c)),
                grouping=lambda item: item[0].lane.grouping(item[1]),
                is_urgent=lambda item: place_of(item[1].id) in first,
            )
            if lane is EXACT_LANE and requests[0].cluster and scheduler:
                # By now Dask is loaded, if it is needed.
                from delayrig.run.cluster.client import open_cluster

                async with open_cluster(requests[0], paths, progress.preparing) as cluster:
                    await cluster.work(runs, scheduler, progress.finished)
            else:
                # For a lane other than the request's, its default number of jobs is the limit.
                own = lane is requests[0].lane
                jobs = pool.jobs if own else min(pool.jobs, default_jobs(lane))
                await _work_here(jobs, scheduler, pool, progress)
        finished = True
    finally:
        await asyncio.shield(pool.guests.end())
        kept = [run.keep(interrupted=not finished) for run in runs]
    return kept


@asynccontextmanager
async def _dask_loaded(request: Request) -> AsyncIterator[None]:
    """Loads Dask while a run is prepared, because loading takes longer than many cells do."""
    if request.cluster is None:
        yield
        return
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.to_thread(_load_dask, request.cluster))
        yield


def _load_dask(options: ClusterOptions) -> None:
    from delayrig.run.cluster.fork_server import start_fork_server

    if options.local_workers:
        start_fork_server()
    import_module("delayrig.run.cluster.client")


def _in_turn(runs: Sequence[SingleRun]) -> Iterator[tuple[SingleRun, Cell]]:
    for row in zip_longest(*(run.request.cells for run in runs)):
        yield from ((run, cell) for run, cell in zip(runs, row, strict=True) if cell is not None)


async def _work_here(
    jobs: int, scheduler: Scheduler[tuple[SingleRun, Cell]], pool: CpuPool, progress: Progress
) -> None:
    async def work() -> None:
        async with pool.one() as cpu:
            for run, cell in scheduler.work():
                progress.finished(await run.cell(cell, cpu))

    async with asyncio.TaskGroup() as group:
        for _ in range(jobs):
            group.create_task(work())


def _check_watched(runs: Sequence[SingleRun]) -> None:
    """Raises `NotProvidedError` if a missing input keeps all canaries or all controls from running.

    The results of the other cells would then prove nothing.
    """
    refused = [result for run in runs for result in run.refused]
    ready = {cell.role for run in runs for cell in run.request.cells if not run.known(cell)}
    missing = {result.role: result.not_provided for result in refused if result.not_provided}
    for role in WATCHING:
        if role in missing and role not in ready:
            causes = [lost for run in runs for lost in run.header.not_provided]
            cause = next(lost.cause for lost in causes if lost.what == missing[role])
            raise NotProvidedError(
                missing[role],
                f"{cause}. Without it no {role} runs, so the run would show nothing",
                hint="check this machine's network and archive, then start again",
            )


def assignment_of(request: Request, lane: Lane, folder: Path, cpu: int) -> Assignment:
    """Returns the inputs of the request's only cell; raises `BadInputError` if it cannot run."""
    (cell,) = request.cells
    cell_runner = make_cell_runner(request, lane)
    if refused := cell_runner.refuse(cell):
        raise BadInputError(f"{cell.id} is skipped: {refused.reason}")
    return cell_runner.assignment(cell, folder, cpu)


FIRST_TRIAL = "001"
"""The name of the first trial's folder."""


@dataclass(slots=True, kw_only=True)
class Trials:
    """Runs single cells one after another, each in a folder of its own.

    `preparing` is called with the name of what is made before a cell can run.
    """

    chips: dict[str, ChipFacts]
    recipes: Recipes
    paths: Paths
    out: Path
    plan: str
    argv: list[str]
    preparing: Preparing
    delay: DelayOptions = field(default_factory=DelayOptions)
    """The delay function of path: subjects."""
    folders: dict[str, Path] = field(default_factory=dict, init=False)
    """The folder of the last trial of each cell, by its id."""
    _count: int = field(default=0, init=False)

    async def run(self, cell: Cell) -> CellResult:
        """Returns the cell's result. All its files are in `out/NUMBER/ID`."""
        self._count += 1
        folder = self.folders[cell.id] = self.out / f"{self._count:0{len(FIRST_TRIAL)}}"
        folder.mkdir()
        request = Request(
            plan=self.plan,
            cells=[cell],
            chips=self.chips,
            recipes=self.recipes,
            out=folder,
            jobs=1,
            seed=cell.seed,
            argv=self.argv,
            delay=self.delay,
        )
        results = await run_request(request, self.paths, Quiet(self.preparing))
        return results.cells[0]
