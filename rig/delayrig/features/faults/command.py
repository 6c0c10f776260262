# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig faults`: flashroms on this machine while the link fails."""

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from delayrig.base.atomic_file import write_json
from delayrig.base.paths import find_paths
from delayrig.cli.command import RigCommand, say_making
from delayrig.cli.option_types import SUBJECT, FloatRange, number_option
from delayrig.cli.verbosity import answers, print_json
from delayrig.features.faults import campaign
from delayrig.features.faults.scenario import is_finding
from delayrig.model.chips import read_chips
from delayrig.run.out_folder import checked_out
from delayrig.subjects.recipes import read_recipes
from delayrig.subjects.subject import BUNDLED, check_subject, provide_subject

FAULT_SUBJECTS = ("debian:bookworm", "debian:trixie", BUNDLED)
FILE_NAME = "faults.json"


@click.command(cls=RigCommand)
@click.option(
    "--subject",
    "names",
    type=SUBJECT,
    multiple=True,
    help="Runs this flashrom instead of all three; repeatable.",
)
@number_option("--runs", 72, "Number of runs for each flashrom.")
@click.option("--run", "number", type=click.IntRange(0), help="Only the run with this number.")
@number_option("--seed", 1, "Seed of the faults.", click.IntRange(0))
@click.option("--out", type=click.Path(path_type=Path), help="Folder for results and findings.")
@number_option("--jobs", 8, "Runs at a time.")
@number_option(
    "--limit-s", 60, "A run that lasts longer is hung, or slow if at work.", FloatRange(1)
)
@answers
def faults(
    names: tuple[str, ...],
    runs: int,
    number: int | None,
    seed: int,
    out: Path | None,
    jobs: int,
    limit_s: float,
) -> None:
    """Makes the link fail: does flashrom end, and does it tell the truth?

    Runs on this machine and by its clock, so it says nothing about delays. Exits 1 if a flashrom
    hung, crashed, failed without a word or reported wrong data as right, 4 if one was still at work
    at its limit, 99 if the emulator failed.
    """
    paths = find_paths()
    folder = checked_out(out, [], by_default="faults", leaves=FILE_NAME)
    recipes = read_recipes(paths.checkout)
    for name in names:
        check_subject(name, recipes, "--subject")
    numbers = range(runs) if number is None else range(number, number + 1)
    bench = campaign.Bench(
        emulator=paths.emulator,
        chips=read_chips(paths.checkout),
        out=folder.absolute(),
        limit_s=limit_s,
    )
    with ExitStack() as stack:
        subjects = [
            stack.enter_context(
                campaign.host_subject(
                    provide_subject(name, recipes, paths, say_making), folder.absolute()
                )
            )
            for name in names or FAULT_SUBJECTS
        ]
        done = campaign.run_campaign(
            bench, subjects, campaign.scenarios_of(seed, numbers), jobs=jobs, finished=_show
        )
    write_json(folder / FILE_NAME, done)
    print_json(done)
    click.echo(campaign.fault_table(done))
    sys.exit(campaign.exit_code_of_faults(done))


def _show(run: campaign.FaultRun) -> None:
    scenario = run.scenario
    line = (
        f"{run.end:8} {run.subject} {scenario.run}: {scenario.chip} {scenario.job} {scenario.fault}"
    )
    click.echo(f"{line} ({run.faults} faults, {run.host_s:.1f} s)")
    if is_finding(run.end) or run.emulator is campaign.EmulatorEnd.FAILED:
        click.echo(f"    exit code {run.exit_code}, emulator {run.emulator}; printed: {run.said}")
        click.echo(f"    again: {run.rerun}")
