# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig shrink`: the simplest cell that still shows a conviction."""

import sys
from fnmatch import fnmatchcase
from pathlib import Path

import click

from delayrig.analysis.repro.choice import delay_wish_of
from delayrig.analysis.shrink import NAME as SHRUNK
from delayrig.analysis.shrink import first_conviction, plan_text
from delayrig.analysis.shrink import shrink as shrink_cell
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.paths import find_paths
from delayrig.cli.command import (
    default_out,
    delay_options,
    explained,
    say_making,
    until_interrupted,
)
from delayrig.cli.loudness import answers, tell_json
from delayrig.cli.words import CELL, PLAN_NAME, SUBJECT
from delayrig.images.delay_function import DelayWish
from delayrig.model.result import read_results
from delayrig.plan.request import check_out, choose_cells
from delayrig.present.terminal.shrunk import show_shrunk, show_step
from delayrig.run.trials import Trials, trial_folder


@click.command()
@click.argument("cell", type=CELL, required=False)
@click.option(
    "--plan",
    type=PLAN_NAME,
    default="default",
    show_default=True,
    help="The plan that names the cell.",
)
@click.option(
    "--from",
    "run_folder",
    type=click.Path(path_type=Path, exists=True),
    help="Plan, seed, subject and delay function are of this run; without CELL its first"
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
@explained
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

    CELL is the id of a cell, as `rig/rig run --dry-run` lists them; * stands for anything. Ends
    with the one line that runs what was found, and exits 1, as that line does.
    """
    if run_folder is not None:
        results = read_results(run_folder)
        plan, seed = results.run.plan, results.run.seed
        cell = cell or first_conviction(results, str(run_folder))
        known = next((one for one in results.cells if fnmatchcase(one.id, cell)), None)
        if known is not None:
            subject = subject or known.subject.name
            delay = delay if delay.words else delay_wish_of(known.rerun)
    if cell is None:
        raise BadInputError("no cell to shrink", hint="name CELL, or a run with --from")
    paths = find_paths()
    choice = choose_cells(
        plan=plan,
        subjects=[subject] if subject else [],
        patterns=[cell],
        seed=seed,
        paths=paths,
    )
    cells, chips = choice.cells, choice.chips
    if len(cells) > 1:
        raise BadInputError(
            f"{len(cells)} cells of {plan} match {cell}", hint=f"name one, such as {cells[0].id}"
        )
    folder = out or default_out(SHRUNK)
    check_out(folder, cells, name=trial_folder(folder, 1).name)
    found = folder / f"{SHRUNK}.toml"
    trials = Trials(
        chips=chips,
        recipes=choice.recipes,
        paths=paths,
        out=folder,
        plan=str(found),
        argv=sys.argv[1:],
        preparing=say_making,
        delay=delay,
    )
    work = shrink_cell(cells[0], chips, trials.run, limit_s=limit_s, watch=show_step)
    kept = f"what was tried is kept in {folder}"
    shrunk = until_interrupted(work, kept=kept, no_color=False)
    found.write_text(plan_text(shrunk.cell))
    tell_json(shrunk.cell)
    show_shrunk(shrunk, str(found))
    sys.exit(ExitCode.UNSAFE)
