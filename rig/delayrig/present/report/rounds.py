# SPDX-License-Identifier: GPL-2.0-or-later
"""Several rounds of the same cells as one run: each cell in one of its rounds, and how all spread.

A cell is shown as it was in a round that there was, never as an average: in one of its gravest
verdict, and of these in the one whose total time is the median. So its times, events and evidence
belong together, and no round that was too short is lost among those that were not.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from delayrig.analysis.gate.judge import is_unheard
from delayrig.model.result import CellResult, Results, Verdict
from delayrig.present.notable import GRAVITY


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """What all rounds made of one cell."""

    folder: Path
    """Of the cell, in the round that is shown."""
    shown: int
    """That round; the first one is 1."""
    verdicts: dict[Verdict, int]
    """How often, the gravest first."""
    total_ns: dict[int, int]
    """Of each round that the cell passed."""
    cpu_ns: dict[int, int]

    @property
    def rounds(self) -> int:
        """In how many it was run."""
        return sum(self.verdicts.values())


def fold_rounds(rounds: Sequence[tuple[Path, Results]]) -> tuple[Results, dict[str, Spread]]:
    """One run of the cells of all, under the first one's header; by cell, how its rounds spread."""
    found: dict[str, dict[int, CellResult]] = {}
    for number, (_, results) in enumerate(rounds, start=1):
        for cell in results.cells:
            found.setdefault(cell.id, {})[number] = cell
    shown = {cell_id: _shown(cells) for cell_id, cells in found.items()}
    spreads = {
        cell_id: _spread(cells, shown[cell_id], rounds[shown[cell_id] - 1][0] / cell_id)
        for cell_id, cells in found.items()
    }
    cells = [found[cell_id][number] for cell_id, number in shown.items()]
    return msgspec.structs.replace(rounds[0][1], cells=cells), spreads


def _shown(cells: dict[int, CellResult]) -> int:
    """The round that stands for all; what a busy machine left unanswered only if nothing else."""
    answered = [number for number, cell in cells.items() if not is_unheard(cell)]
    choice = answered or list(cells)
    gravest = min(GRAVITY.index(cells[number].verdict) for number in choice)
    equal = [number for number in choice if GRAVITY.index(cells[number].verdict) == gravest]
    by_time = sorted(equal, key=lambda number: cells[number].time_ns.total)
    return by_time[(len(by_time) - 1) // 2]


def _spread(cells: dict[int, CellResult], shown: int, folder: Path) -> Spread:
    counts = Counter(cell.verdict for cell in cells.values())
    passed = {number: cell for number, cell in cells.items() if cell.verdict is Verdict.PASS}
    return Spread(
        folder=folder,
        shown=shown,
        verdicts={verdict: counts[verdict] for verdict in GRAVITY if counts[verdict]},
        total_ns={number: cell.time_ns.total for number, cell in passed.items()},
        cpu_ns={number: cell.total_cpu_ns for number, cell in passed.items()},
    )
