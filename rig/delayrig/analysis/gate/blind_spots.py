# SPDX-License-Identifier: GPL-2.0-or-later
"""What could be seen of a candidate, and what no witness could have seen."""

from collections.abc import Sequence

from delayrig.judge.wait_classes import CHIP_BUSY
from delayrig.model.result import CellResult, Verdict


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
    """How small a shortening of a delay would have been convicted."""
    seen = [ns for cell in cells if (ns := cell.smallest_visible_short_ns) is not None]
    if not seen:
        return ""
    low, high = f"{min(seen) / 1000:.2f}", f"{max(seen) / 1000:.2f}"
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
