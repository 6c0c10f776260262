# SPDX-License-Identifier: GPL-2.0-or-later
"""The answer No as soon as no further cell can change it, before all cells are done."""

from collections.abc import Iterable

from delayrig.decision.decision_text import fault_words
from delayrig.decision.faults import REFUSING, compare_faults, striking
from delayrig.model.cell import WATCHING, Cell, Role
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult


class EarlyAnswer:
    """The findings while cells finish. Only exact cells count: no later round changes them."""

    def __init__(
        self, cells: Iterable[Cell], baseline: Iterable[CellResult] = (), *, absolute: bool = False
    ) -> None:
        """Takes the candidate's cells, and the results of a stored baseline."""
        self._unheard = {c.id for c in cells if c.role in WATCHING and c.lane == EXACT_LANE}
        self._theirs = {cell.place: cell for cell in baseline}
        self._ours: dict[str, CellResult] = {}
        self._absolute = absolute
        self._is_over = not self._unheard

    def finished(self, result: CellResult, *, is_candidate: bool) -> str:
        """Returns the reason for a No when it becomes certain, only once; else an empty text."""
        if result.lane != EXACT_LANE or self._is_over:
            return ""
        if Role(result.role) in WATCHING:
            self._hear(result)
            places = list(self._ours)
        else:
            (self._ours if is_candidate else self._theirs)[result.place] = result
            places = [result.place] if result.place in self._ours else []
        certain = "" if self._unheard else next(filter(None, map(self._no, places)), "")
        self._is_over |= bool(certain)
        return certain

    def _hear(self, result: CellResult) -> None:
        """Notes that a canary or a control answered. After a wrong answer there is no early No."""
        self._unheard.discard(result.id)
        self._is_over |= not result.is_expected

    def _no(self, place: str) -> str:
        """Returns why that place refuses the candidate; empty if it does not.

        If a hazard ends waits at random, that is only known when all cells are done.
        """
        before, now = self._theirs.get(place), self._ours[place]
        if (before is None and not self._absolute) or striking(now):
            return ""
        faults = compare_faults(None if self._absolute else before, now)
        refusing = [fault for fault in faults if fault.change in REFUSING]
        return f"{fault_words(refusing[0])}, in {now.id}" if refusing else ""
