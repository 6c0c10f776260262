# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the simplest cell that is convicted, starting from a convicted one.

It simplifies one thing at a time, and keeps a change if the verdict stays the same. It ends when no
change is kept. The virtual lane is exact, so each cell runs only once.
"""

import itertools
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from delayrig.base.durations import MS_PER_S
from delayrig.base.errors import BadInputError
from delayrig.base.text import counted
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

    async def try_each(candidates: list[tuple[str, Cell]]) -> None:
        """Tries candidates, the simplest first, and keeps the first one that passes `is_kept`."""
        known = {shrunk.cell.id, *(step.cell.id for step in shrunk.steps)}
        for what, cell in candidates:
            if now_s() >= ends_s:
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

    while not shrunk.complete and now_s() < ends_s:
        before = shrunk.cell
        for what in simpler_cells(before, chips):
            await try_each(simpler_cells(shrunk.cell, chips)[what])
        shrunk.complete = shrunk.cell == before and now_s() < ends_s
    return shrunk


def simpler_cells(cell: Cell, chips: dict[str, ChipFacts]) -> dict[str, list[tuple[str, Cell]]]:
    """Returns the simpler cells by what they simplify, the most informative first.

    Each list begins with the simplest cell. A cell may be the same as before.
    """
    hazards = [
        words
        for count in range(len(cell.hazards))
        for words in itertools.combinations(cell.hazards, count)
    ]
    cores = [n for n in CORES_KNOWN if cores_needed(cell.hazards) <= n < cell.cores]
    usual, jobs = Programmer.SERPROG_IP, JOBS[: JOBS.index(cell.job)]
    regions = [
        (kib, replace(cell, region_kib=kib, content_bytes=min(cell.content_bytes, kib * 1024)))
        for kib in REGIONS_KIB
        if kib < cell.region_kib
    ]
    return {
        "hazards": [
            (f"hazards {'+'.join(words) or 'none'}", replace(cell, hazards=words))
            for words in hazards
        ],
        "cores": [(counted(n, "core"), replace(cell, cores=n)) for n in cores],
        "programmer": [(str(usual), replace(cell, programmer=usual))],
        "job": [(str(job), replace(cell, job=job)) for job in jobs],
        "chip": [(name, replace(cell, chip=name)) for name in _smaller_chips(cell, chips)],
        "corner": [("corner typ", replace(cell, corner=Corner.TYP.value))],
        "region": [(f"{kib} KiB", smaller) for kib, smaller in regions if _fits(smaller, chips)],
    }


def _smaller_chips(cell: Cell, chips: dict[str, ChipFacts]) -> list[str]:
    """Returns one chip of each smaller size, of the same bus and family, if the region fits."""
    now = chips[cell.chip]
    by_size: dict[int, str] = {}
    for name, chip in sorted(chips.items()):
        is_alike = (chip.bus, chip.family) == (now.bus, now.family)
        if is_alike and chip.size_bytes < now.size_bytes and _fits(replace(cell, chip=name), chips):
            by_size.setdefault(chip.size_bytes, name)
    return [name for _, name in sorted(by_size.items())[:CHIPS_MAX]]


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
