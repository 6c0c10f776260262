# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs side by side: the decision of a gate, its tested waits, and cells that differ."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from delayrig.base.durations import rounded
from delayrig.base.paths import find_paths
from delayrig.base.text import again, counted
from delayrig.decision.decision import Decision, Excess, FaultGroup, GateCell, Outcome
from delayrig.decision.decision_text import change_words, fault_lengths
from delayrig.decision.request import CANDIDATE, baseline_rounds, rounds_of
from delayrig.features.coverage.coverage import Coverage, SiteCoverage
from delayrig.features.coverage.runs import RunCoverage, find_gate_coverage
from delayrig.features.coverage.terminal import by_source, changed_wait_lines, coverage_sentence
from delayrig.features.report import labels
from delayrig.features.report.source import CellOfRun, GateSource, RunSource, Sources
from delayrig.features.report.timelines import draw_cell
from delayrig.model.cell import place_of
from delayrig.model.result import CellResult
from delayrig.present.console import seconds
from delayrig.present.notable import CHANGES, OUTCOMES
from delayrig.present.pages.charts import Chart, Colour, hide_left_axis, label_bar, new_figure
from delayrig.present.pages.page import Section, bullets, code, details, paragraph, table_html
from delayrig.present.tables import Row, Table, words_and_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN_MAX = 24
LISTED_MAX = 1000
SHOWN_PCT_MIN = 0.05
ROUNDS = (
    "the times of this section are sums over all of them, with the interval that the decision"
    " rests on. Everywhere else on this page each cell is shown as it was in one round: the one"
    " with the median total time among those with its gravest verdict. Margins, waits and timelines"
    " are of that round, too."
)
DIFFERENCES_MAX = 40
NAMES_MAX = 12
NO_CALL_CHAINS = "It is unknown which delay sites were reached: no cell has call chains."
UNKNOWN_FILE = "unknown file (no debug information)"
Together = dict[int, CellResult]
"""The results of one cell by the numbers of the runs that have it, in their order."""


def decision_section(sources: Sources) -> Section:
    several = len(sources.gates) > 1
    body = Markup("").join(_decision(gate, sources, several=several) for gate in sources.gates)
    return Section(key="decision", title="The decision", body=body)


def _decision(gate: GateSource, sources: Sources, *, several: bool) -> Markup:
    decision = gate.decision
    body = Markup("<h3>{}</h3>").format(_sides(decision)) if several else Markup("")
    body += paragraph(
        f"Plan {decision.plan}, seed {decision.seed}. A cell may take"
        f" {decision.limits.slowdown_pct:g} % more time and {decision.limits.cpu_pct:g} % more CPU"
        f" time than in the baseline.{_floors(decision)}"
        + (f" {gate.rounds} rounds: {ROUNDS}" if gate.rounds > 1 else "")
    )
    if decision.groups:
        body += table_html(_faults(decision.groups))
    body += Markup("").join(draw_cell(run, cell) for run, cell in worst_cells(sources))
    # A bar of `0.0 %` says nothing.
    compared = [
        cell
        for cell in decision.cells
        if any(i.outcome is not Outcome.PASS or abs(i.pct) >= SHOWN_PCT_MIN for i in cell.excess)
    ]
    if compared:
        body += _chart(decision, compared)
    body += table_html(_cells(decision.cells))
    body += details("What could have been seen of the candidate", bullets(decision.blind))
    worst = next(iter(decision.deciding), None)
    if worst is not None and decision.outcome is not Outcome.PASS:
        body += paragraph("The worst cell: ", code(again(worst.rerun)))
    return body


def _faults(groups: Sequence[FaultGroup]) -> Table:
    """Returns the table of faults: the change, the call stack and the durations of each."""
    return words_and_figures(
        "Faults, the gravest first; the cell is the one in which it is worst",
        ["change", "fault and cell", "call stack"],
        ["asked", "before", "now", "cells"],
        [_fault_row(group) for group in groups[:LISTED_MAX]],
    )


def _fault_row(group: FaultGroup) -> list[str | Markup]:
    fault, cell = group.fault, group.cells[0]
    what = f"{fault.what} (accepted: {group.known})" if group.known else fault.what
    css, _ = CHANGES[fault.change]
    return [
        labels.badge(css, change_words(fault)),
        labels.with_line_below(what, cell),
        labels.call_stack(fault.where),
        rounded(fault.asked_ns) if fault.asked_ns else "-",
        *fault_lengths(fault),
        f"{len(group.cells)}",
    ]


def worst_cells(sources: Sources) -> list[CellOfRun]:
    """Returns the cells whose timelines the decision shows.

    These are the cell of the worst new fault and the same cell of the baseline. There are none on a
    page of several gates, or if nothing is unsafe.
    """
    decisions = [gate.decision for gate in sources.gates]
    if len(decisions) != 1 or decisions[0].outcome is not Outcome.UNSAFE:
        return []
    place = place_of(decisions[0].deciding[0].id)
    return [
        (run, cell)
        for run in sources.runs
        for cell in run.results.cells
        if cell.place == place and cell.id in run.drawable
    ]


