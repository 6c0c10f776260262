# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig trace`: the events of a cell, in formats that viewers read."""

from pathlib import Path
from typing import BinaryIO

import click

from delayrig.base.errors import BadInputError, LostGuestError
from delayrig.cli.command import RigCommand
from delayrig.model.delays import read_delays
from delayrig.model.events import read_events
from delayrig.present.trace.perfetto import as_perfetto
from delayrig.present.trace.timeline import timeline_of
from delayrig.present.trace.vcd import as_vcd

TRACE_FORMATS = {"perfetto": as_perfetto, "vcd": as_vcd}


@click.command(cls=RigCommand)
@click.argument("events", metavar="CELL|EVENTS", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "kind",
    type=click.Choice(sorted(TRACE_FORMATS)),
    default="perfetto",
    show_default=True,
    help="For ui.perfetto.dev and chrome://tracing, or for waveform viewers such as GTKWave.",
)
@click.option("-o", "--output", type=click.File("wb", atomic=True), default="-", help="A file.")
def trace(events: Path, kind: str, output: BinaryIO) -> None:
    """Turns the events of a cell into something to look at.

    CELL is the folder of a cell in a run's --out folder, EVENTS a file that serprog-emu or the
    dummy programmer left. Requests, commands, busy times, waits, delays (of a CELL in a guest),
    violations and faults each have a track of their own; times begin with the first of them.
    """
    try:
        timeline = timeline_of(read_events(events), read_delays(events))
    except LostGuestError as error:
        raise BadInputError(
            f"{events}: not events that can be shown: {error}",
            hint="name a cell's folder, or an events.jsonl",
        ) from error
    output.write(TRACE_FORMATS[kind](timeline))
