# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of plan `programmers`: verdicts and times of flashroms by programmer."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean

from delayrig.model.cell import Job
from delayrig.model.result import CellResult, Results, Verdict

REFERENCE = "serprog:ip"
"""The programmer that the others' host time is compared with."""
Place = tuple[str, str]
"""A programmer, and a part behind it."""


def answer_lines(results: Results) -> list[str]:
    """Returns the number of passed cells in a line, then each other verdict except skipped."""
    cells = results.measured
    passed = sum(cell.verdict is Verdict.PASS for cell in cells)
    others: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (programmer, chip), own in _by_place(cells).items():
        for name in subjects_of(own):
            counts = Counter(cell.verdict for cell in _of_subject(own, name))
            for verdict, count in counts.items():
                if verdict not in (Verdict.PASS, Verdict.SKIPPED):
                    others[programmer, chip, f"{count} {verdict}"].append(name)
    lines = [f"{said:<15}  {place:<15}  {chip:<10}  " for place, chip, said in others]
    asked = sum(cell.verdict is not Verdict.SKIPPED for cell in cells)
    return [
        f"{passed} of {asked} cells pass; the others:",
        *(f"  {line}{' '.join(names)}" for line, names in zip(lines, others.values(), strict=True)),
    ]


def cost_rows(results: Results) -> list[tuple[str, ...]]:
    """Returns a row for each programmer and part: host time, and the times of each subject.

    The times are those of the largest region. The first row is the head.
    """
    cells = results.measured
    names = subjects_of(cells)
    rows = [("programmer", "chip", "KiB", "host time", *names)]
    for place, own in _by_place(cells).items():
        size_bytes = max(cell.region_bytes for cell in own)
        large = [cell for cell in own if cell.region_bytes == size_bytes]
        times = (_large_times(_of_subject(large, name)) for name in names)
        rows.append((*place, str(size_bytes >> 10), _relative_host_time(own, cells), *times))
    return rows


def subjects_of(cells: Sequence[CellResult]) -> list[str]:
    """Returns the names of the subjects, in the order of the plan."""
    return list(dict.fromkeys(cell.subject.name for cell in cells))


def seconds_of(cell: CellResult) -> str:
    """Returns total and CPU time, in s."""
    return f"{cell.time_ns.total / 1e9:.3f}/{cell.total_cpu_ns / 1e9:.3f}"


def _by_place(cells: Sequence[CellResult]) -> dict[Place, list[CellResult]]:
    found: dict[Place, list[CellResult]] = defaultdict(list)
    for cell in cells:
        found[cell.programmer, cell.chip].append(cell)
    return found


def _of_subject(cells: Sequence[CellResult], name: str) -> list[CellResult]:
    return [cell for cell in cells if cell.subject.name == name]


def _large_times(cells: Sequence[CellResult]) -> str:
    """Returns total and CPU time of the longest read, and of the longest write, in s.

    If a cell did not pass, its verdict stands in place of its times.
    """
    said = []
    for job in (Job.READ, Job.WRITE):
        own = [cell for cell in cells if cell.job == job]
        if own:
            cell = max(own, key=lambda cell: cell.time_ns.total)
            passed = cell.verdict is Verdict.PASS
            said.append(seconds_of(cell) if passed else str(cell.verdict))
    return ";".join(dict.fromkeys(said)) or "-"


def _relative_host_time(own: Sequence[CellResult], cells: Sequence[CellResult]) -> str:
    """Returns the mean host time as a multiple of that of the same cells through `REFERENCE`.

    Only cells that passed through both programmers count.
    """
    reference = {
        _situation(cell): cell.host_s
        for cell in cells
        if cell.programmer == REFERENCE and cell.verdict is Verdict.PASS
    }
    shared = [
        cell for cell in own if cell.verdict is Verdict.PASS and _situation(cell) in reference
    ]
    if not shared:
        return "-"
    ours = fmean(cell.host_s for cell in shared)
    theirs = fmean(reference[_situation(cell)] for cell in shared)
    return f"{ours / theirs:.2f}"


def _situation(cell: CellResult) -> tuple[str | int | float, ...]:
    group, _, _ = cell.id.partition(".")
    return (group, cell.subject.name, cell.chip, cell.job, cell.guest.mips[0], cell.guest.cores)
