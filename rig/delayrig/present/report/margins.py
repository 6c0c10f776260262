# SPDX-License-Identifier: GPL-2.0-or-later
"""The worst margins: how close each subject came to a wait that is too short, or how far below."""

from collections import defaultdict
from collections.abc import Iterator

from markupsafe import Markup

from delayrig.base.durations import rounded
from delayrig.model.cell import Role
from delayrig.model.evidence import Witness
from delayrig.model.result import CellResult
from delayrig.present.pages.page import Section, paragraph, table_html
from delayrig.present.report.facts import WaitMargin
from delayrig.present.report.labels import cell_link, subject_of
from delayrig.present.report.source import RunSource, Sources
from delayrig.present.report.waiting import why_not
from delayrig.present.tables import Row, Table

EXPLAINED = (
    "For each class of waits the one with the least margin, of those that could be judged. A"
    " margin is what is beyond doubt: a wait that was too short was so by at least that much"
    " (negative), one that was long enough had at least that much to spare."
)
FIGURES = ("seen", "judged", "too short", "asked", "took", "worst margin")

Found = tuple[RunSource, CellResult, WaitMargin]


def margins_section(sources: Sources) -> Section:
    """A row for each subject, class of waits and witness; the worst first."""
    if not sources.has_events:
        return Section(key="margins", title="Worst margins", body=paragraph(why_not(sources)))
    groups: dict[tuple[str, str, Witness], list[Found]] = defaultdict(list)
    for run, cell, wait in _waits(sources):
        label = f"{run.label}: " if run.label else ""
        groups[label + subject_of(cell), wait.kind, wait.witness].append((run, cell, wait))
    rows = sorted(groups.items(), key=lambda item: _least(item[1]))
    table = Table(
        caption="The worst margin of each class of waits, all cells together",
        columns=("subject", "waits", "witness", *FIGURES, "worst cell"),
        figures=FIGURES,
        rows=[_row(name, kind, witness, found) for (name, kind, witness), found in rows],
    )
    body = paragraph(EXPLAINED) + table_html(table)
    return Section(key="margins", title="Worst margins", body=body)


def _waits(sources: Sources) -> Iterator[Found]:
    for run in sources.runs:
        for cell in run.results.cells:
            if cell.role == Role.MEASURE and cell.id in run.facts:
                for wait in run.facts[cell.id].waits:
                    yield run, cell, wait


def _least(found: list[Found]) -> float:
    return min((_rank(wait) for _, _, wait in found), default=0.0)


def _rank(wait: WaitMargin) -> float:
    """By its part of what was asked for, where that is known."""
    if wait.margin_ns is None:
        return float("inf")
    return wait.margin_ns / (wait.requested_ns or 1_000_000)


def _row(name: str, kind: str, witness: Witness, found: list[Found]) -> Row:
    run, cell, worst = min(found, key=lambda each: _rank(each[2]))
    count, judged, short = (
        sum(getattr(wait, field) for _, _, wait in found) for field in ("count", "judged", "short")
    )
    return Row(
        values=[
            *(name, kind, witness, f"{count:,}", f"{judged:,}", f"{short:,}"),
            "-" if worst.requested_ns is None else rounded(worst.requested_ns),
            _took(worst),
            _margin(worst),
            cell_link(run, cell) if worst.margin_ns is not None else "none could be judged",
        ],
        marks={"subject": subject_of(cell)},
    )


def _took(wait: WaitMargin) -> str:
    if wait.actual_ns is None:
        return "-"
    return " to ".join(dict.fromkeys(rounded(ns) for ns in wait.actual_ns))


def _margin(wait: WaitMargin) -> str | Markup:
    if wait.margin_ns is None:
        return "-"
    text = rounded(wait.margin_ns)
    if wait.requested_ns:
        text += f" ({100 * wait.margin_ns / wait.requested_ns:+.1f} %)"
    css = "bad" if wait.short else "good"
    return Markup('<span class="badge {}">{}</span>').format(css, text)
