# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig repeat`: cells of real time run again until their times are known well enough."""

import sys
from dataclasses import replace
from pathlib import Path

import click
from rich.markup import escape

from delayrig.analysis.repeats.median import Median
from delayrig.analysis.repeats.rounds import Budget, repeat
from delayrig.analysis.repeats.summary import FILE_NAME, Summary
from delayrig.base.paths import find_paths
from delayrig.cli.cells import CellsWish, cell_options
from delayrig.cli.command import RigCommand, default_out, run_shown
from delayrig.cli.verbosity import make_console, tables_or_json, tell_json
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.plan.request import check_out
from delayrig.present.terminal.console import FittedTable, plain_table

PERCENT = 100
NS_PER_S = 1e9


@click.command("repeat", cls=RigCommand)
@cell_options(plan="live")
@click.option(
    "--within",
    "within_pct",
    type=click.FloatRange(0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="PCT",
    help="How well a median of total time is to be known: half of its 95 % interval.",
)
@click.option(
    "--budget-s",
    type=click.FloatRange(0),
    default=600.0,
    show_default=True,
    help="No round begins after that.",
)
@click.option(
    "--rounds", type=click.IntRange(1), default=40, show_default=True, help="The most of them."
)
@tables_or_json
def repeat_cells(cells: CellsWish, within_pct: float, budget_s: float, rounds: int) -> None:
    """Runs cells again and again, each until its median total time is known well enough.

    Medians have bootstrap intervals (95 %), from six rounds on. Verdicts are counted and never
    averaged: the exit code is that of a run which holds every round.
    """
    paths = find_paths()
    choice = cells.choose(paths)
    folder = cells.out or default_out(f"repeat-{Path(cells.plan).stem}")
    request = replace(cells.request(choice, folder, sys.argv[1:]), contrasts=[])
    check_out(folder, choice.cells, name=FILE_NAME)
    summary, results = repeat(
        request,
        Budget(within=within_pct / PERCENT, seconds=budget_s, rounds_max=rounds),
        lambda one: run_shown(one, paths),
    )
    console = make_console()
    tell_json(summary)
    console.print(summary_table(summary))
    ended = "; the budget ended first" if summary.budget_ended else ""
    console.print(f"{summary.rounds} rounds{ended}. {folder / FILE_NAME}", markup=False)
    sys.exit(exit_code_of_run(results))


def summary_table(summary: Summary) -> FittedTable:
    figures = ("total s", "95 %", "CPU s", "95 %")
    table = plain_table(("cell", "rounds", "verdicts"), figures)
    for cell in summary.cells:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in cell.verdicts.items())
        table.add_row(
            escape(cell.id), str(cell.rounds), verdicts, *_words(cell.total), *_words(cell.cpu)
        )
    return table


def _words(median: Median | None) -> tuple[str, str]:
    if median is None:
        return "-", "-"
    value = f"{median.value_ns / NS_PER_S:.3f}"
    if median.low_ns is None or median.high_ns is None:
        return value, "too few"
    return value, f"{median.low_ns / NS_PER_S:.3f} to {median.high_ns / NS_PER_S:.3f}"
