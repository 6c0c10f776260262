# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig compare`: two runs, cell by cell, or to the nanosecond."""

import sys
from pathlib import Path

import click

from delayrig.analysis.compare.exact import (
    ComparedRun,
    Comparison,
    compare_runs_exactly,
    compared_run,
)
from delayrig.analysis.compare.times import compare_times
from delayrig.base.atomic_file import json_document
from delayrig.base.errors import ExitCode
from delayrig.cli.command import RigCommand
from delayrig.cli.history import opened_history
from delayrig.cli.recording import history_url
from delayrig.cli.verbosity import make_console, plain_text
from delayrig.present.terminal.comparison import print_beside
from delayrig.present.terminal.console import say


@click.command(cls=RigCommand)
@click.argument("first", metavar="RUN")
@click.argument("second", metavar="RUN")
@click.option("--exact", is_flag=True, help="Everything must be equal to the ns.")
@click.option("--json", "as_json", is_flag=True, help="As JSON; without --exact.")
@history_url
@plain_text
def compare(first: str, second: str, exact: bool, as_json: bool, url: str | None) -> None:
    """Compares two runs: their --out folders, or their numbers in the history.

    Times are compared of cells of the same id for which all that decides times is equal, but for
    the subject. Exits 0 where every cell could be compared so, 4 where one could not, 99 where
    exact time differs though the subject is equal as well.

    With --exact every virtual cell must be the same in both, its events among it: 0 where they
    are, 4 where that cannot be said (unequal images or seeds, cells or events missing), 99 where
    equal ones gave unequal results. Of runs of the history that goes by the digests kept there.
    """
    runs = _run(first, url), _run(second, url)
    if exact:
        sys.exit(_exactly(compare_runs_exactly(*runs)))
    beside = compare_times(runs[0].results, runs[1].results)
    if as_json:
        sys.stdout.buffer.write(json_document(beside))
    else:
        print_beside(beside, make_console())
    sys.exit(beside.exit_code)


def _run(word: str, url: str | None) -> ComparedRun:
    """All digits are a number of the history's; a folder that is called so is ./NUMBER."""
    if not (word.isascii() and word.isdigit()):
        return compared_run(Path(word))
    store = opened_history(url)
    return ComparedRun(name=f"{store.label}: run {word}", results=store.load(int(word)), path=None)


def _exactly(comparison: Comparison) -> ExitCode:
    console = make_console()
    say(console, *(f"doubt: {line}" for line in comparison.doubts))
    if comparison.same_inputs:
        say(console, *(f"differs: {line}" for line in comparison.differences))
    elif comparison.differences:
        console.print(
            f"{len(comparison.differences)} figures differ, as those of unequal inputs do"
        )
    same = "all the same" if comparison.exit_code is ExitCode.PASS else "not shown to be the same"
    console.print(f"{comparison.compared} cells compared: {same}", markup=False)
    return comparison.exit_code
