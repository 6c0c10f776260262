# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig selfcheck`: the rig itself put to the test."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from delayrig.commands.command import (
    default_out,
    explained,
    own_request,
    plain_text,
    until_interrupted,
)
from delayrig.selfcheck.determinism import FILE_NAME as DETERMINISM_FILE
from delayrig.selfcheck.determinism import SHAPES, check_shapes, repeat_folder, repeat_shapes
from delayrig.show.console import make_console
from delayrig.show.determinism import RepeatProgress


@click.group()
def selfcheck() -> None:
    """Puts the rig itself to the test."""


@selfcheck.command()
@click.option(
    "--repeats",
    type=click.IntRange(2),
    default=8,
    show_default=True,
    help="Of every shape; with 8, every condition comes up.",
)
@click.option("--shapes", type=click.IntRange(1), default=10, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="For all data.")
@click.option("--jobs", type=click.IntRange(1), help="Guests at a time; default: the CPUs.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for what was found.")
@plain_text
@explained
def determinism(
    repeats: int, shapes: int, seed: int, jobs: int | None, out: Path | None, no_color: bool
) -> None:
    """Repeats guests of several shapes: is everything the same to the nanosecond?

    Every other repeat is made on a loaded host, some through libvirt, some with snapshots of
    their own, some in guests that ran another cell before. Exits 0 where all are the same, 4 where
    that cannot be said, 99 where a cell differs; its first differing event is named.
    """
    request, paths = own_request(
        str(SHAPES),
        (),
        seed,
        jobs,
        out or default_out("determinism"),
        leaves=repeat_folder(Path(), 0).name,
    )
    check_shapes(shapes, len(request.cells))
    request = replace(request, cells=request.cells[:shapes])
    file = request.out / DETERMINISM_FILE
    with RepeatProgress(make_console(no_color=no_color), repeats) as progress:
        answer = until_interrupted(
            repeat_shapes(
                request, paths, repeats=repeats, progress=progress, finished=progress.repeated
            ),
            kept=f"finished repeats are in {file}",
            no_color=no_color,
        )
    progress.answered(answer, str(file))
    sys.exit(answer.exit_code)
