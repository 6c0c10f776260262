# SPDX-License-Identifier: GPL-2.0-or-later
"""The command `rig/rig find`."""

import shlex
import sys
from pathlib import Path

import click

from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.paths import find_paths
from delayrig.cli import command as cli
from delayrig.cli.option_types import SUBJECT, FloatRange, flag_option, number_option, seed_option
from delayrig.cli.verbosity import answers, note, print_json
from delayrig.decision.choice import line_of
from delayrig.decision.shrink import Shrunk, shrink
from delayrig.features.find.search import (
    BesideOurs,
    Searched,
    Symptom,
    exit_code,
    pairs_of,
    search,
    values_of,
    widest_first,
    work_words,
)
from delayrig.features.find.space import SOURCE, plan_for
from delayrig.model.cell import Cell
from delayrig.model.chips import read_chips
from delayrig.model.result import CellResult
from delayrig.plan.from_flags import in_flags
from delayrig.plan.request import choose_cells_of
from delayrig.run.out_folder import checked_out
from delayrig.run.runner import FIRST_TRIAL, Trials
from delayrig.subjects.delay_function import DelayOptions

NAME = "find"


@click.command(NAME, cls=cli.RigCommand)
@click.argument("symptom", type=click.Choice([each.value for each in Symptom]))
@click.argument("flashrom", type=SUBJECT)
@flag_option(
    *("programmer", "PROGRAMMER"),
    "Programmer to search behind, as for `try`; repeatable, and takes A,B.",
)
@flag_option(
    *("chip", "NAME"),
    "Part to search, in place of one of each kind; repeatable, and takes A,B.",
)
@click.option(
    "--cells",
    "most",
    type=click.IntRange(1),
    help="Maximum number of cells to try.  [default: all]",
)
@seed_option
@number_option("--limit-s", 120, "Host time to simplify the cell that was found.", FloatRange(1))
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the cells that are tried.")
@click.option("--dry-run", is_flag=True, help="Lists the cells in the order of the search.")
@cli.delay_options
@answers
def find(
    symptom: str,
    flashrom: str,
    programmer: tuple[str, ...],
    chip: tuple[str, ...],
    most: int | None,
    seed: int,
    limit_s: float,
    out: Path | None,
    dry_run: bool,
    delay: DelayOptions,
) -> None:
    """Searches for a cell in which FLASHROM shows SYMPTOM, and makes it as simple as it can be.

    The cells cover each pair of parts, corners, speeds, jobs and hazards. The search ends at the
    first cell that shows SYMPTOM, and says why those before it do not.

    corrupt: the data is wrong, and the flashrom did not notice. verify-failed: it noticed. hung:
    it did not end. slow: the work after the probe took three times what part and link need, and
    1.5 times what our own flashrom takes; here each cell runs with both.

    Exits as a run of the found cell does (3 if it is slow), and 0 if none was found.
    """
    paths = find_paths()
    wanted = Symptom(symptom)
    chips = read_chips(paths.checkout)
    plan = plan_for(wanted, flashrom, chips, programmers=programmer, parts=chip)
    try:
        choice = choose_cells_of(plan, source=SOURCE, seed=seed, paths=paths)
    except BadInputError as error:
        raise BadInputError(in_flags(error.message, SOURCE), hint=error.hint) from error
    cells = widest_first(choice.cells)[:most]
    if dry_run:
        print_json([cell.id for cell in cells])
        for cell in cells:
            click.echo(cell.id)
        note(f"{len(cells)} of {len(choice.cells)} cells")
        return
    folder = checked_out(out, cells, by_default=NAME, leaves=FIRST_TRIAL)
    trials = Trials(
        chips=chips,
        recipes=choice.checked.recipes,
        paths=paths,
        out=folder,
        plan=NAME,
        argv=sys.argv[1:],
        preparing=cli.say_making,
        delay=delay,
    )
    beside = BesideOurs(wanted, trials.run)
    kept = f"what was tried is kept in {folder}"

    def show(cell: Cell, result: CellResult) -> None:
        note(f"[at most {len(cells)}] {result.verdict} {cell.id}")

    searched = cli.until_interrupted(search(cells, beside, show), kept=kept)
    shrunk = None
    if searched.cell is not None:
        work = shrink(
            searched.cell,
            chips,
            beside.run,
            limit_s=limit_s,
            watch=lambda step: note(step.line),
            shows=beside.shows,
        )
        shrunk = cli.until_interrupted(work, kept=kept)
    why = _why(shrunk, beside.own(shrunk.result), trials) if shrunk else []
    _print_answer(wanted, searched, shrunk, choice.cells, why)
    sys.exit(exit_code(wanted, shrunk.result) if shrunk else ExitCode.PASS)


def _why(shrunk: Shrunk, own: CellResult | None, trials: Trials) -> list[str]:
    """Returns what the found cell shows; for a slow cell also where to look."""
    if own is None:
        return [shrunk.result.reason]
    tried = str(trials.folders[shrunk.cell.id])
    where = shlex.join(["rig/rig", "waste", tried])
    return [work_words(shrunk.result, own), f"where it waits for nothing: {where}"]


def _print_answer(
    symptom: Symptom,
    searched: Searched,
    shrunk: Shrunk | None,
    planned: list[Cell],
    why: list[str],
) -> None:
    line = line_of(shrunk) if shrunk else []
    print_json(
        {
            "symptom": symptom.value,
            "line": line,
            "verdict": shrunk.result.verdict if shrunk else None,
            "why": why,
            "complete": bool(shrunk and shrunk.complete),
            "tried": searched.tried,
            "not_shown": dict(searched.causes),
            "covered": values_of(searched.ran),
        }
    )
    if shrunk:
        for each in found_lines(symptom, shrunk, why):
            click.echo(each)
        click.echo(shlex.join(line))
    else:
        click.echo(f"{symptom}: not seen in {searched.tried} of {len(planned)} cells")
    if searched.causes:
        click.echo("Cells that do not show it:")
    for cause, number in searched.causes.most_common():
        click.echo(f"  {number}: {cause}")
    if not shrunk:
        seen, wanted, by = pairs_of(searched.ran), pairs_of(planned), len(searched.ran)
        click.echo(f"Covered: {seen} of {wanted} pairs of these values, by {by} cells:")
        for name, values in values_of(searched.ran).items():
            click.echo(f"  {name}: {', '.join(values)}")


def found_lines(symptom: Symptom, shrunk: Shrunk, why: list[str]) -> list[str]:
    """Returns the found cell and what it shows. For a slow cell it leaves out the verdict."""
    verdict = "" if symptom is Symptom.SLOW else f"{shrunk.result.verdict} "
    left = [] if shrunk.complete else ["the time was up: there may be a simpler one (--limit-s)"]
    return [f"{symptom}: {verdict}{shrunk.cell.id}", *(f"  {each}" for each in [*why, *left])]
