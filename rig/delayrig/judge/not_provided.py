# SPDX-License-Identifier: GPL-2.0-or-later
"""What the archive did not give to a run: told once, with the cells that were skipped for it."""

from collections.abc import Sequence

from delayrig.model.result import NotProvided, Results


def not_provided_lines(runs: Sequence[Results]) -> list[str]:
    """A line for each thing that is missing, naming its cells; none where all was there."""
    found = {missing.what: missing for run in runs for missing in run.run.not_provided}
    skipped = {
        what: [cell.id for run in runs for cell in run.cells if cell.not_provided == what]
        for what in found
    }
    return [_line(found[what], cells) for what, cells in skipped.items() if cells]


def _line(missing: NotProvided, cells: list[str]) -> str:
    count = "1 cell was" if len(cells) == 1 else f"{len(cells)} cells were"
    return (
        f"{count} skipped, since the archive did not give {missing.what} ({missing.cause})."
        f" The next start asks the archive again. Skipped: {', '.join(cells)}"
    )
