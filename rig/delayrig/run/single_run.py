# SPDX-License-Identifier: GPL-2.0-or-later
"""A request while its cells run: the results so far, and how `results.json` is written."""

import msgspec

from delayrig.judge.contrast import judge_contrasts
from delayrig.lanes.lane import Lane
from delayrig.model.cell import Cell
from delayrig.model.result import CellResult, Results, write_results
from delayrig.plan.request import Request
from delayrig.run.artifact_transfer import unpack_left
from delayrig.run.cell_runner import cell_folder, keep_result, make_cell_runner, rerun_command
from delayrig.run.resume import begin, clear_cut_off, done_cells


class SingleRun:
    def __init__(self, request: Request, lane: Lane) -> None:
        self.request = request
        self.lane = lane
        self.header = begin(request, lane.header())
        self.kept = done_cells(request.cells, request.out) if request.resume else {}
        """The results of the interrupted run that this one resumes."""
        self.cell_runner = make_cell_runner(request, lane)
        left = [cell for cell in request.cells if cell.id not in self.kept]
        self.refused = [refused for cell in left if (refused := self.cell_runner.refuse(cell))]
        self._done = self.kept | {result.id: result for result in self.refused}

    def known(self, cell: Cell) -> CellResult | None:
        return self._done.get(cell.id)

    async def cell(self, cell: Cell, cpu: int) -> CellResult:
        clear_cut_off(cell, self.request.out)
        return self.note(await self.cell_runner.run(cell, cpu))

    def take(self, cell: Cell, packed: bytes) -> CellResult:
        """Returns the result of a cell of this run that a worker ran, after unpacking its files."""
        clear_cut_off(cell, self.request.out)
        folder = cell_folder(cell, self.request.out)
        rerun = rerun_command(cell, self.request)
        result = msgspec.structs.replace(unpack_left(packed, folder), rerun=rerun)
        keep_result(result, folder)
        return self.note(result)

    def lose(self, cell: Cell, reason: str) -> CellResult:
        clear_cut_off(cell, self.request.out)
        return self.note(self.cell_runner.lost(cell, reason))

    def note(self, result: CellResult) -> CellResult:
        self._done[result.id] = result
        return result

    def keep(self, *, interrupted: bool) -> Results:
        cells = [self._done[cell.id] for cell in self.request.cells if cell.id in self._done]
        results = Results(
            run=msgspec.structs.replace(
                self.header,
                workers=sorted({cell.worker for cell in cells} - {""}),
                interrupted=interrupted,
            ),
            cells=cells,
            contrasts=judge_contrasts(self.request.contrasts, cells),
        )
        write_results(results, self.request.out)
        return results
