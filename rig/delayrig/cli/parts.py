# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig parts`: what each flashrom did with each part."""

from pathlib import Path

import click

from delayrig.analysis.figures.parts import markdown_table
from delayrig.cli.command import explained
from delayrig.model.result import read_results


@click.command()
@click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
@explained
def parts(run_folder: Path) -> None:
    """Tells what each flashrom of a run did with each part, as a table for a README."""
    click.echo(markdown_table(read_results(run_folder)))
