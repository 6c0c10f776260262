# SPDX-License-Identifier: GPL-2.0-or-later
"""The look of verdicts, and the order of cells if there is no room for all."""

from delayrig.decision.decision import Outcome
from delayrig.decision.faults import Change
from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Verdict

LOOKS = {
    Verdict.INFRA_ERROR: ("rig", "bold magenta"),
    Verdict.TOO_SHORT: ("bad", "bold red"),
    Verdict.CORRUPT: ("bad", "bold red"),
    Verdict.HUNG: ("doubt", "red"),
    Verdict.OP_FAILED: ("doubt", "red"),
    Verdict.INCONCLUSIVE: ("doubt", "yellow"),
    Verdict.PASS: ("good", "green"),
    Verdict.SKIPPED: ("quiet", "dim"),
}
"""The page's CSS class and the terminal's style of each verdict, the gravest first."""
OUTCOMES = {
    Outcome.RIG_FAULT: ("rig", "magenta"),
    Outcome.UNSAFE: ("bad", "bold red"),
    Outcome.SLOWER: ("bad", "red"),
    Outcome.DOUBT: ("doubt", "yellow"),
    Outcome.PASS: ("good", "green"),
    Outcome.UNSEEN: ("quiet", "dim"),
}
"""The same for the outcomes of a gate."""
CHANGES = {
    Change.NEW: ("bad", "bold red"),
    Change.WORSE: ("bad", "bold red"),
    Change.AS_BEFORE: ("doubt", "yellow"),
    Change.BETTER: ("doubt", "yellow"),
    Change.MENDED: ("good", "green"),
}
"""The same for the changes of a fault."""
GRAVITY = tuple(LOOKS)
CLASSES = {verdict: css for verdict, (css, _) in LOOKS.items()}
STYLES = {verdict: style for verdict, (_, style) in LOOKS.items()}


def is_notable(cell: CellResult) -> bool:
    """Returns False if the cell passed as expected, or is a measurement that was skipped."""
    if cell.is_expected:
        return cell.verdict is not Verdict.PASS
    return cell.verdict is not Verdict.SKIPPED or cell.role != Role.MEASURE


def rank(cell: CellResult) -> tuple[bool, bool, int]:
    """Returns a sort key: unexpected cells first, then measurements, then the gravest."""
    return (cell.is_expected, cell.role != Role.MEASURE, GRAVITY.index(cell.verdict))
