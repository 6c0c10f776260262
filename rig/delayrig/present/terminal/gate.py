# SPDX-License-Identifier: GPL-2.0-or-later
"""A decision in the terminal."""

from rich.console import Console
from rich.markup import escape

from delayrig.analysis.gate.decision import Decision, GateCell, Outcome
from delayrig.model.cell import Role
from delayrig.present.notable import OUTCOMES
from delayrig.present.terminal.console import FittedTable, say

ROWS_MAX = 20


def print_decision(decision: Decision, console: Console) -> None:
    """Three lines, what could not have been seen, and the cells that decided it."""
    first, *others = decision.lines
    say(console, first, style=OUTCOMES[decision.outcome][1])
    say(console, *others)
    say(console, *(f"doubt: {line}" for line in decision.doubts))
    console.print("What could be seen of the candidate:")
    say(console, *(f"  {line}" for line in decision.blind))
    console.print()
    measured = [cell for cell in decision.deciding if cell.role == Role.MEASURE]
    shown = measured if decision.outcome is Outcome.PASS else decision.deciding
    console.print(decision_table(shown[:ROWS_MAX]))
    if len(shown) > ROWS_MAX:
        console.print(f"... and {len(shown) - ROWS_MAX} more")
    if decision.outcome is not Outcome.PASS:
        say(console, *(f"again: {cell.rerun}" for cell in shown[:1]))


def decision_table(cells: list[GateCell]) -> FittedTable:
    seconds = ("s before", "s now")
    table = FittedTable(
        ("cell", "outcome", "baseline", "candidate", *seconds, "time %", "CPU %"),
        figures=(*seconds, "time %", "CPU %"),
        least=("baseline", "candidate", *seconds),
    )
    for cell in cells:
        outcome = f"[{OUTCOMES[cell.outcome][1]}]{cell.outcome}[/]"
        times, percents = _figures(cell)
        words = (escape(cell.id), outcome, cell.baseline or "-", cell.candidate)
        table.add_row(*words, *times, *percents)
    return table


def _figures(cell: GateCell) -> tuple[tuple[str, str], tuple[str, str]]:
    figures = {item.figure: item for item in cell.excess}
    time, cpu = figures.get("time"), figures.get("CPU time")
    seconds = (
        f"{time.baseline_ns / 1e9:.3f}" if time else "-",
        f"{time.candidate_ns / 1e9:.3f}" if time else "-",
    )
    return seconds, (f"{time.pct:+.2f}" if time else "-", f"{cpu.pct:+.2f}" if cpu else "-")
