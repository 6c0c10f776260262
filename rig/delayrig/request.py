# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user asks of a run, checked in full before anything is started."""

import fnmatch
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from delayrig.cell import Cell
from delayrig.chips import ChipFacts, read_chips
from delayrig.errors import BadInputError
from delayrig.images.recipes import Recipes, read_recipes
from delayrig.images.subject import check_subject
from delayrig.paths import Paths
from delayrig.plan import find_plan, plan_cells, read_plan
from delayrig.result import FILE_NAME
from delayrig.workload import REGION_END_BYTES

CELL_BYTES_MAX = 2 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A run that can be started."""

    plan: str
    cells: list[Cell]
    chips: dict[str, ChipFacts]
    recipes: Recipes
    out: Path
    jobs: int
    seed: int
    connect: str | None
    argv: list[str]

    @property
    def subjects(self) -> list[str]:
        """Every subject once, in the order of the cells."""
        return list(dict.fromkeys(cell.subject for cell in self.cells))


def choose_cells(
    *, plan: str, subjects: list[str], patterns: list[str], seed: int, paths: Paths
) -> tuple[list[Cell], dict[str, ChipFacts], Recipes]:
    """The cells of a plan that match any of the patterns; raises `BadInputError`."""
    chips = read_chips(paths.checkout)
    recipes = read_recipes(paths.checkout)
    for name in subjects:
        check_subject(name, recipes, "--subject")
    path = find_plan(plan)
    content = read_plan(path)
    for number, name in enumerate(content.subjects):
        check_subject(name, recipes, f"{path}: key 'subjects[{number}]'")
    for number, single in enumerate(content.cell):
        if single.subject is not None:
            check_subject(single.subject, recipes, f"{path}: key 'cell[{number}].subject'")
    cells = plan_cells(content, source=str(path), subjects=subjects, chips=chips, seed=seed)
    if patterns:
        cells = [c for c in cells if any(fnmatch.fnmatchcase(c.id, p) for p in patterns)]
    if not cells:
        raise BadInputError(
            f"no cell of {plan} matches {', '.join(patterns)}",
            hint=f"`rig/rig run --plan {plan} --dry-run` lists them; * stands for anything",
        )
    for cell in cells:
        _check_room(chips[cell.chip], cell)
    return cells, chips, recipes


def _check_room(chip: ChipFacts, cell: Cell) -> None:
    if chip.size_bytes < REGION_END_BYTES:
        raise BadInputError(
            f"{cell.id}: {chip.name} ends before the region that every job is about",
            hint=f"`rig/rig chips` lists those of {REGION_END_BYTES >> 10} KiB and more",
        )


def check_out(out: Path, cells: int) -> None:
    """Makes the folder; raises `BadInputError` where a run could not be kept there."""
    try:
        if (out / FILE_NAME).exists():
            raise BadInputError(
                f"--out {out}: holds a run already",
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


def _check_space(out: Path, cells: int) -> None:
    there = next(folder for folder in [out, *out.absolute().parents] if folder.is_dir())
    needed, usage = cells * CELL_BYTES_MAX, shutil.disk_usage(there)
    free = usage.free
    if usage.total and free < needed:
        raise BadInputError(
            f"--out {out}: {free >> 20} MiB free, and {cells} cells may need {needed >> 20} MiB",
            hint="name a folder with more space, or run fewer cells",
        )
