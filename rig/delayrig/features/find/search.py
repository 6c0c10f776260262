# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the first cell that shows the user's symptom, and says why the others do not."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import combinations

from msgspec.structs import replace

from delayrig.base.durations import NS_PER_S
from delayrig.base.errors import ExitCode
from delayrig.decision.shrink import Trial
from delayrig.hazards import NONE
from delayrig.model.cell import CHANGING, SEPARATOR, Cell
from delayrig.model.evidence import Witness
from delayrig.model.result import CellResult, Ending, Verdict
from delayrig.model.shape import mips_of_shift
from delayrig.subjects.subject import BUNDLED

SLOW_TIMES, OWN_TIMES = 3, 1.5
"""The multiples of what the job needs, and of our flashrom's time, from which work is slow."""
READ: dict[str, Callable[[Cell], str]] = {
    "programmer": lambda cell: cell.programmer,
    "chip": lambda cell: cell.chip,
    "corner": lambda cell: cell.corner,
    "mips": lambda cell: f"{mips_of_shift(cell.icount_shift):.0f}",
    "hazards": lambda cell: SEPARATOR.join(cell.hazards) or NONE,
    "job": lambda cell: cell.job,
}
"""The dimensions that are searched, each with the function that reads it from a cell."""


class Symptom(StrEnum):
    """A symptom, by its word on the command line."""

    CORRUPT = "corrupt"
    """The subject reports success, and the data is wrong."""
    VERIFY_FAILED = "verify-failed"
    """The subject changed the part, and then reports a failure itself."""
    HUNG = "hung"
    SLOW = "slow"


SHOWN = {
    Symptom.CORRUPT: "the data is wrong, and it did not notice",
    Symptom.VERIFY_FAILED: "it reported a failure after it had begun to change the part",
    Symptom.HUNG: "it hung",
}
"""The cause by which a cell shows the symptom, and no other one."""


def shows(symptom: Symptom, result: CellResult, own: CellResult | None = None) -> bool:
    """Returns True if the user would see the symptom in that cell.

    `own` is our flashrom's result in the same cell. A cell in which ours takes as long is not slow.
    """
    if symptom is Symptom.SLOW:
        return own is not None and may_be_slow(result) and not why_not(result, own)
    return result.ending is not None and why_not(result) == SHOWN[symptom]


def was_run(result: CellResult) -> bool:
    return result.verdict not in (Verdict.SKIPPED, Verdict.INFRA_ERROR)


def _changed(result: CellResult) -> bool:
    """Returns True if the job erases or programs, and had begun to.

    The phase `write` alone does not show that: other jobs may also end in it.
    """
    return result.job in CHANGING and result.time_ns.erase + result.time_ns.write > 0


def may_be_slow(result: CellResult) -> bool:
    """Returns True if the subject did the job, or was still at it when its time was over."""
    return was_run(result) and (result.job_done or result.unfinished)


def _why_not_slow(result: CellResult, own: CellResult) -> str:
    """Returns why the work is not slow; empty if it is.

    The job needs the time in which part and link are busy. The smaller of the two flashroms' times
    counts, because one may erase in smaller blocks; if the job is unfinished, ours counts.
    """
    if not own.job_done:
        return "our own flashrom cannot do that job there, so there is nothing to compare with"
    needs_ns = needed_ns(own) if result.unfinished else min(needed_ns(result), needed_ns(own))
    if needs_ns == 0:
        return "neither part nor link was busy, so it is unknown what the job needs"
    if work_ns(result) < SLOW_TIMES * needs_ns:
        return f"its work took less than {SLOW_TIMES} times what part and link need"
    if work_ns(result) < OWN_TIMES * work_ns(own):
        return "our own flashrom takes nearly as long there"
    return ""


def work_ns(result: CellResult) -> int:
    """Returns the time after the probe. The probe waits for a second, whatever the part."""
    return result.time_ns.total - result.time_ns.probe


