# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig waste`: where a flashrom waits for nothing."""

from pathlib import Path

import click

from delayrig.analysis.figures.waste import read_watched, waste_of
from delayrig.cli.command import RigCommand
from delayrig.cli.verbosity import make_console, tables_or_json, tell_json
from delayrig.present.terminal.waste import waste_tables

NO_CALLS = (
    "who asked for delays: no call was seen. The host lane sees none. In a guest a delay function"
    " must have been found."
)


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
