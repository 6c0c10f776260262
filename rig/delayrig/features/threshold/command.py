# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig threshold`: the best sleep threshold for this machine, or a set of guests."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from delayrig.base.atomic_file import write_atomically, write_json
from delayrig.base.errors import BadInputError, ExitCode
from delayrig.base.paths import Paths, find_paths
from delayrig.cli import command as cli
from delayrig.cli.cells import ClusterGiven, cluster_options, unconfined_option
from delayrig.cli.option_types import plan_option, seed_option
from delayrig.cli.verbosity import make_console, print_json, tables_or_json
from delayrig.features.threshold import builds
from delayrig.features.threshold.answer import FILE_NAME, Answer, Fit, answer_of
from delayrig.features.threshold.guests import (
    PRESETS,
    MachineList,
    check_weights,
    parse_guest,
    preset_words,
    profile_of,
    read_machines,
    weights_of,
)
from delayrig.features.threshold.terminal import print_answer
from delayrig.features.threshold.trials import (
    Trials,
    claim_folder,
    evidence_of,
    plan_trials,
    run_trials,
)
from delayrig.model.lane import LaneName
from delayrig.plan.request import choose_cells
from delayrig.present.console import RunProgress
from delayrig.run.out_folder import default_out
from delayrig.subjects.subject import BUNDLED

