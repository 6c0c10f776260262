# SPDX-License-Identifier: GPL-2.0-or-later
"""A decision in a few lines: what, whether it is safe, what it costs, what could not be seen."""

from collections.abc import Sequence

from delayrig.analysis.gate.decision import Decision, Excess, GateCell, Outcome
from delayrig.judge.exit_code import UNSAFE
from delayrig.judge.waits import CHIP_BUSY
from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Verdict

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
    # In absolute figures as well, since a percentage of next to nothing says nothing.
    before_ms, after_ms = excess.baseline_ns / 1e6, excess.candidate_ns / 1e6
    told = f"{excess.more_ns / 1e6:+.1f} ms: {before_ms:.1f} before, {after_ms:.1f} now"
    return f"{excess.figure} {words} ({told}), {_allowed(excess)} allowed"


def _allowed(excess: Excess) -> str:
    floor = f" or {excess.floor_ns / 1e6:g} ms" if excess.floor_ns else ""
    return f"{excess.limit_pct:g} %{floor}"


def decision_lines(decision: Decision) -> list[str]:
    """The first names the worst cell."""
    seen = [f"Seen: {line}." for line in decision.blind[:1]]
    return [_what(decision), *seen, _safety(decision), *_costs(decision)]


def _what(decision: Decision) -> str:
    names = f"{decision.candidate.name} against {decision.baseline.name}"
    worst = next(iter(decision.deciding), None)
    if decision.outcome is Outcome.SLOWER and worst is None:
        beyond = [item for item in decision.total if item.outcome is Outcome.SLOWER]
        return f"No, slower: all cells together: {'; '.join(map(excess_words, beyond))}"
    if decision.outcome is Outcome.PASS:
        measured = next(cell for cell in decision.deciding if cell.role == Role.MEASURE)
        return f"Yes: {names}; the worst cell is {measured.id}: {measured.why}"
    head = HEADS[decision.outcome]
    if decision.outcome is Outcome.DOUBT and decision.doubts:
        return f"{head}: {names}: {decision.doubts[0]}"
    if worst is None:
        return f"{head}: {names}: nothing was judged"
    return f"{head}: {worst.id}: {worst.why}"


def _safety(decision: Decision) -> str:
    cells = [cell for cell in decision.cells if cell.role == Role.MEASURE]
    count = {verdict: sum(cell.candidate is verdict for cell in cells) for verdict in Verdict}
    bad = sum(count[verdict] for verdict in UNSAFE)
    before = sum(cell.baseline in UNSAFE for cell in cells)
    words = f"{count[Verdict.PASS]} of {len(cells)} cells pass, {bad} too short or corrupt"
    words += f" ({before} of the baseline's)"
    if known := sum(cell.outcome is Outcome.UNSEEN and cell.candidate in UNSAFE for cell in cells):
        words += f", {known} of them no worse than there, where the rig asks for more than a job"
    if count[Verdict.SKIPPED]:
        words += f", {count[Verdict.SKIPPED]} skipped"
    others = len(cells) - count[Verdict.PASS] - bad - count[Verdict.SKIPPED]
    if others:
        words += f", {others} unanswered"
    watching = [cell for cell in decision.cells if cell.role != Role.MEASURE]
    good = sum(cell.outcome is Outcome.PASS for cell in watching)
    return f"Safety: {words}; {good} of {len(watching)} canaries and controls as they must be."


def _costs(decision: Decision) -> list[str]:
    """A line for each figure: the net, and the worst cell."""
    found = [(cell, item) for cell in decision.cells for item in cell.excess]
    figures = dict.fromkeys(item.figure for _, item in found)
    lines = [
        f"Cost in {figure}: {_net(decision, figure)}"
        f"{_worst([pair for pair in found if pair[1].figure == figure])}."
        for figure in figures
    ]
    return lines or ["Cost: no cell could be compared."]


def _net(decision: Decision, figure: str) -> str:
    found = [item for cell in decision.cells for item in cell.excess if item.figure == figure]
    before = sum(item.baseline_ns for item in found)
    more = sum(item.more_ns for item in found)
    limits = [_allowed(item) for item in decision.total if item.figure == figure]
    allowed = f", {limits[0]} allowed" if limits else ""
    rounds = "" if all(item.low_pct == item.high_pct for item in found) else ", over all rounds"
    return (
        f"{before / 1e9:.3f} s before, {(before + more) / 1e9:.3f} s now:"
        f" {more / 1e9:+.3f} s net ({100 * more / before:+.2f} %{allowed}{rounds})"
    )


def _worst(found: list[tuple[GateCell, Excess]]) -> str:
    """The cell that became dearest in percent, and why it is no reason where it is none."""
    cell, item = max(found, key=lambda pair: pair[1].pct)
    if len(found) == 1:
        return ""
    if item.more_ns <= 0:
        return "; no cell takes more"
    excused = ", so that is no reason" if item.is_excused else ""
    words = excess_words(item).removeprefix(f"{item.figure} ")
    return f"; the worst cell is {cell.id}: {words}{excused}"


def blind_spots(cells: Sequence[CellResult]) -> list[str]:
    """How many delays were judged and how small a shortening was visible, then what was not."""
    ran = [cell for cell in cells if cell.verdict is not Verdict.SKIPPED]
    lines = [_delays([cell for cell in ran if cell.delays is not None]), *_unseen(ran)]
    return [*lines, *_classes([cell for cell in ran if not _is_whole(cell)])]


def _is_whole(cell: CellResult) -> bool:
    """Whether every delay of it was judged, so that no class of waits says more."""
    return cell.delays is not None and 0 < cell.delays.seen == cell.delays.judged


def _delays(watched: Sequence[CellResult]) -> str:
    counts = [cell.delays for cell in watched if cell.delays is not None]
    seen, judged = sum(count.seen for count in counts), sum(count.judged for count in counts)
    if not seen:
        return "delays: none was seen call by call"
    part = f"all {seen:,}" if judged == seen else f"{judged:,} of {seen:,}"
    return f"delays: {part} of {_cells(len(watched))} judged{_least(watched)}"


def _least(cells: Sequence[CellResult]) -> str:
    seen = [ns for cell in cells if (ns := cell.smallest_visible_short_ns) is not None]
    if not seen:
        return ""
    low, high = (f"{ns / 1000:.2f}" for ns in (min(seen), max(seen)))
    return f", from {low if low == high else f'{low} to {high}'} us on, by cell"


def _unseen(ran: Sequence[CellResult]) -> list[str]:
    """Cells in which no delay function was known, or on a lane where nobody looks."""
    missing = [cell for cell in ran if cell.delays is None and cell.judged]
    return [f"delays: not seen call by call in {_cells(len(missing))}"] if missing else []


def _classes(cells: Sequence[CellResult]) -> list[str]:
    """Classes of waits that some cell could not judge; the part's own is judged by the part."""
    names = {name for cell in cells for name in cell.unjudged} - {CHIP_BUSY}
    return [f"{name}: {_where(name, cells)}" for name in sorted(names)]


def _where(name: str, cells: Sequence[CellResult]) -> str:
    judged = sum(name in cell.judged for cell in cells)
    unjudged = sum(name in cell.unjudged for cell in cells)
    return (
        f"waits judged in {judged} of the {judged + unjudged} cells where they came up"
        if judged
        else "no shortening of these waits could have been seen"
    )


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
