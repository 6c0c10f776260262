# SPDX-License-Identifier: GPL-2.0-or-later
"""What the archive did not give to a run: told once, with the cells that were skipped for it."""

from collections.abc import Sequence

from delayrig.model.result import NotProvided, Results

AGAIN = "The next start asks the archive again."


def not_provided_lines(runs: Sequence[Results]) -> list[str]:
    """A line for each thing that is missing, naming its cells; none where all was there."""
    found = {missing.what: missing for run in runs for missing in run.run.not_provided}
    lines = [_line(missing, _skipped_cells(missing, runs)) for missing in found.values()]
    return [line for line in lines if line]


def _skipped_cells(missing: NotProvided, runs: Sequence[Results]) -> list[str]:
    cells = [cell for run in runs for cell in run.cells]
    return [cell.id for cell in cells if cell.not_provided == missing.what]


def _line(missing: NotProvided, cells: list[str]) -> str:
    if not cells:
        return ""
    count = "1 cell was" if len(cells) == 1 else f"{len(cells)} cells were"
    return (
        f"{count} skipped, since the archive did not give {missing.what} ({missing.cause})."
        f" {AGAIN} Skipped: {', '.join(cells)}"
    )
