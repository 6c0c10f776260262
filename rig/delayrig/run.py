# SPDX-License-Identifier: GPL-2.0-or-later
"""A run: cells spread over host CPUs, each judged from what it left on disk, results kept."""

import asyncio
import errno
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import msgspec

from delayrig import dummy
from delayrig.cell import Cell, Probe, Programmer
from delayrig.contrast import judge_contrasts
from delayrig.delay_probe import DelayFunction, DelayWish, find_delay_function
from delayrig.errors import BadInputError, LostGuestError
from delayrig.header import make_header
from delayrig.images.subject import PATH_PREFIX, knows_string, wrong_machine
from delayrig.paths import Paths
from delayrig.request import Request
from delayrig.result import CellResult, Results, Verdict, write_results
from delayrig.stages import JUDGE, MARKS_NAME, StageWatch
from delayrig.supplies import CpuPool, Supplies, provide_supplies
from delayrig.verdict import Finding, blank_result, judge_cell
from delayrig.virtual_lane import run_cell

NO_DELAY_FUNCTION = (
    "the witness `delay` is absent: this flashrom has no symbol of a delay function that profiles"
    " know, or is not for x86-64; a path: subject takes --delay-symbol or --delay-offset"
)


NO_SYMBOL = "delay (no symbol)"


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


async def run_request(request: Request, paths: Paths, progress: Progress) -> Results:
    """Runs everything that was asked for; what finished is kept even when it is interrupted."""
    pool = CpuPool(request.jobs)
    supplies = await provide_supplies(
        cells=request.cells,
        with_snapshots=not request.from_boot,
        recipes=request.recipes,
        paths=paths,
        pool=pool,
        preparing=progress.preparing,
    )
    header = make_header(
        plan=request.plan,
        seed=request.seed,
        argv=request.argv,
        supplies=supplies,
        paths=paths,
        cells_planned=len(request.cells),
    )
    bench = _Bench(
        request=request,
        supplies=supplies,
        paths=paths,
        delay_functions=_delay_functions(request, supplies),
    )
    done: dict[str, CellResult] = {}

    async def run_one(cell: Cell) -> None:
        result = bench.refuse(cell)
        if result is None:
            async with pool.one() as cpu:
                result = await bench.run(cell, cpu)
        done[cell.id] = result
        progress.finished(result)

    progress.started(len(request.cells))
    finished = False
    try:
        async with asyncio.TaskGroup() as group:
            for cell in request.cells:
                group.create_task(run_one(cell))
        finished = True
    finally:
        ordered = [done[cell.id] for cell in request.cells if cell.id in done]
        results = Results(
            run=msgspec.structs.replace(header, interrupted=not finished),
            cells=ordered,
            contrasts=judge_contrasts(request.contrasts, ordered),
        )
        write_results(results, request.out)
    return results


@dataclass(frozen=True, kw_only=True)
class _Bench:
    """All that the cells of a run have in common."""

    request: Request
    supplies: Supplies
    paths: Paths
    delay_functions: dict[str, DelayFunction | None]

    @cached_property
    def chip_names(self) -> dict[tuple[str, str], str]:
        """What each packed program calls each chip; empty where it knows none of its names."""
        programs = {program.label: program.program_bytes for program in self.supplies.programs}
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
        subject = self.supplies.subject_of(cell)
        unfit = wrong_machine(cell.subject, cell.arch)
        if unfit:
            return unfit
        if subject is None:
            return "no libflashrom.so.1 of this subject is known"
        if not self.chip_names[subject.label, chip.name]:
            return f"this flashrom knows none of the names {', '.join(chip.flashrom_names)}"
        if cell.witness and self.delay_functions[subject.label] is None:
            return NO_DELAY_FUNCTION
        if cell.programmer is Programmer.DUMMY:
            return dummy.refusal(chip, subject.program_bytes)
        refusals = (hazard.refusal(subject) for hazard in cell.active_hazards)
        return next((refusal for refusal in refusals if refusal), "")

    def refuse(self, cell: Cell) -> CellResult | None:
        """The result of a cell that is not to be run; None where it is."""
        chip = self.request.chips[cell.chip]
        reason = self.refusal(cell)
        if not reason:
            return None
        finding = Finding(verdict=Verdict.SKIPPED, reason=reason)
        blank = blank_result(cell, chip, finding, rerun=rerun_command(cell, self.request))
        return msgspec.structs.replace(blank, unjudged=[NO_SYMBOL] if cell.witness else [])

    async def run(self, cell: Cell, cpu: int) -> CellResult:
        """Runs and judges a cell; keeps its result in its folder."""
        try:
            folder = _cell_folder(cell, self.request.out)
            result = await self._measure(cell, folder, cpu)
            (folder / "result.json").write_bytes(msgspec.json.format(msgspec.json.encode(result)))
        except OSError as error:
            raise _explained(error, self.request.out) from error
        return result

    async def _measure(self, cell: Cell, folder: Path, cpu: int) -> CellResult:
        chip = self.request.chips[cell.chip]
        rerun = rerun_command(cell, self.request)
        subject = self.supplies.subject_of(cell)
        assert subject is not None
        watch = StageWatch()
        try:
            host_s = await run_cell(
                cell,
                chip=chip,
                chip_name=self.chip_names[subject.label, cell.chip],
                subject=subject,
                supplies=self.supplies,
                paths=self.paths,
                connect=self.request.connect,
                folder=folder,
                cpu=cpu,
                watch=watch,
                marks=folder / MARKS_NAME if self.request.stages else None,
                delay=self.delay_functions[subject.label] if cell.witness else None,
            )
            result = await asyncio.to_thread(
                judge_cell, cell, chip, folder, subject=subject, host_s=host_s, rerun=rerun
            )
            watch.ended(JUDGE)
            if self.request.stages:
                watch.write(folder)
            return result
        except LostGuestError as error:
            finding = Finding(verdict=Verdict.INFRA_ERROR, reason=error.message)
            return blank_result(cell, chip, finding, rerun=rerun)


def _delay_functions(request: Request, supplies: Supplies) -> dict[str, DelayFunction | None]:
    """Those of the subjects in cells with that witness; None where none is known."""
    probed = [cell for cell in request.cells if cell.witness is Probe.DELAY]
    subjects = [supplies.subject_of(cell) for cell in probed]
    return {
        subject.label: find_delay_function(
            subject, request.delay if subject.name.startswith(PATH_PREFIX) else DelayWish()
        )
        for subject in subjects
        if subject is not None
    }


def _cell_folder(cell: Cell, out: Path) -> Path:
    # libvirt wants whole paths.
    folder = out.absolute() / cell.id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cell.json").write_bytes(msgspec.json.format(msgspec.json.encode(cell)))
    return folder


def _explained(error: OSError, out: Path) -> Exception:
    if error.errno == errno.ENOSPC:
        return BadInputError(
            f"--out {out}: no space left; the finished cells are kept",
            hint="free some space there and run the rest with --cell",
        )
    return error


def rerun_command(cell: Cell, request: Request) -> str:
    """The one command that runs this cell again."""
    words = ["rig/rig", "run", "--plan", request.plan, "--seed", str(request.seed)]
    words += ["--subject", cell.subject, "--cell", cell.id]
    if cell.subject.startswith(PATH_PREFIX):
        words += request.delay.words
    return shlex.join(words)
