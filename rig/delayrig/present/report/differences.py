# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs side by side: the cells of the same id in which they differ, verdicts before times."""

from collections.abc import Sequence

from markupsafe import Markup

from delayrig.model.result import CellResult
from delayrig.present.pages.page import Section, paragraph, table_html
from delayrig.present.report.labels import cell_link, count, marks_of, verdict_html
from delayrig.present.report.source import RunSource, Sources
from delayrig.present.tables import Row, Table
from delayrig.present.terminal.console import seconds

ROWS_MAX = 40

Together = list[CellResult | None]
"""A cell in each run, in their order."""


def differences_section(sources: Sources) -> Section:
    """Against the first run that has the cell."""
    together = _together(sources.runs)
    differing = sorted((row for row in together if _differs(row)), key=_rank)
    only_one = sum(len(_present(row)) == 1 for row in together)
    shared = len(together) - only_one
    body = paragraph(
        f"{count(shared, 'cell')} are in more than one run; {len(differing)} of them differ in"
        f" verdict or total time. In one run alone: {count(only_one, 'cell')}."
    )
    if differing:
        body += table_html(_table(sources.runs, differing))
    return Section(key="differences", title="Differences", body=body)


def _together(runs: Sequence[RunSource]) -> list[Together]:
    by_run = [{cell.id: cell for cell in run.results.cells} for run in runs]
    ids = dict.fromkeys(cell_id for cells in by_run for cell_id in cells)
    return [[cells.get(cell_id) for cells in by_run] for cell_id in ids]


def _present(row: Together) -> list[CellResult]:
    return [cell for cell in row if cell is not None]


def _differs(row: Together) -> bool:
    found = {(cell.verdict, cell.time_ns.total) for cell in _present(row)}
    return len(found) > 1


def _rank(row: Together) -> tuple[bool, float]:
    verdicts = {cell.verdict for cell in _present(row)}
    return len(verdicts) == 1, -abs(_change(row))


def _change(row: Together) -> float:
    """Of the last to the first, as a part of the first; 0 where one of them has no time."""
    times = [cell.time_ns.total for cell in _present(row)]
    return times[-1] / times[0] - 1 if len(times) > 1 and all(times) else 0.0


def _table(runs: Sequence[RunSource], rows: list[Together]) -> Table:
    more = f" (the first {ROWS_MAX} of {len(rows)})" if len(rows) > ROWS_MAX else ""
    times = [f"{run.label} total" for run in runs]
    return Table(
        caption=f"Cells that differ, verdicts first, then the largest change of time{more}; times"
        " in seconds",
        columns=["cell", *(run.label for run in runs), *times, "change"],
        figures=[*times, "change"],
        rows=[_row(runs, row) for row in rows[:ROWS_MAX]],
    )


def _row(runs: Sequence[RunSource], row: Together) -> Row:
    first = _present(row)[0]
    at = next(run for run, cell in zip(runs, row, strict=True) if cell is first)
    change = _change(row)
    return Row(
        values=[
            cell_link(at, first),
            *(verdict_html(cell) if cell else Markup("-") for cell in row),
            *(seconds(cell.time_ns.total or None) if cell else "-" for cell in row),
            f"{100 * change:+.2f} %" if change else "-",
        ],
        marks={key: value for key, value in marks_of(first).items() if key != "verdict"},
    )
