# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig run` and `repeat`: a plan once, or its cells until their times are known."""

import sys
from dataclasses import replace
from pathlib import Path

import click
from rich.markup import escape

from delayrig.base.durations import NS_PER_S
from delayrig.base.paths import find_paths
from delayrig.cli.cells import CellsOptions, cell_options
from delayrig.cli.command import (
    HOW_TO_GO_ON,
    RigCommand,
    default_out,
    delay_options,
    resume_option,
    run_shown,
)
from delayrig.cli.option_types import number_option
from delayrig.cli.verbosity import make_console, note, tables_or_json, tell_json
from delayrig.features.export.command import format_option, speaks, write_formats
from delayrig.features.history.recording import (
    HistoryOptions,
    history_options,
    own_words,
    record,
)
from delayrig.features.run.repeats import FILE_NAME, Budget, Median, Summary, repeat
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.plan.request import check_out
from delayrig.present.console import FittedTable, plain_table
from delayrig.present.formats.known import wanted_formats
from delayrig.present.formats.report import report_of_run
from delayrig.present.results import print_results
from delayrig.run.resume import check_begun
from delayrig.subjects.delay_function import DelayOptions

LISTED_MAX = 100_000
"""The largest plan whose cells a dry run lists. Making each takes a few microseconds."""
PERCENT = 100


@click.command(cls=RigCommand)
@cell_options(plan="default")
@delay_options
@click.option("--dry-run", is_flag=True, help="Lists the cells and ends.")
@resume_option
@click.option(
    "--no-reuse",
    is_flag=True,
    help="Virtual lane: starts a QEMU for each cell. Takes longer; all else is the same.",
)
@format_option(required=False)
@history_options
@tables_or_json
def run(
    cells: CellsOptions,
    delay: DelayOptions,
    dry_run: bool,
    resume: bool,
    no_reuse: bool,
    formats: tuple[str, ...],
    history: HistoryOptions,
) -> None:
    """Runs a plan: every cell in its guest, a verdict for each, and the answer."""
    paths = find_paths()
    if dry_run and not cells.patterns and (count := cells.count(paths)) > LISTED_MAX:
        tell_json({"cells_at_most": count})
        note(f"{count:,} cells at most, too many to list: --cell PATTERN lists some of them")
        return
    choice = cells.choose(paths)
    if dry_run:
        tell_json([cell.id for cell in choice.cells])
        for cell in choice.cells:
            click.echo(f"{cell.id}" + (f"  expect {cell.expect}" if cell.expect != "pass" else ""))
        note(f"{len(choice.cells)} cells")
        return
    kept_in = history.address()
    wanted = wanted_formats(formats)
    folder = cells.out or default_out(cells.plan)
    request = cells.request(choice, folder, own_words(), delay)
    request = replace(request, resume=resume, reuses_guests=not no_reuse)
    if resume:
        check_begun(cells.out)
    else:
        check_out(folder, choice.cells)
    results = run_shown(request, paths, how_to_go_on=HOW_TO_GO_ON)
    code = exit_code_of_run(results.cells, results.contrasts)
    tell_json(results)
    console = make_console(stderr=speaks(wanted))
    try:
        print_results(results, code, console, out=str(folder))
        write_formats(wanted, report_of_run(results))
    finally:
        # Keep the run even if printing fails.
        record(kept_in, folder, results)
    sys.exit(code)


@click.command("repeat", cls=RigCommand)
@cell_options(plan="live")
@click.option(
    "--within",
    "within_pct",
    type=click.FloatRange(0, min_open=True),
    default=5.0,
    show_default=True,
    metavar="PCT",
    help="Half of the 95 % interval of a median of total time at which it is known well enough.",
)
@number_option("--budget-s", 600.0, "No round begins after this time.", click.FloatRange(0))
@number_option("--rounds", 40, "Maximum number of rounds.")
@tables_or_json
def repeat_cells(cells: CellsOptions, within_pct: float, budget_s: float, rounds: int) -> None:
    """Repeats cells until the median total time of each is known well enough.

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
