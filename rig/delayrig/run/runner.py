# SPDX-License-Identifier: GPL-2.0-or-later
"""A run: cells spread over host CPUs, each judged from what it left on disk, results kept."""

import asyncio
import errno
import shlex
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import zip_longest
from pathlib import Path
from typing import Protocol

import msgspec

from delayrig.base.errors import BadInputError, LostGuestError, NotProvidedError, OverdueGuestError
from delayrig.base.keep import replace_file
from delayrig.base.paths import Paths
from delayrig.base.scratch import full_scratch
from delayrig.hazards.of_cell import hazards_of
from delayrig.images import dummy
from delayrig.images.delay_function import DelayFunction, DelayWish, find_watched
from delayrig.images.kept_programs import keep_programs
from delayrig.images.subject import PATH_PREFIX, Subject, knows_string, wrong_machine
from delayrig.judge.contrast import judge_contrasts
from delayrig.judge.exit_code import WATCHING
from delayrig.judge.judge import Finding, blank_result, judge_cell
from delayrig.lanes.agenda import Agenda, Kinship
from delayrig.lanes.choice import open_lane
from delayrig.lanes.lane import Assignment, Lane
from delayrig.lanes.stages import JUDGE, MARKS_NAME, StageWatch
from delayrig.lanes.supplies import CpuPool, Preparing
from delayrig.model.cell import Cell, Programmer
from delayrig.model.lane import LaneName
from delayrig.model.result import CellResult, Results, Verdict, write_results
from delayrig.plan.request import Request, default_jobs
from delayrig.run.out_lock import hold_out
from delayrig.run.taken_up import (
    CELL,
    RESULT,
    begin,
    clear_cut_off,
    done_cells,
    first_try_kept,
)
from delayrig.setup.scratch import sweep_scratch

NOT_PROVIDED = "not provided: "
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class Progress(Protocol):
    """Who watches a run."""

    def preparing(self, what: str) -> None:
        """Something is being provided before cells can run."""
        ...

    def started(self, cells: int) -> None:
        """Cells begin."""
        ...

    def finished(self, result: CellResult) -> None:
        """One cell is done."""
        ...


OpenLane = Callable[[Request, Paths, CpuPool, Preparing], Awaitable[Lane]]
"""From a request to its lane; `open_lane`, where nobody wants to look into cells."""


async def run_request(
    request: Request, paths: Paths, progress: Progress, opened: OpenLane = open_lane
) -> Results:
    """Runs everything that was asked for; what finished is kept even when it is interrupted."""
    (results,) = await run_side_by_side([request], paths, progress, opened)
    return results


async def run_side_by_side(
    requests: Sequence[Request], paths: Paths, progress: Progress, opened: OpenLane = open_lane
) -> list[Results]:
    """Several runs at once, a cell of each in turn, so that they meet the same machine.

    Each is kept in a folder of its own, as if it had been run alone, and holds it until all have
    ended. All share the jobs of the first.
    """
    await asyncio.to_thread(sweep_scratch)
    with ExitStack() as held:
        for request in requests:
            held.enter_context(hold_out(request.out, asked_s=_asked_s(request)))
        return await _run_held(requests, paths, progress, opened)


def _asked_s(request: Request) -> float | None:
    """None: what others did in its folder is what it goes on with."""
    return None if request.resume else request.asked_s


async def _run_held(
    requests: Sequence[Request], paths: Paths, progress: Progress, opened: OpenLane
) -> list[Results]:
    pool = CpuPool(requests[0].jobs)
    runs = [
        _Run(request, await opened(request, paths, pool, progress.preparing))
        for request in requests
    ]
    for run, request in zip(runs, requests, strict=True):
        if request.keeps_programs:
            sides = {cell.subject: cell.side for cell in request.cells}
            keep_programs(run.programs, request.keeps_programs, sides)
        if run.kept:
            progress.preparing(f"the rest: {len(run.kept)} of {len(request.cells)} cells are done")
    _check_watched(runs)
    progress.started(sum(len(request.cells) for request in requests))
    finished = False

    in_turn = [
        (run, cell)
        for row in zip_longest(*(request.cells for request in requests))
        for run, cell in zip(runs, row, strict=True)
        if cell is not None
    ]
    for run, cell in in_turn:
        if result := run.known(cell):
            progress.finished(result)

    async def work(agenda: Agenda[tuple[_Run, Cell]]) -> None:
        async with pool.one() as cpu:
            for run, cell in agenda.work():
                progress.finished(await run.cell(cell, cpu))

    try:
        # Cells of real time come last, so that no cell of virtual time disturbs them.
        for lane in LaneName:
            agenda = Agenda(
                ((run, c) for run, c in in_turn if c.lane is lane and not run.known(c)),
                kinship=lambda item: item[0].kinship(item[1]),
            )
            async with asyncio.TaskGroup() as group:
                for _ in range(_jobs_on(lane, requests[0], pool)):
                    group.create_task(work(agenda))
        finished = True
    finally:
        await asyncio.shield(pool.guests.end())
        kept = [run.keep(interrupted=not finished) for run in runs]
    return kept


