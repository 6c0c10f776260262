# SPDX-License-Identifier: GPL-2.0-or-later
"""What no witness could have seen: a gate that says nothing of it claims too much."""

from collections.abc import Sequence

from delayrig.cell import Probe
from delayrig.result import CellResult, Verdict
from delayrig.run.runner import NO_SYMBOL
from delayrig.witness.wait_classes import CHIP_BUSY


def blind_spots(cells: Sequence[CellResult]) -> list[str]:
    """Which shortenings of the candidate would have passed unseen, a sentence each."""
    probed = [cell for cell in cells if cell.witness == Probe.DELAY]
    others = [cell for cell in cells if not cell.witness and cell.verdict is not Verdict.SKIPPED]
    return [*_delays(probed), *_classes(others), *_least(others, "bus and part")]


def _delays(probed: Sequence[CellResult]) -> list[str]:
    watched = [cell for cell in probed if cell.verdict is not Verdict.SKIPPED]
    if watched:
        return _least(watched, "delays, by probes")
    if any(NO_SYMBOL in cell.unjudged for cell in probed):
        return [
            "delays, by probes: none, as its delay function has no symbol; what a round trip hides"
            " on the bus has passed unseen (--delay-symbol or --delay-offset names the function)"
        ]
    return ["delays, by probes: none, as the plan has no cell with witness = 'delay'"]


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
        else "no shortening of these waits could have been seen on the bus"
    )


def _least(cells: Sequence[CellResult], what: str) -> list[str]:
    seen = [ns for cell in cells if (ns := cell.smallest_visible_short_ns) is not None]
    if not seen:
        return []
    low, high = min(seen) / 1000, max(seen) / 1000
    span = f"{low:.1f}" if low == high else f"{low:.1f} to {high:.1f}"
    return [f"{what}: a shortening from {span} us on, by cell"]
