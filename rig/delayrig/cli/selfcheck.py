# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig selfcheck`: the rig itself put to the test."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from delayrig.analysis.selfcheck.determinism import FILE_NAME as DETERMINISM_FILE
from delayrig.analysis.selfcheck.determinism import (
    SHAPES,
    check_shapes,
    repeat_folder,
    repeat_shapes,
)
from delayrig.analysis.selfcheck.known_bad import FILE_NAME as KNOWN_BAD_FILE
from delayrig.analysis.selfcheck.known_bad import (
    PAGE_NAME,
    PLAN,
    answer_all,
    choose_for,
    in_disguise,
    subjects_of,
)
from delayrig.base.atomic_file import write_atomically, write_json
from delayrig.cli.cells import ClusterGiven, cluster_options
from delayrig.cli.command import RigGroup, default_out, own_request, run_shown, until_interrupted
from delayrig.cli.verbosity import make_console, tables_or_json, tell_json
from delayrig.images.disguise import RENAMED, STRIPPED
from delayrig.images.known_bad import find_mistake, own_mistakes
from delayrig.model.lane import EXACT_LANE
from delayrig.present.terminal.console import say
from delayrig.present.terminal.selfcheck import RepeatProgress, print_known_bad, print_table


@click.group(cls=RigGroup)
def selfcheck() -> None:
    """Puts the rig itself to the test."""


@selfcheck.command()
@click.option(
    "--repeats",
    type=click.IntRange(2),
    default=8,
    show_default=True,
    help="Of every shape; with 8, every condition comes up.",
)
@click.option("--shapes", type=click.IntRange(1), default=10, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="For all data.")
@click.option("--jobs", type=click.IntRange(1), help="Guests at a time; default: the CPUs.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for what was found.")
@tables_or_json
def determinism(repeats: int, shapes: int, seed: int, jobs: int | None, out: Path | None) -> None:
    """Repeats guests of several shapes: is everything the same to the nanosecond?

    Every other repeat is made on a loaded host, some through libvirt, some with snapshots of
    their own, some in guests that ran another cell before. Exits 0 where all are the same, 4 where
    that cannot be said, 99 where a cell differs; its first differing event is named.
    """
    folder = out or default_out("determinism")
    first = repeat_folder(Path(), 0).name
    request, paths = own_request(str(SHAPES), folder, seed=seed, jobs=jobs, leaves=first)
    check_shapes(shapes, len(request.cells))
    request = replace(request, cells=request.cells[:shapes])
    file = request.out / DETERMINISM_FILE
    with RepeatProgress(make_console(), repeats) as progress:
        answer = until_interrupted(
            repeat_shapes(
                request, paths, repeats=repeats, progress=progress, finished=progress.repeated
            ),
            kept=f"finished repeats are in {file}",
        )
    tell_json(answer)
    progress.answered(answer, str(file))
    sys.exit(answer.exit_code)


@selfcheck.command(name="known-bad")
@click.option("--only", multiple=True, metavar="NAME", help="One of them. May be given again.")
@click.option(
    "--plan", default=PLAN, show_default=True, metavar="NAME|FILE", help="Whose cells; try 'gate'."
)
@click.option("--stripped", is_flag=True, help="Each without symbols: found, or in doubt.")
@click.option("--renamed", is_flag=True, help="Each with another version string.")
@click.option("--list", "list_them", is_flag=True, help="Prints the table and ends.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="For all data.")
@click.option("--jobs", type=click.IntRange(1), help="Guests at a time; default: the CPUs.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for what was found.")
@cluster_options
@tables_or_json
def known_bad(
    only: tuple[str, ...],
    plan: str,
    stripped: bool,
    renamed: bool,
    list_them: bool,
    seed: int,
    jobs: int | None,
    out: Path | None,
    cluster: ClusterGiven,
) -> None:
    """Asks what a gate says of each known-bad build, in the cells that show it.

    With `--plan gate` each is asked in all cells of a gate as it comes, which takes longer. With
    `--stripped` an answer may also be a doubt, but an unsafe build never passes.
    Exits 0 where each is answered by its class, 4 where one is not, 99 where something legal is
    accused. A page with all of them is written beside the results.
    """
    mistakes = own_mistakes()
    chosen = [find_mistake(name, mistakes) for name in only] or list(mistakes.values())
    console = make_console()
    if list_them:
        tell_json(chosen)
        print_table(chosen, console)
        return
    names = [mistake.name for mistake in chosen]
    subjects = () if plan == PLAN else subjects_of(names)
    request, paths = own_request(
        plan,
        out or default_out(PLAN),
        seed=seed,
        jobs=jobs,
        subjects=subjects,
        lane=EXACT_LANE,
        cluster=cluster.wish(),
    )
    disguise = STRIPPED * stripped + RENAMED * renamed
    cells = in_disguise(disguise, choose_for(names, request.cells))
    results = run_shown(replace(request, cells=cells), paths)
    answer = answer_all(results, chosen, disguise)
    write_json(request.out / KNOWN_BAD_FILE, answer)
    from delayrig.present.pages.known_bad import known_bad_page  # pages load slowly

    write_atomically(request.out / PAGE_NAME, known_bad_page(answer))
    tell_json(answer)
    print_known_bad(answer, console)
    say(console, f"page: {request.out / PAGE_NAME}")
    sys.exit(answer.exit_code)
