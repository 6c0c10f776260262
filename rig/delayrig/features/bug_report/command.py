# SPDX-License-Identifier: GPL-2.0-or-later
"""The command `rig/rig bug-report`."""

import glob
from dataclasses import replace
from pathlib import Path

import click

from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import BadInputError
from delayrig.cli.command import RigCommand
from delayrig.cli.option_types import CELL
from delayrig.decision.choice import find_in_run, kept_cell, run_below
from delayrig.features.bug_report.document import Reported, neutral, text_of
from delayrig.features.export.command import read_report
from delayrig.features.report.source import Sources, read_sources, told_by_events, with_facts
from delayrig.model.cell import Role
from delayrig.model.delays import read_delays
from delayrig.model.events import read_events
from delayrig.model.result import UNSAFE, CellResult, read_results
from delayrig.present.trace.perfetto import as_perfetto
from delayrig.present.trace.timeline import timeline_of

NAME = "bug-report"
EVENTS = "events.jsonl"


@click.command(NAME, cls=RigCommand)
@click.argument("run_folder", metavar="OUT", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--cell",
    type=CELL,
    metavar="CELL",
    help="A part of a cell's id that no other one has.  [default: the first conviction]",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.md",
    help=f"Where the report goes.  [default: {NAME}.md in OUT]",
)
def bug_report(run_folder: Path, cell: str | None, out: Path | None) -> None:
    """Writes a report of a convicted cell of OUT, for those who maintain the flashrom.

    OUT is the --out folder of a run or a gate. The report is a Markdown file: what happened, the
    line that runs it again, where it was seen. Beside it, under the same name, are the timeline as
    a PNG and all events as JSON. Paths of this machine, its name and its user's are left out.
    """
    place = out or run_folder / f"{NAME}.md"
    if not place.parent.is_dir():
        raise BadInputError(
            f"--out {place}: there is no folder {place.parent}", hint="make it first"
        )
    run, found = find_in_run(run_below(run_folder), cell)
    reported = _reported(run_folder, run, found, place, is_chosen=cell is not None)
    if reported.picture and reported.trace:
        _write_attached(run, reported, reported.picture, reported.trace)
    write_atomically(place, text_of(reported).encode())
    click.echo(reported.line)
    for file in (place, reported.picture, reported.trace):
        if file is not None:
            click.echo(f"  {file}")


def _reported(run_folder: Path, run: Path, found: str, place: Path, *, is_chosen: bool) -> Reported:
    report = read_report(run_below(run_folder))
    result = next(each for each in read_results(run).cells if each.id == found)
    if not is_chosen and result.verdict not in UNSAFE:
        raise BadInputError(
            f"{run_folder}: no cell was convicted", hint="name one with --cell to report it anyway"
        )
    if result.role == Role.FLOOR:
        raise BadInputError(
            f"{found}: is a floor, in which no flashrom runs", hint="name another cell with --cell"
        )
    cell = kept_cell(run, found)
    if cell is None:
        raise BadInputError(
            f"{run / found}: has no cell.json of this rig",
            hint="run the cell again, then report it",
        )
    case = next((each for each in report.cases if each.id == found), None)
    if case is None:
        raise BadInputError(
            f"{run_folder}: the gate did not decide {found}", hint="name a cell of the candidate's"
        )
    has_events = bool(result.events_sha256) and (run / found / EVENTS).is_file()
    return Reported(
        report=report,
        case=replace(case, cell=result),
        cell=cell,
        picture=place.with_suffix(".png") if has_events else None,
        trace=place.with_suffix(".json") if has_events else None,
    )


def _write_attached(run: Path, reported: Reported, picture: Path, trace: Path) -> None:
    """Writes the timeline as a picture, and the events for a viewer."""
    # matplotlib loads slowly, so only commands that draw load it.
    from delayrig.features.report.timelines import timeline_picture

    found = reported.case.id
    chart = timeline_picture(_sources(run, reported.case.cell), [glob.escape(found)])
    write_atomically(picture, chart.png_file())
    timeline = timeline_of(read_events(run / found), read_delays(run / found))
    subject = reported.cell.subject.partition(":")[2]
    paths = [subject] if "/" in subject else []
    write_atomically(trace, neutral(as_perfetto(timeline).decode(), paths).encode())


def _sources(run: Path, cell: CellResult) -> Sources:
    sources = read_sources((run,))
    only = [told for told in told_by_events(sources) if told[1].id == cell.id]
    return with_facts(sources, jobs=1, done=lambda: None, only=only)
