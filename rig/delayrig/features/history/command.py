# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig history`: the runs of the past."""

import datetime as dt
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from delayrig.base.atomic_file import write_atomically
from delayrig.base.errors import BadInputError
from delayrig.base.extras import require_extra
from delayrig.cli.command import Decorator, RigGroup, gathered
from delayrig.cli.option_types import FloatRange, number_option
from delayrig.cli.verbosity import make_console, note, print_json, tables_or_json
from delayrig.decision.two_runs import inputs_of
from delayrig.features.history.address import NONE, VARIABLE, Choice, find_address, moment
from delayrig.features.history.recording import history_url
from delayrig.model.lane import LaneName
from delayrig.present.console import say
from delayrig.present.formats.report import report_of_run
from delayrig.present.results import print_results

if TYPE_CHECKING:
    from delayrig.features.history.steps import Found, Point
    from delayrig.features.history.store import History

LIMIT = 30
CONFIDENCE = 0.99
LANES = [name.value for name in LaneName]


def _wanted(subject: str, plan: str, lane: str | None, since: str) -> Choice:
    since = since and moment(since, dt.datetime.now(dt.UTC), option="--since")
    return Choice(subject=subject, plan=plan, lane=lane or "", since=since)


def _choosing(subject: Decorator) -> Decorator:
    """Returns a decorator that adds the filters of runs; the command gets them as `wanted`."""
    return gathered(
        "wanted",
        _wanted,
        subject,
        click.option("--plan", default="", help="Runs of this plan."),
        click.option("--lane", type=click.Choice(LANES), help="Runs of this lane."),
        click.option(
            "--since",
            default="",
            metavar="WHEN",
            help="Runs since WHEN: a date, or an age such as 7d.",
        ),
    )


_any_subject = click.option("--subject", default="", help="Runs with this flashrom.")
_one_subject = click.argument("subject")


class _ListingGroup(RigGroup):
    """A group of commands that runs `list` if no subcommand is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Inserts `list` if there is no word, or if the first one is an option other than help."""
        bare = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        return super().parse_args(ctx, ["list", *args] if bare else args)


@click.group(cls=_ListingGroup)
def history() -> None:
    """Lists the runs of the past, draws them, and finds where a time stepped.

    `run` and `gate` keep theirs by themselves. Without a command it is `list`.
    """


def opened_history(url: str | None) -> "History":
    """Returns the named history, else the user's; raises `BadInputError` if that is `none`."""
    from delayrig.features.history.store import History

    address = find_address(url, os.environ)
    if address is None:
        raise BadInputError(
            f"--history {NONE}: there is no history to look at",
            hint=f"give --history URL, or unset ${VARIABLE}",
        )
    return History(address)


_history_option = gathered("store", opened_history, history_url)


@history.command("list")
@_choosing(_any_subject)
@number_option("--limit", LIMIT, "Number of runs, the newest.")
@_history_option
@tables_or_json
def list_runs(wanted: Choice, limit: int, store: "History") -> None:
    """Lists runs, the newest last."""
    from delayrig.features.history.terminal import list_table, listed

    runs = store.summaries(replace(wanted, limit=limit))
    print_json([listed(run) for run in runs])
    console = make_console()
    if runs:
        console.print(list_table(runs))
    else:
        say(console, f"no such run is kept in {store.label}")


@history.command("show")
@click.argument("number", type=click.IntRange(1))
@_history_option
@tables_or_json
def show_run(number: int, store: "History") -> None:
    """Shows a run as it was shown then."""
    results = store.load(number)
    print_json(results)
    console = make_console()
    print_results(results, report_of_run(results).lines, console, out="")
    for entry in store.summaries(Choice(numbers=(number,))):
        if gate := entry.run.gate:
            decision = store.decision(gate.gate)
            console.print(f"It was the {gate.side} of gate {gate.gate}:")
            say(console, *(f"  {line}" for line in decision.lines))


