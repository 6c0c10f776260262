# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig selfcheck` and `benchmark`: tests and measurements of the rig itself."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from delayrig.base.atomic_file import write_atomically, write_json
from delayrig.base.errors import BadInputError
from delayrig.base.extras import require_extra
from delayrig.base.paths import find_paths
from delayrig.cli.cells import ClusterGiven, cluster_options, patterns_option
from delayrig.cli.command import RigGroup, own_request, run_shown, until_interrupted
from delayrig.cli.option_types import number_option, plan_option, seed_option
from delayrig.cli.verbosity import (
    make_console,
    note,
    plain_text,
    print_json,
    progress_console,
    tables_or_json,
)
from delayrig.features.selfcheck import terminal
from delayrig.features.selfcheck.benchmark import FILE_NAME as BENCHMARK_FILE
from delayrig.features.selfcheck.benchmark import (
    FIRST,
    benchmark_cells,
    benchmark_workers,
    measure_carrying,
    measure_start,
)
from delayrig.features.selfcheck.determinism import FILE_NAME as DETERMINISM_FILE
from delayrig.features.selfcheck.determinism import (
    SHAPES,
    repeat_folder,
    repeat_shapes,
)
from delayrig.features.selfcheck.known_bad import FILE_NAME as KNOWN_BAD_FILE
from delayrig.features.selfcheck.known_bad import (
    PAGE_NAME,
    PLAN,
    answer_all,
    choose_for,
    in_disguise,
    known_bad_page,
    subjects_of,
)
from delayrig.model.lane import EXACT_LANE
from delayrig.present.console import say
from delayrig.run.out_folder import default_out
from delayrig.subjects.disguise import RENAMED, STRIPPED
from delayrig.subjects.known_bad import find_mistake, own_mistakes


@click.group(cls=RigGroup)
def selfcheck() -> None:
    """Tests the rig itself."""


@selfcheck.command()
@number_option("--repeats", 8, "Repeats of each shape; 8 cover every condition.", click.IntRange(2))
@number_option("--shapes", 10, "Number of shapes.")
@seed_option
@click.option("--jobs", type=click.IntRange(1), help="Guests at a time; default: the CPUs.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the results.")
@tables_or_json
def determinism(repeats: int, shapes: int, seed: int, jobs: int | None, out: Path | None) -> None:
    """Repeats guests of several shapes: is everything the same to the nanosecond?

    Every other repeat is made on a loaded host, some through libvirt (but for programmers that are
    devices of plain QEMU), some with new snapshots, some in guests that ran another cell before.
    Exits 0 if all are the same, 4 if that is unknown, 99 if a cell differs; its first differing
    event is printed.
    """
    first = repeat_folder(Path(), 0).name
    request, paths = own_request(str(SHAPES), out, seed=seed, jobs=jobs, leaves=first)
    if shapes > len(request.cells):
        raise BadInputError(
            f"--shapes {shapes}: there are {len(request.cells)}",
            hint=f"add some to {SHAPES.name}, or give a smaller number",
        )
    request = replace(request, cells=request.cells[:shapes])
    file = request.out / DETERMINISM_FILE
    with terminal.RepeatProgress(make_console(), repeats) as progress:
        answer = until_interrupted(
            repeat_shapes(
                request, paths, repeats=repeats, progress=progress, finished=progress.repeated
            ),
            kept=f"finished repeats are in {file}",
        )
    print_json(answer)
    progress.answered(answer, str(file))
    sys.exit(answer.exit_code)


@selfcheck.command(name="known-bad")
@click.option("--only", multiple=True, metavar="NAME", help="Only this build; repeatable.")
@click.option(
    "--plan",
    default=PLAN,
    show_default=True,
    metavar="NAME|FILE",
    help="Plan of the cells; try 'gate'.",
)
@click.option("--stripped", is_flag=True, help="Strips each build; then an answer may be a doubt.")
@click.option("--renamed", is_flag=True, help="Gives each build another version string.")
@click.option("--list", "list_them", is_flag=True, help="Prints the table and ends.")
@seed_option
@click.option("--jobs", type=click.IntRange(1), help="Guests at a time; default: the CPUs.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the results.")
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
    """Gates each known-bad build, in the cells that show its mistake.

    With `--plan gate` each is gated in all cells of a gate, which takes longer. With `--stripped`
    an answer may also be a doubt, but an unsafe build never passes. Exits 0 if each is answered as
    its class requires, 4 if one is not, 99 if something legal is accused. A page with all answers
    is written beside the results.
    """
    mistakes = own_mistakes()
    chosen = [find_mistake(name, mistakes) for name in only] or list(mistakes.values())
    console = make_console()
    if list_them:
        print_json(chosen)
        terminal.print_table(chosen, console)
        return
    names = [mistake.name for mistake in chosen]
    subjects = () if plan == PLAN else subjects_of(names)
    request, paths = own_request(
        plan,
        out,
        seed=seed,
        jobs=jobs,
        subjects=subjects,
        lane=EXACT_LANE,
        cluster=cluster.options(),
    )
    disguise = STRIPPED * stripped + RENAMED * renamed
    cells = in_disguise(disguise, choose_for(names, request.cells))
    results = run_shown(replace(request, cells=cells), paths)
    answer = answer_all(results, chosen, disguise)
    write_json(request.out / KNOWN_BAD_FILE, answer)
    write_atomically(request.out / PAGE_NAME, known_bad_page(answer))
    print_json(answer)
    terminal.print_known_bad(answer, console)
    say(console, f"page: {request.out / PAGE_NAME}")
    sys.exit(answer.exit_code)


