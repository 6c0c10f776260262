# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig times`, `waste`, `parts` and `compare`: figures of runs."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.markup import escape

from delayrig.base.atomic_file import json_document
from delayrig.base.errors import ExitCode
from delayrig.base.text import counted
from delayrig.cli.command import RigCommand
from delayrig.cli.verbosity import answers, make_console, plain_text, tables_or_json, tell_json
from delayrig.decision.two_runs import (
    ComparedRun,
    Comparison,
    compare_exactly,
    compare_times,
    compared_run,
)
from delayrig.features.figures.results import TimeRow, markdown_table, part_rows, time_rows
from delayrig.features.history.command import opened_history
from delayrig.features.history.recording import history_url
from delayrig.judge.waste import CallSiteWaste, OperationWaste, Waste, read_watched, waste_of
from delayrig.model.result import read_results
from delayrig.present.comparison import print_beside
from delayrig.present.console import FittedTable, plain_table, say, seconds
from delayrig.present.notable import STYLES

NO_CALLS = (
    "who asked for delays: no call was seen. The host lane sees none. In a guest a delay function"
    " must have been found."
)
run_argument = click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))


@click.command(cls=RigCommand)
@run_argument
@click.option("--beside", metavar="SUBJECT", default="debian:trixie", show_default=True)
@tables_or_json
def times(run_folder: Path, beside: str) -> None:
    """Shows the time of each cell of a run, beside the least possible.

    The ratio is that of the total to the chip's busy time plus the floor: the same bytes, written
    with the fewest transfers in the same guest. Each total stands beside that of another SUBJECT.
    """
    rows = time_rows(read_results(run_folder), beside=beside)
    tell_json(rows)
    make_console().print(time_table(rows, beside=beside))


@click.command(cls=RigCommand)
@click.argument("folder", metavar="RUN|CELL", type=click.Path(path_type=Path))
@tables_or_json
def waste(folder: Path) -> None:
    """Shows where a flashrom waits without need, the largest sum first.

    By operation: how long the part had been ready when the next command came. For cells in guests
    also by the call site of a delay: how long the part was not busy during it.
    """
    found = waste_of(read_watched(folder))
    tell_json(found)
    console = make_console()
    for table in waste_tables(found):
        console.print(table, "")
    if not found.call_sites:
        console.print(NO_CALLS, soft_wrap=True)


@click.command(cls=RigCommand)
@run_argument
@answers
def parts(run_folder: Path) -> None:
    """Shows the outcomes of each flashrom of a run with each part, as a table for a README."""
    results = read_results(run_folder)
    tell_json(part_rows(results))
    click.echo(markdown_table(results))


@click.command(cls=RigCommand)
@click.argument("first", metavar="RUN")
@click.argument("second", metavar="RUN")
@click.option("--exact", is_flag=True, help="Everything must be equal to the ns.")
@click.option("--json", "as_json", is_flag=True, help="As JSON; without --exact.")
@history_url
@plain_text
def compare(first: str, second: str, exact: bool, as_json: bool, url: str | None) -> None:
    """Compares two runs: their --out folders, or their numbers in the history.

    It compares the times of cells with the same id. Only the subject may differ: all else that
    decides times must be equal. Exits 0 if every cell could be compared, 4 if one could not, 99 if
    the subject is the same and exact time differs.

    With --exact every virtual cell must be the same in both, including its events: 0 if they are, 4
    if that is unknown (unequal images or seeds, cells or events missing), 99 if equal inputs gave
    unequal results. For runs of the history it compares the stored digests.
    """
    runs = _compared(first, url), _compared(second, url)
    if exact:
        sys.exit(_exactly(compare_exactly(*runs)))
    beside = compare_times(runs[0].results, runs[1].results)
    if as_json:
        sys.stdout.buffer.write(json_document(beside))
    else:
        print_beside(beside, make_console())
    sys.exit(beside.exit_code)


def _compared(word: str, url: str | None) -> ComparedRun:
    """Returns the run of a folder, or of a number in the history; `./12` is always a folder."""
    if not (word.isascii() and word.isdigit()):
        return compared_run(Path(word))
    store = opened_history(url)
    return ComparedRun(name=f"{store.label}: run {word}", results=store.load(int(word)), path=None)


def _exactly(comparison: Comparison) -> ExitCode:
    console = make_console()
    say(console, *(f"doubt: {line}" for line in comparison.doubts))
    if comparison.same_inputs:
        say(console, *(f"differs: {line}" for line in comparison.differences))
    elif comparison.differences:
        console.print(
            f"{len(comparison.differences)} figures differ, as those of unequal inputs do"
        )
    same = "all the same" if comparison.exit_code is ExitCode.PASS else "not shown to be the same"
    console.print(f"{counted(comparison.compared, 'cell')} compared: {same}", markup=False)
    return comparison.exit_code


def time_table(rows: list[TimeRow], *, beside: str) -> FittedTable:
    times = ("total s", "busy s", "floor s", "ratio", "overshoot s")
    table = plain_table(
        ("subject", "chip", "job", "verdict"),
        ("KiB", "MIPS", "cores", *times, "transfers", f"{escape(beside)} s"),
        least=("busy s", "floor s", "transfers"),
    )
    for row in rows:
        table.add_row(
            escape(row.subject),
            f"{row.chip} {row.corner}",
            row.job,
            f"[{STYLES[row.verdict]}]{row.verdict}[/]",
            f"{row.region_bytes / 1024:g}",
            "-" if row.mips is None else f"{round(row.mips)}",
            f"{row.cores}",
            *(seconds(ns) for ns in (row.total_ns, row.chip_busy_ns, row.floor_ns)),
            "-" if row.ratio is None else f"{row.ratio:.3f}",
            seconds(row.overshoot_ns),
            f"{row.transfers}" + (f"/{row.floor_transfers}" if row.floor_transfers else ""),
            seconds(row.beside_ns),
        )
    return table


def waste_tables(waste: Waste) -> list[FittedTable]:
    operations = _table("operation", ("busy s",))
    for row in waste.operations:
        words = escape(row.subject), row.phase, row.operation, f"{row.count}"
        operations.add_row(*words, seconds(row.busy_ns), *_figures(row))
    sites = _table("delay asked for at", ("asked s", "took s"))
    for site in waste.call_sites:
        lines = escape("\n  ".join(site.call_site.split(" < ")))
        words = escape(site.subject), site.phase, lines, f"{site.count}"
        times = seconds(site.requested_ns), seconds(site.actual_ns)
        sites.add_row(*words, *times, *_figures(site))
    return [table for table in (operations, sites) if table.row_count]


def _table(what: str, figures: Sequence[str]) -> FittedTable:
    figures = ("times", *figures, "for nothing s", "each us", "most us")
    return plain_table(("subject", "phase", what), figures, least=figures[1:-3])


def _figures(row: OperationWaste | CallSiteWaste) -> tuple[str, str, str]:
    each_us, most_us = row.waste_ns / row.count / 1000, row.waste_ns_max / 1000
    return f"{row.waste_ns / 1e9:.6f}", f"{each_us:.1f}", f"{most_us:.1f}"