def _sides(decision: Decision) -> str:
    return f"{decision.candidate.title} against {decision.baseline.title}"


def _floors(decision: Decision) -> str:
    """Returns a sentence on the excess that does not count: a bar of it alone is not red."""
    found = [item for cell in decision.cells for item in cell.excess if item.floor_ns]
    floors = {item.figure: f"{item.floor_ns / 1e6:g} ms of {item.figure}" for item in found}
    return f" Up to {' and '.join(floors.values())} more do not count." if floors else ""


def _chart(decision: Decision, compared: list[GateCell]) -> Markup:
    names = _sides(decision)
    drawn = compared[:DRAWN_MAX]
    chart = Chart(
        title=f"Change of time, {names}",
        description="; ".join(f"{cell.id}: {cell.why}" for cell in drawn),
        figure=_figure(drawn),
    )
    note = f" (the {DRAWN_MAX} worst cells)" if len(compared) > DRAWN_MAX else ""
    noisy = any(item.low_pct != item.high_pct for cell in drawn for item in cell.excess)
    return chart.html(
        caption=f"Time and CPU time of {names}, in percent more or less{note}; the dashed line is"
        " the limit" + (", thin lines are intervals" if noisy else ""),
        table=_change_table(drawn),
    )


def _figure(cells: list[GateCell]) -> "Figure":
    """Returns bars of change, one for each cell and figure; red beyond the limit."""
    figures = list(dict.fromkeys(item.figure for cell in cells for item in cell.excess))
    names = [place_of(cell.id) for cell in cells]
    with new_figure(height_in=0.85 + 0.3 * len(cells)) as figure:
        panels = figure.subplots(1, len(figures), sharey=True, squeeze=False)[0]
        for axes, name in zip(panels, figures, strict=True):
            items = [{item.figure: item for item in cell.excess}.get(name) for cell in cells]
            _draw_bars(axes, {at: item for at, item in enumerate(items) if item})
            axes.set_xlabel(f"{name}, %")
            axes.grid(axis="x")
            axes.margins(x=0.12)
            left, right = axes.get_xlim()
            axes.set_xlim(left, right + 0.2 * (right - left))
            hide_left_axis(axes)
        panels[0].set_yticks(range(len(names)), names)
        panels[0].invert_yaxis()
    return figure


def _draw_bars(axes: Any, items: dict[int, Excess]) -> None:
    for at, item in items.items():
        axes.barh(at, item.pct, color=_colour_of(item), height=0.62)
        if item.low_pct != item.high_pct:
            reach = [[max(item.pct - item.low_pct, 0)], [max(item.high_pct - item.pct, 0)]]
            axes.errorbar(item.pct, at, xerr=reach, color=Colour.INK, capsize=3, lw=1)
        label_bar(axes, f"{item.pct:+.1f} %", max(item.high_pct, item.pct, item.limit_pct), at)
    for limit in {item.limit_pct for item in items.values()}:
        axes.axvline(limit, color=Colour.INK, lw=1, ls="--")
    axes.axvline(0, color=Colour.SOFT, lw=0.8)


def _colour_of(item: Excess) -> Colour:
    if item.outcome is Outcome.PASS:
        return Colour.FIRST if item.pct > 0 else Colour.FIFTH
    return Colour.DOUBT if item.outcome is Outcome.DOUBT else Colour.BAD


def _change_table(cells: list[GateCell]) -> Table:
    return words_and_figures(
        "Change against the baseline, and the limit",
        ["cell", "figure"],
        ["before", "now", "change", "limit"],
        [
            [
                *(cell.id, item.figure, seconds(item.baseline_ns), seconds(item.candidate_ns)),
                *(_change(item), f"{item.limit_pct:g} %"),
            ]
            for cell in cells
            for item in cell.excess
        ],
    )


def _cells(cells: Sequence[GateCell]) -> Table:
    more = f" (the first {LISTED_MAX} of {len(cells)})" if len(cells) > LISTED_MAX else ""
    return words_and_figures(
        f"Each cell, the worst first{more}; times in seconds",
        ["cell", "outcome", "baseline", "candidate"],
        ["before", "now", "time", "CPU time"],
        map(_row, cells[:LISTED_MAX]),
    )


