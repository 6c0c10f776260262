# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's request for a run, checked completely before anything is started."""

import fnmatch
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from delayrig.base.bubblewrap import is_unconfined_by_default
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths
from delayrig.hazards import refusal_on
from delayrig.hazards.of_cell import hazards_of, shape_of
from delayrig.model.cell import REGION_KIB, Cell, Programmer, Role
from delayrig.model.chips import ChipFacts, read_chips
from delayrig.model.kinds.kind import NUMBER_MAX
from delayrig.model.lane import LaneName
from delayrig.model.result import FILE_NAME
from delayrig.model.workload import region_of
from delayrig.plan.cells import by_programmers, count_cells, plan_cells, questions_of
from delayrig.plan.check import check_contrast
from delayrig.plan.cluster import ClusterOptions
from delayrig.plan.schema import Contrast, Plan, find_plan, lane_named, own_subjects, read_plan
from delayrig.subjects.delay_function import DelayOptions
from delayrig.subjects.recipes import Recipes, read_recipes
from delayrig.subjects.subject import check_subject

REGION_BYTES_MAX = 2 << 20
"""The disk space that a cell needs for each 64 KiB of its region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    plan: str
    cells: list[Cell]
    chips: dict[str, ChipFacts]
    recipes: Recipes
    out: Path
    jobs: int
    seed: int
    argv: list[str]
    contrasts: list[Contrast] = field(default_factory=list)
    connect: str | None = None
    """The URI of a libvirt that runs the guests; None: plain QEMU."""
    lane: LaneName = LaneName.VIRTUAL
    stages: bool = False
    """True to record the host time of each stage of each cell."""
    from_boot: bool = False
    """True to boot the guest of every cell, for comparison."""
    reuses_guests: bool = True
    """True to reset guests to their snapshots; False to start a QEMU for each cell."""
    delay: DelayOptions = field(default_factory=DelayOptions)
    """The delay function of `path:` subjects."""
    resume: bool = False
    """True to resume the run in `out`."""
    unconfined: bool = field(default_factory=is_unconfined_by_default)
    """True to run subjects of the host lane with all rights of the rig's user."""
    retries_lost: bool = True
    """True to run a lost cell once more before it counts as lost."""
    cluster: ClusterOptions | None = None
    """The cluster for virtual cells; None: all run on this machine."""
    keeps_programs: Path | None = None
    """The folder in which the packed subjects are kept, if any."""
    again: Callable[[Cell], Sequence[str]] | None = None
    """A function that returns the arguments to run a cell again; None: those of `rig/rig run`."""
    first: Callable[[], Collection[str]] = tuple
    """A function that returns the places of the cells to run first, once programs are ready."""
    programmers: tuple[Programmer, ...] = ()
    """The programmers that replace serprog in the plan's cells; empty: none."""
    asked_s: float = field(default_factory=time.time)
    """The wall-clock time of the request.

    Files that others write to `out` later are not overwritten.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    lane: LaneName
    cells: list[Cell]
    contrasts: list[Contrast]
    chips: dict[str, ChipFacts]
    recipes: Recipes
    questions: dict[str, str]
    """The questions that a gate must answer, by the places of the cells that ask them."""

    def request(
        self, plan: str, out: Path, *, seed: int, argv: list[str], jobs: int | None = None
    ) -> Request:
        return Request(
            plan=plan,
            cells=self.cells,
            chips=self.chips,
            recipes=self.recipes,
            out=out,
            jobs=jobs or default_jobs(self.lane),
            seed=seed,
            argv=argv,
            lane=self.lane,
        )


def choose_cells(
    *,
    plan: str,
    paths: Paths,
    subjects: Sequence[str] = (),
    patterns: Sequence[str] = (),
    seed: int = 1,
    lane: LaneName | None = None,
    programmers: Sequence[Programmer] = (),
) -> Choice:
    """Returns the cells of a plan that match any of the patterns; raises `BadInputError`.

    If `programmers` are given, they replace serprog, and contrasts are left out.
    """
    path = find_plan(plan)
    choice = choose_cells_of(
        read_plan(path),
        source=str(path),
        subjects=subjects,
        seed=seed,
        paths=paths,
        lane=lane,
        programmers=programmers,
    )
    cells = choice.cells
    if patterns:
        cells = [c for c in cells if any(fnmatch.fnmatchcase(c.id, p) for p in patterns)]
    if not cells:
        raise BadInputError(
            f"no cell of {plan} matches {', '.join(patterns)}",
            hint=f"`rig/rig run --plan {plan} --dry-run` lists them; * stands for anything",
        )
    return replace(choice, cells=cells)


def count_cells_of(
    plan: str, *, subjects: Sequence[str], paths: Paths, lane: LaneName | None = None
) -> int:
    path = find_plan(plan)
    chips = read_chips(paths.checkout)
    return count_cells(read_plan(path), source=str(path), subjects=subjects, chips=chips, lane=lane)


def choose_cells_of(
    plan: Plan,
    *,
    source: str,
    paths: Paths,
    subjects: Sequence[str] = (),
    seed: int,
    lane: LaneName | None = None,
    programmers: Sequence[Programmer] = (),
) -> Choice:
    """Returns all cells of a plan on its own lane or on `lane`; `source` names it in errors."""
    if seed > NUMBER_MAX:
        raise BadInputError(f"--seed {seed} has more than 63 bits", hint="take a smaller one")
    chips = read_chips(paths.checkout)
    recipes = read_recipes(paths.checkout)
    for key, name in [*(("--subject", name) for name in subjects), *_subjects_of(plan, source)]:
        check_subject(name, recipes, key)
    _check_contrasts(plan, source)
    cells = plan_cells(plan, source=source, subjects=subjects, chips=chips, seed=seed, lane=lane)
    # Leave out canaries and controls that no machine can run on their lane.
    cells = [c for c in cells if c.role is Role.MEASURE or not refusal_on(c.lane, c.hazards)]
    for cell in cells:
        check_region(cell, chips, source)
        check_hazards(cell, chips, source)
    if programmers:
        cells = by_programmers(cells, programmers, chips)
        _check_reach(cells, programmers, source)
    lane = lane or lane_named(plan.lane, source)
    return Choice(
        lane=lane,
        cells=cells,
        contrasts=[] if programmers else plan.contrast,
        chips=chips,
        recipes=recipes,
        questions=questions_of(plan, cells),
    )


def default_jobs(lane: LaneName) -> int:
    """Returns how many cells run at a time. In real time each needs several CPUs."""
    cpus = len(os.sched_getaffinity(0))
    wanted = {LaneName.VIRTUAL: 1, LaneName.HOST: 2, LaneName.LIVE: 4}[lane]
    return max(cpus // wanted, 1)


def _subjects_of(plan: Plan, source: str) -> Iterator[tuple[str, str]]:
    """Yields the file and key of every subject of a plan, and its name."""
    named = [(f"subjects[{number}]", [name]) for number, name in enumerate(plan.subjects)]
    named += [
        (f"group[{number}].subject", own_subjects(group)) for number, group in enumerate(plan.group)
    ]
    named += [
        (f"cell[{number}].subject", own_subjects(cell)) for number, cell in enumerate(plan.cell)
    ]
    named += [
        (f"contrast[{number}]", [contrast.subject, contrast.against])
        for number, contrast in enumerate(plan.contrast)
    ]
    for key, names in named:
        for name in names:
            yield f"{source}: key '{key}'", name


def _check_reach(cells: list[Cell], programmers: Sequence[Programmer], source: str) -> None:
    if not any(cell.role is Role.MEASURE for cell in cells):
        raise BadInputError(
            f"--programmer {' '.join(programmers)}: reaches no chip of {source} on its lane",
            hint="`rig/rig chips` lists which programmers reach which chip",
        )


def _check_contrasts(plan: Plan, source: str) -> None:
    names = [group.name for group in plan.group] + [cell.name for cell in plan.cell]
    for number, contrast in enumerate(plan.contrast):
        check_contrast(contrast, names, f"{source}: key 'contrast[{number}]'")


def check_connect(connect: str | None, cells: list[Cell]) -> None:
    """Raises `BadInputError` if libvirt cannot provide a cell's machine."""
    for cell in cells:
        if connect is not None and not shape_of(cell).platform.libvirt_arch:
            raise BadInputError(
                f"--connect {connect}: cell {cell.id} runs on plain QEMU alone:"
                f" libvirt puts other devices into an {cell.arch} guest",
                hint="leave --connect out, or choose other cells with --cell",
            )


