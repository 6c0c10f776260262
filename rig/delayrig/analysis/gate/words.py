# SPDX-License-Identifier: GPL-2.0-or-later
"""A decision in three lines: what, whether it is safe, what it costs."""

from delayrig.analysis.gate.decision import Decision, Excess, Outcome
from delayrig.model.cell import Role
from delayrig.model.result import Verdict

BAD = (Verdict.TOO_SHORT, Verdict.CORRUPT)


def excess_words(excess: Excess) -> str:
    """One figure of one cell."""
    exact = excess.low_pct == excess.high_pct
    words = f"{excess.pct:+.2f} %"
    if not exact:
        words += f" ({excess.low_pct:+.2f} to {excess.high_pct:+.2f})"
    more_ms = (excess.candidate_ns - excess.baseline_ns) / 1e6
    return f"{excess.figure} {words} ({more_ms:+.1f} ms), {excess.limit_pct:g} % allowed"


def decision_lines(decision: Decision) -> list[str]:
    """The first names the worst cell."""
    seen = [f"Seen: {line}." for line in decision.blind[:1]]
    return [_what(decision), *seen, _safety(decision), _cost(decision)]


def _what(decision: Decision) -> str:
    names = f"{decision.candidate.name} against {decision.baseline.name}"
    worst = next(iter(decision.deciding), None)
    if decision.outcome is Outcome.SLOWER and worst is None:
        beyond = [item for item in decision.total if item.outcome is Outcome.SLOWER]
        return f"No, slower: all cells together: {'; '.join(map(excess_words, beyond))}"
    match decision.outcome:
        case Outcome.RIG_FAULT:
            head = "No answer, the rig itself failed"
        case Outcome.UNSAFE:
            head = "No, unsafe"
        case Outcome.SLOWER:
            head = "No, slower"
        case Outcome.DOUBT | Outcome.UNSEEN:
            head = "In doubt"
        case Outcome.PASS:
            measured = [cell for cell in decision.deciding if cell.role == Role.MEASURE]
            return f"Yes: {names}; the worst cell is {measured[0].id}: {measured[0].why}"
    if decision.outcome is Outcome.DOUBT and decision.doubts:
        return f"{head}: {names}: {decision.doubts[0]}"
    if worst is None:
        return f"{head}: {names}: nothing was judged"
    return f"{head}: {worst.id}: {worst.why}"


def _safety(decision: Decision) -> str:
    cells = [cell for cell in decision.cells if cell.role == Role.MEASURE]
    count = {verdict: sum(cell.candidate is verdict for cell in cells) for verdict in Verdict}
    bad = sum(count[verdict] for verdict in BAD)
    before = sum(cell.baseline in BAD for cell in cells)
    words = f"{count[Verdict.PASS]} of {len(cells)} cells pass, {bad} too short or corrupt"
    words += f" ({before} of the baseline's)"
    if known := sum(cell.outcome is Outcome.UNSEEN and cell.candidate in BAD for cell in cells):
        words += f", {known} of them no worse than there, where the rig asks for more than a job"
    if count[Verdict.SKIPPED]:
        words += f", {count[Verdict.SKIPPED]} skipped"
    others = len(cells) - count[Verdict.PASS] - bad - count[Verdict.SKIPPED]
    if others:
        words += f", {others} unanswered"
    watching = [cell for cell in decision.cells if cell.role != Role.MEASURE]
    good = sum(cell.outcome is Outcome.PASS for cell in watching)
    return f"Safety: {words}; {good} of {len(watching)} canaries and controls as they must be."


def _cost(decision: Decision) -> str:
    found = [item for cell in decision.cells for item in cell.excess]
    if not found:
        return "Cost: no cell could be compared."
    parts = [
        f"{figure} {_figure([item for item in found if item.figure == figure])}"
        for figure in dict.fromkeys(item.figure for item in found)
    ]
    exact = all(item.low_pct == item.high_pct for item in found)
    return f"Cost{'' if exact else ', over all rounds'}: {'; '.join(parts)}."


def _figure(found: list[Excess]) -> str:
    before = sum(item.baseline_ns for item in found)
    after = sum(item.candidate_ns for item in found)
    return (
        f"{before / 1e9:.3f} s before, {after / 1e9:.3f} s now"
        f" ({100 * (after - before) / before:+.2f} %, at most"
        f" {max(item.pct for item in found):+.2f} % in a cell)"
    )