def needed_ns(result: CellResult) -> int:
    """Returns the time in which the part was busy or the link at work."""
    return result.chip_busy_ns + result.wire_ns


def work_words(result: CellResult, own: CellResult) -> str:
    """Returns the figures that make it slow."""
    return f"its work after the probe took {_work_text(result)}; ours takes {_work_text(own)}"


def _work_text(result: CellResult) -> str:
    work_s, needed_s = work_ns(result) / NS_PER_S, needed_ns(result) / NS_PER_S
    return f"{work_s:.3f} s, with part or link busy for {needed_s:.3f} s"


def exit_code(symptom: Symptom, result: CellResult) -> ExitCode:
    """Returns the exit code of a run of the cell; `SLOWER` for a slow cell that is not unsafe."""
    code = result.exit_code
    is_safe = code in (ExitCode.PASS, ExitCode.INCONCLUSIVE)
    return ExitCode.SLOWER if symptom is Symptom.SLOW and is_safe else code


def why_not(result: CellResult, own: CellResult | None = None) -> str:
    """Returns why a cell does not show the symptom; cells with the same cause have equal texts."""
    if not was_run(result):
        return f"not run: {result.reason}"
    if own is not None:
        return _why_not_slow(result, own)
    match result.ending:
        case Ending.DONE if result.job_done:
            return _why_right(result)
        case Ending.DONE:
            return SHOWN[Symptom.CORRUPT]
        case Ending.FAILED if _changed(result):
            return SHOWN[Symptom.VERIFY_FAILED]
        case Ending.FAILED:
            return "it reported a failure before it changed the part"
        case Ending.CRASHED:
            return "it crashed"
        case _ if result.unfinished:
            return "it was still at work when its time was over"
        case _:
            return SHOWN[Symptom.HUNG]


def _why_right(result: CellResult) -> str:
    if result.verdict is not Verdict.TOO_SHORT:
        return "no wait was cut short"
    if result.job not in CHANGING:
        return "waits were cut short, but the job changes nothing in the part"
    if any(item.witness is Witness.CHIP for item in result.evidence):
        return "a command came too early, but no data was lost"
    return "waits were cut short, but the part is polled, so that is harmless here"


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
    """Returns the cells in an order in which each adds the most new pairs of values.

    So a search of them is likely to end early.
    """
    left, seen, ordered = list(cells), set[frozenset[tuple[str, str]]](), list[Cell]()
    while left:
        best = max(left, key=lambda cell: len(_pairs(cell) - seen))
        left.remove(best)
        seen |= _pairs(best)
        ordered.append(best)
    return ordered


def values_of(cells: Sequence[Cell]) -> dict[str, list[str]]:
    """Returns the values that the cells have, by dimension."""
    return {name: list(dict.fromkeys(read(cell) for cell in cells)) for name, read in READ.items()}


def pairs_of(cells: Iterable[Cell]) -> int:
    """Returns the number of pairs of values that occur together in a cell."""
    return len({pair for cell in cells for pair in _pairs(cell)})


@cache
def _pairs(cell: Cell) -> frozenset[frozenset[tuple[str, str]]]:
    values = [(name, read(cell)) for name, read in READ.items()]
    return frozenset(frozenset(pair) for pair in combinations(values, 2))


class BesideOurs:
    """Trials of cells. In a search for slow cells, our flashrom runs in each of them as well."""

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


async def search(
    cells: Sequence[Cell], trials: BesideOurs, watch: Callable[[Cell, CellResult], None]
) -> Searched:
    """Returns after the first cell that shows the symptom, or after all."""
    searched = Searched()
    for cell in cells:
        result = await trials.run(cell)
        searched.tried += 1
        searched.ran += [cell] if was_run(result) else []
        watch(cell, result)
        if trials.shows(result):
            searched.cell = cell
            return searched
        searched.causes[why_not(result, trials.own(result))] += 1
    return searched
