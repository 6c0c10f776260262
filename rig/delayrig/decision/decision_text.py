# SPDX-License-Identifier: GPL-2.0-or-later
"""A decision in a few lines: the outcome, its safety, its cost, and what could not be seen."""

from collections.abc import Sequence

from delayrig.base.durations import NS_PER_US, in_unit_of, rounded
from delayrig.base.text import counted
from delayrig.decision.decision import Decision, Excess, FaultGroup, GateCell, Outcome
from delayrig.decision.faults import REFUSING, Change, Fault
from delayrig.judge.waits import CHIP_BUSY
from delayrig.model.cell import Role
from delayrig.model.evidence import Witness
from delayrig.model.result import CellResult, DelayCount, Verdict

HEADS = {
    Outcome.RIG_FAULT: "No answer, the rig itself failed",
    Outcome.UNSAFE: "No, unsafe",
    Outcome.SLOWER: "No, slower",
    Outcome.DOUBT: "In doubt",
    Outcome.UNSEEN: "In doubt",
}


def excess_words(excess: Excess) -> str:
    words = f"{excess.pct:+.2f} %"
    if excess.low_pct != excess.high_pct:
        words += f" ({excess.low_pct:+.2f} to {excess.high_pct:+.2f})"
    # Absolute figures are added, because a percentage of a very short time says nothing.
    before_ms, after_ms = excess.baseline_ns / 1e6, excess.candidate_ns / 1e6
    shown = f"{excess.more_ns / 1e6:+.1f} ms: {before_ms:.1f} before"
    if excess.added_ns:
        shown += f" with {excess.added_ns / 1e6:.1f} that it did not wait"
    return f"{excess.figure} {words} ({shown}, {after_ms:.1f} now), {_allowed(excess)} allowed"


def _allowed(excess: Excess) -> str:
    floor = f" or {excess.floor_ns / 1e6:g} ms" if excess.floor_ns else ""
    return f"{excess.limit_pct:g} %{floor}"


def decision_lines(decision: Decision) -> list[str]:
    """Returns the answer, then what it rests on. `No, unsafe` names the worst new fault."""
    watching = [cell for cell in decision.cells if cell.role != Role.MEASURE]
    good = sum(cell.outcome is Outcome.PASS for cell in watching)
    return [
        _answer(decision),
        _changes(decision),
        *_warnings(decision),
        *(f"Seen: {line}." for line in decision.blind[:1]),
        f"Checks: {good} of {len(watching)} canaries and controls are as they must be.",
        *(f"Not judged: {line.rstrip('.!')}." for line in decision.unasked),
        *(f"Changed: {line}." for line in [*decision.reached, *_remedies(decision)]),
        *_costs(decision),
    ]


def _unreached(decision: Decision) -> list[str]:
    """Returns the clauses on changed waits that are doubts, as no cell reached them."""
    return [line for line in decision.doubts if line in decision.reached]


def _remedies(decision: Decision) -> list[str]:
    unreached = bool(_unreached(decision))
    return ["`rig/rig coverage OUT` lists all waits; `--unreached ok` accepts these"] * unreached


def _warnings(decision: Decision) -> list[str]:
    """Returns a line on the gravest fault that both sides have, and how many others there are."""
    groups = decision.groups_of(Change.AS_BEFORE, Change.BETTER)
    warned = [group for group in groups if not group.known]
    warned.sort(key=lambda group: _is_cut_by_chance(group.fault))
    left = len(warned) - 1
    others = f"; {counted(left, 'other fault')} {'is' if left == 1 else 'are'} no worse"
    return [f"Warning: {group_words(each)}{others if left else ''}." for each in warned[:1]]


