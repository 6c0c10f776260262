# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig survey`: the waits that a flashrom requests."""

import sys
from pathlib import Path

import click

from delayrig.base.atomic_file import write_atomically, write_json
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.cli import command as cli
from delayrig.cli.cells import ClusterGiven, cluster_options, programmers_option, unconfined_option
from delayrig.cli.option_types import SUBJECT, plan_option, seed_option
from delayrig.cli.verbosity import make_console, print_json, tables_or_json
from delayrig.features.survey.survey import FILE_NAME, survey_run
from delayrig.features.survey.terminal import print_survey
from delayrig.judge.exit_code import exit_code_of_run
from delayrig.model.cell import Programmer
from delayrig.present.console import say
from delayrig.subjects.delay_function import DelayOptions

PLAN = "survey"


@click.command(cls=cli.RigCommand)
@click.argument("subjects", metavar="SUBJECT...", type=SUBJECT, nargs=-1)
@click.option(
    "--from",
    "run_folder",
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="Shows a finished run, and runs nothing.",
)
@plan_option(PLAN, "The jobs: a plan's name or file.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results and cells.")
@click.option("--jobs", type=click.IntRange(1), help="Cells at a time; default: the CPUs.")
@seed_option
@programmers_option
@cli.resume_option
@cluster_options
@unconfined_option
@cli.delay_options
@tables_or_json
def survey(
    subjects: tuple[str, ...],
    run_folder: Path | None,
    plan: str,
    out: Path | None,
    jobs: int | None,
    seed: int,
    programmers: tuple[Programmer, ...],
    resume: bool,
    cluster: ClusterGiven,
    delay: DelayOptions,
) -> None:
    """Shows the waits that flashroms request: how long, how often, and how much longer they took.

    QEMU sees every call if a delay function is found (`--delay-symbol` or `--delay-offset` name
    that of a path: subject). For other programs, and on the host lane, only the bus gives bounds.
    `survey.html`, `survey.svg` and `survey.json` are written to the folder.

    \b
      rig/rig survey bundled debian:trixie
      rig/rig survey path:build/flashrom --delay-symbol default_delay
    """
    if bool(subjects) == bool(run_folder):
        raise BadInputError(
            "give SUBJECTs to run, or a run with --from: one of the two",
            hint="`rig/rig subjects` lists what there is, as in: rig/rig survey bundled",
        )
    code = ExitCode.PASS
    if run_folder is None:
        request, paths = cli.own_request(
            plan,
            out,
            by_default="survey",
            seed=seed,
            jobs=jobs,
            subjects=dict.fromkeys(subjects, "SUBJECT"),
            delay=delay,
            resume=resume,
            cluster=cluster.options(),
            programmers=programmers,
        )
        results = cli.run_shown(request, paths, how_to_go_on=cli.HOW_TO_GO_ON)
        code = exit_code_of_run(results.cells, results.contrasts)
        run_folder = request.out
    found = survey_run(run_folder)
    write_json(run_folder / FILE_NAME, found)
    # matplotlib takes longer to load than most commands take.
    from delayrig.features.survey.page import survey_chart, survey_page

    write_atomically(run_folder / "survey.html", survey_page(found))
    write_atomically(run_folder / "survey.svg", survey_chart(found).svg_file())
    print_json(found)
    console = make_console()
    print_survey(found, console)
    written = f"results: {run_folder}/survey.html, survey.svg, {FILE_NAME}"
    say(console, written)
    sys.exit(code)
