# SPDX-License-Identifier: GPL-2.0-or-later
"""Searches cells one after another for the first that shows a symptom."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

from delayrig.decision.shrink import Trial
from delayrig.features.find.symptom import Symptom, shows, why_not
from delayrig.model.cell import Cell
from delayrig.model.result import CellResult

SPANNED = ("icount_shift", "chip", "corner", "hazards", "job")


@dataclass(slots=True, kw_only=True)
class Searched:
    """The search's end: the cell that shows the symptom, and why the others do not."""

    cell: Cell | None = None
    tried: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    """The number of cells that did not show it, by the cause."""


def widest_first(cells: Sequence[Cell]) -> list[Cell]:
    """Returns the cells so that each brings the most pairs of values that none before it had.

    A search that ends early has then seen as many pairs as it could.
    """
    left, seen, ordered = list(cells), set[frozenset[tuple[str, object]]](), list[Cell]()
    while left:
        best = max(left, key=lambda cell: len(_pairs(cell) - seen))
        left.remove(best)
        seen |= _pairs(best)
        ordered.append(best)
    return ordered


@cache
def _pairs(cell: Cell) -> frozenset[frozenset[tuple[str, object]]]:
    values = [(name, getattr(cell, name)) for name in SPANNED]
    return frozenset(frozenset(pair) for pair in combinations(values, 2))


async def search(
    symptom: Symptom,
    cells: Sequence[Cell],
    trial: Trial,
    watch: Callable[[Cell, CellResult], None],
) -> Searched:
    """Returns after the first cell that shows the symptom, or after all."""
    searched = Searched()
    for cell in cells:
        result = await trial(cell)
        searched.tried += 1
        watch(cell, result)
        if shows(symptom, result):
            searched.cell = cell
            return searched
        searched.causes[why_not(symptom, result)] += 1
    return searched