def _row(cell: GateCell) -> list[str | Markup]:
    figures = {item.figure: item for item in cell.excess}
    time, cpu = figures.get("time"), figures.get("CPU time")
    css, _ = OUTCOMES[cell.outcome]
    passed = cell.outcome is Outcome.PASS
    return [
        cell.id if passed else labels.with_line_below(cell.id, cell.why),
        *(labels.badge(css, cell.outcome), cell.baseline or "-", cell.candidate),
        seconds(time.baseline_ns) if time else "-",
        seconds(time.candidate_ns) if time else "-",
        _change(time) if time else "-",
        _change(cpu) if cpu else "-",
    ]


def _change(item: Excess) -> str:
    """Returns the change, with its interval if it is not exact."""
    if item.low_pct == item.high_pct:
        return f"{item.pct:+.2f} %"
    return f"{item.pct:+.2f} % ({item.low_pct:+.2f} to {item.high_pct:+.2f})"


def differences_section(sources: Sources) -> Section:
    """Returns the section of cells that differ. Changes are from a cell's first run to its last."""
    together = _together(sources.runs)
    differing = sorted(filter(_differs, together), key=_rank)
    only_one = sum(len(row) == 1 for row in together)
    shared = len(together) - only_one
    body = paragraph(
        f"{counted(shared, 'cell')} are in more than one run; {len(differing)} of them differ in"
        f" verdict or total time. In one run alone: {counted(only_one, 'cell')}."
    )
    if differing:
        body += table_html(_differences(sources.runs, differing))
    return Section(key="differences", title="Differences", body=body)


def _together(runs: Sequence[RunSource]) -> list[Together]:
    found: dict[str, Together] = {}
    for number, run in enumerate(runs):
        for cell in run.results.cells:
            found.setdefault(cell.id, {})[number] = cell
    return list(found.values())


def _differs(row: Together) -> bool:
    return len({(cell.verdict, cell.time_ns.total) for cell in row.values()}) > 1


def _rank(row: Together) -> tuple[bool, float]:
    verdicts = {cell.verdict for cell in row.values()}
    return len(verdicts) == 1, -abs(_change_of_time(row))


def _change_of_time(row: Together) -> float:
    """Returns the relative change from the first to the last time; 0 if one is unknown."""
    times = [cell.time_ns.total for cell in row.values()]
    return times[-1] / times[0] - 1 if len(times) > 1 and all(times) else 0.0


def _differences(runs: Sequence[RunSource], rows: list[Together]) -> Table:
    more = f" (the first {DIFFERENCES_MAX} of {len(rows)})" if len(rows) > DIFFERENCES_MAX else ""
    times = [f"{run.label} total" for run in runs]
    return Table(
        caption=f"Cells that differ, verdicts first, then the largest change of time{more}; times"
        " in seconds",
        columns=["cell", *(run.label for run in runs), *times, "change"],
        figures=[*times, "change"],
        rows=[_difference_row(runs, row) for row in rows[:DIFFERENCES_MAX]],
    )


def _difference_row(runs: Sequence[RunSource], row: Together) -> Row:
    at, first = next(iter(row.items()))
    cells = [row.get(number) for number in range(len(runs))]
    change = _change_of_time(row)
    return Row(
        values=[
            labels.cell_link(runs[at], first),
            *(labels.verdict_html(cell) if cell else Markup("-") for cell in cells),
            *(seconds(cell.time_ns.total or None) if cell else "-" for cell in cells),
            f"{100 * change:+.2f} %" if change else "-",
        ],
        marks={key: value for key, value in labels.marks_of(first).items() if key != "verdict"},
    )


def coverage_section(sources: Sources) -> Section | None:
    """Returns the section on tested waits; None if the page has no gate."""
    body = Markup("")
    for gate in sources.gates:
        before = baseline_rounds(gate.path, gate.decision.baseline.stored)
        after = rounds_of(gate.path, CANDIDATE)
        body += coverage_html(find_gate_coverage(before, after, find_paths()))
    return Section(key="coverage", title="Waits that were tested", body=body) if body else None


def coverage_html(found: RunCoverage) -> Markup:
    if not found.coverages:
        return paragraph(NO_CALL_CHAINS)
    body = bullets(changed_wait_lines(found.changed)) if found.changed else Markup("")
    for each in found.coverages:
        body += paragraph(f"{each.subject}: {coverage_sentence(each)}.") + table_html(_sites(each))
    return body


def _sites(coverage: Coverage) -> Table:
    rows = [
        (
            source or UNKNOWN_FILE,
            _functions([site for site in sites if not site.cells]),
            f"{len(sites)}",
            f"{sum(bool(site.cells) for site in sites)}",
        )
        for source, sites in by_source(coverage.sites)
    ]
    caption = "Delay sites by source file"
    return words_and_figures(caption, ("file", "reached by none"), ("sites", "reached"), rows)


def _functions(sites: Sequence[SiteCoverage]) -> str:
    """Returns the names of the functions without duplicates, and how many more there are."""
    names = list(dict.fromkeys(site.function for site in sites))
    more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
    return ", ".join(names[:NAMES_MAX]) + more
