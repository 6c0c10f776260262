# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig benchmark`: what the rig itself costs."""

from pathlib import Path

import click

from delayrig.analysis.benchmark import FILE_NAME as BENCHMARK_FILE
from delayrig.analysis.benchmark import FIRST, benchmark_cells
from delayrig.analysis.cost_of_carrying import measure_carrying
from delayrig.analysis.cost_of_workers import benchmark_workers
from delayrig.analysis.first_start import measure_start
from delayrig.base.extras import require_extra
from delayrig.base.paths import find_paths
from delayrig.cli.cells import patterns_option
from delayrig.cli.command import RigGroup, default_out, own_request, until_interrupted
from delayrig.cli.option_types import plan_option
from delayrig.cli.verbosity import (
    make_console,
    note,
    plain_text,
    progress_console,
    tables_or_json,
    tell_json,
)
from delayrig.present.terminal.benchmark import print_benchmark, print_workers
from delayrig.present.terminal.console import say
from delayrig.present.terminal.progress import ManyRuns


@click.group(cls=RigGroup)
def benchmark() -> None:
    """Measures the rig itself."""


@benchmark.command("cells")
@plan_option("default")
@patterns_option
@click.option("--boots", type=click.IntRange(1), default=8, show_default=True, help="To boot, too.")
@click.option("--jobs", type=click.IntRange(1), help="Guests at a time; default: the CPUs.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for what was found.")
@tables_or_json
def benchmark_of_cells(
    plan: str, patterns: tuple[str, ...], boots: int, jobs: int | None, out: Path | None
) -> None:
    """Tells where the host time of a plan's cells goes, and what booting each would cost.

    Other work on this host makes wall times longer; CPU times and ratios say more then.
    """
    folder = out or default_out("benchmark")
    request, paths = own_request(plan, folder, jobs=jobs, patterns=patterns, leaves=FIRST)
    console = make_console()
    with ManyRuns(progress_console()) as progress:
        found = until_interrupted(
            benchmark_cells(request, paths, boots=boots, progress=progress, began=progress.began),
            kept=f"finished cells are kept in {request.out}",
        )
    tell_json(found)
    print_benchmark(found, console)
    say(console, f"results: {request.out / BENCHMARK_FILE}")


@benchmark.command("start")
@plan_option("smoke")
@click.option("--starts", type=click.IntRange(1), default=3, show_default=True, help="How many.")
@plain_text
def benchmark_of_starts(plan: str, starts: int) -> None:
    """Tells how long first starts take, stage by stage, up to the plan's first verdict.

    Each has an empty folder of state, and fetches everything anew but distribution packages.
    """
    console = make_console()
    paths = find_paths()
    for number in range(1, starts + 1):
        stages = measure_start(paths.checkout, plan, paths.state)
        parts = ", ".join(f"{stage.name} {stage.took_s:.1f} s" for stage in stages)
        total_s = sum(stage.took_s for stage in stages)
        say(console, f"start {number}: {total_s:.1f} s: {parts}")


@benchmark.command("cluster")
@click.option("--workers", type=click.IntRange(1), default=3, show_default=True, help="How many.")
@click.option(
    "--cells", type=click.IntRange(1), default=20_000, show_default=True, help="Of no work."
)
@click.option(
    "--batch", type=click.IntRange(1), default=1, show_default=True, help="Cells in a task."
)
@tables_or_json
def benchmark_of_cluster(workers: int, cells: int, batch: int) -> None:
    """Tells what Dask costs: cells of no work through workers on this machine."""
    require_extra("cluster", "benchmark cluster")
    from delayrig.run.cluster.scheduling_cost import measure_no_work

    measuring = measure_no_work(workers, cells, batch, find_paths())
    found = until_interrupted(measuring, kept="nothing is kept")
    tell_json(found)
    first, last = found.client_mib[0], found.client_mib[-1]
    say(
        make_console(),
        f"{found.cells} cells, {found.batch_cells} in a task, {found.workers} workers:"
        f" {found.tasks_a_s:.0f} tasks and {found.cells_a_s:.0f} cells a second;"
        f" memory of client and scheduler {first:.0f} MiB at first, {last:.0f} MiB at last",
    )


@benchmark.command("workers")
@plan_option("default")
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True, help="How many.")
@click.option("--rounds", type=click.IntRange(1), default=2, show_default=True, help="Of each way.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the runs.")
@tables_or_json
def benchmark_of_workers(plan: str, workers: int, rounds: int, out: Path | None) -> None:
    """Tells what workers on this machine cost: --cluster local:N against --jobs N, in turn.

    Other work on this host makes both slower; the ratios say more then.
    """
    require_extra("cluster", "benchmark workers")
    place = out or default_out("benchmark")
    found = benchmark_workers(find_paths().checkout, plan, workers, rounds, place, note)
    tell_json(found)
    print_workers(found, make_console())


@benchmark.command("carrying")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="OUT")
@tables_or_json
def benchmark_of_carrying(run: Path) -> None:
    """Tells what it costs to carry the cells of the run OUT from a worker to a run."""
    found = measure_carrying(run)
    tell_json(found)
    say(
        make_console(),
        f"{found.cells} cells; a cell has {found.left_bytes / 1e3:.0f} kB on disk and"
        f" {found.packed_bytes / 1e3:.0f} kB on its way, and takes {found.pack_cpu_s * 1e3:.1f} ms"
        f" of CPU to pack, {found.take_cpu_s * 1e3:.1f} ms to take in:"
        f" {1 / found.take_cpu_s:.0f} cells a second at most",
    )
