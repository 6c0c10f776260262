# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's request for a run, checked completely before anything is started."""

import fnmatch
import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from delayrig.base.bubblewrap import is_unconfined_by_default
from delayrig.base.errors import BadInputError
from delayrig.base.paths import Paths
from delayrig.model.cell import Cell, Programmer
from delayrig.model.chips import ChipFacts
from delayrig.model.kinds.kind import NUMBER_MAX
from delayrig.model.lane import LaneName
from delayrig.model.platform import PLATFORMS
from delayrig.plan.cells import plan_cells
from delayrig.plan.check import CheckedPlan, check_plan
from delayrig.plan.cluster import ClusterOptions
from delayrig.plan.schema import Contrast, Plan, find_plan, read_plan
from delayrig.subjects.delay_function import DelayOptions
from delayrig.subjects.recipes import Recipes


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
    """True to record how long each stage of a cell took on this machine."""
    from_boot: bool = False
    """True to boot a guest for every cell instead of restoring a snapshot, for comparison."""
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

    The run is refused if another run has written results to `out` since then.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The cells of a plan that a command runs."""

    checked: CheckedPlan
    cells: list[Cell]
    unmatched: list[str]
    """The patterns that match no cell."""
    contrasts: list[Contrast]

    def request(
        self, plan: str, out: Path, *, seed: int, argv: list[str], jobs: int | None = None
    ) -> Request:
        return Request(
            plan=plan,
            cells=self.cells,
            chips=self.checked.chips,
            recipes=self.checked.recipes,
            out=out,
            jobs=jobs or default_jobs(self.checked.lane),
            seed=seed,
            argv=argv,
            lane=self.checked.lane,
        )


def read_checked_plan(
    plan: str, *, paths: Paths, subjects: Collection[str] = (), lane: LaneName | None = None
) -> CheckedPlan:
    """Returns the plan of that name or file; `subjects` and `lane`, if given, replace its own.

    Raises `BadInputError` that names the file and the key.
    """
    path = find_plan(plan)
    written = read_plan(path)
    checked = check_plan(written, paths, source=str(path), subjects=subjects, lane=lane)
    return replace(checked, name=plan)


def choose_cells(
    *,
    plan: str,
    paths: Paths,
    subjects: Collection[str] = (),
    patterns: Sequence[str] = (),
    seed: int = 1,
    lane: LaneName | None = None,
    programmers: Sequence[Programmer] = (),
) -> Choice:
    """Returns the cells of a plan; see `read_checked_plan` and `cells_chosen`."""
    checked = read_checked_plan(plan, paths=paths, subjects=subjects, lane=lane)
    return cells_chosen(checked, patterns=patterns, seed=seed, programmers=programmers)


def choose_cells_of(plan: Plan, *, source: str, paths: Paths, seed: int) -> Choice:
    """Returns all cells of a plan that is not in a file; `source` names it in errors."""
    return cells_chosen(check_plan(plan, paths, source=source), seed=seed)


def cells_chosen(
    checked: CheckedPlan,
    *,
    patterns: Sequence[str] = (),
    seed: int,
    programmers: Sequence[Programmer] = (),
) -> Choice:
    """Returns the cells of a plan that match any of the patterns; raises `BadInputError`.

    If `programmers` are given, they replace serprog, and contrasts are left out.
    """
    if seed > NUMBER_MAX:
        raise BadInputError(f"--seed {seed} has more than 63 bits", hint="take a smaller one")
    cells = plan_cells(checked, seed=seed, programmers=programmers)
    matching = {
        pattern: {cell.id for cell in cells if fnmatch.fnmatchcase(cell.id, pattern)}
        for pattern in patterns
    }
    chosen = set().union(*matching.values())
    if patterns and not chosen:
        raise BadInputError(
            f"no cell of {checked.name} matches {', '.join(patterns)}",
            hint=f"`rig/rig run --plan {checked.name} --dry-run` lists them; * stands for anything",
        )
    return Choice(
        checked=checked,
        cells=[cell for cell in cells if cell.id in chosen] if patterns else cells,
        unmatched=[pattern for pattern, ids in matching.items() if not ids],
        contrasts=[] if programmers else checked.plan.contrast,
    )


def default_jobs(lane: LaneName) -> int:
    """Returns the default number of cells at a time. In real time, a cell needs several CPUs."""
    cpus = len(os.sched_getaffinity(0))
    wanted = {LaneName.VIRTUAL: 1, LaneName.HOST: 2, LaneName.LIVE: 4}[lane]
    return max(cpus // wanted, 1)


def check_connect(connect: str | None, cells: list[Cell]) -> None:
    """Raises `BadInputError` if libvirt cannot provide a cell's machine."""
    for cell in cells:
        if connect is not None and not PLATFORMS[cell.arch].libvirt_arch:
            raise BadInputError(
                f"--connect {connect}: cell {cell.id} runs on plain QEMU alone:"
                f" libvirt puts other devices into an {cell.arch} guest",
                hint="leave --connect out, or choose other cells with --cell",
            )
