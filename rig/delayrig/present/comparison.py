# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs side by side: compared runs, and the decision of a gate."""

from collections import Counter

from rich.console import Console
from rich.markup import escape

from delayrig.base.durations import rounded
from delayrig.base.paths import as_called
from delayrig.base.text import again, counted
from delayrig.decision.decision import Decision, FaultGroup, GateCell, Outcome
from delayrig.decision.decision_text import change_words, fault_lengths
from delayrig.decision.faults import REFUSING
from delayrig.decision.two_runs import Beside, CellPair
from delayrig.model.lane import EXACT_LANE
from delayrig.present.console import FittedTable, plain_table, say, seconds
from delayrig.present.notable import CHANGES, OUTCOMES, STYLES

ROWS_MAX = 20


def print_beside(beside: Beside, console: Console) -> None:
    """Prints a line for each cell, why some cannot be compared, and the sums."""
    if beside.pairs:
        console.print(_pair_table(beside.pairs))
    for name, cells in (("first", beside.only_first), ("second", beside.only_second)):
        for cell in cells:
            console.print(f"doubt: in the {name} run only: {escape(cell)}", soft_wrap=True)
    unlike_pairs = Counter(tuple(pair.unlike) for pair in beside.pairs if pair.unlike)
    for unlike, count in unlike_pairs.items():
        console.print(
            f"doubt: {count} cells were run with another {', '.join(unlike)}: their times say"
            " nothing about the subject",
            soft_wrap=True,
        )
    for pair in beside.pairs:
        if pair.is_fault:
            console.print(
                f"[bold magenta]differs[/] though all inputs are equal: {escape(pair.id)}",
                soft_wrap=True,
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


def _print_sums(pairs: list[CellPair], console: Console) -> None:
    if not pairs:
        console.print("[bold]No cell could be compared.[/]")
        return
    words = []
    for name, key in (("time", "total_ns"), ("CPU time", "cpu_ns")):
        before, after = (sum(getattr(pair, key)[side] for pair in pairs) for side in (0, 1))
        change = f" ({100 * (after - before) / before:+.2f} %)" if before else ""
        words.append(f"{name} {before / 1e9:.3f} s and {after / 1e9:.3f} s{change}")
    console.print(
        f"[bold]{counted(len(pairs), 'cell')} compared: {'; '.join(words)}.[/]", soft_wrap=True
    )
    if any(pair.lane != EXACT_LANE for pair in pairs):
        console.print(
            "Real time: one run of each proves nothing; `rig/rig gate` runs both side by side."
        )


def print_decision(decision: Decision, console: Console) -> None:
    """Prints the answer and each fault once. If no fault explains it, prints the cells that do."""
    first, *others = decision.lines
    say(console, first, style=OUTCOMES[decision.outcome][1])
    say(console, *others)
    said = set(decision.reached)
    say(console, *(f"doubt: {line}" for line in decision.doubts if line not in said))
    say(console, *(f"Not seen: {line}." for line in decision.blind[1:]))
    if decision.groups:
        _print_first(fault_table(decision.groups[:ROWS_MAX]), len(decision.groups), console)
    is_explained = decision.outcome is Outcome.PASS or bool(decision.groups_of(*REFUSING))
    shown = [] if is_explained else decision.deciding
    if shown:
        _print_first(decision_table(shown[:ROWS_MAX]), len(shown), console)
    if decision.outcome is not Outcome.PASS:
        say(console, *(as_called(again(cell.rerun)) for cell in decision.deciding[:1]))


def _print_first(table: FittedTable, rows: int, console: Console) -> None:
    """Prints a table of the first ROWS_MAX of so many rows."""
    console.print()
    console.print(table)
    if rows > ROWS_MAX:
        console.print(f"... and {rows - ROWS_MAX} more")


def fault_table(groups: list[FaultGroup]) -> FittedTable:
    """Returns a row for each fault: how long it lasted before and lasts now, and its worst cell."""
    figures = ("too short by", "before", "now", "cells")
    table = FittedTable(("change", "fault", *figures, "cell"), figures=figures, least=figures)
    for group in groups:
        fault = group.fault
        table.add_row(
            f"[{CHANGES[fault.change][1]}]{change_words(fault)}[/]",
            escape(fault.what),
            rounded(-fault.margin_ns) if fault.margin_ns is not None else "-",
            *fault_lengths(fault),
            f"{len(group.cells)}",
            escape(group.cells[0]),
        )
    return table


def decision_table(cells: list[GateCell]) -> FittedTable:
    times = ("s before", "s now")
    table = plain_table(
        ("cell", "outcome", "baseline", "candidate"),
        (*times, "time %", "CPU %"),
        least=("baseline", "candidate", *times),
    )
    for cell in cells:
        outcome = f"[{OUTCOMES[cell.outcome][1]}]{cell.outcome}[/]"
        words = (escape(cell.id), outcome, cell.baseline or "-", cell.candidate)
        table.add_row(*words, *_figures(cell))
    return table


def _figures(cell: GateCell) -> tuple[str, ...]:
    figures = {item.figure: item for item in cell.excess}
    time, cpu = figures.get("time"), figures.get("CPU time")
    return (
        *((seconds(time.baseline_ns), seconds(time.candidate_ns)) if time else ("-", "-")),
        *(f"{item.pct:+.2f}" if item else "-" for item in (time, cpu)),
    )
