# SPDX-License-Identifier: GPL-2.0-or-later
"""The section of cells: a table, its filters, and each cell with its reasons."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from markupsafe import Markup, escape

from delayrig.base.durations import rounded
from delayrig.base.text import again
from delayrig.features.report import labels
from delayrig.features.report.source import CellOfRun, RunSource, Sources, Spread
from delayrig.model.result import CellResult, Verdict
from delayrig.present.console import seconds
from delayrig.present.formats.report import evidence_line
from delayrig.present.notable import is_notable, rank
from delayrig.present.pages.page import Section, rendered
from delayrig.present.results import subject_name

DETAILS_MAX = 500
"""The largest number of cells with a description.

If there are more cells, only those without a plain pass are described.
"""
ROWS_MAX = 5000
"""The largest number of cells that a page lists completely."""
NOTABLE_MAX = 1000
"""The largest number of cells if only notable ones are listed; unexpected ones come first."""


def cells_section(sources: Sources, index: Markup | None = None, *, part: int = 1) -> Section:
    """Returns the section of all cells.

    With an index of all cells, it lists the first NOTABLE_MAX / `part` that did not simply pass.
    """
    listed = everything = all_cells(sources)
    if index is not None:
        notable = [each for each in everything if is_notable(each[1])]
        listed = sorted(notable, key=lambda each: rank(each[1]))[: NOTABLE_MAX // part]
    few = len(listed) <= DETAILS_MAX
    described = [each for each in listed if few or is_notable(each[1])][: DETAILS_MAX // part]
    caption = "Cells that did not just pass" if len(listed) < len(everything) else "All cells"
    anchors = {labels.cell_anchor(run, cell) for run, cell in described}
    body = rendered(
        labels.TEMPLATES,
        "cells.html",
        table=cells_table(sources, caption, listed, anchors),
        unlisted=len(everything) - len(listed),
        index=index,
        described=list(_descriptions(described)),
        left_out=len(everything) - len(described),
    )
    return Section(key="cells", title="Cells", body=body)


def _descriptions(pairs: Sequence[CellOfRun]) -> Iterator[dict[str, object]]:
    for run, cell in pairs:
        yield {
            "run": run.label,
            "id": cell.id,
            "anchor": labels.cell_anchor(run, cell),
            "verdict": labels.verdict_html(cell),
            "marks": labels.marks_of(cell),
            "reason": cell.reason,
            "evidence": [evidence_line(item) for item in cell.evidence],
            "facts": list(_facts(cell, run.spread.get(cell.id))),
            "again": again(cell.rerun),
        }


def _facts(cell: CellResult, spread: Spread | None) -> Iterator[tuple[str, str]]:
    if spread:
        found = ", ".join(f"{times} {verdict}" for verdict, times in spread.verdicts.items())
        yield "rounds", f"{found}; round {spread.shown} is shown"
    if spread and spread.total_ns:
        least, most = min(spread.total_ns.values()), max(spread.total_ns.values())
        yield "total time where it passed", f"{seconds(least)} to {seconds(most)} s"
    name = f"{subject_name(cell)} {cell.subject.version}".strip()
    yield "subject", f"{name} (its library)" if cell.subject.library else name
    yield "part", f"{cell.chip} {cell.corner}, {cell.job} of {cell.region_bytes // 1024} KiB"
    yield "programmer", cell.programmer
    yield "hazards", labels.hazards_of(cell)
    yield "judged", ", ".join(cell.judged) or "nothing"
    yield "unjudged", ", ".join(cell.unjudged) or "nothing"
    if cell.smallest_visible_short_ns is not None:
        yield "smallest shortening that shows", rounded(cell.smallest_visible_short_ns)
    if cell.time_ns.total:
        names = ("probe", "read", "erase", "write", "verify")
        phases = [(name, getattr(cell.time_ns, name)) for name in names]
        yield "time by phase", ", ".join(f"{name} {rounded(ns)}" for name, ns in phases if ns)
        yield "transfers", f"{cell.transfers:,}"
    if cell.lane != "virtual":
        yield "lane", f"{cell.lane}: real time"


def all_cells(sources: Sources) -> list[CellOfRun]:
    """Returns the cells run by run, in the order of their plans."""
    return [(run, cell) for run in sources.runs for cell in run.results.cells]


def cells_table(
    sources: Sources, caption: str, listed: Iterable[CellOfRun], linked: Collection[str] = ()
) -> Markup:
    """Returns the table of cells. `linked` are the anchors of cells with a description."""
    several = len(sources.runs) > 1
    rows = [_row(run, cell, linked, several=several) for run, cell in listed]
    return rendered(
        labels.TEMPLATES,
        "cells_table.html",
        caption=caption,
        rows=Markup("\n".join(rows)),
        several=several,
        real_time=not sources.is_exact,
    )


def filters_of(cells: Sequence[CellResult]) -> Markup:
    """Returns the filter controls. JavaScript makes them visible."""
    hazards = sorted({hazard for cell in cells for hazard in cell.hazards})
    verdicts = {cell.verdict for cell in cells}
    choices = {
        "subject": list(dict.fromkeys(cell.subject_label for cell in cells)),
        "verdict": [verdict for verdict in Verdict if verdict in verdicts],
        "hazards": ["none", *hazards] if hazards else [],
    }
    return rendered(labels.TEMPLATES, "filters.html", choices=choices, cells=len(cells))


def _row(run: RunSource, cell: CellResult, linked: Collection[str], *, several: bool) -> str:
    """Returns a row. With a template, a page of 100,000 rows would take ten times as long."""
    key = labels.cell_anchor(run, cell)
    name = escape(cell.id)
    heading = f'><a href="#{key}">{name}</a>' if key in linked else f' id="{key}">{name}'
    label = f"<td>{escape(run.label)}</td>" if several else ""
    marks = "".join(f' data-{k}="{escape(value)}"' for k, value in labels.marks_of(cell).items())
    return (
        f'<tr data-cell{marks}><th scope="row"{heading}</th>{label}'
        f"<td>{labels.verdict_html(cell)}</td>{_figures(cell)}</tr>"
    )


def _figures(cell: CellResult) -> str:
    total_ns = cell.time_ns.total
    known = (total_ns, cell.total_cpu_ns, cell.chip_busy_ns, cell.overshoot_ns)
    return "".join(f'<td class="n">{seconds(ns if total_ns else None)}</td>' for ns in known)
