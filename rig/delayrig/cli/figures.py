# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig times`, `waste` and `parts`: figures of runs."""

from pathlib import Path

import click

from delayrig.analysis.figures.parts import markdown_table, part_rows
from delayrig.analysis.figures.times import time_rows
from delayrig.analysis.figures.waste import read_watched, waste_of
from delayrig.cli.command import RigCommand
from delayrig.cli.verbosity import answers, make_console, tables_or_json, tell_json
from delayrig.model.result import read_results
from delayrig.present.terminal.figures import time_table, waste_tables

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
    """Tells what each cell of a run took, beside what it could not do without.

    The ratio is that of the total to the chip's busy time and the floor: the same bytes, written
    with the fewest transfers in the same guest. Each stands beside the total of another SUBJECT.
    """
    rows = time_rows(read_results(run_folder), beside=beside)
    tell_json(rows)
    make_console().print(time_table(rows, beside=beside))


@click.command(cls=RigCommand)
@click.argument("folder", metavar="RUN|CELL", type=click.Path(path_type=Path))
@tables_or_json
def waste(folder: Path) -> None:
    """Tells where a flashrom waits for nothing, the largest sum first.

    By operation: how long the part had been ready when the next command came. Of cells in guests
    also by who asked for a delay: how much of it the part was not busy at all.
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
    """Tells what each flashrom of a run did with each part, as a table for a README."""
    results = read_results(run_folder)
    tell_json(part_rows(results))
    click.echo(markdown_table(results))
