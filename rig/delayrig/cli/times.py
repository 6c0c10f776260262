# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig times`: what cells took, beside what they could not do without."""

from pathlib import Path

import click

from delayrig.analysis.figures.times import time_rows
from delayrig.cli.command import RigCommand
from delayrig.cli.verbosity import make_console, tables_or_json, tell_json
from delayrig.model.result import read_results
from delayrig.present.terminal.times import time_table


@click.command(cls=RigCommand)
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
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
