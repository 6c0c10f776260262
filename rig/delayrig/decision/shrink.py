# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the simplest cell that is convicted, starting from a convicted one.

It simplifies one thing at a time, and keeps a change if the verdict stays the same. It ends when no
change is kept. The virtual lane is exact, so each cell runs only once.
"""

import itertools
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from delayrig.base.durations import MS_PER_S
from delayrig.base.errors import BadInputError
from delayrig.hazards import NONE, cores_needed
from delayrig.hazards.of_cell import shape_of
from delayrig.model.cell import SEPARATOR, Cell, Expect, Job, Programmer, Role
from delayrig.model.chips import ChipFacts
from delayrig.model.corner import Corner
from delayrig.model.lane import LaneName
from delayrig.model.result import UNSAFE, CellResult, Results
from delayrig.model.workload import region_of
from delayrig.plan.schema import CORES_KNOWN, Plan, Point, Single

NAME = "shrunk"
JOBS = (Job.PROBE, Job.DETECT, Job.READ, Job.ERASE, Job.VERIFY, Job.WRITE)
"""The jobs from the shortest to the longest."""
REGIONS_KIB = (1, 4, 16, 64, 256)
CHIPS_MAX = 4
"""The most chip sizes to try. One is not enough, because the subject may not know the chip."""

Trial = Callable[[Cell], Awaitable[CellResult]]
Way = Callable[[Cell], Iterator[tuple[str, Cell]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    what: str
    cell: Cell
    kept: bool
    verdict: str

    @property
    def line(self) -> str:
        """Returns a line for the terminal: the change that was tried, and its verdict."""
        return f"{'kept' if self.kept else 'no  '}  {self.what}: {self.verdict}"


@dataclass(slots=True, kw_only=True)
class Shrunk:
    result: CellResult
    cell: Cell
    steps: list[Step] = field(default_factory=list)
    complete: bool = False
    """True if no simpler cell is left to try; False if the time limit came first."""


def stripped(cell: Cell) -> Cell:
    """Returns the cell without its plan's name, role and expectation."""
    return replace(cell, name=NAME, role=Role.MEASURE, expect=Expect.PASS)


async def shrink(
    cell: Cell,
    chips: dict[str, ChipFacts],
    trial: Trial,
    *,
    limit_s: float,
    watch: Callable[[Step], None],
    now_s: Callable[[], float] = time.monotonic,
    shows: Callable[[CellResult], bool] | None = None,
) -> Shrunk:
    """Returns the simplest cell found within `limit_s`.

    By default `cell` must be convicted, and a simpler cell must have the same verdict; `shows`
    replaces both tests. Raises `BadInputError` if `cell` fails its test.
    """
    ends_s = now_s() + limit_s
    first = stripped(cell)
    result = await trial(first)
    if not (shows(result) if shows else result.verdict in UNSAFE):
        raise BadInputError(
            f"{cell.id}: its verdict is {result.verdict}, so there is nothing to shrink",
            hint="name a cell that is too_short or corrupt",
        )
    shrunk = Shrunk(cell=first, result=result)
    is_kept = shows or (lambda tried: tried.verdict == result.verdict)
    while not shrunk.complete and now_s() < ends_s:
        before = shrunk.cell
        for candidates in ways(chips):
            await _try_each(candidates, shrunk, trial, watch, is_kept, lambda: now_s() >= ends_s)
        shrunk.complete = shrunk.cell == before and now_s() < ends_s
    return shrunk


async def _try_each(
    candidates: Way,
    shrunk: Shrunk,
    trial: Trial,
    watch: Callable[[Step], None],
    is_kept: Callable[[CellResult], bool],
    is_over: Callable[[], bool],
) -> None:
    """Tries candidates, the simplest first, and keeps the first one that passes `is_kept`."""
    known = {step.cell.id for step in shrunk.steps}
    for what, cell in candidates(shrunk.cell):
        if is_over():
            return
        if cell.id in known:
            continue
        result = await trial(cell)
        kept = is_kept(result)
        step = Step(what=what, cell=cell, kept=kept, verdict=result.verdict)
        shrunk.steps.append(step)
        watch(step)
        if kept:
            shrunk.cell, shrunk.result = cell, result
            return


