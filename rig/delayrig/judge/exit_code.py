# SPDX-License-Identifier: GPL-2.0-or-later
"""From the cells of a run to its exit code, by the design's rules."""

from collections.abc import Iterable

from delayrig.base.errors import ExitCode
from delayrig.model.cell import Expect, Role
from delayrig.model.lane import EXACT_LANE
from delayrig.model.result import CellResult, ContrastResult, ContrastVerdict, Verdict

WATCHING = (Role.CANARY, Role.CONTROL)
LOST_SHARE_MAX = 0.1
"""Of the measured cells that ran: a rig that loses more than that says nothing of the others."""
UNSAFE = (Verdict.TOO_SHORT, Verdict.CORRUPT)


def is_unwatched(cells: Iterable[CellResult], role: Role) -> bool:
    """Whether none of the role's cells worked, since the archive did not give what they need."""
    watching = [cell for cell in cells if cell.role == role]
    return bool(watching) and all(cell.not_provided for cell in watching)


def is_expected(cell: CellResult) -> bool:
    """Whether the plan foresaw this verdict: every mark but `any` has the name of one."""
    if cell.expect == Expect.ANY:
        return cell.verdict in (Verdict.PASS, Verdict.TOO_SHORT, Verdict.INCONCLUSIVE)
    return cell.verdict == cell.expect


def exit_code_of(cell: CellResult) -> ExitCode:
    if is_expected(cell):
        return ExitCode.PASS
    if cell.not_provided:
        return ExitCode.SKIPPED  # whoever it is: whether enough canaries are left, the run asks
    if cell.verdict is Verdict.INCONCLUSIVE and cell.lane != EXACT_LANE:
        return ExitCode.INCONCLUSIVE  # a busy machine: no fault of the rig's, nor of a canary's
    if cell.verdict is Verdict.INFRA_ERROR or cell.role != Role.MEASURE:
        return ExitCode.RIG_FAULT
    if cell.verdict is Verdict.SKIPPED:
        return ExitCode.SKIPPED
    if cell.verdict in UNSAFE or cell.expect == Expect.TOO_SHORT:
        return ExitCode.UNSAFE
    return ExitCode.INCONCLUSIVE


def exit_code_of_contrast(contrast: ContrastResult) -> ExitCode:
    """One that is missing counts as a conviction that is missing."""
    match contrast.verdict:
        case ContrastVerdict.SEEN:
            return ExitCode.PASS
        case ContrastVerdict.MISSING:
            return ExitCode.UNSAFE
        case ContrastVerdict.UNJUDGED:
            return ExitCode.INCONCLUSIVE


def is_lost(cell: CellResult) -> bool:
    return cell.verdict is Verdict.INFRA_ERROR and cell.role == Role.MEASURE


def too_many_lost(cells: Iterable[CellResult]) -> bool:
    ran = [c for c in cells if c.role == Role.MEASURE and c.verdict is not Verdict.SKIPPED]
    return sum(map(is_lost, ran)) > len(ran) * LOST_SHARE_MAX


def exit_code_of_run(
    cells: Iterable[CellResult], contrasts: Iterable[ContrastResult] = ()
) -> ExitCode:
    """The gravest of all; a run that measured nothing but skipped cells is skipped.

    Without a canary and a control that work nothing shows that the rig sees. A few measured cells
    that the rig lost say nothing, and leave the answer to the sound ones.
    """
    cells = list(cells)
    few_lost = not too_many_lost(cells)
    codes = [exit_code_of(cell) for cell in cells if not (few_lost and is_lost(cell))]
    codes += [ExitCode.RIG_FAULT for role in WATCHING if is_unwatched(cells, role)]
    codes += [exit_code_of_contrast(contrast) for contrast in contrasts]
    for grave in (ExitCode.RIG_FAULT, ExitCode.UNSAFE, ExitCode.INCONCLUSIVE):
        if grave in codes:
            return grave
    measured = [cell for cell in cells if cell.role == Role.MEASURE] or cells
    if measured and all(exit_code_of(cell) is ExitCode.SKIPPED for cell in measured):
        return ExitCode.SKIPPED
    return ExitCode.PASS
