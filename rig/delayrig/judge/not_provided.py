# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts that the archive did not deliver, reported once with the skipped cells."""

from collections.abc import Sequence

from delayrig.model.result import Results


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