def _answer(decision: Decision) -> str:
    names = f"{decision.candidate.title} against {decision.baseline.title}"
    worst = next(iter(decision.deciding), None)
    if decision.outcome is Outcome.SLOWER and worst is None:
        beyond = [item for item in decision.total if item.outcome is Outcome.SLOWER]
        return f"No, slower: all cells together: {'; '.join(map(excess_words, beyond))}"
    if decision.outcome is Outcome.PASS:
        return f"Yes: {names}: nothing is worse in {_compared(decision)}"
    head = HEADS[decision.outcome]
    if decision.outcome is Outcome.DOUBT and decision.doubts:
        unreached = _unreached(decision)
        others = f", like {counted(len(unreached) - 1, 'other')}" if unreached[1:] else ""
        first = decision.doubts[0]
        return f"{head}: {names}: {first}{others if first in unreached else ''}"
    if worst is None:
        return f"{head}: {names}: nothing was judged"
    if decision.outcome is Outcome.UNSAFE:
        return f"{head}: {worst.why}, in {worst.id}"
    return f"{head}: {worst.id}: {worst.why}"


def fault_words(fault: Fault) -> str:
    """Returns what is wrong, by how much, and the wait's length now and before."""
    words = f"{change_words(fault)}: {fault.what}"
    if fault.margin_ns is not None:
        words += f", {rounded(-fault.margin_ns)} too short"
    lengths = [
        f"{in_unit_of(fault.asked_ns, bounds[1])} {when}"
        for bounds, when in ((fault.now_ns, "now"), (fault.before_ns, "before"))
        if fault.asked_ns is not None and bounds is not None
    ]
    return f"{words} ({', '.join(lengths)})" if lengths else words


def fault_lengths(fault: Fault) -> tuple[str, str]:
    """Returns how long the wait lasted before and lasts now, `-` if that is not known."""
    before, now = (
        in_unit_of(fault.asked_ns, bounds[1]) if bounds and fault.asked_ns else "-"
        for bounds in (fault.before_ns, fault.now_ns)
    )
    return before, now


WORDS = {
    Change.NEW: "new",
    Change.WORSE: "worse than before",
    Change.AS_BEFORE: "as before",
    Change.BETTER: "still too short, and less so",
    Change.MENDED: "mended",
}


def change_words(fault: Fault) -> str:
    if fault.witness == Witness.DELAY and fault.asked_ns is not None:
        if fault.change is Change.MENDED and fault.now_ns is None:
            return "no longer requested"
        if _is_cut_by_chance(fault):
            return "another wait, cut like others before"
    return WORDS[fault.change]


def _is_cut_by_chance(fault: Fault) -> bool:
    """Returns True for a wait that the baseline did not make, in a cell that cuts any wait."""
    is_delay = fault.witness == Witness.DELAY and fault.asked_ns is not None
    return is_delay and fault.change is Change.AS_BEFORE and fault.before_ns is None


def group_words(group: FaultGroup) -> str:
    """Returns the fault's text, its first cell, the number of other cells, and why it is known."""
    places = f"{group.cells[0]} and {len(group.cells) - 1} more" if group.cells[1:] else ""
    known = f" (accepted: {group.known})" if group.known else ""
    return f"{fault_words(group.fault)}, in {places or group.cells[0]}{known}"


def _changes(decision: Decision) -> str:
    """Returns the number of cells with new, unchanged and mended faults, and of compared cells."""
    cells = [cell for cell in decision.cells if cell.role == Role.MEASURE]
    parts = []
    for words, changes in (
        ("new or worse", REFUSING),
        ("as before", (Change.AS_BEFORE, Change.BETTER)),
        ("mended", (Change.MENDED,)),
    ):
        count = sum(any(fault.change in changes for fault in cell.faults) for cell in cells)
        parts.append(f"{words} in {counted(count, 'cell')}")
    unseen = [cell for cell in cells if cell.outcome is Outcome.UNSEEN]
    doubts = sum(cell.outcome is Outcome.DOUBT for cell in cells)
    words = f"Faults: {', '.join(parts)}; {_compared(decision)} compared"
    words += f", {len(unseen)} not judged for either" if unseen else ""
    return f"{words}{f', {doubts} in doubt' if doubts else ''}."


def _compared(decision: Decision) -> str:
    cells = [cell for cell in decision.cells if cell.role == Role.MEASURE]
    left_out = (Outcome.UNSEEN, Outcome.DOUBT, Outcome.RIG_FAULT)
    count = sum(cell.outcome not in left_out for cell in cells)
    return f"{count} of {counted(len(cells), 'cell')}"


