# SPDX-License-Identifier: GPL-2.0-or-later
"""What a job took beside what it cannot do without: a pure fold over a run's results.

That is busy time, and the floor: the same bytes, written with the fewest transfers in the same
guest, into a part that is never busy.
"""

from collections.abc import Hashable

import msgspec

from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Results, Verdict


class TimeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One measured cell; what depends on a cell that the run does not hold is None."""

    id: str
    subject: str
    mips: float | None
    """None where no guest has any."""
    cores: int
    chip: str
    corner: str
    job: str
    region_bytes: int
    verdict: Verdict
    total_ns: int
    chip_busy_ns: int
    floor_ns: int | None
    ratio: float | None
    """Of the total to the least: busy time and floor."""
    overshoot_ns: int
    transfers: int
    floor_transfers: int | None
    beside_ns: int | None
    """The total of the other subject in the same cell."""


def time_rows(results: Results, *, beside: str) -> list[TimeRow]:
    """A row for each cell that timed a subject, set beside the one of subject `beside`."""
    timed = (cell for cell in results.cells if cell.time_ns.total > 0)
    measured = [cell for cell in timed if cell.role == Role.MEASURE]
    floors = {
        _work(cell): cell
        for cell in results.cells
        if cell.role == Role.FLOOR and cell.verdict is Verdict.PASS
    }
    others = {(_work(cell), cell.corner): cell for cell in measured if cell.subject.name == beside}
    return [
        _row(cell, floors.get(_work(cell)), others.get((_work(cell), cell.corner)))
        for cell in measured
    ]


def _work(cell: CellResult) -> Hashable:
    """All that must be equal for two times to be of the same work in the same guest."""
    guest = cell.guest
    return (
        *(cell.lane, guest.arch, tuple(guest.mips), guest.cores, tuple(cell.hazards)),
        *(cell.chip, cell.programmer, cell.job, cell.region_bytes),
    )


def _row(cell: CellResult, floor: CellResult | None, other: CellResult | None) -> TimeRow:
    least_ns = cell.chip_busy_ns + floor.time_ns.total if floor else 0
    return TimeRow(
        id=cell.id,
        subject=cell.subject.name,
        mips=next(iter(cell.guest.mips), None),
        cores=cell.guest.cores,
        chip=cell.chip,
        corner=cell.corner,
        job=cell.job,
        region_bytes=cell.region_bytes,
        verdict=cell.verdict,
        total_ns=cell.time_ns.total,
        chip_busy_ns=cell.chip_busy_ns,
        floor_ns=floor.time_ns.total if floor else None,
        ratio=round(cell.time_ns.total / least_ns, 4) if least_ns else None,
        overshoot_ns=cell.overshoot_ns,
        transfers=cell.transfers,
        floor_transfers=floor.transfers if floor else None,
        beside_ns=other.time_ns.total if other else None,
    )
