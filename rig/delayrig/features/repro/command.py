# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig repro` and `shrink`: one cell again, exactly, or the simplest one still convicted."""

import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click
import msgspec
from click.core import ParameterSource

from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.interruption import answer_interrupts
from delayrig.base.paths import Paths, find_paths
from delayrig.cli import command as cli
from delayrig.cli.cells import unconfined_option
from delayrig.cli.option_types import CELL, PLAN_NAME, SUBJECT, FloatRange, number_option
from delayrig.cli.verbosity import Verbosity, answers, print_json, tables_or_json, verbosity
from delayrig.decision.choice import Asked, Chosen, choose, delay_options_of, line_of
from delayrig.decision.shrink import NAME as SHRUNK
from delayrig.decision.shrink import Shrunk, plan_of
from delayrig.decision.shrink import shrink as shrink_cell
from delayrig.features.repro.look import Look
from delayrig.model.lane import LaneName
from delayrig.model.result import read_results
from delayrig.plan.from_flags import plan_text
from delayrig.plan.request import Request
from delayrig.run.out_folder import checked_out
from delayrig.run.runner import FIRST_TRIAL, Trials
from delayrig.subjects.delay_function import DelayOptions

NAME = "repro"
HETEROGENEOUS = "heterogeneous"
OPTIONS_OF_WALK = {"out", "keep", "unconfined", "no_color", "quiet", "verbose"}
"""The options that apply to `heterogeneous`, by their parameter's name."""
PLAN_WITH_CELL = click.option(
    "--plan",
    type=PLAN_NAME,
    help="Plan with the cell; default: the first of the rig's that has it.",
)
SEED_OF_RUN = click.option(
    "--seed", type=click.IntRange(0), help="Seed of all random data; default: the run's, else 1."
)


@click.command(cls=cli.RigCommand)
@click.argument("cell", type=CELL, required=False)
@click.option(
    "--from",
    "run_folder",
    type=click.Path(path_type=Path, exists=True),
    help="A finished run or gate: cell, plan, seed, lane and subject are its own; without CELL its"
    " first conviction. What comes of it is compared.",
)
@PLAN_WITH_CELL
@click.option("--subject", type=SUBJECT, help="Runs this flashrom in the same cell.")
@click.option(
    "--lane",
    type=click.Choice([name.value for name in LaneName]),
    callback=lambda _context, _option, given: LaneName(given) if given else None,
    help="Lane of the cell; default: that of the run or the plan.",
)
@SEED_OF_RUN
@click.option("--shell", is_flag=True, help="Gives you a shell just before the subject starts.")
@click.option("--gdb", is_flag=True, help="Opens gdb on the subject, stopped before it starts.")
@click.option("--keep", is_flag=True, help="Keeps the folder of the cell, and prints its path.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of the cell, which is then kept."
)
@click.option("--dry-run", is_flag=True, help="Prints the commands that it would run, and ends.")
@unconfined_option
@cli.delay_options
@tables_or_json
@cli.gathered("asked", Asked)
def repro(
    asked: Asked, shell: bool, gdb: bool, keep: bool, out: Path | None, dry_run: bool
) -> None:
    """Runs one cell again, exactly, and shows it meanwhile.

    CELL is a part of a cell's id that no other one has; * stands for anything. At the end it says
    whether the same thing happened as in the run before, and explains the findings.

    `heterogeneous` instead of a cell shows the classic bug of unequal cores, and explains it.
    """
    if shell and gdb:
        raise BadInputError("--shell and --gdb exclude each other", hint="choose one of them")
    look = Look.SHELL if shell else Look.GDB if gdb else Look.WATCH
    paths = find_paths()
    if asked.cell == HETEROGENEOUS and asked.run_folder is None:
        _refuse_other_options(click.get_current_context())
        sys.exit(_walk_through(out, paths, keep=bool(keep or out)))
    chosen = choose(asked, paths)
    # The modules below are only needed to run cells, and load slowly.
    from delayrig.features.repro.debugger import find_gdb
    from delayrig.features.repro.run_again import commands_of

    if look is Look.GDB:
        find_gdb(chosen.cell.arch)
    folder = checked_out(out, [chosen.cell], by_default=NAME).absolute()
    request = _request(chosen, folder)
    if dry_run:
        work = commands_of(request, paths, cli.say_making)
        for line in cli.until_interrupted(work, kept=f"nothing was run; see {folder}"):
            click.echo(line)
        return
    sys.exit(show_cell(chosen, request, look, kept=bool(keep or out)))


