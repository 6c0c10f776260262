# SPDX-License-Identifier: GPL-2.0-or-later
"""The early decisions of a gate: which cells run first, and a No before all cells are done.

The first cells are those that reach a function that the change touched. What a cell reaches is
known from earlier gates of the same cells, or from a stored baseline. A No is certain as soon as no
further cell can change it.
"""

import contextlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from elftools.common.exceptions import ELFError

from delayrig.base.atomic_file import replace_file
from delayrig.base.errors import NOT_JSON
from delayrig.decision.decision_text import fault_words
from delayrig.decision.faults import REFUSING, compare_faults, striking
from delayrig.features.coverage.changed import Placed, changed_functions
from delayrig.judge.site_waits import functions_of
from delayrig.model.cell import WATCHING, Cell, Role
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult
from delayrig.subjects.finder.code_map import read_code_map
from delayrig.subjects.subject import PARTS

REACHED = "reached.json"
"""The file of the functions that cells reached, in the folder of state."""
Reached = dict[str, set[str]]
"""The names of functions on the call stacks of a cell's waits, by the cell's place."""


def reached_in(cells: Iterable[CellResult]) -> Reached:
    """Returns the named functions on the call stacks of the waits in measured cells, by place."""
    reached: Reached = {}
    for cell in cells:
        if cell.role == Role.MEASURE:
            names = {name for site in cell.waits for name in functions_of(site.callers) if name}
            reached.setdefault(cell.place, set()).update(names)
    return reached


def read_reached(file: Path) -> Reached:
    """Returns what earlier gates reached; nothing if the file cannot be read."""
    with contextlib.suppress(OSError, *NOT_JSON):
        return msgspec.json.decode(file.read_bytes(), type=Reached)
    return {}


def keep_reached(file: Path, cells: Iterable[CellResult]) -> None:
    """Adds what cells reached to the file.

    A failure is ignored: without the file, the next gate only runs its cells in another order.
    """
    with contextlib.suppress(OSError):
        replace_file(file, msgspec.json.encode(read_reached(file) | reached_in(cells)))


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCells:
    """A gate's choice of the cells to run first, made once its programs are saved."""

    sides: tuple[Path, Path]
    """The folders of the saved programs: the baseline's, and the candidate's."""
    reached: Reached
    watching: Collection[str]
    """The places of canaries and controls. No early answer is certain before their results."""
    kept: Path
    """The folder in which code maps of programs are cached."""

    def places(self) -> Collection[str]:
        """Returns the places to run first; empty if no cell is known to reach the change."""
        if not self.reached:
            return ()
        before, after = map(self._functions, self.sides)
        changed = changed_functions(before, after, named=True) if before and after else []
        names = {each.code.name for one in changed for each in (one.before, one.after) if each}
        places = {place for place, functions in self.reached.items() if functions & names}
        return places.union(self.watching) if places else ()

    def _functions(self, folder: Path) -> list[Placed]:
        """Returns the functions of a saved program's files with symbols; none if one is not ELF."""
        found: list[Placed] = []
        for part in filter(Path.is_file, sorted((folder / PARTS).rglob("*"))):
            try:
                code = read_code_map(part, (), named=True, kept=self.kept)
            except ELFError:
                return []
            found += [Placed(part.name, each) for each in code.functions] if code.named else []
        return found


class EarlyAnswer:
    """A search for an early No while cells finish.

    Only cells in virtual time count, because no later round changes their results.
    """

    def __init__(
        self, cells: Iterable[Cell], baseline: Iterable[CellResult] = (), *, absolute: bool = False
    ) -> None:
        """Takes the candidate's cells, and the results of a stored baseline."""
        self._awaited = {c.id for c in cells if c.role in WATCHING and c.lane == EXACT_LANE}
        self._theirs = {cell.place: cell for cell in baseline}
        self._ours: dict[str, CellResult] = {}
        self._absolute = absolute
        self._is_over = not self._awaited

    def finished(self, result: CellResult, *, is_candidate: bool) -> str:
        """Returns the reason for a No in the call that makes it certain; else an empty text."""
        if result.lane != EXACT_LANE or self._is_over:
            return ""
        if Role(result.role) in WATCHING:
            self._awaited.discard(result.id)
            # After a wrong answer of a canary or a control, no answer is certain.
            self._is_over |= not result.is_expected
            places = list(self._ours)
        else:
            (self._ours if is_candidate else self._theirs)[result.place] = result
            places = [result.place] if result.place in self._ours else []
        if self._awaited or self._is_over:
            return ""
        certain = next(filter(None, map(self._no, places)), "")
        self._is_over = bool(certain)
        return certain

    def _no(self, place: str) -> str:
        """Returns the fault at that place that refuses the candidate; empty if there is none.

        Places with a hazard that ends waits give no early answer, because their faults are only
        known when all cells are done.
        """
        before, now = self._theirs.get(place), self._ours[place]
        if (before is None and not self._absolute) or striking(now):
            return ""
        faults = compare_faults(None if self._absolute else before, now)
        refusing = [fault for fault in faults if fault.change in REFUSING]
        return f"{fault_words(refusing[0])}, in {now.id}" if refusing else ""
