# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig parts`: what each flashrom did with each part."""

from pathlib import Path

import click

from delayrig.analysis.figures.parts import markdown_table, part_rows
from delayrig.cli.command import RigCommand
from delayrig.cli.verbosity import answers, tell_json
from delayrig.model.result import read_results


@click.command(cls=RigCommand)
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@answers
def parts(run_folder: Path) -> None:
    """Tells what each flashrom of a run did with each part, as a table for a README."""
    results = read_results(run_folder)
    tell_json(part_rows(results))
    click.echo(markdown_table(results))