def show_cell(
    chosen: Chosen, request: Request, look: Look, *, kept: bool, instead: str = ""
) -> ExitCode:
    """Runs the only cell of a request. Its folder is removed afterwards, unless `kept`."""
    from delayrig.features.repro.run_again import run_again

    quiet = verbosity() is Verbosity.QUIET
    if look is not Look.WATCH:
        answer_interrupts()
    try:
        code = cli.until_interrupted(
            run_again(chosen, request, find_paths(), look, kept=kept, instead=instead, quiet=quiet),
            kept=f"what there is of the cell is in {request.out}" if kept else "nothing is kept",
        )
        print_json(read_results(request.out).cells[0])
        return code
    finally:
        if not kept:
            shutil.rmtree(request.out, ignore_errors=True)


def _refuse_other_options(context: click.Context) -> None:
    for each in context.command.params:
        given = each.name and context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE
        if isinstance(each, click.Option) and given and each.name not in OPTIONS_OF_WALK:
            raise BadInputError(
                f"`repro {HETEROGENEOUS}` always shows the same cells: {each.opts[-1]} does not"
                " apply",
                hint="leave it out, or run a cell of your choice: `rig/rig repro CELL`, or `rig/rig"
                " try SUBJECT --lane live --mips 10:40 --hazard low-res-timers+move:accept`",
            )


def _walk_through(out: Path | None, paths: Paths, *, keep: bool) -> ExitCode:
    from delayrig.features.repro.heterogeneous import PLAN, walk_through

    request, _ = cli.own_request(PLAN, out, by_default=NAME, jobs=1)
    folder = request.out
    try:
        return cli.until_interrupted(
            walk_through(replace(request, retries_lost=False), paths, click.echo),
            kept=f"what there is of it is in {folder}" if keep else "nothing is kept",
        )
    finally:
        if keep:
            click.echo(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _request(chosen: Chosen, folder: Path) -> Request:
    return Request(
        plan=chosen.plan,
        cells=[chosen.cell],
        chips=chosen.chips,
        recipes=chosen.recipes,
        out=folder,
        jobs=1,
        seed=chosen.cell.seed,
        argv=sys.argv[1:],
        lane=chosen.cell.lane,
        unconfined=cli.is_unconfined(),
        stages=True,
        delay=chosen.delay,
        retries_lost=False,
        again=(lambda _: chosen.again) if chosen.again else None,
    )


@click.command(cls=cli.RigCommand)
@click.argument("cell", type=CELL, required=False)
@PLAN_WITH_CELL
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
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the cells that are tried.")
@SEED_OF_RUN
@number_option("--limit-s", 120, "Host time for the search.", FloatRange(1))
@cli.delay_options
@answers
def shrink(
    cell: str | None,
    plan: str | None,
    run_folder: Path | None,
    subject: str | None,
    out: Path | None,
    seed: int | None,
    limit_s: float,
    delay: DelayOptions,
) -> None:
    """Finds the simplest cell that is convicted like CELL.

    CELL is a part of a cell's id that no other one has; * stands for anything. Ends with the
    command that runs the result, and exits 1, as that command does.
    """
    if cell is None and run_folder is None:
        raise BadInputError("no cell to shrink", hint="name CELL, or a run with --from")
    paths = find_paths()
    asked = Asked(
        cell=cell, run_folder=run_folder, plan=plan, subject=subject, seed=seed, delay=delay
    )
    chosen = choose(asked, paths)
    # Only a gate's cells have a side; the found cell goes into a plan.
    whole, chips = msgspec.structs.replace(chosen.cell, side=""), chosen.chips
    folder = checked_out(out, [whole], by_default=SHRUNK, leaves=FIRST_TRIAL)
    found = folder / f"{SHRUNK}.toml"
    trials = Trials(
        chips=chips,
        recipes=chosen.recipes,
        paths=paths,
        out=folder,
        plan=str(found),
        argv=sys.argv[1:],
        preparing=cli.say_making,
        delay=chosen.delay,
    )
    work = shrink_cell(
        whole, chips, trials.run, limit_s=limit_s, watch=lambda step: click.echo(step.line)
    )
    kept = f"what was tried is kept in {folder}"
    shrunk = cli.until_interrupted(work, kept=kept)
    found.write_text(plan_text(plan_of(shrunk.cell)))
    print_json(shrunk.cell)
    show_shrunk(shrunk, found)
    sys.exit(ExitCode.UNSAFE)


def show_shrunk(shrunk: Shrunk, plan: Path) -> None:
    """Prints the found cell, and two command lines that run it: by its plan, and by flags alone."""
    click.echo()
    if not shrunk.complete:
        click.echo("The time was up: there may be a simpler one.")
    click.echo(f"{shrunk.result.verdict} {shrunk.cell.id}\n  {shrunk.result.reason}")
    delay = delay_options_of(shrunk.result.rerun).words
    again = ["rig/rig", "run", "--plan", str(plan), "--seed", str(shrunk.cell.seed), *delay]
    click.echo(shlex.join(again))
    click.echo(f"the same without the plan: {shlex.join(line_of(shrunk))}")
