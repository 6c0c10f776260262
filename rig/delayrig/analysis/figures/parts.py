# SPDX-License-Identifier: GPL-2.0-or-later
"""What each flashrom does with each part: a pure fold over a run's results, and its table."""

import msgspec

from delayrig.model.cell import Role
from delayrig.model.result import CellResult, Results, Verdict

DONE = "ok"
NO_ENTRY = "no entry"
NOT_RUN = "-"


class PartRow(msgspec.Struct, frozen=True, kw_only=True):
    """One part, and in the order of the subjects what came of its cells."""

    chip: str
    bus: str
    outcomes: list[str]


def subject_headings(results: Results) -> dict[str, str]:
    """Each subject that was measured, by name, and what to call it above a column."""
    names = dict.fromkeys(cell.subject.name for cell in _measured(results))
    return {name: _heading(name, results) for name in names}


def part_rows(results: Results) -> list[PartRow]:
    """A row for each part of the run, by bus and name, SPI first."""
    subjects = subject_headings(results)
    measured = _measured(results)
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
    """`ok`, or the verdicts that were no pass, each with its jobs and, where not all, corners."""
    if not cells:
        return NOT_RUN
    if all(cell.verdict is Verdict.SKIPPED for cell in cells):
        return NO_ENTRY
    verdicts = dict.fromkeys(c.verdict for c in cells if c.verdict is not Verdict.PASS)
    return "; ".join(f"{verdict}: {_jobs(verdict, cells)}" for verdict in verdicts) or DONE


def markdown_table(results: Results) -> str:
    """The rows for a README."""
    headings = ["part", "bus", *subject_headings(results).values()]
    rows = [[row.chip, row.bus, *row.outcomes] for row in part_rows(results)]
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _measured(results: Results) -> list[CellResult]:
    return [cell for cell in results.cells if cell.role == Role.MEASURE]


def _heading(name: str, results: Results) -> str:
    cells = (c for c in _measured(results) if c.subject.name == name)
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
