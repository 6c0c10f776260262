# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig shrink`: the simplest cell that still shows a conviction."""

import shlex
import sys
from pathlib import Path

import click
import msgspec

from delayrig.analysis.repro.choice import Wish, choose
from delayrig.analysis.shrink import NAME as SHRUNK
from delayrig.analysis.shrink import Step, plan_text
from delayrig.analysis.shrink import shrink as shrink_cell
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.paths import find_paths
from delayrig.cli.command import (
    RigCommand,
    default_out,
    delay_options,
    say_making,
    until_interrupted,
)
from delayrig.cli.option_types import CELL, SUBJECT, plan_option
from delayrig.cli.verbosity import answers, tell_json
from delayrig.images.delay_function import DelayWish
from delayrig.plan.request import check_out
from delayrig.run.trials import Trials, trial_folder


@click.command(cls=RigCommand)
@click.argument("cell", type=CELL, required=False)
@plan_option("default", "The plan that names the cell.")
@click.option(
    "--from",
    "run_folder",
    type=click.Path(path_type=Path, exists=True),
    help="Cell, seed, subject and delay function are of this run or gate; without CELL its first"
    " conviction.",
)
@click.option(
    "--subject", type=SUBJECT, help="The flashrom of CELL, where the plan does not name it."
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for what is tried.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="For all data.")
@click.option(
    "--limit-s", type=click.FloatRange(1), default=120, show_default=True, help="Host time for it."
)
@delay_options
@answers
def shrink(
    cell: str | None,
    plan: str,
    run_folder: Path | None,
    subject: str | None,
    out: Path | None,
    seed: int,
    limit_s: float,
    delay: DelayWish,
) -> None:
    """Looks for the simplest cell in which CELL's conviction still shows.

    CELL is a part of a cell's id that no other one has; * stands for anything. Ends
    with the one line that runs what was found, and exits 1, as that line does.
    """
    if cell is None and run_folder is None:
        raise BadInputError("no cell to shrink", hint="name CELL, or a run with --from")
    paths = find_paths()
    wish = Wish(
        cell=cell,
        run=run_folder,
        plan=None if run_folder else plan,
        subject=subject,
        seed=None if run_folder else seed,
        delay=delay,
    )
    chosen = choose(wish, paths)
    # What a gate calls it is in no plan.
    whole, chips = msgspec.structs.replace(chosen.cell, side=""), chosen.chips
    folder = out or default_out(SHRUNK)
    check_out(folder, [whole], name=trial_folder(folder, 1).name)
    found = folder / f"{SHRUNK}.toml"
    trials = Trials(
        chips=chips,
        recipes=chosen.recipes,
        paths=paths,
        out=folder,
        plan=str(found),
        argv=sys.argv[1:],
        preparing=say_making,
        delay=chosen.delay,
    )
    work = shrink_cell(whole, chips, trials.run, limit_s=limit_s, watch=_show_step)
    kept = f"what was tried is kept in {folder}"
    shrunk = until_interrupted(work, kept=kept)
    found.write_text(plan_text(shrunk.cell))
    tell_json(shrunk.cell)
    click.echo()
    if not shrunk.complete:
        click.echo("The time was up: there may be a simpler one.")
    click.echo(f"{shrunk.result.verdict} {shrunk.cell.id}")
    click.echo(f"  {shrunk.result.reason}")
    again = ["rig/rig", "run", "--plan", str(found), "--seed", str(shrunk.cell.seed)]
    click.echo(shlex.join(again))
    sys.exit(ExitCode.UNSAFE)


def _show_step(step: Step) -> None:
    click.echo(f"{'kept' if step.kept else 'no  '}  {step.what}: {step.verdict}")
