# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs side by side: compared runs, and the decision of a gate."""

from rich.console import Console
from rich.markup import escape

from delayrig.analysis.compare import Beside, CellPair, sums_of
from delayrig.analysis.gate.decision import Decision, GateCell, Outcome
from delayrig.model.cell import Role
from delayrig.model.lane import EXACT_LANE
from delayrig.present.notable import OUTCOMES, STYLES
from delayrig.present.terminal.console import FittedTable, plain_table, say, seconds

ROWS_MAX = 20


def print_beside(beside: Beside, console: Console) -> None:
    """Prints a line for each cell, why some cannot be compared, and the sums."""
    if beside.pairs:
        console.print(_pair_table(beside.pairs))
    for name, cells in (("first", beside.only_first), ("second", beside.only_second)):
        for cell in cells:
            console.print(f"doubt: in the {name} run only: {escape(cell)}", soft_wrap=True)
    for unlike, count in _unlike(beside.pairs).items():
        console.print(
            f"doubt: {count} cells were run with another {', '.join(unlike)}: their times say"
            " nothing of the subject",
            soft_wrap=True,
        )
    for pair in beside.pairs:
        if pair.is_fault:
            console.print(
                f"[bold magenta]differs[/] though all is equal: {escape(pair.id)}", soft_wrap=True
            )
    _print_sums(beside.comparable, console)


def _pair_table(pairs: list[CellPair]) -> FittedTable:
    table = plain_table(
        ("cell", "verdict"), ("first s", "second s", "%", "CPU s", "CPU s", "program")
    )
    for pair in pairs:
        before, after = (f"[{STYLES[verdict]}]{verdict}[/]" for verdict in pair.verdicts)
        table.add_row(
            escape(pair.id),
            before if pair.verdicts[0] is pair.verdicts[1] else f"{before} -> {after}",
            *(f"{ns / 1e9:.6f}" for ns in pair.total_ns),
            "-" if pair.pct is None else f"{pair.pct:+.2f}",
            *(seconds(ns) for ns in pair.cpu_ns),
            "same" if pair.same_program else "another",
        )
    return table


def _unlike(pairs: list[CellPair]) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for pair in pairs:
        if pair.unlike:
            found[tuple(pair.unlike)] = found.get(tuple(pair.unlike), 0) + 1
    return found


def _print_sums(pairs: list[CellPair], console: Console) -> None:
    if not pairs:
        console.print("[bold]No cell could be compared.[/]")
        return
    sums = sums_of(pairs)
    words = [
        f"{name} {before / 1e9:.3f} s and {after / 1e9:.3f} s"
        + (f" ({100 * (after - before) / before:+.2f} %)" if before else "")
        for name, (before, after) in (("time", sums.total), ("CPU time", sums.cpu))
    ]
    console.print(f"[bold]{len(pairs)} cells compared: {'; '.join(words)}.[/]", soft_wrap=True)
    if any(pair.lane != EXACT_LANE for pair in pairs):
        console.print(
            "Real time: one run of each claims nothing; `rig/rig gate` runs both side by side."
        )


def print_decision(decision: Decision, console: Console) -> None:
    """Prints three lines of decision, what could not be seen, and the deciding cells."""
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
