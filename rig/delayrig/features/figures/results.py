# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures from the results of a run: the outcomes of each flashrom with each part, and its times.

The least possible time stands beside each time: the chip's busy time plus the floor. The floor is
the time to write the same bytes with the fewest transfers, in the same guest, into a part that is
never busy.
"""

from collections.abc import Hashable

import msgspec

from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Results, Verdict

DONE = "ok"
NO_ENTRY = "no entry"
NOT_RUN = "-"


class PartRow(msgspec.Struct, frozen=True, kw_only=True):
    """One part, and the outcomes of its cells in the order of the subjects."""

    chip: str
    bus: str
    outcomes: list[str]


def subject_headings(results: Results) -> dict[str, str]:
    """Returns the heading of each measured subject's column, by the subject's name."""
    names = dict.fromkeys(cell.subject.name for cell in results.measured)
    return {name: _heading(name, results) for name in names}


def part_rows(results: Results) -> list[PartRow]:
    """Returns a row for each part of the run, by bus and name, SPI first."""
    subjects = subject_headings(results)
    measured = results.measured
    parts = {(cell.bus != "spi", cell.bus, cell.chip) for cell in measured}
    return [
        PartRow(
            chip=chip,
            bus=bus,
            outcomes=[
                outcome([c for c in measured if (c.chip, c.subject.name) == (chip, subject)])
                for subject in subjects
            ],
        )
        for _, bus, chip in sorted(parts, key=lambda part: (*part[:2], part[2].lower()))
    ]


def outcome(cells: list[CellResult]) -> str:
    """Returns the verdicts other than pass, each with its jobs and, if needed, corners.

    `ok` means that all passed, `no entry` that all were skipped, `-` that there are no cells.
    """
    if not cells:
        return NOT_RUN
    if all(cell.verdict is Verdict.SKIPPED for cell in cells):
        return NO_ENTRY
    verdicts = dict.fromkeys(c.verdict for c in cells if c.verdict is not Verdict.PASS)
    return "; ".join(f"{verdict}: {_jobs(verdict, cells)}" for verdict in verdicts) or DONE


def markdown_table(results: Results) -> str:
    """Returns the table of all parts in Markdown."""
    headings = ["part", "bus", *subject_headings(results).values()]
    rows = [[row.chip, row.bus, *row.outcomes] for row in part_rows(results)]
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _heading(name: str, results: Results) -> str:
    cells = (c for c in results.measured if c.subject.name == name)
    version = next((cell.subject.version for cell in cells if cell.subject.version), "")
    return f"{name} ({version})" if version else name


def _jobs(verdict: Verdict, cells: list[CellResult]) -> str:
    found: dict[str, list[str]] = {}
    for cell in cells:
        if cell.verdict is verdict:
            found.setdefault(cell.job, []).append(cell.corner)
    return ", ".join(
        job if len(corners) == sum(c.job == job for c in cells) else f"{job} ({' '.join(corners)})"
        for job, corners in found.items()
    )


class TimeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One measured cell. A value is None if it needs a cell that the run lacks."""

    id: str
    subject: str
    mips: float | None
    """The speed of the first core; None without a guest."""
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
    """The ratio of `total_ns` to the sum of `chip_busy_ns` and `floor_ns`."""
    overshoot_ns: int
    transfers: int
    floor_transfers: int | None
    beside_ns: int | None
    """The total of the other subject in the same cell."""


def time_rows(results: Results, *, beside: str) -> list[TimeRow]:
    """Returns a row for each timed cell, with the time of subject `beside` in the same place."""
    measured = [cell for cell in results.measured if cell.time_ns.total > 0]
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
    """Returns a key that is equal for cells with the same work in the same guest."""
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
