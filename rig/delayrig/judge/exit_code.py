# SPDX-License-Identifier: GPL-2.0-or-later
"""The exit code of a run, and the cells that were skipped because the archive lacked a part."""

from collections.abc import Iterable, Sequence

from delayrig.base.errors import ExitCode
from delayrig.model.cell import WATCHING, Role
from delayrig.model.result import CellResult, ContrastResult, Results, Verdict

LOST_SHARE_MAX = 0.1
"""The largest share of measured cells that may be lost. If more are, the others prove nothing."""


def is_unwatched(cells: Iterable[CellResult], role: Role) -> bool:
    """Returns True if all cells of the role were skipped for something that the archive lacks."""
    watching = [cell for cell in cells if cell.role == role]
    return bool(watching) and all(cell.not_provided for cell in watching)


def is_lost(cell: CellResult) -> bool:
    return cell.verdict is Verdict.INFRA_ERROR and cell.role == Role.MEASURE


def exit_code_of_run(
    cells: Iterable[CellResult], contrasts: Iterable[ContrastResult] = ()
) -> ExitCode:
    """Returns the gravest code of all; a run in which every measured cell was skipped is skipped.

    A run without cells is inconclusive. Without a working canary and control nothing shows
    that the rig detects mistakes. If the rig lost only a few measured cells, the others give the
    answer.
    """
    cells = list(cells)
    ran = [c for c in cells if c.role == Role.MEASURE and c.verdict is not Verdict.SKIPPED]
    few_lost = sum(map(is_lost, ran)) <= len(ran) * LOST_SHARE_MAX
    codes = [cell.exit_code for cell in cells if not (few_lost and is_lost(cell))]
    codes += [ExitCode.RIG_FAULT for role in WATCHING if is_unwatched(cells, role)]
    codes += [contrast.exit_code for contrast in contrasts]
    for grave in (ExitCode.RIG_FAULT, ExitCode.UNSAFE, ExitCode.INCONCLUSIVE):
        if grave in codes:
            return grave
    if not cells:
        return ExitCode.INCONCLUSIVE
    measured = [cell for cell in cells if cell.role == Role.MEASURE] or cells
    if all(cell.exit_code is ExitCode.SKIPPED for cell in measured):
        return ExitCode.SKIPPED
    return ExitCode.PASS


def not_provided_lines(runs: Sequence[Results]) -> list[str]:
    """Returns a line for each missing part with its cells; none if nothing is missing."""
    found = {missing.what: missing.cause for run in runs for missing in run.run.not_provided}
    lines = []
    for what, cause in found.items():
        cells = [cell.id for run in runs for cell in run.cells if cell.not_provided == what]
        count = "1 cell was" if len(cells) == 1 else f"{len(cells)} cells were"
        if cells:
            lines.append(
                f"{count} skipped, since the archive did not give {what} ({cause})."
                f" The next start asks the archive again. Skipped: {', '.join(cells)}"
            )
    return lines