PLAN = "threshold"
ROUNDS = {LaneName.VIRTUAL: 3, LaneName.HOST: 5}
"""The default number of rounds.

Each round writes other data, so in guests wake-ups come at other times between ticks.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    values: str | None
    subject: str | None
    build: str
    binaries: tuple[str, ...]
    guests: tuple[str, ...]
    presets: tuple[str, ...]
    weights: tuple[str, ...]
    machines: Path | None
    host: bool
    plan: str
    rounds: int | None
    out: Path | None
    jobs: int | None
    seed: int
    cluster: ClusterGiven


@click.command(cls=cli.RigCommand)
@click.option(
    "--values",
    metavar="US,US,...",
    help=f"Thresholds in microseconds.  [default: {builds.DEFAULT}]",
)
@click.option("--subject", type=click.Choice([BUNDLED]), help="Our own flashrom: the default.")
@click.option(
    "--build",
    default="",
    metavar="CMD",
    help="Builds any flashrom: a shell command with {threshold} in it, whose last line of output"
    " is the path of the program.",
)
@click.option(
    "--binary",
    "binaries",
    multiple=True,
    metavar="VALUE=PATH",
    help="A program that was built with that threshold; repeatable, in place of --values.",
)
@click.option(
    "--guest",
    "guests",
    multiple=True,
    metavar="MIPSxCORES[:HAZARDS]",
    help="A profile, such as 250x1 or 62x2:busy-siblings; repeatable.  [default: the plan's]",
)
@click.option(
    "--preset",
    "presets",
    multiple=True,
    type=click.Choice(list(PRESETS)),
    help="Guests and weights for users of such machines; repeatable, also beside --guest.",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="GUEST=N",
    help="Weight of a guest; 0: it only shows safety; repeatable.  [default: 1, or the preset's]",
)
@click.option(
    "--machines",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="A list of machines with the threshold that they have: answers whether that fits them,"
    " and which one decides.",
)
@click.option("--host", is_flag=True, help="Measures this machine, without guests.")
@plan_option(PLAN, "The jobs: a plan's name or file.")
@click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    help="Repetitions, each with other data.  [default: 3; 5 with --host]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for results; one that was interrupted is resumed.",
)
@click.option("--jobs", type=click.IntRange(1), help="Cells at a time; default: the CPUs.")
@seed_option
@cluster_options
@unconfined_option
@tables_or_json
@cli.gathered("options", _Options)
def threshold(options: _Options) -> None:
    """Compares sleep thresholds of a delay layer, and recommends one.

    Each value is a build, which runs the same programming jobs in each profile. The answer has
    time, CPU time, wake-ups, overshoot and safety of each, the value to choose, the reason, and how
    sure it is. A value that was once too short is never recommended.

    \b
      rig/rig threshold
      rig/rig threshold --host
      rig/rig threshold --values 10,100 --guest 250x1 --guest 62x1:low-res-timers
      rig/rig threshold --preset laptop --weight 500x2=4
      rig/rig threshold \\
        --build 'meson setup -Ddelay_minimum_sleep_us={threshold} b{threshold} &&
        ninja -C b{threshold} && echo b{threshold}/flashrom'

    Exits 0 where a value is recommended, 1 where all were unsafe, 4 where none was shown safe; with
    --machines 0 where theirs fits, 3 where it does not, 1 where it is unsafe, 4 where nothing is
    known.
    """
    paths = find_paths()
    with cli.run_progress() as progress:
        try:
            trials = _trials(options, paths, progress)
        except KeyboardInterrupt:
            click.echo("interrupted while building; nothing was measured", err=True)
            sys.exit(cli.INTERRUPTED)
        folder = trials.request.out
        results = cli.until_interrupted(
            run_trials(trials, paths, progress),
            kept=f"finished cells are kept in {folder}, and resumed with --out {folder}",
        )
    answer = answer_of(evidence_of(trials, results))
    write_json(folder / FILE_NAME, answer)
    # matplotlib takes longer to load than most commands take.
    from delayrig.features.threshold.page import front_chart, threshold_page

    write_atomically(folder / "threshold.html", threshold_page(answer))
    write_atomically(folder / "pareto.svg", front_chart(answer).svg_file())
    print_json(answer)
    print_answer(answer, make_console(), out=str(folder))
    sys.exit(exit_code_of(answer))


PRESENT_CODES = {
    Fit.YES: ExitCode.PASS,
    Fit.NO: ExitCode.SLOWER,
    Fit.UNSAFE: ExitCode.UNSAFE,
    Fit.UNKNOWN: ExitCode.INCONCLUSIVE,
}


def exit_code_of(answer: Answer) -> ExitCode:
    if answer.present is not None:
        return PRESENT_CODES[answer.present.fit]
    if answer.recommended_us is not None:
        return ExitCode.PASS
    unsafe = {cost.value_us for cost in answer.costs if cost.standing == "unsafe"}
    return ExitCode.UNSAFE if unsafe == set(answer.values_us) else ExitCode.INCONCLUSIVE


def _trials(options: _Options, paths: Paths, progress: RunProgress) -> Trials:
    """Returns the comparison. Checks what can be checked first, and then builds the programs."""
    cluster = options.cluster.options()
    listed = read_machines(options.machines) if options.machines else None
    values = _check_words(options, listed)
    words = dict.fromkeys((*preset_words(options.presets), *options.guests))
    words |= dict.fromkeys(each.guest for each in (listed.machine if listed else ()))
    guests = list({(guest := parse_guest(word)).name: guest for word in words}.values())
    weights = (listed.weights if listed else {}) | weights_of(options.presets, options.weights)
    lane = LaneName.HOST if options.host else LaneName.VIRTUAL
    folder = (options.out or default_out("threshold")).absolute()
    candidates = _candidates(options, values, paths, progress)
    _check_present(listed, [candidate.value_us for candidate in candidates])
    choice = choose_cells(
        plan=options.plan,
        subjects=[candidate.subject for candidate in candidates],
        seed=options.seed,
        paths=paths,
        lane=lane,
    )
    cells = plan_trials(choice.cells, candidates, guests)
    ours = {candidate.subject for candidate in candidates}
    check_weights(weights, [profile_of(cell).name for cell in cells if cell.subject in ours])
    request = replace(
        choice.request(
            options.plan, folder, seed=options.seed, argv=sys.argv[1:], jobs=options.jobs
        ),
        cells=cells,
        cluster=cluster,
        unconfined=cli.is_unconfined(),
    )
    trials = Trials(
        subject=options.build or " ".join(options.binaries) or BUNDLED,
        candidates=candidates,
        request=request,
        rounds=options.rounds or ROUNDS[lane],
        weights=weights,
        machines=listed,
    )
    claim_folder(trials)
    return trials


def _check_words(options: _Options, listed: MachineList | None) -> Sequence[int]:
    """Returns the values; raises `BadInputError` for options that exclude each other."""
    given = {"--subject": options.subject, "--build": options.build, "--binary": options.binaries}
    ways = [name for name, value in given.items() if value]
    if len(ways) > 1:
        raise BadInputError(
            f"{' and '.join(ways)}: programs come from one of them", hint="leave the others out"
        )
    if options.host and (options.guests or options.presets or options.weights or listed):
        raise BadInputError(
            "--host and --guest, --preset, --weight or --machines: jobs run on this machine or in"
            " guests",
            hint="give one of them",
        )
    if options.host and options.cluster.address:
        raise BadInputError(
            "--host and --cluster: jobs run on this machine or on workers", hint="give one of them"
        )
    if options.binaries and options.values is not None:
        raise BadInputError(
            "--binary and --values: each program comes with its value", hint="leave --values out"
        )
    if options.build:
        builds.check_command(options.build)
    values = builds.parse_values(builds.DEFAULT if options.values is None else options.values)
    return sorted({*values, *([listed.present_us] if listed else [])})


def _check_present(listed: MachineList | None, values: Sequence[int]) -> None:
    """Raises `BadInputError` if the value that the machines have is not compared."""
    if listed is not None and listed.present_us not in values:
        raise BadInputError(
            f"--machines: no program is built for {listed.present_us} us, which they have now",
            hint=f"give one: --binary {listed.present_us}=PATH",
        )


def _candidates(
    options: _Options, values: Sequence[int], paths: Paths, progress: RunProgress
) -> list[builds.Candidate]:
    if options.binaries:
        return builds.given_candidates(options.binaries)
    if options.build:
        return builds.build_candidates(options.build, values, paths, progress.preparing)
    return builds.provide_own(values, paths, progress.preparing)
