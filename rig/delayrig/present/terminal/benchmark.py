# SPDX-License-Identifier: GPL-2.0-or-later
"""What cells cost this host."""

from rich.console import Console
from rich.markup import escape

from delayrig.analysis.benchmark import CellBenchmark, JobCost
from delayrig.analysis.cost_of_workers import WorkersBenchmark
from delayrig.present.terminal.console import FittedTable, plain_table

DEAREST = 8
"""Jobs that are named one by one."""


def print_benchmark(found: CellBenchmark, console: Console) -> None:
    """Where the time of cells goes, and what they cost in other ways."""
    table = plain_table(["stage"], ("median ms", "total s"))
    for stage in found.stages:
        table.add_row(stage.name, f"{stage.median_s * 1e3:.1f}", f"{stage.total_s:.2f}")
    console.print(table)
    console.print()
    console.print(_dearest_jobs(found.jobs))
    ways = {
        "one at a time": found.alone,
        f"{found.together.jobs} at a time": found.together,
        "a QEMU for each": found.apart,
        "some, restored": found.restored,
        "the same, booted": found.booted,
    }
    console.print()
    for name, cost in ways.items():
        console.print(
            f"{name:16} {cost.cells:4} cells: median {cost.median_s:.3f} s,"
            f" {cost.cells_a_minute:.0f} a minute, {cost.cpu_s / cost.cells:.3f} s of CPU each"
        )
    ratio = found.booted.cpu_s / found.restored.cpu_s
    console.print(f"[bold]A booted cell takes {ratio:.1f} times the CPU of a restored one.[/]")


def _dearest_jobs(jobs: list[JobCost]) -> FittedTable:
    """What cost this host most, beside what it would have taken on a real chip."""
    table = plain_table(
        ["dearest jobs"], ("host s", "guest s", "chip busy s", "times faster", "transfers")
    )
    for job in jobs[:DEAREST]:
        seconds = (job.job_s, job.total_s, job.chip_busy_s)
        table.add_row(
            escape(job.cell),
            *(f"{length:.2f}" for length in seconds),
            f"{job.times_faster:.1f}",
            f"{job.transfers}",
        )
    return table


def print_workers(found: WorkersBenchmark, console: Console) -> None:
    here, workers = found.here, found.workers
    for way in (here, workers):
        console.print(
            f"{' '.join(way.words):18} {way.runs[0].cells} cells:"
            f" {way.cells_a_minute:.0f} a minute, {way.cells_a_minute_under_way:.0f} once the"
            f" first is done, {way.cpu_s_a_cell:.3f} s of CPU each",
            soft_wrap=True,
        )
    whole = workers.cells_a_minute / here.cells_a_minute
    steady = workers.cells_a_minute_under_way / here.cells_a_minute_under_way
    cpu = workers.cpu_s_a_cell / here.cpu_s_a_cell
    console.print(
        f"[bold]Workers make {whole:.2f} times the cells a minute, {steady:.2f} times once the"
        f" first is done, for {cpu:.2f} times the CPU.[/]",
        soft_wrap=True,
    )
