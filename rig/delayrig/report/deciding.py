# SPDX-License-Identifier: GPL-2.0-or-later
"""What a gate decided, cell by cell."""

from markupsafe import Markup

from delayrig.gate.decision import Decision, GateCell, Outcome
from delayrig.pages.page import Column, Row, Section, Table, code, details, paragraph, table_html
from delayrig.report.source import GateSource, Sources
from delayrig.report.words import seconds

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
        " time than in the baseline."
        + (f" {gate.rounds} rounds; the first is shown below." if gate.rounds > 1 else "")
    )
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


def _cells(decision: Decision) -> Markup:
    return table_html(
        Table(
            caption="Each cell, the worst first; times in seconds",
            columns=[
                *(Column(name=name) for name in ("cell", "outcome", "baseline", "candidate")),
                *(
                    Column(name=name, numeric=True)
                    for name in ("before", "now", "time", "CPU time")
                ),
                Column(name="why"),
            ],
            rows=[_row(cell) for cell in decision.cells],
        )
    )


def _row(cell: GateCell) -> Row:
    figures = {item.figure: item for item in cell.excess}
    time, cpu = figures.get("time"), figures.get("CPU time")
    outcome = Markup('<span class="badge {}">{}</span>').format(CLASSES[cell.outcome], cell.outcome)
    return Row(
        values=[
            *(cell.id, outcome, cell.baseline or "-", cell.candidate),
            seconds(time.baseline_ns) if time else "-",
            seconds(time.candidate_ns) if time else "-",
            f"{time.pct:+.2f} %" if time else "-",
            f"{cpu.pct:+.2f} %" if cpu else "-",
            cell.why,
        ]
    )