def check_region(cell: Cell, chips: dict[str, ChipFacts], plan: str | Path) -> None:
    try:
        region_of(cell, chips[cell.chip])
    except BadInputError as error:
        raise BadInputError(f"{plan}: cell {cell.id}: {error.message}", hint=error.hint) from error


def check_hazards(cell: Cell, chips: dict[str, ChipFacts], plan: str | Path) -> None:
    for word, hazard in zip(cell.hazards, hazards_of(cell), strict=True):
        refusal = hazard.chip_refusal(chips[cell.chip])
        if refusal:
            raise BadInputError(
                f"{plan}: cell {cell.id}: hazard {word}: {refusal}",
                hint="take another chip there, or leave the hazard out",
            )


def check_out(out: Path, cells: list[Cell], *, name: str = FILE_NAME) -> None:
    """Makes the folder; raises `BadInputError` if a run cannot be kept there.

    `name` is the file that every run of this kind writes there.
    """
    try:
        if (out / name).exists():
            raise BadInputError(
                f"--out {out}: holds a run already, finished or interrupted",
                hint="name another folder, or move that one away",
            )
        _check_space(out, cells)
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise BadInputError(
            f"--out {out}: {os.strerror(error.errno or 0)}",
            hint="name a folder that you may write to",
        ) from error


def _check_space(out: Path, cells: list[Cell]) -> None:
    there = next(folder for folder in [out, *out.absolute().parents] if folder.is_dir())
    regions = sum(max(cell.region_kib, REGION_KIB) for cell in cells) // REGION_KIB
    needed = regions * REGION_BYTES_MAX
    usage = shutil.disk_usage(there)
    if usage.total and usage.free < needed:
        raise BadInputError(
            f"--out {out}: {usage.free >> 20} MiB free, and {len(cells)} cells may need"
            f" {needed >> 20} MiB",
            hint="name a folder with more space, or run fewer cells",
        )
