# SPDX-License-Identifier: GPL-2.0-or-later
"""A run: cells spread over host CPUs, each judged from what it left on disk, results kept."""

import asyncio
import errno
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from delayrig.cell import Cell
from delayrig.errors import BadInputError, LostGuestError
from delayrig.header import make_header
from delayrig.images.subject import knows_string
from delayrig.paths import Paths
from delayrig.request import Request
from delayrig.result import CellResult, Results, Verdict, write_results
from delayrig.supplies import CpuPool, Supplies, provide_supplies
from delayrig.verdict import Finding, blank_result, judge_cell, skip_reason
from delayrig.virtual_lane import run_cell


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
        shapes=[cell.shape for cell in request.cells if not skip_reason(cell)],
        subjects=request.subjects,
        recipes=request.recipes,
        paths=paths,
        pool=pool,
        preparing=progress.preparing,
    )
    header = make_header(
        plan=request.plan,
        seed=request.seed,
        argv=request.argv,
        image=supplies.image,
        subjects=list(supplies.subjects.values()),
        bridge=supplies.bridge,
        paths=paths,
        cells_planned=len(request.cells),
    )
    progress.started(len(request.cells))
    done: dict[str, CellResult] = {}
    finished = False
    try:
        async with asyncio.TaskGroup() as group:
            for cell in request.cells:
                group.create_task(
                    _run_one(cell, request, supplies, paths, pool, _keeper(done, progress))
                )
        finished = True
    finally:
        ordered = [done[cell.id] for cell in request.cells if cell.id in done]
        results = Results(
            run=msgspec.structs.replace(header, interrupted=not finished), cells=ordered
        )
        write_results(results, request.out)
    return results


def _keeper(done: dict[str, CellResult], progress: Progress) -> Callable[[CellResult], None]:
    def keep(result: CellResult) -> None:
        done[result.id] = result
        progress.finished(result)

    return keep


async def _run_one(
    cell: Cell,
    request: Request,
    supplies: Supplies,
    paths: Paths,
    pool: CpuPool,
    keep: Callable[[CellResult], None],
) -> None:
    chip = request.chips[cell.chip]
    rerun = rerun_command(cell, request)
    program = supplies.subjects[cell.subject].program_bytes
    chip_name = next((n for n in chip.flashrom_names if knows_string(program, n)), "")
    reason = skip_reason(cell)
    if not chip_name and not reason:
        reason = f"this flashrom knows none of the names {', '.join(chip.flashrom_names)}"
    if reason:
        finding = Finding(verdict=Verdict.SKIPPED, reason=reason)
        keep(blank_result(cell, chip, finding, rerun=rerun))
        return
    async with pool.one() as cpu:
        try:
            folder = _cell_folder(cell, request.out)
            keep(await _measure(cell, chip_name, request, supplies, paths, folder, cpu, rerun))
        except OSError as error:
            raise _explained(error, request.out) from error


async def _measure(
    cell: Cell,
    chip_name: str,
    request: Request,
    supplies: Supplies,
    paths: Paths,
    folder: Path,
    cpu: int,
    rerun: str,
) -> CellResult:
    chip, subject = request.chips[cell.chip], supplies.subjects[cell.subject]
    try:
        host_s = await run_cell(
            cell,
            chip=chip,
            chip_name=chip_name,
            supplies=supplies,
            paths=paths,
            connect=request.connect,
            folder=folder,
            cpu=cpu,
        )
        result = await asyncio.to_thread(
            judge_cell, cell, chip, folder, subject=subject, host_s=host_s, rerun=rerun
        )
    except LostGuestError as error:
        finding = Finding(verdict=Verdict.INFRA_ERROR, reason=error.message)
        result = blank_result(cell, chip, finding, rerun=rerun)
    (folder / "result.json").write_bytes(msgspec.json.format(msgspec.json.encode(result)))
    return result


def _cell_folder(cell: Cell, out: Path) -> Path:
    folder = out / cell.id
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
    return shlex.join(words)
