# SPDX-License-Identifier: GPL-2.0-or-later
"""Which cells are worth a look, and in which order: where there is no room for all of them."""

from delayrig.judge.exit_code import is_expected
from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Verdict

GRAVITY = (
    *(Verdict.INFRA_ERROR, Verdict.TOO_SHORT, Verdict.CORRUPT, Verdict.HUNG, Verdict.OP_FAILED),
    *(Verdict.INCONCLUSIVE, Verdict.PASS, Verdict.SKIPPED),
)
"""The gravest first."""


def is_notable(cell: CellResult) -> bool:
    """Whether it did not just pass, or had to be skipped."""
    if is_expected(cell):
        return cell.verdict is not Verdict.PASS
    return cell.verdict is not Verdict.SKIPPED or cell.role != Role.MEASURE


def rank(cell: CellResult) -> tuple[bool, bool, int]:
    """What was not expected comes first, then what measures a subject, then the gravest."""
    return (is_expected(cell), cell.role != Role.MEASURE, GRAVITY.index(cell.verdict))
