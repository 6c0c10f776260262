# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig report`: runs and gates as one page, or in the terminal."""

import os
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import BadInputError
from delayrig.base.garbage import without_collections
from delayrig.cli.command import INTERRUPTED, RigCommand
from delayrig.cli.verbosity import make_console, plain_text, progress_console
from delayrig.features.report.source import (
    PAGE,
    Sources,
    read_sources,
    told_by_events,
    with_facts,
)
from delayrig.present.comparison import print_decision
from delayrig.present.console import say
from delayrig.present.results import print_results


@click.command(cls=RigCommand)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE.html",
    help=f"Where the page goes.  [default: {PAGE} in the first RUN]",
)
@click.option(
    "--cell",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Cells whose timelines are shown, in place of the most interesting; repeatable.",
)
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    metavar="FILE.svg|FILE.png",
    help="The chart of programming time as well, by itself; with --cell, or where no cell passed,"
    " the timeline of the gravest cell.",
)
@click.option("--terminal", is_flag=True, help="Prints tables in place of a page.")
@plain_text
@without_collections()
def report(
    runs: tuple[Path, ...],
    out: Path | None,
    patterns: tuple[str, ...],
    picture: Path | None,
    terminal: bool,
) -> None:
    """Makes one page of a run or a gate, or of several side by side.

    RUN is the --out folder of either, or a run's results.json, which contains less. The page is one
    file that needs no network, and no JavaScript for reading.

    Exits 0 whatever the answer was.
    """
    sources = read_sources(runs)
    if terminal:
        _print(sources, make_console())
        return
    place = out or (runs[0] if runs[0].is_dir() else runs[0].parent) / PAGE
    for option, file in (("--out", place), ("--picture", picture)):
        if file is not None and not file.parent.is_dir():
            raise BadInputError(
                f"{option} {file}: there is no folder {file.parent}", hint="make it first"
            )
    if place.is_dir():
        raise BadInputError(f"--out {place}: is a folder", hint=f"name a file: {place / PAGE}")
    try:
        _write_page(sources, place, patterns, picture)
    except KeyboardInterrupt:
        click.echo(f"interrupted; {place} is as it was", err=True)
        sys.exit(INTERRUPTED)


def _write_page(
    sources: Sources, place: Path, patterns: tuple[str, ...], picture: Path | None
) -> None:
    with_events = _read_events(sources, patterns, progress_console())
    # matplotlib loads slowly, so only commands that draw load it.
    from delayrig.features.report.document import document_of, write_document
    from delayrig.features.report.timelines import timeline_picture
    from delayrig.features.report.totals import totals_picture

    made = document_of(with_events, patterns=patterns, name=place.name)
    if patterns and not made.timelines:
        some = next((cell.id for run in sources.runs for cell in run.results.cells), "none")
        raise BadInputError(
            f"--cell {' '.join(patterns)}: no cell with events matches",
            hint=f"known are such as {some}",
        )
    write_document(made, place)
    if picture is not None:
        drawn = None if patterns else totals_picture(with_events)
        chart = drawn or timeline_picture(with_events, patterns)
        is_png = picture.suffix.lower() == ".png"
        write_atomically(picture, chart.png_file() if is_png else chart.svg_file())
    click.echo(
        f"{place}: {len(made.content) / 1e6:.2f} MB, {made.timelines} timelines"
        + (f", {made.left_out} cells without one" if made.left_out else "")
        + (f"; {len(made.parts)} pages of cells in {made.folder}/" if made.parts else "")
    )


def _read_events(sources: Sources, patterns: tuple[str, ...], console: Console) -> Sources:
    from delayrig.features.report.timelines import worth_reading

    only = worth_reading(sources, patterns)
    cells = told_by_events(sources) if only is None else only
    # No thread refreshes the progress, because workers are forked.
    with Progress(
        console=console, transient=True, auto_refresh=False, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("reading cells", total=len(cells))

        def done() -> None:
            progress.update(task, advance=1, refresh=True)

        return with_facts(sources, jobs=len(os.sched_getaffinity(0)), done=done, only=only)


def _print(sources: Sources, console: Console) -> None:
    for gate in sources.gates:
        print_decision(gate.decision, console)
        console.print()
    for run in sources.runs:
        if run.label:
            say(console, f"{run.label}: {run.path}", style="bold")
        if run.spread:
            console.print(
                "Of several rounds, each cell is shown as in the one with the median total time"
                " among those with its gravest verdict",
                markup=False,
                soft_wrap=True,
            )
        where = run.path if run.folder else run.path.parent
        print_results(run.results, run.report.lines, console, out=str(where))
        console.print()
