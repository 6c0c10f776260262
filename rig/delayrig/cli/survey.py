# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig survey`: which waits a flashrom asks for."""

import os
import sys
from pathlib import Path

import click
import msgspec

from delayrig.analysis.survey.survey import FILE_NAME, survey_run
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.keep import keep_file
from delayrig.base.paths import find_paths
from delayrig.cli.cells import is_unconfined, unconfined_option
from delayrig.cli.command import (
    HOW_TO_GO_ON,
    default_out,
    delay_options,
    explained,
    plain_text,
    resume_option,
    run_shown,
)
from delayrig.cli.words import PLAN_NAME, SUBJECT
from delayrig.images.delay_function import DelayWish
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.plan.request import Request, check_out, choose_cells
from delayrig.present.terminal.console import make_console
from delayrig.present.terminal.survey import print_survey
from delayrig.run.taken_up import check_begun

PLAN = "survey"


@click.command()
@click.argument("subjects", metavar="SUBJECT...", type=SUBJECT, nargs=-1)
@click.option(
    "--from",
    "run_folder",
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="Tells of a run that was made already, and runs nothing.",
)
@click.option(
    "--plan",
    type=PLAN_NAME,
    default=PLAN,
    show_default=True,
    help="The jobs: a plan's name or file.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results and cells.")
@click.option("--jobs", type=click.IntRange(1), help="Cells at a time; default: the CPUs.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="For all data.")
@resume_option
@unconfined_option
@delay_options
@click.option("--json", "as_json", is_flag=True, help="For machines; all times in nanoseconds.")
@plain_text
@explained
def survey(
    subjects: tuple[str, ...],
    run_folder: Path | None,
    plan: str,
    out: Path | None,
    jobs: int | None,
    seed: int,
    resume: bool,
    delay: DelayWish,
    as_json: bool,
    no_color: bool,
) -> None:
    """Tells which waits flashroms ask for: how long, how often, what they took beyond that.

    Call by call, as QEMU sees them, where a delay function is found (`--delay-symbol` or
    `--delay-offset` name that of a path: subject). Of other programs, and on the host lane, the bus
    alone tells, as bounds. `survey.html`, `survey.svg` and `survey.json` are left in the folder.

    \b
      rig/rig survey bundled debian:trixie
      rig/rig survey path:build/flashrom --delay-symbol default_delay
    """
    if bool(subjects) == bool(run_folder):
        raise BadInputError(
            "give SUBJECTs to run, or a run with --from: one of the two",
            hint="`rig/rig subjects` lists what there is, as in: rig/rig survey bundled",
        )
    if resume:
        check_begun(out)
    code = ExitCode.PASS
    if run_folder is None:
        run_folder = out or default_out("survey")
        code = _run(
            subjects,
            run_folder,
            plan,
            jobs or len(os.sched_getaffinity(0)),
            seed,
            delay,
            resume,
            no_color,
        )
    found = survey_run(run_folder)
    content = msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n"
    keep_file(run_folder / FILE_NAME, content)
    # matplotlib takes longer to load than most commands take.
    from delayrig.present.pages.survey import survey_page, survey_svg

    keep_file(run_folder / "survey.html", survey_page(found))
    keep_file(run_folder / "survey.svg", survey_svg(found))
    if as_json:
        click.echo(content, nl=False)
    else:
        console = make_console(no_color=no_color)
        print_survey(found, console)
        console.print(
            f"results: {run_folder}/survey.html, survey.svg, {FILE_NAME}",
            markup=False,
            soft_wrap=True,
        )
    sys.exit(code)


def _run(
    subjects: tuple[str, ...],
    folder: Path,
    plan: str,
    jobs: int,
    seed: int,
    delay: DelayWish,
    resume: bool,
    no_color: bool,
) -> ExitCode:
    """Runs the jobs; a survey tells what is asked for, so that doubts about it are no failure."""
    paths = find_paths()
    choice = choose_cells(plan=plan, subjects=list(subjects), patterns=[], seed=seed, paths=paths)
    if not resume:
        check_out(folder, choice.cells)
    request = Request(
        plan=plan,
        cells=choice.cells,
        contrasts=[],
        chips=choice.chips,
        recipes=choice.recipes,
        out=folder,
        jobs=jobs,
        seed=seed,
        connect=None,
        argv=sys.argv[1:],
        lane=choice.lane,
        unconfined=is_unconfined(),
        delay=delay,
        resume=resume,
    )
    results = run_shown(request, paths, no_color=no_color, how_to_go_on=HOW_TO_GO_ON)
    return exit_code_of_run(results.cells, results.contrasts)
