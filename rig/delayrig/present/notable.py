# SPDX-License-Identifier: GPL-2.0-or-later
"""How verdicts look, and which cells are worth a look where there is no room for all of them."""

from delayrig.analysis.gate.decision import Outcome
from delayrig.judge.exit_code import is_expected
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
"""The gravest first: the class of a page's CSS, and the style of a terminal."""
OUTCOMES = {
    Outcome.RIG_FAULT: ("rig", "magenta"),
    Outcome.UNSAFE: ("bad", "bold red"),
    Outcome.SLOWER: ("bad", "red"),
    Outcome.DOUBT: ("doubt", "yellow"),
    Outcome.PASS: ("good", "green"),
    Outcome.UNSEEN: ("quiet", "dim"),
}
"""The same of a gate's answers."""
GRAVITY = tuple(LOOKS)
CLASSES = {verdict: css for verdict, (css, _) in LOOKS.items()}
STYLES = {verdict: style for verdict, (_, style) in LOOKS.items()}


def is_notable(cell: CellResult) -> bool:
    """Whether it did not just pass, or had to be skipped."""
    if is_expected(cell):
        return cell.verdict is not Verdict.PASS
    return cell.verdict is not Verdict.SKIPPED or cell.role != Role.MEASURE


def rank(cell: CellResult) -> tuple[bool, bool, int]:
    """What was not expected comes first, then what measures a subject, then the gravest."""
    return (is_expected(cell), cell.role != Role.MEASURE, GRAVITY.index(cell.verdict))