@click.group(cls=RigGroup)
def benchmark() -> None:
    """Measures the rig itself."""


@benchmark.command("cells")
@plan_option("default")
@patterns_option
@number_option("--boots", 8, "Number of boots to measure as well.")
@click.option("--jobs", type=click.IntRange(1), help="Guests at a time; default: the CPUs.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the results.")
@tables_or_json
def benchmark_of_cells(
    plan: str, patterns: tuple[str, ...], boots: int, jobs: int | None, out: Path | None
) -> None:
    """Shows where the host time of a plan's cells goes, and the cost of booting each.

    Other work on this host makes wall times longer; compare CPU times and ratios then.
    """
    request, paths = own_request(
        plan, out, by_default="benchmark", jobs=jobs, patterns=patterns, leaves=FIRST
    )
    console = make_console()
    with terminal.ManyRuns(progress_console()) as progress:
        found = until_interrupted(
            benchmark_cells(request, paths, boots=boots, progress=progress, began=progress.began),
            kept=f"finished cells are kept in {request.out}",
        )
    print_json(found)
    terminal.print_benchmark(found, console)
    say(console, f"results: {request.out / BENCHMARK_FILE}")


@benchmark.command("start")
@plan_option("smoke")
@number_option("--starts", 3, "Number of starts.")
@plain_text
def benchmark_of_starts(plan: str, starts: int) -> None:
    """Measures first starts, stage by stage, up to the plan's first verdict.

    Each has an empty folder of state, and fetches everything except distribution packages.
    """
    console = make_console()
    paths = find_paths()
    for number in range(1, starts + 1):
        stages = measure_start(paths.checkout, plan, paths.state)
        parts = ", ".join(f"{stage.name} {stage.took_s:.1f} s" for stage in stages)
        total_s = sum(stage.took_s for stage in stages)
        say(console, f"start {number}: {total_s:.1f} s: {parts}")


@benchmark.command("cluster")
@number_option("--workers", 3, "Number of workers.")
@number_option("--cells", 20_000, "Number of cells.")
@number_option("--batch", 1, "Cells in a task.")
@tables_or_json
def benchmark_of_cluster(workers: int, cells: int, batch: int) -> None:
    """Measures the cost of Dask: cells without work through workers on this machine."""
    require_extra("cluster", "benchmark cluster")
    from delayrig.run.cluster.scheduling_cost import measure_no_work

    measuring = measure_no_work(workers, cells, batch, find_paths())
    found = until_interrupted(measuring, kept="nothing is kept")
    print_json(found)
    first, last = found.client_mib[0], found.client_mib[-1]
    say(
        make_console(),
        f"{found.cells} cells, {found.batch_cells} in a task, {found.workers} workers:"
        f" {found.tasks_a_s:.0f} tasks and {found.cells_a_s:.0f} cells a second;"
        f" memory of client and scheduler {first:.0f} MiB at first, {last:.0f} MiB at last",
    )


@benchmark.command("workers")
@plan_option("default")
@number_option("--workers", 2, "Number of workers.")
@number_option("--rounds", 2, "Rounds of each way.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the runs.")
@tables_or_json
def benchmark_of_workers(plan: str, workers: int, rounds: int, out: Path | None) -> None:
    """Measures the cost of workers on this machine: --cluster local:N against --jobs N, in turn.

    Other work on this host makes both slower; compare the ratios then.
    """
    require_extra("cluster", "benchmark workers")
    place = out or default_out("benchmark")
    found = benchmark_workers(find_paths().checkout, plan, workers, rounds, place, note)
    print_json(found)
    terminal.print_workers(found, make_console())


@benchmark.command("carrying")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="OUT")
@tables_or_json
def benchmark_of_carrying(run: Path) -> None:
    """Measures the transfer of the cells of the run OUT from a worker to a run."""
    found = measure_carrying(run)
    print_json(found)
    say(
        make_console(),
        f"{found.cells} cells; a cell has {found.left_bytes / 1e3:.0f} kB on disk and"
        f" {found.packed_bytes / 1e3:.0f} kB on its way, and takes {found.pack_cpu_s * 1e3:.1f} ms"
        f" of CPU to pack, {found.take_cpu_s * 1e3:.1f} ms to take in:"
        f" {1 / found.take_cpu_s:.0f} cells a second at most",
    )