def _jobs_on(lane: LaneName, request: Request, pool: CpuPool) -> int:
    """Of cells that name a lane of their own no more run at a time than is good for that lane."""
    return pool.jobs if lane is request.lane else min(pool.jobs, default_jobs(lane))


def _check_watched(runs: Sequence["_Run"]) -> None:
    """Raises where no canary or no control can run: whatever the rest says, nobody may trust it."""
    refused = [result for run in runs for result in run.refused]
    ready = {cell.role for run in runs for cell in run.cells if not run.known(cell)}
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
    """What the request's one cell would be run with; raises `BadInputError` where it is skipped."""
    (cell,) = request.cells
    bench = _Bench(request=request, lane=lane)
    if refused := bench.refuse(cell):
        raise BadInputError(f"{cell.id} is skipped: {refused.reason}")
    return bench.assignment(cell, folder, cpu)


class _Run:
    """One request while its cells are run."""

    def __init__(self, request: Request, lane: Lane) -> None:
        self._request = request
        self._lane = lane
        self.header = begin(request, lane.header())
        self.kept = done_cells(request.cells, request.out) if request.resume else {}
        """Results that another run has left here."""
        self._bench = _Bench(request=request, lane=lane)
        self._done: dict[str, CellResult] = dict(self.kept)
        for cell in request.cells:
            if cell.id not in self._done and (refused := self._bench.refuse(cell)):
                self._done[cell.id] = refused

    @property
    def cells(self) -> list[Cell]:
        """All that were asked for."""
        return self._request.cells

    @property
    def programs(self) -> list[Subject]:
        """The subjects as they are packed."""
        return self._lane.programs

    @property
    def refused(self) -> list[CellResult]:
        """Those that cannot be run."""
        return [done for done in self._done.values() if done.id not in self.kept]

    def known(self, cell: Cell) -> CellResult | None:
        """The result of a cell of its that is done, or is not to be run."""
        return self._done.get(cell.id)

    def kinship(self, cell: Cell) -> Kinship:
        """What it shares with other cells."""
        return self._lane.kinship(cell)

    async def cell(self, cell: Cell, cpu: int) -> CellResult:
        """The result of a cell of its, run on that CPU."""
        clear_cut_off(cell, self._request.out)
        self._done[cell.id] = await self._bench.run(cell, cpu)
        return self._done[cell.id]

    def keep(self, *, interrupted: bool) -> Results:
        """Keeps what is done."""
        cells = [self._done[cell.id] for cell in self._request.cells if cell.id in self._done]
        results = Results(
            run=msgspec.structs.replace(self.header, interrupted=interrupted),
            cells=cells,
            contrasts=judge_contrasts(self._request.contrasts, cells),
        )
        write_results(results, self._request.out)
        return results


