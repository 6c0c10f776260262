# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of cells, a row for each, and the filters of such rows."""

from collections.abc import Collection, Iterable, Sequence
from functools import cache

from markupsafe import Markup, escape

from delayrig.model.result import CellResult, Verdict
from delayrig.present.pages.page import environment
from delayrig.present.report.labels import (
    TEMPLATES,
    cell_anchor,
    marks_for,
    seconds,
    subject_of,
    verdict_html,
)
from delayrig.present.report.source import RunSource, Sources, Told


def all_cells(sources: Sources) -> list[Told]:
    """Run by run, in the order of their plans."""
    return [(run, cell) for run in sources.runs for cell in run.results.cells]


def cells_table(
    sources: Sources, caption: str, listed: Iterable[Told], at_length: Collection[str] = ()
) -> Markup:
    """All of them; those `at_length`, by their anchors, lead to what is told of them."""
    several = len(sources.runs) > 1
    rows = [_row(run, cell, at_length, several=several) for run, cell in listed]
    template = environment(TEMPLATES).get_template("cells_table.html")
    made = template.render(
        caption=caption,
        rows=Markup("\n".join(rows)),
        several=several,
        real_time=not sources.is_exact,
    )
    return Markup(made)


def filters_of(cells: Sequence[CellResult]) -> Markup:
    """The controls, which appear where JavaScript makes them work."""
    hazards = sorted({hazard for cell in cells for hazard in cell.hazards})
    verdicts = {cell.verdict for cell in cells}
    template = environment(TEMPLATES).get_template("filters.html")
    return Markup(
        template.render(
            choices={
                "subject": list(dict.fromkeys(map(subject_of, cells))),
                "verdict": [verdict for verdict in Verdict if verdict in verdicts],
                "hazards": ["none", *hazards] if hazards else [],
            },
            cells=len(cells),
        )
    )


def _row(run: RunSource, cell: CellResult, at_length: Collection[str], *, several: bool) -> str:
    """By hand: a template takes ten times as long, and there may be 100,000."""
    key = cell_anchor(run, cell)
    name = escape(cell.id)
    heading = f'><a href="#{key}">{name}</a>' if key in at_length else f' id="{key}">{name}'
    label = f"<td>{escape(run.label)}</td>" if several else ""
    return (
        f'<tr data-cell{_marks(cell)}><th scope="row"{heading}</th>{label}'
        f"<td>{verdict_html(cell)}</td>{_figures(cell)}</tr>"
    )


def _figures(cell: CellResult) -> str:
    total_ns = cell.time_ns.total
    known = (total_ns, cell.total_cpu_ns, cell.chip_busy_ns, cell.overshoot_ns)
    return "".join(f'<td class="n">{seconds(ns if total_ns else None)}</td>' for ns in known)


def _marks(cell: CellResult) -> str:
    return _as_data(subject_of(cell), cell.verdict, tuple(cell.hazards))


@cache
def _as_data(subject: str, verdict: Verdict, hazards: tuple[str, ...]) -> str:
    """Most cells share theirs with others."""
    marks = marks_for(subject, verdict, hazards)
    return "".join(f' data-{key}="{escape(value)}"' for key, value in marks.items())
