# SPDX-License-Identifier: GPL-2.0-or-later
"""What a gate decided, cell by cell."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from delayrig.analysis.gate.decision import Decision, Excess, GateCell, Outcome
from delayrig.model.cell import place_of
from delayrig.present.pages.charts import Colour, chart_html, new_figure, svg_of
from delayrig.present.pages.page import Section, code, details, paragraph, table_html
from delayrig.present.report.labels import seconds
from delayrig.present.report.source import GateSource, Sources
from delayrig.present.tables import Table, words_and_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWN_MAX = 24
LISTED_MAX = 1000
ROUNDS = (
    "the times of this section are sums over all of them, with the interval that the decision"
    " rests on. Everywhere else on this page each cell is shown as it was in one round: of its"
    " gravest verdict, and of those the one whose total time is the median. Margins, waits and"
    " timelines are of that round, too."
)
CLASSES = {
    Outcome.RIG_FAULT: "rig",
    Outcome.UNSAFE: "bad",
    Outcome.SLOWER: "bad",
    Outcome.DOUBT: "doubt",
    Outcome.PASS: "good",
    Outcome.UNSEEN: "quiet",
}


def decision_section(sources: Sources) -> Section:
    """All gates, one below the other."""
    body = Markup("").join(
        _decision(gate, several=len(sources.gates) > 1) for gate in sources.gates
    )
    return Section(key="decision", title="The decision", body=body)


def _decision(gate: GateSource, *, several: bool) -> Markup:
    decision = gate.decision
    body = Markup("")
    if several:
        body += Markup("<h3>{} against {}</h3>").format(
            decision.candidate.name, decision.baseline.name
        )
    body += paragraph(
        f"Plan {decision.plan}, seed {decision.seed}. A cell may take"
        f" {decision.limits.slowdown_pct:g} % more time and {decision.limits.cpu_pct:g} % more CPU"
        f" time than in the baseline.{_floors(decision)}"
        + (f" {gate.rounds} rounds: {ROUNDS}" if gate.rounds > 1 else "")
    )
    compared = [cell for cell in decision.cells if cell.excess]
    if compared:
        body += _chart(decision, compared)
    body += _cells(decision)
    body += details(
        "What could have been seen of the candidate",
        Markup("<ul>{}</ul>").format(
            Markup("").join(Markup("<li>{}</li>").format(line) for line in decision.blind)
        ),
    )
    worst = next(iter(decision.deciding), None)
    if worst is not None and decision.outcome is not Outcome.PASS:
        body += paragraph("The worst cell again: ", code(worst.rerun))
    return body


def _floors(decision: Decision) -> str:
    """Why a bar may be longer than its limit, and not red."""
    found = [item for cell in decision.cells for item in cell.excess if item.floor_ns]
    floors = {item.figure: f"{item.floor_ns / 1e6:g} ms of {item.figure}" for item in found}
    return f" Up to {' and '.join(floors.values())} more are no reason." if floors else ""


def _chart(decision: Decision, compared: list[GateCell]) -> Markup:
    names = f"{decision.candidate.name} against {decision.baseline.name}"
    drawn = compared[:DRAWN_MAX]
    svg = svg_of(
        change_figure(drawn),
        title=f"Change of time, {names}",
        description="; ".join(f"{cell.id}: {cell.why}" for cell in drawn),
    )
    note = f" (the {DRAWN_MAX} worst cells)" if len(compared) > DRAWN_MAX else ""
    return chart_html(
        svg,
        caption=f"Time and CPU time of {names}, in percent more or less{note}; the dashed line is"
        " the limit" + (", thin lines are intervals" if _have_noise(drawn) else ""),
        table=_change_table(drawn),
    )


def _have_noise(cells: list[GateCell]) -> bool:
    return any(item.low_pct != item.high_pct for cell in cells for item in cell.excess)


def change_figure(cells: list[GateCell]) -> "Figure":
    """Bars of change, one for each cell and figure; red beyond the limit."""
    figures = list(dict.fromkeys(item.figure for cell in cells for item in cell.excess))
    names = [place_of(cell.id) for cell in cells]
    with new_figure(height_in=0.85 + 0.3 * len(cells)) as figure:
        panels = figure.subplots(1, len(figures), sharey=True, squeeze=False)[0]
        for axes, name in zip(panels, figures, strict=True):
            found = [(at, item) for at, item in _of_figure(cells, name)]
            for at, item in found:
                axes.barh(at, item.pct, color=_colour_of(item), height=0.62)
                if item.low_pct != item.high_pct:
                    reach = [[max(item.pct - item.low_pct, 0)], [max(item.high_pct - item.pct, 0)]]
                    axes.errorbar(item.pct, at, xerr=reach, color=Colour.INK, capsize=3, lw=1)
                axes.annotate(
                    f"{item.pct:+.1f} %",
                    (max(item.high_pct, item.pct, item.limit_pct), at),
                    xytext=(5, 0),
                    textcoords="offset points",
                    va="center",
                )
            for limit in {item.limit_pct for _, item in found}:
                axes.axvline(limit, color=Colour.INK, lw=1, ls="--")
            axes.axvline(0, color=Colour.SOFT, lw=0.8)
            axes.set_xlabel(f"{name}, %")
            axes.grid(axis="x")
            axes.margins(x=0.12)
            left, right = axes.get_xlim()
            axes.set_xlim(left, right + 0.2 * (right - left))
            axes.spines["left"].set_visible(False)
            axes.tick_params(axis="y", length=0)
        panels[0].set_yticks(range(len(names)), names)
        panels[0].invert_yaxis()
    return figure


def _of_figure(cells: list[GateCell], name: str) -> list[tuple[int, Excess]]:
    return [
        (at, item) for at, cell in enumerate(cells) for item in cell.excess if item.figure == name
    ]


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


def _cells(decision: Decision) -> Markup:
    return table_html(
        words_and_figures(
            f"Each cell, the worst first{_first_of(decision.cells)}; times in seconds",
            ["cell", "outcome", "baseline", "candidate"],
            ["before", "now", "time", "CPU time"],
            [_row(cell) for cell in decision.cells[:LISTED_MAX]],
        )
    )


def _first_of(cells: Sequence[GateCell]) -> str:
    return f" (the first {LISTED_MAX} of {len(cells)})" if len(cells) > LISTED_MAX else ""


def _row(cell: GateCell) -> list[str | Markup]:
    figures = {item.figure: item for item in cell.excess}
    time, cpu = figures.get("time"), figures.get("CPU time")
    outcome = Markup('<span class="badge {}">{}</span>').format(CLASSES[cell.outcome], cell.outcome)
    return [
        *(_name(cell), outcome, cell.baseline or "-", cell.candidate),
        seconds(time.baseline_ns) if time else "-",
        seconds(time.candidate_ns) if time else "-",
        _change(time) if time else "-",
        _change(cpu) if cpu else "-",
    ]


def _change(item: Excess) -> str:
    """With its interval, where it is not exact."""
    if item.low_pct == item.high_pct:
        return f"{item.pct:+.2f} %"
    return f"{item.pct:+.2f} % ({item.low_pct:+.2f} to {item.high_pct:+.2f})"


def _name(cell: GateCell) -> str | Markup:
    """With the reason, where the figures beside it do not tell."""
    if cell.outcome is Outcome.PASS:
        return cell.id
    return Markup('{}<br><span class="soft">{}</span>').format(cell.id, cell.why)
