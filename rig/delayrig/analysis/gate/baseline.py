# SPDX-License-Identifier: GPL-2.0-or-later
"""A baseline that was run before: whether it can be one for a plan."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from delayrig.base.errors import BadInputError
from delayrig.images.recipes import Recipes
from delayrig.images.subject import PATH_PREFIX, known_subjects
from delayrig.model.cell import Cell, Role, place_of
from delayrig.model.lane import LaneName
from delayrig.model.result import FILE_NAME, Results, read_results


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBaseline:
    """A finished run of one subject."""

    path: Path
    results: Results

    @property
    def lane(self) -> LaneName:
        """All cells of a run are of one."""
        return LaneName(self.results.cells[0].lane)

    def check_cells(self, cells: Iterable[Cell]) -> None:
        """Raises `BadInputError` where it lacks one of the places that a candidate will be in."""
        there = {cell.place for cell in self.results.cells if cell.role == Role.MEASURE}
        wanted = [place_of(cell.id) for cell in cells if cell.role is Role.MEASURE]
        missing = [place for place in wanted if place not in there]
        if missing:
            run = self.results.run
            raise BadInputError(
                f"{self.path}: key 'cells': {len(missing)} cells of the plan are not in it, such as"
                f" {missing[0]}",
                hint=f"it is a run of plan {run.plan}: name that with --plan,"
                " or run the baseline with this one",
            )


def is_subject(name: str, recipes: Recipes) -> bool:
    """Whether a baseline is one to run; anything else that exists is a stored run."""
    known = name.startswith(PATH_PREFIX) or name in known_subjects(recipes)
    return known or not Path(name).exists()


def read_baseline(run: Path) -> StoredBaseline:
    """A finished run of one subject; raises `BadInputError` for any other."""
    results = read_results(run)
    path = run / FILE_NAME if run.is_dir() else run
    if results.run.interrupted:
        raise BadInputError(
            f"{path}: key 'run.interrupted' is true: cells of it are missing",
            hint="run it again to its end",
        )
    names = sorted({cell.subject.name for cell in results.cells if cell.role == Role.MEASURE})
    if len(names) != 1:
        raise BadInputError(
            f"{path}: key 'cells' holds {len(names)} subjects to measure by: {', '.join(names)}",
            hint="a baseline is one: `rig/rig run --subject ...` with one subject makes it",
        )
    return StoredBaseline(path=path, results=results)