def ways(chips: dict[str, ChipFacts]) -> list[Way]:
    """Returns the ways to simplify a cell, the most informative first."""
    return [
        _fewer_hazards,
        _fewer_cores,
        _usual_programmer,
        _shorter_job,
        lambda cell: _smaller_chip(cell, chips),
        _plainer_corner,
        lambda cell: _smaller_region(cell, chips),
    ]


def _fewer_hazards(cell: Cell) -> Iterator[tuple[str, Cell]]:
    for count in range(len(cell.hazards)):
        for words in itertools.combinations(cell.hazards, count):
            yield f"hazards {'+'.join(words) or 'none'}", replace(cell, hazards=words)


def _fewer_cores(cell: Cell) -> Iterator[tuple[str, Cell]]:
    for cores in CORES_KNOWN:
        if cores_needed(cell.hazards) <= cores < cell.cores:
            yield f"{cores} {'core' if cores == 1 else 'cores'}", replace(cell, cores=cores)


def _usual_programmer(cell: Cell) -> Iterator[tuple[str, Cell]]:
    if cell.programmer is not Programmer.SERPROG_IP:
        yield str(Programmer.SERPROG_IP), replace(cell, programmer=Programmer.SERPROG_IP)


def _shorter_job(cell: Cell) -> Iterator[tuple[str, Cell]]:
    for job in JOBS[: JOBS.index(cell.job)]:
        yield str(job), replace(cell, job=job)


def _smaller_chip(cell: Cell, chips: dict[str, ChipFacts]) -> Iterator[tuple[str, Cell]]:
    """Yields one chip of each smaller size, of the same bus and family, if the region fits."""
    now = chips[cell.chip]
    by_size: dict[int, str] = {}
    for name, chip in sorted(chips.items()):
        is_alike = (chip.bus, chip.family) == (now.bus, now.family)
        if is_alike and chip.size_bytes < now.size_bytes and _fits(replace(cell, chip=name), chips):
            by_size.setdefault(chip.size_bytes, name)
    for _, name in sorted(by_size.items())[:CHIPS_MAX]:
        yield name, replace(cell, chip=name)


def _plainer_corner(cell: Cell) -> Iterator[tuple[str, Cell]]:
    if cell.corner != Corner.TYP:
        yield "corner typ", replace(cell, corner=Corner.TYP.value)


def _smaller_region(cell: Cell, chips: dict[str, ChipFacts]) -> Iterator[tuple[str, Cell]]:
    for region_kib in REGIONS_KIB:
        content_bytes = min(cell.content_bytes, region_kib * 1024)
        smaller = replace(cell, region_kib=region_kib, content_bytes=content_bytes)
        if region_kib < cell.region_kib and _fits(smaller, chips):
            yield f"{region_kib} KiB", smaller


def _fits(cell: Cell, chips: dict[str, ChipFacts]) -> bool:
    try:
        region_of(cell, chips[cell.chip])
    except BadInputError:
        return False
    return True


def first_conviction(results: Results, source: str) -> str:
    """Returns the ID of a convicted cell, preferably one whose plan expects that it passes.

    Raises `BadInputError` if no cell was convicted.
    """
    found = [cell for cell in results.cells if cell.verdict in UNSAFE and cell.role == Role.MEASURE]
    if not found:
        raise BadInputError(f"{source}: no cell was convicted", hint="name another run, or a cell")
    return min(found, key=lambda cell: cell.expect != Expect.PASS).id


def plan_of(cell: Cell, about: str = "") -> Plan:
    """Returns a plan that has only this cell."""
    live = cell.lane is LaneName.LIVE
    mips = cell.core_mips[0] if live else shape_of(cell).nominal_mips
    at = Point(
        mips=None if cell.machine else mips,
        cores=None if cell.machine else cell.cores,
        machine=cell.machine,
        job=cell.job.value,
        chip=cell.chip,
        corner=cell.corner,
        hazards=SEPARATOR.join(cell.hazards) or NONE,
        programmer=cell.programmer.value,
        arch=cell.arch.value,
    )
    single = Single(
        name=cell.name,
        region_kib=cell.region_kib,
        content_bytes=cell.content_bytes,
        deadline_s=cell.deadline_ms // MS_PER_S,
        at=at,
    )
    return Plan(
        schema=1,
        about=about or f"The simplest cell found that {cell.subject} is convicted in",
        subjects=[cell.subject],
        lane=cell.lane.value,
        cell=[single],
    )
