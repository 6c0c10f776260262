# SPDX-License-Identifier: GPL-2.0-or-later
"""Single cells, run one after another, each in a folder of its own."""

from dataclasses import dataclass, field
from pathlib import Path

from delayrig.base.paths import Paths
from delayrig.base.preparing import Preparing
from delayrig.images.delay_function import DelayWish
from delayrig.images.recipes import Recipes
from delayrig.model.cell import Cell
from delayrig.model.chips import ChipFacts
from delayrig.model.result import CellResult
from delayrig.plan.request import Request
from delayrig.run.runner import Quiet, run_request


def trial_folder(out: Path, number: int) -> Path:
    """Where a trial is kept; the first one is 1."""
    return out / f"{number:03}"


@dataclass(slots=True, kw_only=True)
class Trials:
    """What they have in common. `preparing` is told what is made before a cell can run."""

    chips: dict[str, ChipFacts]
    recipes: Recipes
    paths: Paths
    out: Path
    plan: str
    argv: list[str]
    preparing: Preparing
    delay: DelayWish = field(default_factory=DelayWish)
    """Where the delay function of path: subjects is."""
    _count: int = field(default=0, init=False)

    async def run(self, cell: Cell) -> CellResult:
        """The cell's result; everything it left is in `out/NUMBER/ID`."""
        self._count += 1
        folder = trial_folder(self.out, self._count)
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
