# SPDX-License-Identifier: GPL-2.0-or-later
"""A gate in one line: the verdict, and what it rests on, in words that name no path."""

from collections.abc import Sequence

from delayrig.analysis.gate.decision import Decision, Excess, GateCell, Outcome
from delayrig.base.durations import in_unit_of, rounded
from delayrig.model.cell import Role
from delayrig.model.evidence import Evidence, Witness
from delayrig.model.result import CellResult, Verdict

CALL = "a delay for "
TOO_SHORT = " was too short"
CAME = " came "


def headline(decision: Decision, cells: Sequence[CellResult]) -> str:
    """Of the gate whose runs have these cells."""
    match decision.outcome:
        case Outcome.UNSAFE:
            return f"Unsafe: {_unsafe(decision.deciding[0], cells)}"
        case Outcome.SLOWER:
            return f"Slower: {_slower(decision)}"
        case Outcome.PASS:
            return f"Good: {_good(decision)}"
        case Outcome.DOUBT | Outcome.UNSEEN:
            return f"In doubt: {_doubt(decision)}"
        case Outcome.RIG_FAULT:
            return "No answer: the rig itself failed"


def _unsafe(worst: GateCell, cells: Sequence[CellResult]) -> str:
    of_it = [c for c in cells if (c.id, c.verdict) == (worst.id, worst.candidate)]
    found = [item for cell in of_it for item in cell.evidence]
    told = [item for item in found if item.what in worst.why]
    short = [item for item in told or found if item.margin_ns is not None]
    if worst.candidate is Verdict.CORRUPT:
        return "data was corrupted"
    if not short:
        return "a wait is too short"
    return short_words(min(short, key=lambda item: item.margin_ns or 0))


def short_words(item: Evidence) -> str:
    """What was too short, and how long it was: `the 1 s wait lasts 0.05 s`."""
    if item.requested_ns is not None and item.actual_ns is not None:
        lasted = in_unit_of(item.requested_ns, item.actual_ns[1])
        wait = item.what.removesuffix(TOO_SHORT)
        if item.witness is Witness.DELAY or wait.startswith(CALL):
            return f"a delay of {rounded(item.requested_ns)} lasts {lasted}"
        return f"the {wait} lasts {lasted}"
    command, came, _ = item.what.partition(CAME)
    if came and item.margin_ns is not None:
        return f"{command} comes {rounded(-item.margin_ns)} before the part is ready"
    return item.what


def _slower(decision: Decision) -> str:
    total = [item for item in decision.total if item.outcome is Outcome.SLOWER]
    if total:
        return f"all cells together take {_more(total[0])}"
    slower = [cell for cell in decision.cells if cell.outcome is Outcome.SLOWER]
    found = [item for cell in slower for item in cell.excess if item.outcome is Outcome.SLOWER]
    cells = "one cell takes" if len(slower) == 1 else f"{len(slower)} cells take up to"
    return f"{cells} {_more(max(found, key=lambda item: item.pct))}"


def _more(item: Excess) -> str:
    return f"{item.pct:.3g} % more {item.figure} ({rounded(item.more_ns)})"


def _good(decision: Decision) -> str:
    cells = [cell for cell in decision.cells if cell.outcome is Outcome.PASS]
    measured = [cell for cell in cells if cell.role == Role.MEASURE]
    found = [item for cell in measured for item in cell.excess]
    figures = list(dict.fromkeys(item.figure for item in found))
    changes = [_change(name, [i for i in found if i.figure == name]) for name in figures]
    return ", ".join([f"nothing is too short in {_count(len(measured))}", *changes])


def _change(figure: str, found: Sequence[Excess]) -> str:
    before = sum(item.baseline_ns for item in found)
    return f"{figure} {100 * sum(item.more_ns for item in found) / before:+.1f} %"


def _doubt(decision: Decision) -> str:
    if decision.doubts:
        return decision.doubts[0]
    measured = [cell for cell in decision.cells if cell.role == Role.MEASURE]
    doubtful = sum(cell.outcome is Outcome.DOUBT for cell in measured)
    if not doubtful:
        return "nothing shows that the rig sees"
    return f"{_count(doubtful)} of {len(measured)} gave no sure answer"


def _count(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"
