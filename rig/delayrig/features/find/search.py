# SPDX-License-Identifier: GPL-2.0-or-later
"""Searches cells one after another for the first that shows a symptom."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

from msgspec.structs import replace

from delayrig.decision.shrink import Trial
from delayrig.features.find.symptom import Symptom, may_be_slow, shows, was_run, why_not
from delayrig.hazards import NONE
from delayrig.model.cell import SEPARATOR, Cell
from delayrig.model.result import CellResult
from delayrig.model.shape import mips_of_shift
from delayrig.subjects.subject import BUNDLED

READ: dict[str, Callable[[Cell], str]] = {
    "programmer": lambda cell: cell.programmer,
    "chip": lambda cell: cell.chip,
    "corner": lambda cell: cell.corner,
    "mips": lambda cell: f"{mips_of_shift(cell.icount_shift):.0f}",
    "hazards": lambda cell: SEPARATOR.join(cell.hazards) or NONE,
    "job": lambda cell: cell.job,
}
"""The dimensions that are searched."""


@dataclass(slots=True, kw_only=True)
class Searched:
    """The result of a search: the cell that shows the symptom, and why the others do not."""

    cell: Cell | None = None
    tried: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    """The number of cells that did not show it, by the cause."""
    ran: list[Cell] = field(default_factory=list)
    """The cells that could be run."""


def widest_first(cells: Sequence[Cell]) -> list[Cell]:
    """Orders the cells so that each adds the most new pairs of values, for an early end."""
    left, seen, ordered = list(cells), set[frozenset[tuple[str, str]]](), list[Cell]()
    while left:
        best = max(left, key=lambda cell: len(_pairs(cell) - seen))
        left.remove(best)
        seen |= _pairs(best)
        ordered.append(best)
    return ordered


def values_of(cells: Iterable[Cell]) -> dict[str, list[str]]:
    """Returns the values that the cells have, by dimension."""
    cells = list(cells)
    return {name: list(dict.fromkeys(read(cell) for cell in cells)) for name, read in READ.items()}


def pairs_of(cells: Iterable[Cell]) -> int:
    """Returns the number of pairs of values that stand together in one of the cells."""
    return len({pair for cell in cells for pair in _pairs(cell)})


@cache
def _pairs(cell: Cell) -> frozenset[frozenset[tuple[str, str]]]:
    values = [(name, read(cell)) for name, read in READ.items()]
    return frozenset(frozenset(pair) for pair in combinations(values, 2))


async def search(
    symptom: Symptom,
    cells: Sequence[Cell],
    trial: Trial,
    watch: Callable[[Cell, CellResult], None],
    own: Callable[[CellResult], CellResult | None] = lambda _: None,
) -> Searched:
    """Returns after the first cell that shows the symptom, or after all.

    `own` returns our flashrom's result in the same cell.
    """
    searched = Searched()
    for cell in cells:
        result = await trial(cell)
        searched.tried += 1
        searched.ran += [cell] if was_run(result) else []
        watch(cell, result)
        if shows(symptom, result, own(result)):
            searched.cell = cell
            return searched
        searched.causes[why_not(result, own(result))] += 1
    return searched


class BesideOurs:
    """Trials of cells. In a search for a slow cell, our flashrom runs there, too, to compare."""

    def __init__(self, symptom: Symptom, trial: Trial) -> None:
        self._symptom = symptom
        self._trial = trial
        self._ours: dict[str, CellResult] = {}

    async def run(self, cell: Cell) -> CellResult:
        result = await self._trial(cell)
        if self._symptom is Symptom.SLOW and may_be_slow(result):
            self._ours[result.id] = await self._trial(replace(cell, subject=BUNDLED))
        return result

    def own(self, result: CellResult) -> CellResult | None:
        return self._ours.get(result.id)

    def shows(self, result: CellResult) -> bool:
        return shows(self._symptom, result, self.own(result))