def _costs(decision: Decision) -> list[str]:
    """Returns a line for each figure: the net excess, and the worst cell."""
    found: dict[str, list[tuple[GateCell, Excess]]] = {}
    for cell in decision.cells:
        for item in cell.excess:
            found.setdefault(item.figure, []).append((cell, item))
    limits = {item.figure: f", {_allowed(item)} allowed" for item in decision.total}
    return [
        f"Cost in {figure}: {_net([item for _, item in pairs], limits.get(figure, ''))}"
        f"{_worst(pairs)}."
        for figure, pairs in found.items()
    ] or ["Cost: no cell could be compared."]


def _net(found: Sequence[Excess], allowed: str) -> str:
    before = sum(item.baseline_ns for item in found)
    more = sum(item.more_ns for item in found)
    rounds = "" if all(item.low_pct == item.high_pct for item in found) else ", over all rounds"
    return (
        f"{before / 1e9:.3f} s before, {(before + more) / 1e9:.3f} s now:"
        f" {more / 1e9:+.3f} s net ({100 * more / before:+.2f} %{allowed}{rounds})"
    )


def _worst(found: list[tuple[GateCell, Excess]]) -> str:
    """Returns the cell with the largest excess in percent, and notes if that is within a limit."""
    cell, item = max(found, key=lambda pair: pair[1].pct)
    if len(found) == 1:
        return ""
    if item.more_ns <= 0:
        return "; no cell takes more"
    excused = ", so that is allowed" if item.is_excused else ""
    words = excess_words(item).removeprefix(f"{item.figure} ")
    return f"; the worst cell is {cell.id}: {words}{excused}"


def blind_spots(cells: Sequence[CellResult]) -> list[str]:
    """Returns the number of judged delays, the smallest visible shortening, and what was unseen."""
    ran = [cell for cell in cells if cell.verdict is not Verdict.SKIPPED]
    lines = [_delays([(cell, cell.delays) for cell in ran if cell.delays is not None])]
    if missing := [cell for cell in ran if cell.delays is None and cell.judged]:
        lines.append(f"delays: not seen call by call in {counted(len(missing), 'cell')}")
    # If every delay of a cell was judged, its classes of waits add nothing.
    part = [c for c in ran if c.delays is None or not 0 < c.delays.seen == c.delays.judged]
    names = {name for cell in part for name in cell.unjudged} - {CHIP_BUSY}
    return [*lines, *(f"{name}: {_where(name, part)}" for name in sorted(names))]


def _delays(watched: Sequence[tuple[CellResult, DelayCount]]) -> str:
    seen = sum(count.seen for _, count in watched)
    judged = sum(count.judged for _, count in watched)
    if not seen:
        return "delays: none was seen call by call"
    part = f"all {seen:,}" if judged == seen else f"{judged:,} of {seen:,}"
    least = _least([cell for cell, _ in watched])
    return f"delays: {part} in {counted(len(watched), 'cell')} judged{least}"


def _least(cells: Sequence[CellResult]) -> str:
    """Returns the smallest shortening of a wait that shows in the best cell and in the worst."""
    seen = [ns for cell in cells if (ns := cell.smallest_visible_short_ns) is not None]
    if not seen:
        return ""
    low, high = (in_unit_of(NS_PER_US, ns, digits=2) for ns in (min(seen), max(seen)))
    if low == high:
        return f"; each cell shows a wait {low} too short"
    return f"; the best cell shows a wait {low} too short, the worst {high}"


def _where(name: str, cells: Sequence[CellResult]) -> str:
    judged = sum(name in cell.judged for cell in cells)
    without = [cell for cell in cells if name in cell.unjudged]
    if judged:
        count = judged + len(without)
        return f"waits judged in {judged} of the {count} cells where they came up"
    counts = [cell.delays for cell in without if cell.delays is not None]
    left, seen = sum(each.seen - each.judged for each in counts), sum(each.seen for each in counts)
    part = f" ({left:,} of {counted(seen, 'delay')} not judged there)" if left else ""
    ids = list(dict.fromkeys(cell.id for cell in without))
    others = f" and {len(ids) - 1} more" if ids[1:] else ""
    return f"not judged in {ids[0]}{others}{part}"