@dataclass(frozen=True, kw_only=True)
class _Bench:
    """All that the cells of a run have in common."""

    request: Request
    lane: Lane

    @cached_property
    def watched(self) -> dict[str, tuple[DelayFunction, ...]]:
        """The delay functions and direct waits of each subject, by its label."""
        subjects = filter(None, map(self.lane.subject_of, self.request.cells))
        return {
            label: find_watched(subject, _wish_for(subject, self.request))
            for label, subject in {subject.label: subject for subject in subjects}.items()
        }

    @cached_property
    def chip_names(self) -> dict[tuple[str, str], str]:
        """What each packed program calls each chip; empty where it knows none of its names."""
        programs = {program.label: program.program_bytes for program in self.lane.programs}
        return {
            (name, chip): next(
                (known for known in facts.flashrom_names if knows_string(program, known)), ""
            )
            for name, program in programs.items()
            for chip, facts in self.request.chips.items()
        }

    def refusal(self, cell: Cell) -> str:
        """Why a cell is skipped; empty where it is run."""
        chip = self.request.chips[cell.chip]
        refusal = self.lane.refusal(cell) or wrong_machine(cell.subject, cell.arch)
        if refusal:
            return refusal
        subject = self.lane.subject_of(cell)
        if subject is None:
            return "no libflashrom.so.1 of this subject is known"
        if not self.chip_names[subject.label, chip.name]:
            return f"this flashrom knows none of the names {', '.join(chip.flashrom_names)}"
        if cell.programmer is Programmer.DUMMY:
            return dummy.refusal(chip, subject.program_bytes)
        refusals = (hazard.refusal(subject) for hazard in hazards_of(cell))
        return next((refusal for refusal in refusals if refusal), "")

    def refuse(self, cell: Cell) -> CellResult | None:
        """The result of a cell that is not to be run; None where it is."""
        chip = self.request.chips[cell.chip]
        missing = self.lane.missing(cell)
        reason = f"{NOT_PROVIDED}{missing.what}" if missing else self.refusal(cell)
        if not reason:
            return None
        finding = Finding(verdict=Verdict.SKIPPED, reason=reason)
        blank = blank_result(cell, chip, finding, rerun=rerun_command(cell, self.request))
        return msgspec.structs.replace(blank, not_provided=missing.what if missing else "")

    async def run(self, cell: Cell, cpu: int) -> CellResult:
        """Runs and judges a cell; keeps its result in its folder.

        A cell that the rig lost is run once more. What the first try left stays beside it.
        """
        try:
            folder = _cell_folder(cell, self.request.out)
            result = await self._measure(cell, folder, cpu)
            if result.verdict is Verdict.INFRA_ERROR and self.request.retries_lost:
                with first_try_kept(folder):
                    folder = _cell_folder(cell, self.request.out)
                    again = await self._measure(cell, folder, cpu)
                result = msgspec.structs.replace(again, retried_after=result.reason)
            replace_file(folder / RESULT, msgspec.json.format(msgspec.json.encode(result)))
        except OSError as error:
            raise _explained(error, self.request.out) from error
        return result

    def assignment(self, cell: Cell, folder: Path, cpu: int) -> Assignment:
        """The cell with all that it needs, to be run in that folder on that CPU."""
        subject = self.lane.subject_of(cell)
        assert subject is not None
        return Assignment(
            cell=cell,
            chip=self.request.chips[cell.chip],
            chip_name=self.chip_names[subject.label, cell.chip],
            subject=subject,
            folder=folder,
            cpu=cpu,
            watch=StageWatch(),
            marks=folder / MARKS_NAME if self.request.stages else None,
            delays=self.watched[subject.label],
        )

    async def _measure(self, cell: Cell, folder: Path, cpu: int) -> CellResult:
        rerun = rerun_command(cell, self.request)
        given = self.assignment(cell, folder, cpu)
        chip, subject, watch = given.chip, given.subject, given.watch
        try:
            host_s = await self.lane.run_cell(given)
            result = await asyncio.to_thread(
                judge_cell, cell, chip, folder, subject=subject, host_s=host_s, rerun=rerun
            )
            watch.ended(JUDGE)
            if self.request.stages:
                watch.write(folder)
            return result
        except LostGuestError as error:
            return blank_result(cell, chip, _lost(cell, error), rerun=rerun)


def _lost(cell: Cell, error: LostGuestError) -> Finding:
    """A fault of the rig, unless the cell is one of which nobody can say how long it takes."""
    limited = any(hazard.host_limit_s is not None for hazard in hazards_of(cell))
    if limited and isinstance(error, OverdueGuestError):
        return Finding(
            verdict=Verdict.INCONCLUSIVE,
            reason=f"its waits keep the CPU busy and were not seen to their end: {error.message}",
        )
    return Finding(verdict=Verdict.INFRA_ERROR, reason=error.message)


def _wish_for(subject: Subject, request: Request) -> DelayWish:
    """A user knows his own program alone."""
    return request.delay if subject.name.startswith(PATH_PREFIX) else DelayWish()


def _cell_folder(cell: Cell, out: Path) -> Path:
    # libvirt wants whole paths.
    folder = out.absolute() / cell.id
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / CELL, msgspec.json.format(msgspec.json.encode(cell)))
    return folder


def _explained(error: OSError, out: Path) -> Exception:
    if error.errno in NO_ROOM and (place := full_scratch(error)):
        return BadInputError(
            f"TMPDIR {place}: no space left; the finished cells are kept in {out}",
            hint="free some space there, or name another TMPDIR, and go on with --resume",
        )
    if error.errno in NO_ROOM:
        return BadInputError(
            f"--out {out}: no space left; the finished cells are kept",
            hint="free some space there, and go on with --resume",
        )
    return error


def rerun_command(cell: Cell, request: Request) -> str:
    """The one command that runs this cell again."""
    words = ["rig/rig", *(request.again or partial(_by_run, request))(cell)]
    if cell.subject.startswith(PATH_PREFIX):
        words += request.delay.words
    return shlex.join(words)


def _by_run(request: Request, cell: Cell) -> list[str]:
    words = ["run", "--plan", request.plan, "--seed", str(request.seed)]
    words += ["--subject", cell.subject, "--cell", cell.id]
    words += ["--lane", request.lane] if request.lane is not LaneName.VIRTUAL else []
    return words + (["--unconfined"] if request.unconfined else [])
