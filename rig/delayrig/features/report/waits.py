# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits of each subject: the needless ones, and the smallest margins."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from markupsafe import Markup

from delayrig.base.durations import rounded
from delayrig.features.report import labels
from delayrig.features.report.facts import CellFacts, WaitMargin
from delayrig.features.report.source import RunSource, Sources
from delayrig.judge.waste import CallSiteWaste, OperationWaste, summed, waste_together
from delayrig.model.evidence import Witness
from delayrig.model.result import CellResult
from delayrig.present.pages.page import Section, paragraph, table_html
from delayrig.present.tables import Row, Table, words_and_figures

ROWS_MAX = 15
NO_EVENTS = "This report was made from results alone, without the events of the cells."
NOT_READ = (
    "There are too many cells to read what happened in each. rig/rig waste reads the events of the"
    " cells that it is given."
)
WAITING = (
    "Sums over all cells that measure a subject. Time is wasted from when the part is ready until"
    " the subject notices it, and in every delay while the part is not busy."
)
MARGINS = (
    "Each row shows the wait with the least margin of its class, among those that could be judged."
    " A margin is a lower bound: a wait was at least that much too short (negative), or had at"
    " least that much to spare."
)
FIGURES = ("seen", "judged", "too short", "asked", "took", "worst margin")

Found = tuple[RunSource, CellResult, WaitMargin]
Values = Sequence[str | Markup]


def waiting_section(sources: Sources) -> Section:
    """Returns the wasted time by operation, by call site and by silence, the largest sum first."""
    body = paragraph(WAITING) if sources.has_events else paragraph(_why_not(sources))
    for run in sources.runs if sources.has_events else ():
        together = waste_together(facts.waste for _, facts in _measured(run))
        body += table_html(_operations(run, together.operations))
        for made in (_call_sites(run, together.call_sites), _silences(run)):
            if made.rows:
                body += table_html(made)
    return Section(key="waiting", title="Waited for nothing", body=body)


def margins_section(sources: Sources) -> Section:
    """Returns a row for each subject, class of waits and witness; the worst first."""
    if sources.has_events:
        body = paragraph(MARGINS) + table_html(_margins(sources))
    else:
        body = paragraph(_why_not(sources))
    return Section(key="margins", title="Worst margins", body=body)


def _why_not(sources: Sources) -> str:
    """Returns why the report has no facts from events."""
    return NOT_READ if any(run.drawable for run in sources.runs) else NO_EVENTS


def _measured(run: RunSource) -> Iterator[tuple[CellResult, CellFacts]]:
    for cell in run.results.measured:
        if cell.id in run.facts:
            yield cell, run.facts[cell.id]


def _largest(
    caption: str, words: Sequence[str], figures: Sequence[str], rows: Sequence[Values]
) -> Table:
    """Returns a table of the first rows, each of which begins with its subject."""
    more = f" (the first {ROWS_MAX} of {len(rows)})" if len(rows) > ROWS_MAX else ""
    shown = [Row(values=row, marks={"subject": row[0]}) for row in rows[:ROWS_MAX]]
    return words_and_figures(caption + more, ["subject", *words], figures, shown)


def _operations(run: RunSource, rows: Iterable[OperationWaste]) -> Table:
    return _largest(
        run.named("from the part being ready to the next command, by operation"),
        ["phase", "operation"],
        ["times", "busy", "for nothing", "each", "most"],
        [
            [
                *(row.subject, row.phase, row.operation, f"{row.count:,}"),
                *(rounded(row.busy_ns), rounded(row.waste_ns)),
                *(rounded(row.waste_ns // row.count), rounded(row.waste_ns_max)),
            ]
            for row in rows
        ],
    )


def _call_sites(run: RunSource, rows: Iterable[CallSiteWaste]) -> Table:
    return _largest(
        run.named("by who asked for the delay"),
        ["phase", "asked for at"],
        ["times", "asked", "took", "for nothing", "most"],
        [
            [
                *(row.subject, row.phase, labels.call_stack(row.call_site), f"{row.count:,}"),
                *(rounded(row.requested_ns), rounded(row.actual_ns)),
                *(rounded(row.waste_ns), rounded(row.waste_ns_max)),
            ]
            for row in rows
        ],
    )


def _silences(run: RunSource) -> Table:
    sums = summed(each for _, facts in _measured(run) for each in facts.silences)
    return _largest(
        run.named(
            "silences of 1 ms and more on the bus while the part was ready: fixed waits, and what"
            " the subject computed"
        ),
        ["phase", "between"],
        ["times", "total", "each", "most"],
        [
            [
                *(each.subject, each.phase, f"{each.after} and {each.before}", f"{each.count:,}"),
                *(rounded(each.total_ns), rounded(each.total_ns // each.count)),
                rounded(each.total_ns_max),
            ]
            for each in sorted(sums, key=lambda each: -each.total_ns)
        ],
    )


def _margins(sources: Sources) -> Table:
    groups: dict[tuple[str, str, Witness], list[Found]] = defaultdict(list)
    for run in sources.runs:
        for cell, facts in _measured(run):
            name = run.named(cell.subject_label)
            for wait in facts.waits:
                groups[name, wait.kind, wait.witness].append((run, cell, wait))
    rows = sorted(groups.items(), key=lambda group: min(map(_margin_of, group[1])))
    return Table(
        caption="The worst margin of each class of waits, all cells together",
        columns=("subject", "waits, and the worst cell", "witness", *FIGURES),
        figures=FIGURES,
        rows=[_margin_row(*key, found) for key, found in rows],
    )


def _margin_of(found: Found) -> float:
    return found[2].relative_margin


def _margin_row(name: str, kind: str, witness: Witness, found: list[Found]) -> Row:
    run, cell, worst = min(found, key=_margin_of)
    count, judged, short = (
        sum(getattr(wait, field) for _, _, wait in found) for field in ("count", "judged", "short")
    )
    place = labels.cell_link(run, cell) if worst.margin_ns is not None else "none could be judged"
    return Row(
        values=[
            *(name, labels.with_line_below(kind, place), witness),
            *(f"{figure:,}" for figure in (count, judged, short)),
            "-" if worst.requested_ns is None else rounded(worst.requested_ns),
            worst.took or "-",
            _margin(worst),
        ],
        marks={"subject": cell.subject_label},
    )


def _margin(wait: WaitMargin) -> str | Markup:
    if wait.margin_ns is None:
        return "-"
    text = rounded(wait.margin_ns)
    if wait.requested_ns:
        text += f" ({100 * wait.margin_ns / wait.requested_ns:+.1f} %)"
    return labels.badge("bad" if wait.short else "good", text)