@history.command("plot")
@_choosing(_one_subject)
@click.option("--svg", type=click.Path(path_type=Path), help="Draws it into this SVG file instead.")
@_history_option
@tables_or_json
def plot(wanted: Choice, svg: Path | None, store: "History") -> None:
    """Shows SUBJECT's total time over runs.

    Only totals of the same cells are joined by a line: the same plan and lane, and all timed.
    """
    from delayrig.features.history.steps import series_of
    from delayrig.features.history.terminal import history_chart, plotted, print_plot

    series = series_of(_points(store, wanted))
    print_json(plotted(series))
    if svg is None:
        print_plot(series, make_console())
    else:
        write_atomically(svg, history_chart(series, wanted.subject).svg_file())


@history.command("steps")
@_choosing(_one_subject)
@number_option(
    "--confidence",
    CONFIDENCE,
    "Confidence that real time stepped at all.",
    FloatRange(0.5, 0.999),
)
@_history_option
@tables_or_json
def steps(wanted: Choice, confidence: float, store: "History") -> None:
    """Finds the runs at which SUBJECT's time stepped, and what changed there.

    Exact time: any difference of a cell. Real time: a change-point test over runs of one plan on
    one kind of machine.
    """
    from delayrig.features.history.steps import find_steps
    from delayrig.features.history.terminal import print_steps

    found = find_steps(_points(store, wanted), wanted.subject, confidence=confidence)
    print_json(found)
    print_steps(found, _unlike(store, found), make_console())


@history.command("add")
@click.argument("out", type=click.Path(path_type=Path))
@_history_option
def add(out: Path, store: "History") -> None:
    """Keeps a finished run, or gate, given its --out folder."""
    from delayrig.features.history.rows import read_finished

    runs, decision = read_finished(out)
    added = store.add(runs, decision)
    numbers = " and ".join(str(number) for number in added.numbers)
    how = "kept as" if added.is_new else "had been kept as"
    click.echo(f"{how} {numbers} in {store.label}")


@history.command("forget")
@click.argument("numbers", nargs=-1, type=click.IntRange(1))
@click.option(
    "--before", default="", metavar="WHEN", help="Runs until WHEN: a date, or an age such as 90d."
)
@history_url
def forget(numbers: tuple[int, ...], before: str, url: str | None) -> None:
    """Removes runs by their NUMBERS, or old ones; folders of runs stay."""
    if bool(numbers) == bool(before):
        raise BadInputError("history forget: give NUMBERS, or --before", hint="one of the two")
    store = opened_history(url)
    if before:
        old = Choice(before=moment(before, dt.datetime.now(dt.UTC), option="--before"))
        numbers = tuple(entry.run.id for entry in store.summaries(old))
    if numbers:
        store.forget(numbers)
    click.echo(f"{len(set(numbers))} runs removed from {store.label}")


@history.command("export")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(["parquet", "csv"]), default="parquet", show_default=True
)
@_choosing(_any_subject)
@history_url
def export_table(file: Path, form: str, wanted: Choice, url: str | None) -> None:
    """Writes runs as one table, a row a cell, into FILE."""
    require_extra("parquet", f"--format {form}")
    from delayrig.features.history.table import TableFormat, table_of, write_table

    store = opened_history(url)
    table = table_of(store.runs(wanted))
    write_table(table, TableFormat(form), file)
    note(f"{table.num_rows} cells in {file}")


def _unlike(store: "History", found: "Found") -> dict[int, list[str]]:
    """Returns, by run, the names of changed inputs that decide times."""
    unlike: dict[int, list[str]] = {}
    for step in found.steps:
        if step.same_inputs is False:
            before, after = store.load(step.previous), store.load(step.run)
            ids = {cell.id: cell for cell in before.cells}
            names: set[str] = set()
            for cell in after.cells:
                if cell.id in ids:
                    theirs, ours = inputs_of(ids[cell.id], before.run), inputs_of(cell, after.run)
                    names |= {n for n in theirs | ours if theirs.get(n) != ours.get(n)}
            unlike[step.run] = sorted(names)
    return unlike


def _points(store: "History", wanted: Choice) -> "list[Point]":
    """Returns the runs in which the subject was timed; raises `BadInputError` without any."""
    from delayrig.features.history.steps import points_of

    points = points_of(store.runs(wanted), wanted.subject)
    if not points:
        raise BadInputError(
            f"history {store.label}: no such run has timed the subject {wanted.subject!r}",
            hint="`rig/rig history list` names the subjects",
        )
    return points
